"""The work of one process that certifies: it examines the scenarios that it is given, of whichever bundles."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from servers.scenario import Scenario
from synth.proving.stage import Stage
from synth.scenarios.certify import Examined, examine


class Case(NamedTuple):
    """One scenario to examine."""

    folder: Path
    scenario: Scenario


@dataclass(frozen=True)
class Examining:
    """Examines scenarios, with the stage of one bundle open at a time: they come bundle by bundle."""

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Callable[[Case], Awaitable[Examined]]]:
        """Set the first stage when it is known of which bundle."""
        stack = AsyncExitStack()
        stages: dict[Path, Stage] = {}

        async def examined(case: Case) -> Examined:
            if case.folder not in stages:
                await stack.aclose()
                stages.clear()
                stages[case.folder] = await stack.enter_async_context(Stage(case.folder))
            return await examine(stages[case.folder], case.scenario)

        try:
            yield examined
        finally:
            await stack.aclose()
