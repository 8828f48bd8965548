"""A run of forward generation: rounds of proposals, each taken through its stages until it is certified or dropped."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import NamedTuple

from servers.environment import Provenance
from servers.scenario import Scenario
from synth.proving.stage import Stage
from synth.run.artefact import Artefact
from synth.run.environment import End, Environment, utc_now
from synth.run.folder import RunFolder
from synth.run.line import Line
from synth.run.progress import Progress
from synth.run.stage import Stage as Step
from synth.run.topic import Topic
from synth.scenarios.backward import Shelf
from synth.scenarios.forward.certifying import Certified, Certifying
from synth.scenarios.forward.checking import Checking
from synth.scenarios.forward.checks import Checks
from synth.scenarios.forward.proposal import Proposal
from synth.scenarios.forward.proposing import Idea, Ideas, Proposals, Round
from synth.scenarios.forward.solver import Solver
from synth.scenarios.forward.solving import Solved, Solving
from synth.writers.writer import Writer

MOST_AT_ONCE = 6
"""So many scenarios are proposed in one answer."""
MOST_BARREN = 2
"""So many rounds in a row of which nothing is certified, and the run ends."""


class Batch(NamedTuple):
    """What was proposed in one round, by the scenarios' ids, and the artefact that holds it."""

    proposals: dict[str, Proposal]
    artefact: Artefact


@dataclass
class Outcome:
    """What came of a run: how its scenarios ended, and where they were sent back."""

    ends: dict[str, End] = field(default_factory=dict[str, End])
    backs: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    """How often an answer was refused, by stage."""

    def count(self, state: str) -> int:
        """How many scenarios ended so."""
        return sum(end.state == state for end in self.ends.values())

    @property
    def proposed(self) -> int:
        """How many scenarios were proposed."""
        return sum(name.startswith("fwd_") for name in self.ends)


@dataclass
class Forward:
    """One bundle, one folder of artefacts; a run that was stopped goes on. Give it the bundle's stage, entered."""

    folder: Path
    bundle: Stage
    shelf: Shelf
    writer: Writer
    solver: Solver
    again: bool = False
    progress: Progress = field(default_factory=Progress)
    now: Callable[[], datetime] = utc_now
    outcome: Outcome = field(default_factory=Outcome)

    async def run(self, n: int) -> Outcome:
        """Propose until there are `n` scenarios of this kind on the shelf, those that were there included.

        Raises:
            Conflict: another run works in the folder.
            WriterRefused: nobody will get an answer.
        """
        with RunFolder(self.folder).locked("--work"):
            barren = 0
            for number in count(1):
                before = len(self._of_this_kind())
                if before >= n or barren == MOST_BARREN or self._stopped():
                    break
                batch = await self._proposed(f"round_{number:02}", min(n - before, MOST_AT_ONCE))
                if batch is None:
                    break
                await asyncio.gather(*(self._one(name, batch) for name in batch.proposals))
                barren = 0 if len(self._of_this_kind()) > before else barren + 1
        return self.outcome

    def _of_this_kind(self) -> list[Scenario]:
        return [one for one in self.shelf.there if one.id.startswith("fwd_")]

    def _stopped(self) -> bool:
        return any(end.state not in ("accepted", "rejected") for end in self.outcome.ends.values())

    async def _proposed(self, name: str, wanted: int) -> Batch | None:
        """What is proposed in a round; None, and the round among the ends, where nothing is."""
        taken = frozenset(self.outcome.ends)
        step = Step("proposals", Proposals, Round(self.bundle, tuple(self.shelf.there), taken, wanted).make)
        line = self._line(name, self.folder / "rounds" / name, (step,))
        line.begin(Topic(title=f"{name} for {self.bundle.environment.id}"))
        end = await self._advanced(line)
        if end.state != "accepted":
            self.outcome.ends[name] = end
            return None
        artefact = line.line.standing()[-1]
        found = Proposals.model_validate(artefact.value)
        return Batch({proposal.id: proposal for proposal in found.proposals}, artefact)

    async def _advanced(self, line: Environment) -> End:
        if self.again:
            (line.folder / "rejected.json").unlink(missing_ok=True)
        end = await line.advance()
        self._note(line.line)
        return end

    async def _one(self, name: str, batch: Batch) -> None:
        proposal = batch.proposals[name]
        line = self._line(name, self.folder / "scenarios" / name, self._steps(batch.proposals))
        line.begin(Topic(title=proposal.title, task=proposal.task))
        end = await self._advanced(line)
        self.outcome.ends[name] = end
        self.progress.end(name, end.state, end.why)
        if end.state == "accepted" and all(one.id != name for one in self.shelf.there):
            self._shelve([batch.artefact, *line.line.standing()])

    def _steps(self, proposals: dict[str, Proposal]) -> tuple[Step, ...]:
        bundle = self.bundle
        return (
            Step("proposal", Idea, Ideas(bundle, proposals, tuple(self.shelf.there)).make),
            Step("checks", Checks, Checking(bundle).make),
            Step("solve", Solved, Solving(bundle, self.solver).make, needs_model=False, backs=1),
            Step("certify", Certified, Certifying(bundle).make, needs_model=False, backs=1),
        )

    def _line(self, name: str, folder: Path, steps: Sequence[Step]) -> Environment:
        return Environment(name, folder, steps, self.writer, now=self.now, progress=self.progress)

    def _note(self, line: Line) -> None:
        """Count the answers that were refused and the ways back."""
        for artefact in line.standing():
            self.outcome.refused[artefact.stage] += sum(bool(one.reasons) for one in artefact.exchanges)
        for stage, exchanges in line.given_up():
            self.outcome.refused[stage] += sum(bool(one.reasons) for one in exchanges)
        self.outcome.backs.update(f"{back.by} → {back.to}" for back in line.backs())

    def _shelve(self, standing: Sequence[Artefact]) -> None:
        scenario = Certified.model_validate(standing[-1].value).scenario
        prompts = {one.stage: one.exchanges[-1].prompt[:16] for one in standing if one.exchanges}
        models = {model for one in standing for model in one.models}
        provenance = Provenance(
            source="synthesised forward",
            licence="MIT",
            date=standing[0].made_at[:10],
            model=", ".join(sorted(models)) or None,
            prompts=prompts,
        )
        whole = scenario.model_copy(update={"provenance": provenance})
        self.shelf.add(whole)
        self.shelf.there.append(whole)
