"""The stage `certify`: the scenario with its certificate, or the findings for the writer of its checkpoints."""

from dataclasses import dataclass

from servers.records import Record
from servers.scenario.scenario import PlayRecord, Scenario
from synth.certify.certifier import Examined, examine
from synth.forward.checks import Checks
from synth.forward.checks_stage import drafted
from synth.forward.proposal_stages import Idea
from synth.forward.solve_stage import Solved
from synth.pipeline.asker import Asker
from synth.pipeline.stage import Artefacts, GoBack
from synth.play.playground import Playground
from synth.solutions.last_line import judged_by_line

MOST_TOLD = 20


class Certified(Record):
    """A scenario with its certificate."""

    scenario: Scenario


@dataclass(frozen=True)
class Certifying:
    """The certificate that every scenario needs."""

    bundle: Playground

    async def make(self, made: Artefacts, _asker: Asker) -> Record:
        """Examine it. Raises GoBack if it gets no certificate."""
        solved = made[Solved]
        tried = PlayRecord(model=solved.solver, attempts=len(solved.attempts), passed=solved.passed)
        scenario = drafted(made.environment, made[Idea], made[Checks], solved.solution, tried)
        scenario = judged_by_line(scenario, self.bundle.environment.description.clock)
        seen = await examine(self.bundle, scenario)
        if seen.certificate is None:
            raise GoBack("checks", _told(seen))
        return Certified(scenario=scenario.model_copy(update={"certificate": seen.certificate}))


def _told(seen: Examined) -> list[str]:
    """The findings, and the mutants that pass."""
    alive = [f"passes, although it is wrong: {tried.what}" for tried in seen.mutants if not tried.fails]
    return [*seen.findings, *alive[:MOST_TOLD]]
