"""The tiny stages over Ray, in a process of its own: `python -m tests.synth.runner.tiny_ray PLAN.toml`."""

import asyncio
import sys
from pathlib import Path

from rich.console import Console

from synth.pipeline.plan import RunPlan
from synth.runner.launch import RunSettings
from synth.runner.ray_run import machines
from tests.synth.pipeline.tiny import STAGES, Lines

if __name__ == "__main__":
    start = RunSettings(STAGES, Lines(), "key-1", Console(highlight=False), machines)
    sys.exit(asyncio.run(start.run(RunPlan.of(Path(sys.argv[1]), {}))))
