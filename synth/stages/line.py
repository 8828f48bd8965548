"""The stages of an environment, in their order, after its topic."""

from synth.run.stage import Stage
from synth.stages import assembly, code, inspection, interface, proof, schema, seed, setting

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
