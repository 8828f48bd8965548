"""A run of forward generation: rounds of proposals, each processed until it is certified or dropped."""

import asyncio
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import NamedTuple

from servers.scenario.scenario import Scenario
from synth.forward.certify_stage import Certified, Certifying
from synth.forward.checks import Checks
from synth.forward.checks_stage import Checking
from synth.forward.proposal import Proposal
from synth.forward.proposal_stages import Idea, Ideas, Proposals, Round
from synth.forward.scenario_chains import RunOutcome, ScenarioChains
from synth.forward.solve_stage import Solved, Solving
from synth.forward.solver import Solver
from synth.pipeline.artefact import Artefact, Topic
from synth.pipeline.folder import SynthesisFolder
from synth.pipeline.stage import Stage
from synth.play.playground import Playground

MOST_AT_ONCE = 8
"""The scenarios proposed in one answer."""
MOST_BARREN = 2
"""Consecutive rounds without a certified scenario that end the run."""


class Batch(NamedTuple):
    """The proposals of one round, by id, and the artefact with them."""

    proposals: dict[str, Proposal]
    artefact: Artefact


@dataclass
class Forward:
    """One bundle, one folder of artefacts. An interrupted run continues. The bundle's playground must be entered."""

    folder: Path
    bundle: Playground
    lines: ScenarioChains
    solver: Solver

    async def run(self, n: int) -> RunOutcome:
        """Propose until there are `n` scenarios of this kind in the output, existing ones included.

        Raises:
            Conflict: another run works in the folder.
            WriterRefused: the endpoint refuses requests.
        """
        with SynthesisFolder(self.folder).locked("--work"):
            barren = 0
            for number in count(1):
                before = len(self._of_this_kind())
                if before >= n or barren == MOST_BARREN or self.lines.outcome.is_stopped:
                    break
                batch = await self._proposed(f"round_{number:02}", min(n - before, MOST_AT_ONCE))
                if batch is None:
                    break
                await asyncio.gather(*(self._one(name, batch) for name in batch.proposals))
                barren = 0 if len(self._of_this_kind()) > before else barren + 1
        return self.lines.outcome

    def _of_this_kind(self) -> list[Scenario]:
        return [one for one in self.lines.shelf.there if one.id.startswith("fwd_")]

    async def _proposed(self, name: str, wanted: int) -> Batch | None:
        """The proposals of a round. None, with the round ended, if there is none."""
        taken = frozenset(self.lines.outcome.ends)
        step = Stage("proposals", Proposals, Round(self.bundle, tuple(self.lines.shelf.there), taken, wanted).make)
        line = self.lines.line(name, self.folder / "rounds" / name, (step,))
        line.begin(Topic(title=f"{name} for {self.bundle.environment.id}"))
        end = await self.lines.advanced(line)
        if end.state != "accepted":
            self.lines.outcome.ends[name] = end
            return None
        artefact = line.line.standing()[-1]
        found = Proposals.model_validate(artefact.value)
        return Batch({proposal.id: proposal for proposal in found.proposals}, artefact)

    async def _one(self, name: str, batch: Batch) -> None:
        proposal = batch.proposals[name]
        line = self.lines.line(name, self.folder / "scenarios" / name, self._steps(batch.proposals))
        line.begin(Topic(title=proposal.title, task=proposal.task))
        end = await self.lines.advanced(line)
        self.lines.ended(name, end)
        if end.state == "accepted":
            standing = [batch.artefact, *line.line.standing()]
            self.lines.shelve(Certified.model_validate(standing[-1].value).scenario, standing, "synthesised forward")

    def _steps(self, proposals: dict[str, Proposal]) -> tuple[Stage, ...]:
        bundle = self.bundle
        return (
            Stage("proposal", Idea, Ideas(bundle, proposals, tuple(self.lines.shelf.there)).make),
            Stage("checks", Checks, Checking(bundle).make),
            Stage("solve", Solved, Solving(bundle, self.solver).make, needs_model=False, backs=1),
            Stage("certify", Certified, Certifying(bundle).make, needs_model=False, backs=1),
        )
