"""The tiny stages over Ray, in a process of its own: `python -m tests.synth.run.tiny_ray PLAN.toml`."""

import asyncio
import sys
from pathlib import Path

from rich.console import Console

from synth.run.over_ray import machines
from synth.run.plan import Plan
from synth.run.start import Start
from tests.synth.run.tiny import STAGES, Lines

if __name__ == "__main__":
    start = Start(STAGES, Lines(), "key-1", Console(highlight=False), machines)
    sys.exit(asyncio.run(start.run(Plan.of(Path(sys.argv[1]), {}))))
