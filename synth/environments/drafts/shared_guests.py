"""The guests that all stages at work in one event loop share: started for the first, ended after the last."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from servers.sandbox.guest_pool import Guests


@dataclass
class _Shared:
    guests: Guests = field(default_factory=Guests)
    users: int = 0


_shared: dict[int, _Shared] = {}
"""By event loop. A zygote takes a quarter of a second to start, so sixty environments do not start one each."""


@asynccontextmanager
async def guests_here() -> AsyncGenerator[Guests]:
    """Guests for as long as the block lasts."""
    loop = id(asyncio.get_running_loop())
    shared = _shared.setdefault(loop, _Shared())
    shared.users += 1
    try:
        yield shared.guests
    finally:
        shared.users -= 1
        if shared.users == 0:
            _shared.pop(loop, None)
            await shared.guests.close()
