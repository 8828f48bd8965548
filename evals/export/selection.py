"""The selection of rollouts that become training examples, with a reason for each that does not."""

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evals.effects import made
from evals.export.training_example import TrainingExample, example, unusable
from evals.rollout import Rollout
from servers.errors import RequestError

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
WRITTEN = re.compile(r"\s*(\w+)\s*(==|!=|<=|>=|<|>|=)\s*(.*?)\s*")
NUMBERS: dict[str, Callable[[Rollout], float]] = {
    "reward": lambda run: run.reward or 0.0,
    "turns": lambda run: len(run.trace.turns) if run.trace else 0,
    "calls": lambda run: run.trace.calls if run.trace else 0,
    "errors": lambda run: sum(bool(result and result.is_error) for _, result in made(run.trace)) if run.trace else 0,
    "tokens": lambda run: run.trace.tokens if run.trace else 0,
}
WORDS: dict[str, Callable[[Rollout], str]] = {
    "success": lambda run: str(run.success).lower(),
    "outcome": lambda run: run.outcome,
    "environment": lambda run: run.environment,
    "scenario": lambda run: run.scenario,
}


class Condition(NamedTuple):
    """A filter: its text and its predicate."""

    text: str
    field: str
    holds: Callable[[Rollout], bool]


def condition(text: str) -> Condition:
    """Parse a filter such as `reward>=0.5`. Raises RequestError if it is not valid."""
    found = WRITTEN.fullmatch(text)
    if found is None:
        raise RequestError(f"--filter {text!r}: write FIELD OPERATOR VALUE, for example reward>=0.5")
    name, sign, value = found.groups()
    if name in NUMBERS:
        return _numeric(text, name, OPERATORS[sign], value)
    if name not in WORDS:
        raise RequestError(f"--filter {text!r}: no field {name!r}; there are: {', '.join([*WORDS, *NUMBERS])}")
    if sign not in ("=", "==", "!="):
        raise RequestError(f"--filter {text!r}: {name} is compared with = or !=")
    word, same = WORDS[name], sign != "!="

    def holds(run: Rollout) -> bool:
        return (word(run) == value) is same

    return Condition(text, name, holds)


def _numeric(text: str, name: str, compare: Callable[[Any, Any], bool], value: str) -> Condition:
    try:
        number = float(value)
    except ValueError:
        raise RequestError(f"--filter {text!r}: {name} is compared with a number, not {value!r}") from None

    def holds(run: Rollout) -> bool:
        return compare(NUMBERS[name](run), number)

    return Condition(text, name, holds)


@dataclass
class RolloutSelection:
    """Selects rollouts. Enter each once. `dropped` counts the others by reason."""

    conditions: tuple[Condition, ...] = ()
    most_characters: int | None = None
    per_scenario: int | None = None
    keep_duplicates: bool = False
    with_thinking: bool = True
    errors_in_loss: bool = False
    seen: int = 0
    dropped: Counter[str] = field(default_factory=Counter[str])
    _signatures: set[str] = field(default_factory=set[str])
    _taken: Counter[str] = field(default_factory=Counter[str])

    def __post_init__(self) -> None:
        if not any(one.field in ("success", "reward") for one in self.conditions):
            self.conditions = (condition("success=true"), *self.conditions)

    def taken(self, rollouts: Iterable[tuple[str, str, Rollout]]) -> Iterator[TrainingExample]:
        """The examples of rollouts, each with its name and its agent."""
        for name, agent, run in rollouts:
            self.seen += 1
            reason, made_of = self._judged(name, agent, run)
            if made_of is None:
                self.dropped[reason] += 1
                continue
            self._signatures.add(made_of.signature)
            self._taken[f"{run.environment}/{run.scenario}"] += 1
            yield made_of

    def _judged(self, name: str, agent: str, run: Rollout) -> tuple[str, TrainingExample | None]:
        """The example of a rollout, or the reason why it has none."""
        if run.outcome == "infra_error" or run.trace is None or run.reward is None:
            return "infra error: nothing is known of the agent", None
        for one in self.conditions:
            if not one.holds(run):
                return f"not {one.text}", None
        problem = unusable(run.trace)
        if problem is not None:
            return problem, None
        made_of = example(name, agent, run, with_thinking=self.with_thinking, errors_in_loss=self.errors_in_loss)
        refusal = self._too_much(made_of)
        return (refusal, None) if refusal else ("", made_of)

    def _too_much(self, made_of: TrainingExample) -> str:
        """Why an example exceeds a limit. Empty if it does not."""
        if self.most_characters is not None and made_of.characters > self.most_characters:
            return f"longer than {self.most_characters:,} characters"
        if not self.keep_duplicates and made_of.signature in self._signatures:
            return "a duplicate of one taken before"
        scenario = f"{made_of.environment}/{made_of.scenario}"
        if self.per_scenario is not None and self._taken[scenario] >= self.per_scenario:
            return f"more than {self.per_scenario} of one scenario"
        return ""
