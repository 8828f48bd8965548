"""Recorded runs as a run folder of ours: each is played again on an instance of its scenario, and judged."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent_client.errors import AgentError
from agent_client.model import Message, Reply
from agent_client.person import ScriptedPerson
from agent_client.play import Limits
from agent_client.trace import ToolSpec
from agent_client.wire import shared_http
from evals.rollout import Rollout, for_each, rollout
from evals.runs.folder import RunFolder
from evals.runs.records import Header, RolloutRecord, Subject
from evals.runs.suite import ChatAgent, Suite, SuitePlan
from registry.client import FarmClient
from registry.farm import private
from servers.bundle.environment import load
from servers.errors import FarmError, RequestError
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import load_scenarios
from synth.interop.trajectories.recorded_runs import RecordedRun

AT_ONCE = 8
SECONDS = 3600.0
AGENT = "recorded by EnvScaler"
STOPPED = "the record ends here: its agent had reached its limit of steps"


class RecordedReplies:
    """A model that says and calls what another one did."""

    name = AGENT

    def __init__(self, replies: Sequence[Reply], *, ends: bool) -> None:
        self._replies = list(replies)
        if ends and self._replies and not self._replies[-1].calls:
            self._replies[-1] = replace(self._replies[-1], final=True)
        self._said = 0

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """The next reply. Raises AgentError after the last one."""
        if self._said == len(self._replies):
            raise AgentError(STOPPED)
        self._said += 1
        return self._replies[self._said - 1]


@dataclass
class Replayed:
    """How many runs were played, how they ended, and the reasons for the others."""

    rollouts: list[Rollout] = field(default_factory=list[Rollout])
    left_out: list[str] = field(default_factory=list[str])


async def replayed(
    runs: Sequence[RecordedRun], library: Path, folder: RunFolder, played: Callable[[], None]
) -> Replayed:
    """Play recorded runs in imported bundles, judge them, and write a run folder.

    Raises:
        RequestError: no run has a scenario in the library.
    """
    found = Replayed()
    planned = list(_planned(runs, library, found.left_out))
    if not planned:
        raise RequestError(f"none of these runs has a scenario in {library}: {'; '.join(found.left_out[:3])}")
    attempts = Counter((run.environment, scenario) for run, scenario in planned)
    suite = Suite(
        name=AGENT,
        agent=ChatAgent(kind="chat", model=AGENT),
        run=SuitePlan(attempts=min(max(attempts.values()), 1000)),
        limits=Limits(turns=1 + max(len(run.replies) for run, _ in planned), seconds=SECONDS),
    )
    with folder.writing():
        async with private((library,)) as address, FarmClient(address.url, address.token) as farm:
            details = {one: await farm.scenario(*one) for one in attempts}
            subjects = [Subject(detail=detail, writers=(), reference=None) for detail in details.values()]
            folder.begin(Header.of(suite, len(subjects)).model_copy(update={"rollouts": len(planned)}), subjects)
            async with shared_http(2 * AT_ONCE) as http:

                async def play(one: tuple[RecordedRun, str, int]) -> None:
                    run, scenario, attempt = one
                    made = await rollout(
                        farm,
                        details[run.environment, scenario],
                        RecordedReplies(run.replies, ends=not run.user),
                        limits=suite.limits,
                        person=ScriptedPerson(run.user, name=AGENT) if run.user else None,
                        seed=attempt,
                        http_client=http,
                        with_effects=True,
                    )
                    folder.append(RolloutRecord.of(suite, attempt, made))
                    found.rollouts.append(made)
                    played()

                await for_each(_numbered(planned), play, at_once=AT_ONCE)
    return found


def _numbered(planned: Sequence[tuple[RecordedRun, str]]) -> Iterator[tuple[RecordedRun, str, int]]:
    """The runs, each with the number of those at its scenario before it."""
    seen = Counter[tuple[str, str]]()
    for run, scenario in planned:
        yield run, scenario, seen[run.environment, scenario]
        seen[run.environment, scenario] += 1


def _planned(runs: Sequence[RecordedRun], library: Path, left_out: list[str]) -> "list[tuple[RecordedRun, str]]":
    """The runs with the ids of their scenarios, found by the task's text, or by the id if the record has no text."""
    scenarios: dict[str, dict[str, Scenario] | str] = {}
    planned: list[tuple[RecordedRun, str]] = []
    for run in runs:
        if run.environment not in scenarios:
            try:
                scenarios[run.environment] = load_scenarios(load(library / run.environment))
            except FarmError as problem:
                scenarios[run.environment] = str(problem)
        there = scenarios[run.environment]
        if isinstance(there, str):
            left_out.append(f"{run.place}: {there}")
            continue
        same = [name for name, one in there.items() if one.task == run.task or not run.task]
        name = run.scenario if run.scenario in same else next(iter(same if run.task else ()), None)
        if name is None:
            left_out.append(f"{run.place}: {run.environment} has no scenario with its task, so nothing can judge it")
        else:
            planned.append((run, name))
    return planned
