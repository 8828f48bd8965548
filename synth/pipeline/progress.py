"""The progress of a run: the stage of each environment, requests, costs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from servers.records import Record
from synth.pipeline.asker import WriterExchange

MILLION = 1_000_000


class Prices(Record):
    """The price of a million tokens, in any currency."""

    prompt: float = 0.0
    completion: float = 0.0

    def of(self, exchange: WriterExchange) -> float:
        """The original price of an exchange."""
        return (exchange.prompt_tokens * self.prompt + exchange.completion_tokens * self.completion) / MILLION


@dataclass
class ProgressRow:
    """One environment, or all together. Cached exchanges cost nothing here: they were paid for before."""

    stage: str = ""
    state: str = "under way"
    why: str = ""
    asked: int = 0
    rejected: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    money: float = 0.0
    here: int = 0
    """The number of requests in the current stage."""


@dataclass
class RunProgress:
    """The progress events of a run."""

    prices: Prices = field(default_factory=Prices)
    on_stage: Callable[[str, ProgressRow], None] | None = None
    on_end: Callable[[str, ProgressRow], None] | None = None
    on_exchange: Callable[[str, WriterExchange], None] | None = None
    total: ProgressRow = field(default_factory=ProgressRow)
    _rows: dict[str, ProgressRow] = field(default_factory=dict[str, ProgressRow])

    @property
    def rows(self) -> Mapping[str, ProgressRow]:
        """The environments in the order of their start."""
        return self._rows

    def stage(self, environment: str, stage: str) -> None:
        """An environment begins a stage. Before its first, the stage is empty."""
        row = self._row(environment)
        row.stage, row.here = stage, 0
        if stage and self.on_stage is not None:
            self.on_stage(environment, row)

    def exchange(self, environment: str, exchange: WriterExchange) -> None:
        """The writer has answered."""
        row = self._row(environment)
        row.here += 1
        if self.on_exchange is not None:
            self.on_exchange(environment, exchange)
        for one in (row, self.total):
            one.asked += 1
            one.rejected += bool(exchange.reasons)
            one.cached += exchange.cached
            if not exchange.cached:
                one.prompt_tokens += exchange.prompt_tokens
                one.completion_tokens += exchange.completion_tokens
                one.money += self.prices.of(exchange)

    def end(self, environment: str, state: str, why: str) -> None:
        """An environment ends in this run."""
        row = self._row(environment)
        row.state, row.why = state, why
        if self.on_end is not None:
            self.on_end(environment, row)

    def count(self, state: str) -> int:
        """The number of environments in a state."""
        return sum(row.state == state for row in self._rows.values())

    def _row(self, environment: str) -> ProgressRow:
        return self._rows.setdefault(environment, ProgressRow())
