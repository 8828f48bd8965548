"""The progress of a run: a live table on a terminal, otherwise an occasional line."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from evals.runs.records import RolloutRecord, Subject
from servers.text.terminal import marked
from servers.text.wording import counted

MILLION = 1_000_000
LINES = 20
"""The number of progress lines of a whole run without a terminal."""


@dataclass
class RolloutCounts:
    """The counts of one environment, or of all."""

    planned: int = 0
    running: int = 0
    done: int = 0
    judged: int = 0
    successes: int = 0
    reward: float = 0.0
    timeouts: int = 0
    agent_errors: int = 0
    broken: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    def add(self, played: RolloutRecord) -> None:
        run = played.rollout
        self.done += 1
        self.timeouts += run.outcome == "timeout"
        self.agent_errors += run.outcome == "agent_error"
        self.broken += run.outcome == "infra_error"
        if run.trace is not None:
            self.calls += run.trace.calls
            self.tokens_in += sum(turn.tokens_in for turn in run.trace.turns)
            self.tokens_out += sum(turn.tokens_out for turn in run.trace.turns)
        if run.reward is not None:
            self.judged += 1
            self.successes += bool(run.success)
            self.reward += run.reward

    def cells(self) -> tuple[str | Text, ...]:
        share = f"{self.successes / self.judged:.1%}" if self.judged else "–"
        reward = f"{self.reward / self.judged:.3f}" if self.judged else "–"
        broken = marked("[magenta]{}[/]", self.broken) if self.broken else "0"
        trouble = (str(self.timeouts), str(self.agent_errors), broken)
        return f"{self.done}/{self.planned}", share, reward, *trouble, f"{self.calls:,}", f"{self.tokens:,}"


class TokenPrices(NamedTuple):
    """The price of a million tokens, in any currency."""

    prompt: float = 0.0
    completion: float = 0.0


NO_PRICES = TokenPrices()


@dataclass
class SuiteProgress:
    """Shows a run's progress. Enter `live` while it lasts."""

    console: Console
    name: str
    prices: TokenPrices = NO_PRICES
    tallies: dict[str, RolloutCounts] = field(default_factory=dict[str, RolloutCounts])
    total: RolloutCounts = field(default_factory=RolloutCounts)
    began_at: float = field(default_factory=time.monotonic)
    """When the first rollout of this start began."""
    resumed: int = 0
    trouble: str = ""
    """Why the last broken rollout broke."""
    agent_error: str = ""
    """The last error of an agent that ended its rollout."""
    state: str = "looking for scenarios"

    def live(self) -> Live:
        """A table that is redrawn, or without a terminal printed once at the end, if it has a row."""
        return Live(get_renderable=self._shown, console=self.console, refresh_per_second=4)

    def say(self, text: str) -> None:
        """Say what is done before there is a table."""
        self.console.print(text)

    def preparing(self, done: int, of: int) -> None:
        self.state = f"playing the reference solutions: {done} of {of}"
        if done == of:
            self._line(self.state)

    def planned(self, subjects: Sequence[Subject], attempts: int) -> None:
        self.state, self.began_at = "playing", time.monotonic()
        for subject in subjects:
            self.tallies.setdefault(subject.detail.environment, RolloutCounts()).planned += attempts
            self.total.planned += attempts

    def began(self, environment: str) -> None:
        self.tallies[environment].running += 1
        self.total.running += 1

    def ended(self, played: RolloutRecord, *, now: bool) -> None:
        for tally in (self.tallies[played.rollout.environment], self.total):
            tally.add(played)
            tally.running -= now
        if played.rollout.outcome == "infra_error":
            self.trouble = played.rollout.error
        if played.rollout.outcome == "agent_error":
            self.agent_error = played.rollout.error
        self.resumed += not now
        if now and self.total.done % max(1, self.total.planned // LINES) == 0:
            done = f"{self.total.done} of {counted(self.total.planned, 'rollout')}, {self.total.broken} broken"
            self._line(f"{done}{self.cost()}{self._left()}")

    def _shown(self) -> Table | str:
        return self.table() if self.tallies or self.console.is_terminal else ""

    def table(self) -> Table:
        """The table of the run's current state."""
        columns = ("done", "success", "reward", "time\nouts", "agent\nerr", "infra\nerr", "calls", "tokens")
        table = Table(title=self._title(), title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        table.add_column("environment", overflow="fold")  # on a narrow terminal it goes on in the next line
        for column in columns:
            table.add_column(column, justify="right", no_wrap=True)
        for name in sorted(self.tallies):
            table.add_row(name, *self.tallies[name].cells())
        if len(self.tallies) > 1:
            table.add_section()
            table.add_row("all", *self.total.cells())
        return table

    def _title(self) -> str:
        played = self.total.done - self.resumed
        seconds = time.monotonic() - self.began_at
        rate = f", {60 * played / seconds:,.0f} a minute" if played and seconds > 1 else ""
        kept = f", {self.resumed} from before" if self.resumed else ""
        return f"{self.name}: {self.state}, {self.total.running} at work{kept}{rate}{self.cost()}{self._left()}"

    def cost(self) -> str:
        """The agent's tokens so far, and their price if prices are known."""
        if not self.total.tokens:
            return ""
        spent = self.total.tokens_in * self.prices.prompt + self.total.tokens_out * self.prices.completion
        return f", {self.total.tokens:,} tokens" + (f", {spent / MILLION:,.2f} spent" if any(self.prices) else "")

    def _left(self) -> str:
        """The estimated remaining time, from the pace at which this start has rollouts judged. None without any."""
        judged, remaining = self.total.judged - self.resumed, self.total.planned - self.total.done
        if not judged or not remaining:
            return ""
        seconds = remaining * (time.monotonic() - self.began_at) / judged
        return f", {seconds / 60:.0f} min left" if seconds >= 90 else f", {seconds:.0f} s left"

    def _line(self, text: str) -> None:
        if not self.console.is_terminal:
            self.console.print(text)
