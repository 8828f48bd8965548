"""One episode: lease an instance, let an agent play on it over MCP, score the state, close.

A model is driven from here. A program or a function plays by itself, and its calls are read from the farm's history.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field

from agent_client.events import CallAnswered, EpisodeEnd, EpisodeStart, Event, ModelReply
from agent_client.model import Model
from agent_client.person import Person
from agent_client.play import Limits, play
from agent_client.rules import OWN, Rules
from agent_client.trace import Trace, Turn
from evals.effects import Effect, effects_of, history_of, matched
from evals.programs.agent_task import AgentTask
from evals.programs.function import AgentFunction
from evals.programs.program import AgentProgram
from evals.programs.recorded_trace import recorded_trace
from registry.client import LeasedInstance
from registry.messages import Score
from servers.errors import FarmError, RequestError
from servers.records import Record

FixedTurnsOf = Callable[[LeasedInstance], Person]
"""Makes the user of a task with fixed turns, who marks each at the instance."""
OwnAgent = AgentProgram | AgentFunction
"""Agents that are not driven from here: they get a URL and a token, and play by themselves."""


class Timings(Record):
    """When a rollout began (seconds since 1970), and the seconds that each part took."""

    began: float
    launch: float = 0.0
    play: float = 0.0
    score: float = 0.0


@dataclass
class Episode:
    """An episode under way, and its results so far. They survive any error.

    With `begun` it goes on after these turns, on a fork of the instance that they were played on.
    """

    rules: Rules = OWN
    begun: Sequence[Turn] = ()
    began: float = field(default_factory=time.time)
    marks: list[float] = field(default_factory=lambda: [time.monotonic()])
    trace: Trace | None = None
    score: Score | None = None
    effects: tuple[Effect, ...] | None = None

    async def run(
        self,
        leasing: AbstractAsyncContextManager[LeasedInstance],
        model: Model | OwnAgent,
        task: str,
        *,
        limits: Limits,
        person: Person | None = None,
        turns: FixedTurnsOf | None = None,
        with_effects: bool = False,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        """Play it once. Raises FarmError and FarmUnreachable if the farm fails."""
        async with leasing as live:
            self._mark()
            if isinstance(model, (AgentProgram, AgentFunction)):
                await self._watch(model, live, task, limits.seconds, with_effects=with_effects, on_event=on_event)
                return
            async with live.connect() as tools:
                speaking = person if turns is None else turns(live)
                self.trace = await play(
                    model,
                    tools,
                    task,
                    limits=limits,
                    person=speaking,
                    rules=self.rules,
                    begun=self.begun,
                    on_event=on_event,
                )
            self._mark()
            self.score = await live.score(self.trace.answer)
            self._mark()
            if with_effects:
                self.effects = await effects_of(live, tools, self.trace)

    async def _watch(
        self,
        agent: OwnAgent,
        live: LeasedInstance,
        text: str,
        seconds: float,
        *,
        with_effects: bool,
        on_event: Callable[[Event], None] | None,
    ) -> None:
        """Let an agent play by itself. Then judge a copy, which the agent never had: what it does later counts for
        nothing."""
        if live.second is not None:
            raise RequestError(
                "an agent that plays by itself gets one server, and this scenario is over two environments"
            )
        async with live.connect() as toolbox:
            task = AgentTask(
                environment=live.environment,
                url=live.url,
                token=live.token,
                task=text,
                instructions=toolbox.instructions,
                tools=toolbox.tools,
                seconds=seconds,
            )
        if on_event is not None:
            on_event(EpisodeStart(text, agent.name, len(task.tools)))
        ending = await agent.work(task)
        self._mark()
        [copy] = await live.farm.fork(live.id)
        try:
            with suppress(FarmError):
                await live.farm.close(live.id)
            history = await history_of(live.farm, copy.instance)
            self.trace = recorded_trace(task, agent.name, history or (), ending)
            if on_event is not None:
                _tell(self.trace, on_event)
            self.score = await live.farm.score(copy.instance, self.trace.answer)
            self._mark()
            if with_effects and history is not None:
                self.effects = tuple(matched(self.trace, history))
        finally:
            with suppress(FarmError):
                await live.farm.close(copy.instance)

    @property
    def error(self) -> str:
        """Why it did not finish, or could not be judged. Empty if it did."""
        return (self.trace.error if self.trace else "") or (self.score.error if self.score else None) or ""

    @property
    def timings(self) -> Timings:
        parts = [later - earlier for earlier, later in zip(self.marks, self.marks[1:], strict=False)]
        launch, played, score = [*parts, 0.0, 0.0, 0.0][:3]
        return Timings(began=self.began, launch=launch, play=played, score=score)

    def _mark(self) -> None:
        """Record the duration of one more part."""
        self.marks.append(time.monotonic())


def _tell(trace: Trace, tell: Callable[[Event], None]) -> None:
    """Tell a whole episode at its end."""
    for number, turn in enumerate(trace.turns, 1):
        tell(ModelReply(number, turn))
        for call, result in zip(turn.calls, turn.results, strict=True):
            tell(CallAnswered(call, result))
    tell(EpisodeEnd(trace))
