"""A picture of environments: what their proofs show, and what their scenarios' certificates say. One HTML file."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from servers.bundle import Environment, load, load_scenarios
from servers.certified import is_current
from servers.scenario import Certificate, Scenario
from synth.page import Bar, histogram, page
from synth.proving.proof import Proof, RuleShown

TEMPLATE = Path(__file__).with_name("picture.html")


class Card(NamedTuple):
    """One environment of the picture. `certificates` are those that are about its scenarios as they are."""

    environment: Environment
    proof: Proof | None
    scenarios: list[Scenario]
    certificates: list[Certificate]

    @property
    def forward(self) -> int:
        """How many scenarios a writer proposed."""
        return sum("forward" in scenario.tags for scenario in self.scenarios)

    @property
    def claimed(self) -> list[RuleShown]:
        """The rules that a tool or the schema claims to hold."""
        return [rule for rule in (self.proof.rules.values() if self.proof else ()) if rule.holder != "agent"]

    @property
    def kill_score(self) -> float:
        """The median of its scenarios."""
        return median([one.kill_score for one in self.certificates] or [0.0])

    @property
    def tools(self) -> list[Bar]:
        """In how many scenarios each tool is used by the reference."""
        used = Counter(tool for one in self.certificates for tool in one.difficulty.tools)
        most = max(used.values(), default=1)
        return [Bar(tool, used[tool], 100 * used[tool] / most) for tool in self.environment.tools]

    @property
    def rules(self) -> list[Bar]:
        """How many calls each rule was seen to refuse."""
        seen = {name: rule.refused for name, rule in (self.proof.rules.items() if self.proof else ())}
        most = max(1, *seen.values()) if seen else 1
        return [Bar(name, count, 100 * count / most) for name, count in seen.items()]


def card_of(folder: Path, proof: Proof | None) -> Card:
    """What is known of a bundle. Raises BundleError."""
    environment = load(folder)
    scenarios = list(load_scenarios(environment).values())
    current = [one.certificate for one in scenarios if one.certificate is not None and is_current(environment, one)]
    return Card(environment, proof, scenarios, current)


def picture(cards: Sequence[Card]) -> str:
    """The page."""
    every = [one for card in cards for one in card.certificates]
    numbers = {
        "kill score, %": [int(100 * one.kill_score) for one in every],
        "calls of the reference": [one.difficulty.calls for one in every],
        "tools in a scenario": [len(one.difficulty.tools) for one in every],
        "tables that change": [len(one.difficulty.tables) for one in every],
    }
    return page(
        TEMPLATE,
        cards=cards,
        certificates=every,
        kill_score=median([one.kill_score for one in every] or [0.0]),
        survivors=sum(len(one.survivors) for one in every),
        histograms=[histogram(name, values) for name, values in numbers.items() if values],
    )
