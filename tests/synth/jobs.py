"""Kinds of work for processes that help: some die of it, some never end."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from servers.errors import FarmError


@dataclass(frozen=True)
class Doubling:
    """Doubles numbers. The first few processes that are asked for 13 die of it; 14 is refused."""

    folder: Path
    deaths: int = 0

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Callable[[int], Awaitable[int]]]:
        """Nothing is to be opened."""

        async def doubled(number: int) -> int:
            if number == 13 and len(list(self.folder.iterdir())) < self.deaths:
                (self.folder / str(os.getpid())).touch()
                os.kill(os.getpid(), signal.SIGKILL)
            if number == 14:
                raise FarmError("14 is too many")
            return 2 * number

        yield doubled


@dataclass(frozen=True)
class Endless:
    """Says when it is opened, asked and closed, and never comes to an end."""

    folder: Path

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Callable[[str], Awaitable[None]]]:
        """It leaves a file when it is closed."""

        async def wait(name: str) -> None:
            (self.folder / f"asked-{name}").touch()
            await asyncio.Event().wait()

        try:
            yield wait
        finally:
            (self.folder / f"closed-{os.getpid()}").touch()


@dataclass(frozen=True)
class Locked:
    """Cannot be opened."""

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Callable[[int], Awaitable[int]]]:
        """Say why."""
        raise FarmError("the door is locked")
        yield
