"""The work of one process that certifies: it examines, or searches, the scenarios of whichever bundles it is given."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from servers.scenario import Scenario
from synth.proving.stage import Stage
from synth.scenarios.certify import Examined, examine
from synth.scenarios.hacking import Searched, search
from synth.scenarios.mending import mended
from synth.scenarios.others import wrong_agents_in


class Case(NamedTuple):
    """One scenario to examine."""

    folder: Path
    scenario: Scenario


@dataclass(frozen=True)
class Examining:
    """Examines scenarios, with the stage of one bundle open at a time: they come bundle by bundle."""

    against: Path | None = None
    """A file with wrong agents that join the company."""
    mend: bool = False
    """Whether checkpoints are mended first."""

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Callable[[Case], Awaitable[Examined]]]:
        """Set the first stage when it is known of which bundle."""
        others = wrong_agents_in(self.against) if self.against else ()
        async with _stages() as stage_of:

            async def examined(case: Case) -> Examined:
                stage = await stage_of(case.folder)
                scenario = await mended(stage, case.scenario) if self.mend else case.scenario
                return await examine(stage, scenario, others)

            yield examined


@dataclass(frozen=True)
class Searching:
    """Searches scenarios for holes, in the same way."""

    budget: int

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Callable[[Case], Awaitable[Searched]]]:
        """Set the first stage when it is known of which bundle."""
        async with _stages() as stage_of:

            async def searched(case: Case) -> Searched:
                return await search(await stage_of(case.folder), case.scenario, self.budget)

            yield searched


@asynccontextmanager
async def _stages() -> AsyncGenerator[Callable[[Path], Awaitable[Stage]]]:
    stack = AsyncExitStack()
    stages: dict[Path, Stage] = {}

    async def stage_of(folder: Path) -> Stage:
        if folder not in stages:
            await stack.aclose()
            stages.clear()
            stages[folder] = await stack.enter_async_context(Stage(folder))
        return stages[folder]

    try:
        yield stage_of
    finally:
        await stack.aclose()
