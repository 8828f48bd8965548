"""Builds start images from a writer's SQL, in guests only. The stages of one event loop share the guests."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from servers.bundle.description import Description, Provenance
from servers.bundle.environment import Environment
from servers.bundle.seed_files import digest_of_seed
from servers.sandbox.guest_pool import Guests
from servers.state.start_images import built

FIRST_CLOCK = "2026-01-01 09:00:00"


@dataclass(frozen=True)
class DraftSeed:
    """A script that is in no file yet."""

    script: str

    @property
    def digest(self) -> str:
        return digest_of_seed(self.script)

    @property
    def size(self) -> int:
        return len(self.script)

    def text(self) -> str:
        return self.script

    def copy(self, into: Callable[[bytes], None]) -> None:
        into(self.script.encode())


def environment_of(*, schema: str, seed: str = "", source: str = "", clock: str = FIRST_CLOCK) -> Environment:
    """Texts as an environment that a guest can build, before the bundle exists."""
    nothing = Provenance(source="unfinished", licence="none", date="none")
    description = Description(
        id="unfinished",
        title="Unfinished",
        description="Unfinished.",
        version="0.0.0",
        clock=clock,
        tools=(),
        provenance=nothing,
    )
    return Environment(
        folder=Path("unfinished"),
        description=description,
        policy="",
        schema=schema,
        seed_script=DraftSeed(seed),
        source=source,
        digest="unfinished",
    )


async def image_of(
    guests: Guests, *, schema: str, seed: str = "", setup: str = "", clock: str = FIRST_CLOCK
) -> tuple[bytes, str]:
    """The start image, or the faults of the scripts."""
    image, finding = await built(environment_of(schema=schema, seed=seed, clock=clock), setup, clock, guests)
    return image[:], finding


@dataclass
class _Shared:
    guests: Guests = field(default_factory=Guests)
    users: int = 0


_shared: dict[int, _Shared] = {}
"""Guests by event loop. A zygote takes a quarter of a second to start, too long for each of sixty environments."""


@asynccontextmanager
async def guests_here() -> AsyncGenerator[Guests]:
    """Guests while the context is open."""
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
