"""The stage `solve`: a solver plays the task, and its shortest passing run becomes the reference."""

import json
from contextlib import suppress
from dataclasses import dataclass

from agent_client.trace import Trace
from servers.errors import BundleError
from servers.records import Record
from servers.scenario.scenario import Scenario, Solution
from synth.forward.checks import Checks
from synth.forward.checks_stage import drafted
from synth.forward.proposal_stages import Idea
from synth.forward.solution import solutions
from synth.forward.solver import Solver
from synth.forward.solver_runs import (
    Runs,
    SolverRun,
    attempt_of,
    has_passed,
)
from synth.forward.transcript import evidence
from synth.llm.writer import digest_of
from synth.pipeline.asker import Asker
from synth.pipeline.stage import Artefacts, GoBack
from synth.play.playground import Playground
from synth.solutions.reference_run import played


class Solved(Record):
    """The solver's results. `solution` is its shortest passing run."""

    solver: str
    attempts: tuple[SolverRun, ...]
    solution: Solution

    @property
    def passed(self) -> int:
        """The number of passing attempts."""
        return sum(attempt.passed for attempt in self.attempts)


@dataclass(frozen=True)
class Solving:
    """Runs are stored by rows and task: changed checkpoints judge them again, and nobody plays twice."""

    bundle: Playground
    solver: Solver

    async def make(self, made: Artefacts, _asker: Asker) -> Record:
        """Let the solver play. Raises GoBack if no attempt passes, WriterUnreachable if the solver is down."""
        checks = made[Checks]
        draft = drafted(made.environment, made[Idea], checks)
        runs = Runs(made, self._key(draft))
        kept = runs.kept(self.solver.attempts)
        rollouts = await self.solver.play(self.bundle.folder, draft, kept, runs.keep)
        passing = [one.trace for one in rollouts if has_passed(one) and one.trace is not None]
        if not passing:
            asked = json.dumps(checks.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False, indent=1)
            raise GoBack("proposal", [f"The checkpoints:\n{asked}", *evidence(rollouts)])
        attempts = tuple(attempt_of(one, runs.name(seed)) for seed, one in enumerate(rollouts))
        shortest = min(passing, key=lambda trace: trace.calls)
        return Solved(
            solver=self.solver.model.name, attempts=attempts, solution=await self._reference(shortest, draft, checks)
        )

    def _key(self, draft: Scenario) -> str:
        start = {"setup": draft.setup, "task": draft.task, "environment": self.bundle.environment.digest}
        return digest_of({**start, "solver": self.solver.model.name})[:12]

    async def _reference(self, trace: Trace, draft: Scenario, checks: Checks) -> Solution:
        """The first form of a run that passes when it is repeated without its agent."""
        for solution in solutions(trace, draft.task, checks.free):
            with suppress(BundleError):
                if await self._passes(draft.model_copy(update={"solution": solution})):
                    return solution
        raise GoBack("checks", ["A run that passed does not pass when its calls are made again; why?"])

    async def _passes(self, scenario: Scenario) -> bool:
        one = await played(self.bundle, scenario)
        try:
            async with one.scene.reading() as reader:
                said = await one.judged(reader)
        finally:
            await one.scene.close()
        return said.success
