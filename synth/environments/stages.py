"""The stages of an environment, in their order, after its topic; and how topics are mined."""

from synth.environments import assembly, code, inspection, interface, proof, schema, seed, setting
from synth.environments.mining import topics
from synth.pipeline.engine import Mining
from synth.pipeline.stage import Stage

STAGES: tuple[Stage, ...] = (
    setting.STAGE,
    schema.STAGE,
    seed.STAGE,
    interface.STAGE,
    code.STAGE,
    inspection.STAGE,
    assembly.STAGE,
    proof.STAGE,
)
MINING: Mining = topics.mine
