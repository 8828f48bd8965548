"""Virtual environments with frameworks of others, and what commands in them print."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

ROOT = Path(__file__).parents[2]
READY = "FRAMEWORK_VENVS"
"""A variable that names a folder of virtual environments that are ready, by the name of their framework."""
LONGEST_INSTALL, LONGEST_RUN = 1200.0, 600.0


async def ran(*command: str | Path, folder: Path, seconds: float = LONGEST_RUN, **environment: str) -> str:
    """What a command prints, after the assertion that it ended well."""
    process = await asyncio.create_subprocess_exec(
        *map(str, command), cwd=folder, env={**os.environ, **environment}, stdout=PIPE, stderr=PIPE
    )
    try:
        async with asyncio.timeout(seconds):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, (out.decode()[-1500:], err.decode()[-3000:])
    return out.decode()


async def environment_with(name: str, *packages: str | Path, folder: Path, python: str | Path | None = None) -> Path:
    """The programs of a virtual environment that has a framework, and this project if the packages name it."""
    ready = os.environ.get(READY)
    if ready and (Path(ready) / name).is_dir():
        return Path(ready) / name / "bin"
    await ran(python or sys.executable, "-m", "venv", folder / "venv", folder=folder, seconds=LONGEST_INSTALL)
    pip = (folder / "venv" / "bin" / "python", "-m", "pip", "install", "-q")
    await ran(*pip, *packages, folder=folder, seconds=LONGEST_INSTALL)
    return folder / "venv" / "bin"
