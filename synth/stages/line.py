"""The stages of an environment, in their order, after its topic; and how topics are mined."""

from synth.run.mining import Mining
from synth.run.stage import Stage
from synth.stages import assembly, code, inspection, interface, mining, proof, schema, seed, setting

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
MINING: Mining = mining.mine
