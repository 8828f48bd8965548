"""The stages `meet`, where a solver talks with a simulated user, and `certify`, which only a proof passes."""

from dataclasses import dataclass

from servers.records import Record
from servers.scenario.scenario import PlayRecord, Scenario
from synth.certify.certifier import examine
from synth.conversation.talk import Talk
from synth.conversation.talk_stage import conversation
from synth.forward.certify_stage import Certified
from synth.forward.solver import Solver
from synth.forward.solver_runs import (
    Runs,
    SolverRun,
    attempt_of,
    has_passed,
)
from synth.forward.transcript import evidence
from synth.llm.writer import digest_of
from synth.pipeline.asker import Asker, Rejected
from synth.pipeline.stage import Artefacts, GoBack
from synth.play.playground import Playground


class Met(Record):
    """The results of the conversations. Each whole conversation is in its `file`."""

    solver: str
    user: str
    attempts: tuple[SolverRun, ...]

    @property
    def played(self) -> PlayRecord:
        """The number of attempts, and of those with reward 1."""
        passed = sum(attempt.passed for attempt in self.attempts)
        return PlayRecord(model=self.solver, attempts=len(self.attempts), passed=passed)


@dataclass(frozen=True)
class Meeting:
    """Runs are stored as soon as they end, so an interrupted stage repeats none."""

    bundle: Playground
    solver: Solver
    origin: Scenario

    async def make(self, made: Artefacts, _asker: Asker) -> Record:
        """Play the conversations. Raises GoBack if none passes, WriterUnreachable if a model is down."""
        scenario = conversation(self.origin, made[Talk])
        user = self.solver.user.name if self.solver.user else ""
        runs = Runs(made, self._key(scenario, user))
        kept = runs.kept(self.solver.attempts)
        rollouts = await self.solver.play(self.bundle.folder, scenario, kept, runs.keep)
        if not any(map(has_passed, rollouts)):
            raise GoBack("talk", list(evidence(rollouts)))
        attempts = tuple(attempt_of(one, runs.name(seed)) for seed, one in enumerate(rollouts))
        return Met(solver=self.solver.model.name, user=user, attempts=attempts)

    def _key(self, scenario: Scenario, user: str) -> str:
        told = scenario.model_dump(mode="json", exclude_defaults=True)
        players = {"solver": self.solver.model.name, "user": user}
        return digest_of({"scenario": told, "environment": self.bundle.environment.digest, **players})[:12]


@dataclass(frozen=True)
class CertificateGate:
    """The certificate that every scenario needs."""

    bundle: Playground
    origin: Scenario

    async def make(self, made: Artefacts, _asker: Asker) -> Record:
        """Examine it. Raises Rejected if it gets no certificate."""
        scenario = conversation(self.origin, made[Talk]).model_copy(update={"played": made[Met].played})
        seen = await examine(self.bundle, scenario)
        if seen.certificate is None:
            raise Rejected("certify", seen.findings)
        return Certified(scenario=scenario.model_copy(update={"certificate": seen.certificate}))
