"""`farm synth run --engine ray`, in a process of its own: the plan, as JSON, is its argument."""

import asyncio
import os
import sys
from functools import partial

from servers.errors import FarmError
from servers.text.terminal import Terminal, clean
from synth.environments.stages import MINING, STAGES
from synth.pipeline.plan import RunPlan
from synth.runner.launch import RunSettings

try:
    from synth.runner.ray_run import machines
except ModuleNotFoundError as error:
    sys.exit(f"farm: --engine ray: {error}; pip install 'envfarm[scale]'")


def main() -> int:
    """Run the plan. Returns the exit code."""
    there = partial(machines, address=os.environ.get("RAY_ADDRESS", ""))
    start = RunSettings(STAGES, MINING, os.environ.get("OPENAI_API_KEY", ""), Terminal(), there)
    try:
        return asyncio.run(start.run(RunPlan.model_validate_json(sys.argv[1])))
    except FarmError as error:
        sys.stderr.write(f"farm: {clean(str(error))}\n")
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
