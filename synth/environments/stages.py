"""The stages of an environment in order, after its topic; and the mining of topics."""

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
