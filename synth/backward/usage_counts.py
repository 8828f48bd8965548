"""Usage counts of existing scenarios, so that new ones use something else."""

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from servers.scenario.scenario import Scenario

LITERAL = re.compile(r"'(\w+)'")


@dataclass
class UsageCounts:
    """Counts of tools, rows and people in the scenarios so far."""

    tools: Counter[str] = field(default_factory=Counter[str])
    people: Counter[str] = field(default_factory=Counter[str])
    told: set[str] = field(default_factory=set[str])
    tables: set[str] = field(default_factory=set[str])
    calls: list[int] = field(default_factory=list[int])
    refusals: int = 0

    def copy(self) -> "UsageCounts":
        """An independent copy."""
        return UsageCounts(self.tools.copy(), self.people.copy(), self.told.copy())  # all that a walk goes by

    def take(self, scenario: Scenario, tools: Collection[str]) -> None:
        """Count an accepted scenario."""
        self.tools.update(tag for tag in scenario.tags if tag in tools)
        self.people[scenario.title.partition(":")[0]] += 1
        self.told.add(signature(scenario))
        self.refusals += "refusal" in scenario.tags
        if scenario.certificate is not None:
            self.tables |= set(scenario.certificate.difficulty.tables)
            self.calls.append(scenario.certificate.difficulty.calls)


def signature(scenario: Scenario) -> str:
    """A key that is equal for scenarios that ask for the same: tools, person, and judged rows."""
    keys = sorted({key for one in scenario.checkpoints for key in LITERAL.findall(one.model_dump_json())})
    told = sorted(one.model_dump_json() for one in scenario.checkpoints if one.kind == "answer")
    only_told = len(told) == len(scenario.checkpoints) - 1
    return str((sorted(scenario.tags), scenario.title.partition(":")[0], keys, told if only_told else ""))
