"""One episode: lease an instance, let a model play on it over MCP, score the state, close."""

import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from agent_client.events import Event
from agent_client.model import Model
from agent_client.person import Person
from agent_client.play import Limits, play
from agent_client.trace import Trace
from evals.effects import Effect, effects_of
from registry.client import LeasedInstance
from registry.messages import Score
from servers.records import Record


class Timings(Record):
    """When a rollout began (seconds since 1970), and the seconds that each part took."""

    began: float
    launch: float = 0.0
    play: float = 0.0
    score: float = 0.0


@dataclass
class Episode:
    """An episode under way, and its results so far. They survive any error."""

    began: float = field(default_factory=time.time)
    marks: list[float] = field(default_factory=lambda: [time.monotonic()])
    trace: Trace | None = None
    score: Score | None = None
    effects: tuple[Effect, ...] | None = None

    async def run(
        self,
        leasing: AbstractAsyncContextManager[LeasedInstance],
        model: Model,
        task: str,
        *,
        limits: Limits,
        person: Person | None = None,
        with_effects: bool = False,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        """Play it once. Raises FarmError and FarmUnreachable if the farm fails."""
        async with leasing as live:
            self._mark()
            async with live.connect() as toolbox:
                self.trace = await play(model, toolbox, task, limits=limits, person=person, on_event=on_event)
            self._mark()
            self.score = await live.score(self.trace.answer)
            self._mark()
            if with_effects:
                self.effects = await effects_of(live.farm, live.id, self.trace)

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
