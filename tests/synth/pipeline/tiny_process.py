"""A run of the tiny stages, in this process or in one of its own, and what it left."""

import asyncio
import json
import os
import signal
import sys
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console

from servers.errors import FarmError
from synth.pipeline.plan import RunPlan
from synth.runner.launch import RunSettings
from tests.processes import LONG, Done
from tests.synth.pipeline.tiny import STAGES, Lines

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Tiny:
    """A process that has been started."""

    process: asyncio.subprocess.Process

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        os.kill(self.process.pid, number)

    async def ended(self) -> Done:
        """Wait for the end."""
        async with asyncio.timeout(LONG):
            out, err = await self.process.communicate()
        assert self.process.returncode is not None
        return Done(self.process.returncode, out.decode(), err.decode())


async def started(
    home: Path, module: str = "tests.synth.pipeline.tiny", *, path: str = os.defpath, **plan: Any
) -> Tiny:
    """Start a run with a plan in a process of its own; `out` is `run`."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, str(written(home, plan))),
        cwd=home,
        env={"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "COLUMNS": "200", "PYTHONPATH": str(ROOT)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    return Tiny(process)


async def ran(home: Path, **plan: Any) -> Done:
    """Run to the end, in this process: that takes less time."""
    out = StringIO()
    try:
        asked = RunPlan.of(written(home, plan), {})
        code = await RunSettings(STAGES, Lines(), "key-1", Console(file=out, width=400, highlight=False)).run(asked)
    except FarmError as error:
        return Done(1, out.getvalue(), f"{type(error).__name__}: {error}\n")
    return Done(code, out.getvalue(), "")


def written(home: Path, plan: dict[str, Any]) -> Path:
    """A plan as a TOML file: JSON's strings, numbers, lists and booleans are TOML's too."""
    file = home / "plan.toml"
    plan = {"out": str(home / "run"), "model": "m", **plan}
    file.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in plan.items()))
    return file


def values(home: Path) -> dict[str, Any]:
    """What every stage of every environment made."""
    paths = sorted((home / "run" / "environments").glob("*/*.json"))
    return {f"{path.parent.name}/{path.name}": json.loads(path.read_text()).get("value") for path in paths}


def artefact(home: Path, name: str) -> dict[str, Any]:
    """One artefact, whole."""
    return json.loads((home / "run" / "environments" / name).read_text())
