"""A picture of environments as one HTML file: their proofs, and their scenarios' certificates."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

from servers.bundle.environment import Environment, load
from servers.scenario.scenario import Certificate, Scenario
from servers.scenario.scenario_file import is_current, load_scenarios
from synth.page import Bar, histogram, page
from synth.prove.proof import Proof, RuleShown

TEMPLATE = Path(__file__).with_name("picture.html")


class Leaked(NamedTuple):
    """The number of scenarios in which a wrong agent can be wrong, its mean reward, and how often it earned 1."""

    agent: str
    scenarios: int
    mean: float
    everything: int


class PictureCard(NamedTuple):
    """One environment of the picture. `certified` holds the certificates that are about its scenarios as they are."""

    environment: Environment
    proof: Proof | None
    scenarios: list[Scenario]
    certified: dict[str, Certificate]

    @property
    def certificates(self) -> list[Certificate]:
        return list(self.certified.values())

    @property
    def forward(self) -> int:
        """The number of scenarios that a writer proposed."""
        return sum("forward" in scenario.tags for scenario in self.scenarios)

    @property
    def claimed(self) -> list[RuleShown]:
        """The rules that a tool or the schema should enforce."""
        return [rule for rule in (self.proof.rules.values() if self.proof else ()) if rule.holder != "agent"]

    @property
    def kill_score(self) -> float:
        """The median over its scenarios, of which there must be one."""
        return median(one.kill_score for one in self.certificates)

    @property
    def leak(self) -> float:
        """The sum of the wrong agents' rewards over all scenarios."""
        return sum(one.leak for one in self.certificates)

    @property
    def by_leak(self) -> list[tuple[str, Certificate]]:
        """Its scenarios, the highest leak first."""
        return sorted(self.certified.items(), key=lambda pair: -pair[1].leak)

    @property
    def tools(self) -> list[Bar]:
        """The number of scenarios whose reference uses each tool."""
        used = Counter(tool for one in self.certificates for tool in one.difficulty.tools)
        most = max(used.values(), default=1)
        return [Bar(tool, used[tool], 100 * used[tool] / most) for tool in self.environment.tools]

    @property
    def rules(self) -> list[Bar]:
        """The number of refused calls of each rule."""
        seen = {name: rule.refused for name, rule in (self.proof.rules.items() if self.proof else ())}
        most = max(1, *seen.values()) if seen else 1
        return [Bar(name, count, 100 * count / most) for name, count in seen.items()]


def card_of(folder: Path, proof: Proof | None) -> PictureCard:
    """What is known of a bundle. Raises BundleError."""
    environment = load(folder)
    scenarios = list(load_scenarios(environment).values())
    current = {one.id: one.certificate for one in scenarios if one.certificate and is_current(environment, one)}
    return PictureCard(environment, proof, scenarios, current)


def picture(cards: Sequence[PictureCard]) -> str:
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
        kill_score=median([one.kill_score for one in every]) if every else None,
        uncertified=sum(len(card.scenarios) - len(card.certified) for card in cards),
        leak=sum(one.leak for one in every),
        company=_company(every),
        survivors=sum(len(one.survivors) for one in every),
        histograms=[histogram(name, values) for name, values in numbers.items() if values],
    )


def _company(certificates: Sequence[Certificate]) -> list[Leaked]:
    """What each wrong agent earned, the agent that earned most first."""
    rewards: dict[str, list[float]] = {}
    for one in certificates:
        for agent, reward in one.company.items():
            rewards.setdefault(agent, []).append(reward)
    earned = [
        Leaked(agent, len(each), mean(each), sum(reward >= 1 for reward in each)) for agent, each in rewards.items()
    ]
    return sorted(earned, key=lambda one: -one.mean * one.scenarios)
