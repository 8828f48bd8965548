"""A command that is run to its end within a time."""

import asyncio
from pathlib import Path


class RunError(Exception):
    """A command failed, took too long, or did not do what it did when this was written."""


async def output(*command: str, folder: Path, seconds: float, may_fail: bool = False) -> str:
    """What a command prints, to both of its outputs.

    Raises:
        RunError: it is not there, ended badly (unless it may), or took too long.
    """
    pipe, both = asyncio.subprocess.PIPE, asyncio.subprocess.STDOUT
    try:
        process = await asyncio.create_subprocess_exec(*command, cwd=folder, stdout=pipe, stderr=both)
    except FileNotFoundError:
        raise RunError(f"there is no command {command[0]} here") from None
    try:
        async with asyncio.timeout(seconds):
            said = (await process.communicate())[0].decode(errors="replace")
    except TimeoutError:
        raise RunError(f"{' '.join(command[:3])} took more than {seconds:.0f} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode and not may_fail:
        raise RunError(f"{' '.join(command[:3])} ended with {process.returncode}: {said[-1000:]}")
    return said
