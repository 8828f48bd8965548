"""The code of benchmarks' files by environment: a guest that runs none of it compiles it once, for all judgements.

What comes back is bytes that only guests read. A file that has another text by then is compiled anew there.
"""

import asyncio
from typing import Any, Protocol
from weakref import WeakValueDictionary

from servers.errors import GuestDied, GuestError, GuestLate
from servers.guest.sqlite.image import Image
from servers.limits.recent_values import RecentValues

MOST_ENVIRONMENTS = 100
MOST_HELD = 4 * 1024 * 1024
"""Bytes of code that a worker remembers."""


class GuestJob(Protocol):
    """Sends one request to a fresh guest (`servers.sandbox.guest_pool.Guests.job`)."""

    async def __call__(
        self, head: dict[str, Any], /, *parts: Image, seconds: float
    ) -> tuple[dict[str, Any], list[bytes]]: ...


class CompiledFiles:
    """The code of the files in the table `upstream`, of the environments that were judged last."""

    def __init__(self, job: GuestJob) -> None:
        self._job = job
        self._held: RecentValues[str, bytes] = RecentValues(MOST_ENVIRONMENTS, MOST_HELD, len)
        self._compiling: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # each is compiled once

    async def of(self, environment: str, start: Image, *, seconds: float) -> bytes:
        """The code of the files that an environment has as rows in `start`.

        It is empty if they cannot be compiled, or if the code is too large to be remembered.
        """
        async with self._compiling.setdefault(environment, asyncio.Lock()):
            found = self._held.find(environment)
            if found is not None:
                return found
            try:
                _, [code] = await self._job({"do": "compile"}, start, seconds=seconds)
            except (GuestDied, GuestLate):
                code = b""
            except GuestError:
                return b""  # the machine's fault: it is tried again
            self._held.keep(environment, code if len(code) <= MOST_HELD else b"")
            return self._held.find(environment) or b""
