"""Building what a writer wrote into start images, in guests: its SQL never runs anywhere else."""

from pathlib import Path

from servers.bundle.description import Description, Provenance
from servers.bundle.environment import Environment
from servers.sandbox.guest_pool import Guests
from servers.state.start_images import built

FIRST_CLOCK = "2026-01-01 09:00:00"


def environment_of(*, schema: str, seed: str = "", source: str = "", clock: str = FIRST_CLOCK) -> Environment:
    """Texts as an environment that a guest can build, before it is one."""
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
        seed=seed,
        source=source,
        digest="unfinished",
    )


async def image_of(
    guests: Guests, *, schema: str, seed: str = "", setup: str = "", clock: str = FIRST_CLOCK
) -> tuple[bytes, str]:
    """The start image, or what is wrong with the scripts."""
    return await built(environment_of(schema=schema, seed=seed, clock=clock), setup, clock, guests)
