"""The job of a process that certifies: it examines scenarios, or searches them for exploits."""

import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter

from servers.answer import JUDGE_VERSION
from servers.errors import RequestError
from servers.scenario.scenario import Scenario
from synth.backward.goal_repair import mended
from synth.certify.agents.exploit_search import Searched, search
from synth.certify.agents.user_agents import wrong_agents_in
from synth.certify.agents.wrong_agents import WrongAgent
from synth.certify.certifier import Examined, examine
from synth.certify.pairs import examine_both
from synth.certify.renewal import renew
from synth.play.pinned_bundle import PinnedBundle, playgrounds
from synth.play.playground import Playground
from synth.processes.job import WorkerFault
from synth.processes.kept_results import KeptResults

SEARCHED_FILE = "searched.jsonl"


class CertifyOrder(NamedTuple):
    """One scenario to examine."""

    bundle: PinnedBundle
    scenario: Scenario
    second: PinnedBundle | None = None
    """The bundle of its second environment, if it has one."""


@dataclass(frozen=True)
class Examining:
    """Examines scenarios with one open playground at a time: they come bundle by bundle."""

    against: Path | None = None
    """A file with further wrong agents."""
    mend: bool = False
    """True if checkpoints are repaired first."""
    is_renewal: bool = False
    """True if only what hangs on the answer is tried, where only the judge of answers is another one."""

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Callable[[CertifyOrder], Awaitable[Examined]]]:
        """Open the first playground once its bundle is known."""
        others = self._others()
        async with playgrounds() as stage_of:

            async def examined(case: CertifyOrder) -> Examined:
                with case.bundle.on_worker():
                    stage = await stage_of(case.bundle)
                    if case.scenario.second is not None:
                        return await self._of_two(stage_of, stage, case, others)
                    if self.is_renewal and not others and not self.mend:
                        return await renew(stage, case.scenario)
                    return await (mended if self.mend else examine)(stage, case.scenario, others)

            yield examined

    async def _of_two(
        self,
        stage_of: Callable[..., Awaitable[Playground]],
        stage: Playground,
        case: CertifyOrder,
        others: tuple[WrongAgent, ...],
    ) -> Examined:
        if case.second is None or self.mend:
            why = "goals over two environments cannot be mended" if self.mend else "its second environment is not there"
            return Examined(case.scenario, findings=[why])
        with case.second.on_worker():
            beside = await stage_of(case.second, case.bundle)
            return await examine_both((stage, beside), case.scenario, others)

    def _others(self) -> tuple[WrongAgent, ...]:
        try:
            return wrong_agents_in(self.against) if self.against else ()
        except RequestError as error:  # whoever sent us here could read the file
            raise WorkerFault(f"{socket.gethostname()}: {error}") from None


@dataclass(frozen=True)
class Searching:
    """Searches scenarios for holes, in the same way."""

    budget: int

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Callable[[CertifyOrder], Awaitable[Searched]]]:
        """Open the first playground once its bundle is known."""
        async with playgrounds() as stage_of:

            async def searched(case: CertifyOrder) -> Searched:
                with case.bundle.on_worker():
                    return await search(await stage_of(case.bundle), case.scenario, self.budget)

            yield searched


def kept_searches(folder: Path, budget: int) -> KeptResults[CertifyOrder, Searched]:
    """The searches with a number of runs for each scenario. They hold for its files and the judge of answers."""

    def name(case: CertifyOrder) -> list[object]:
        scenario = case.scenario.model_dump_json(exclude={"certificate", "provenance"}, exclude_defaults=True)
        return [case.bundle.folder.name, *case.bundle.files, scenario, budget, JUDGE_VERSION]

    return KeptResults(folder / SEARCHED_FILE, TypeAdapter(tuple[str, Searched]), name)
