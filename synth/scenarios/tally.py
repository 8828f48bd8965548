"""What the scenarios so far use, so that the next ones use something else."""

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from servers.scenario import Scenario

LITERAL = re.compile(r"'(\w+)'")


@dataclass
class Tally:
    """What the scenarios so far use, so that the next ones use something else; and why walks were dropped."""

    tools: Counter[str] = field(default_factory=Counter[str])
    people: Counter[str] = field(default_factory=Counter[str])
    told: set[str] = field(default_factory=set[str])
    dropped: Counter[str] = field(default_factory=Counter[str])

    def take(self, scenario: Scenario, tools: Collection[str]) -> None:
        """Count a scenario that was accepted."""
        self.tools.update(tag for tag in scenario.tags if tag in tools)
        self.people[scenario.title.partition(":")[0]] += 1
        self.told.add(signature(scenario))


@dataclass(frozen=True)
class Wish:
    """What kind of story is wanted."""

    id: str
    commands: int
    refusal: bool


def signature(scenario: Scenario) -> str:
    """What tells whether two scenarios ask for the same: their tools, whose they are, and the rows that they judge."""
    keys = sorted({key for one in scenario.checkpoints for key in LITERAL.findall(one.model_dump_json())})
    told = sorted(one.sql for one in scenario.checkpoints if one.kind == "sql" and ":answer" in one.sql)
    only_told = len(told) == len(scenario.checkpoints) - 1
    return str((sorted(scenario.tags), scenario.title.partition(":")[0], keys, told if only_told else ""))
