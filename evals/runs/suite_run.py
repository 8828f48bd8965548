"""Playing a suite: bounded concurrency, retries for broken rollouts, and a stored line for each that ends."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import httpx2

from agent_client.play import Limits
from agent_client.wire import shared_http
from evals.benchmarks.harness import limits_of, person_of, rules_of
from evals.demo import gold_model
from evals.rollout import Rollout, for_each, one_error, rollout
from evals.runs.folder import RunFolder
from evals.runs.perturbed import seen_solution, seen_subject, view_at
from evals.runs.players import Players
from evals.runs.records import (
    Header,
    RolloutRecord,
    Subject,
    key,
)
from evals.runs.scenario_choice import ChosenScenario, chosen
from evals.runs.suite import Agent, ChatAgent, CommandAgent, Suite
from registry.client import FarmClient
from registry.messages import EnvironmentDetail, ScenarioDetail
from servers.errors import InfraError, RequestError
from servers.perturb.tool_view import ToolView
from servers.scenario.scenario import Scenario
from servers.scenario.two_environments import Route, routes

REFERENCE_LIMITS = Limits(turns=200, seconds=120)
MOST_BROKEN_IN_A_ROW = 20
"""The number of consecutive broken tries that stops a run: the farm or the endpoint is down. If all rollouts of a
larger number at once break by one fault, each is tried again before that."""
FIRST_WAIT = 1.0
LONGEST_WAIT = 30.0


class Watcher(Protocol):
    """The callbacks of a run's progress."""

    def preparing(self, done: int, of: int) -> None: ...

    def planned(self, subjects: Sequence[Subject], attempts: int) -> None: ...

    def began(self, environment: str) -> None: ...

    def ended(self, played: RolloutRecord, *, now: bool) -> None: ...


@dataclass
class Evaluation:
    """The run of one suite on one farm, in one folder."""

    farm: FarmClient
    suite: Suite
    players: Players
    folder: RunFolder
    watcher: Watcher
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    broken_in_a_row: int = field(default=0, init=False)
    _views: dict[str, ToolView | None] = field(default_factory=dict[str, ToolView | None], init=False)
    """How the tools of each environment are seen."""

    async def run(self) -> None:
        """Play every rollout that is missing. Enter `folder.writing()` first.

        Raises:
            RequestError: the folder holds a run of another suite, or its scenarios have changed since.
            InfraError: too many consecutive tries broke. Finished ones are kept, and another run continues.
        """
        async with shared_http(2 * self.suite.run.concurrency) as http:
            if not self.folder.is_begun:
                await self._begin(http)
            subjects = await self._same_as_before()
            self.folder.mend()
            self.watcher.planned(list(subjects.values()), self.suite.run.attempts)
            finished = self._finished()
            jobs = iter([job for job in self._jobs(subjects) if key(*_named(job)) not in finished])
            with one_error():
                async with asyncio.TaskGroup() as group:
                    for _ in range(self.suite.run.concurrency):
                        group.create_task(self._work(jobs, http))

    async def _begin(self, http: httpx2.AsyncClient) -> None:
        found = await chosen(self.farm, self.suite.scenarios)
        self._make_sure_of_solutions(found)
        environments = {name: await self.farm.environment(name) for name in sorted({one.environment for one in found})}
        prepared = itertools.count(1)

        async def prepare(one: ChosenScenario) -> Subject:
            detail = await self.farm.scenario(one.environment, one.card.id)
            self._make_sure_of_harness(detail.scenario)
            _make_sure_of_servers(self.suite.agent, detail)
            second = detail.scenario.second
            own = environments[one.environment]
            beside = None if second is None else await self.farm.environment(second.environment)
            reference = await reference_of(
                self.farm, detail, seed=self.suite.run.seed, perturb=self.suite.perturb, http=http
            )
            self.watcher.preparing(next(prepared), len(found))
            return _subject(detail, own, reference, beside)

        subjects = await for_each(found, prepare, at_once=self.suite.run.concurrency)
        kept = [one for one in subjects if not self.suite.perturb or _stands(one.reference)]
        left_out = sorted({one.name for one in subjects} - {one.name for one in kept})
        if not kept:
            raise RequestError(
                f"perturb: of {len(found)} scenarios none has a reference solution that earns reward 1 under"
                f" {self.suite.perturb!r}, so nothing shows that they can be done"
            )
        self.folder.begin(Header.of(self.suite, len(kept), left_out), kept)

    async def _as_seen(self, subject: Subject) -> Subject:
        """A subject with its solution as an agent makes it under the suite's perturbation."""
        name = subject.detail.environment
        if name not in self._views:
            self._views[name] = await view_at(self.farm, name, self.suite.perturb)
        return seen_subject(subject, self._views[name])

    def _make_sure_of_solutions(self, found: Sequence[ChosenScenario]) -> None:
        """Refuse scenarios without a reference solution if the agent plays it. Raises RequestError with all of them."""
        lacking = [one.name for one in found if one.card.calls is None]
        if lacking and self.suite.agent.kind in ("gold", "sabotaged"):
            raise RequestError(
                f"agent {self.suite.agent.kind!r} plays reference solutions, and of {len(found)} scenarios "
                f"{len(lacking)} have none: {', '.join(lacking)}; min_calls = 0 in [scenarios] leaves them out"
            )

    def _make_sure_of_harness(self, scenario: Scenario) -> None:
        """Refuse an agent that cannot play a benchmark's task as its harness does. Raises RequestError."""
        if scenario.is_of_benchmark and isinstance(self.suite.agent, CommandAgent):
            raise RequestError(
                f"{scenario.id} is of a public benchmark, whose user and turns come one by one; a command plays by"
                ' itself, so give the agent as a model: kind = "chat"'
            )
        if isinstance(self.suite.agent, ChatAgent):
            person_of(scenario, self.players.user)

    async def _same_as_before(self) -> dict[str, Subject]:
        """The run's scenarios, after a check that none has changed since it began."""
        self.folder.check_suite(self.suite)
        subjects = self.folder.subjects()
        for subject in subjects.values():
            now = await self.farm.scenario(subject.detail.environment, subject.detail.scenario.id)
            if now.digest != subject.detail.digest:
                raise RequestError(f"{subject.name} has changed since {self.folder.path} began; begin a new run")
        return subjects

    def _finished(self) -> set[str]:
        """The rollouts that need not be played again. A broken one is repeated, and its later line counts."""
        last = {at.played.key: at.played for at in self.folder.rollouts()}
        finished = {name: played for name, played in last.items() if played.rollout.outcome != "infra_error"}
        for played in finished.values():
            self.watcher.ended(played, now=False)
        return set(finished)

    def _jobs(self, subjects: dict[str, Subject]) -> Iterator[tuple[Subject, int]]:
        """The missing rollouts. All first attempts come first, so that an interrupted run has seen every scenario."""
        for attempt in range(self.suite.run.attempts):
            yield from ((subject, attempt) for subject in subjects.values())

    async def _work(self, jobs: Iterator[tuple[Subject, int]], http: httpx2.AsyncClient) -> None:
        for subject, attempt in jobs:
            self.watcher.began(subject.detail.environment)
            played = await self._played(subject, attempt, http)
            self.folder.append(played)
            self.watcher.ended(played, now=True)
            self._stop_if_all_breaks(played.rollout)

    async def _played(self, subject: Subject, attempt: int, http: httpx2.AsyncClient) -> RolloutRecord:
        broken: list[str] = []
        while True:
            agent = self.players.agent_at(await self._as_seen(subject))
            of = self.suite.limits_of
            run = await rollout(
                self.farm,
                subject.detail,
                agent,
                limits=limits_of(subject.detail.scenario, of, self.suite.limits),
                person=self.players.person_at(subject),
                rules=rules_of(subject.detail.scenario, of),
                seed=self.suite.run.seed + attempt,
                http_client=http,
                with_effects=True,
                answers=self.suite.answers,
                perturb=self.suite.perturb,
            )
            self.broken_in_a_row = self.broken_in_a_row + 1 if run.outcome == "infra_error" else 0
            if run.outcome != "infra_error" or len(broken) >= self.suite.run.retries:
                break
            self._stop_if_all_breaks(run)
            broken.append(run.error)
            await self.sleep(min(LONGEST_WAIT, FIRST_WAIT * 2 ** (len(broken) - 1)))
        return RolloutRecord.of(self.suite, attempt, run, broken)

    def _stop_if_all_breaks(self, run: Rollout) -> None:
        """Raise InfraError if too many tries broke, of this rollout and of those beside it, and none was judged."""
        plan = self.suite.run
        if self.broken_in_a_row >= max(MOST_BROKEN_IN_A_ROW, 2 * plan.concurrency if plan.retries else 0):
            raise InfraError(
                f"{self.broken_in_a_row} tries in a row broke, the last one by: {run.error}; "
                "once that is mended, the same command goes on where it stopped"
            )


def _make_sure_of_servers(agent: Agent, detail: ScenarioDetail) -> None:
    """An agent that plays by itself gets one server. Raises RequestError if a scenario has two."""
    if isinstance(agent, CommandAgent) and detail.scenario.second is not None:
        raise RequestError(
            f"{detail.environment}/{detail.scenario.id} is over two environments, and an agent that plays by itself "
            "gets one server; leave it out (without_tags), or let a model play"
        )


def _subject(
    detail: ScenarioDetail, environment: EnvironmentDetail, reference: Rollout | None, beside: EnvironmentDetail | None
) -> Subject:
    both = (environment, *([beside] if beside else ()))
    names = [[tool.name for tool in one.tools] for one in both]
    writing = [{tool.name for tool in one.tools if tool.writes} for one in both]
    shown = routes([one.id for one in both], names) if beside else {name: Route(0, name) for name in names[0]}
    writers = tuple(name for name, route in shown.items() if route.tool in writing[route.at])
    source = environment.provenance.source if detail.scenario.is_of_benchmark else ""
    return Subject(detail=detail, writers=writers, reference=reference, source=source)


def _stands(reference: Rollout | None) -> bool:
    """True if a reference solution earned the whole reward."""
    return reference is not None and reference.success is True


async def reference_of(
    farm: FarmClient, detail: ScenarioDetail, *, seed: int, perturb: str = "", http: httpx2.AsyncClient | None = None
) -> Rollout | None:
    """A played rollout of a scenario's reference solution, as it is made under a perturbation. None if it has none."""
    if detail.scenario.solution is None:
        return None
    return await rollout(
        farm,
        detail,
        gold_model(seen_solution(detail.scenario.solution, await view_at(farm, detail.environment, perturb))),
        limits=REFERENCE_LIMITS,
        seed=seed,
        perturb=perturb,
        http_client=http,
        with_effects=True,
    )


def _named(job: tuple[Subject, int]) -> tuple[str, str, int]:
    subject, attempt = job
    return subject.detail.environment, subject.detail.scenario.id, attempt
