"""The stage `certify`: the scenario with its certificate, or its findings for whoever wrote the checkpoints."""

from dataclasses import dataclass

from servers.record import Record
from servers.scenario import Played, Scenario
from synth.proving.stage import Stage
from synth.run.asker import Asker
from synth.run.stage import GoBack, Made
from synth.scenarios.certify import Examined, examine
from synth.scenarios.forward.checking import drafted
from synth.scenarios.forward.checks import Checks
from synth.scenarios.forward.proposing import Idea
from synth.scenarios.forward.solving import Solved

MOST_TOLD = 20


class Certified(Record):
    """A scenario with its certificate."""

    scenario: Scenario


@dataclass(frozen=True)
class Certifying:
    """The gate of every scenario, whoever made it."""

    bundle: Stage

    async def make(self, made: Made, _asker: Asker) -> Record:
        """Examine it. Raises GoBack where it gets no certificate."""
        solved = made[Solved]
        tried = Played(model=solved.solver, attempts=len(solved.attempts), passed=solved.passed)
        scenario = drafted(made.environment, made[Idea], made[Checks], solved.solution, tried)
        seen = await examine(self.bundle, scenario)
        if seen.certificate is None:
            raise GoBack("checks", _told(seen))
        return Certified(scenario=scenario.model_copy(update={"certificate": seen.certificate}))


def _told(seen: Examined) -> list[str]:
    """The findings, and what passes although it is wrong."""
    alive = [f"passes, although it is wrong: {tried.what}" for tried in seen.mutants if not tried.fails]
    return [*seen.findings, *alive[:MOST_TOLD]]
