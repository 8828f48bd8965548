"""A run of conversations: certified scenarios, each processed until it is a conversation or dropped."""

import asyncio
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from servers.errors import BundleError, NotFound
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import is_current, load_scenarios
from synth.conversation.choices import FEWEST, needed
from synth.conversation.meet_stage import CertificateGate, Meeting, Met
from synth.conversation.talk import Talk
from synth.conversation.talk_stage import Writing, name_of
from synth.forward.certify_stage import Certified
from synth.forward.scenario_chains import RunOutcome, ScenarioChains
from synth.forward.solver import Solver
from synth.pipeline.artefact import Topic
from synth.pipeline.environment_run import rejection_of
from synth.pipeline.folder import SynthesisFolder
from synth.pipeline.stage import Stage
from synth.play.playground import Playground
from synth.solutions.reference_run import played

MOST_AT_ONCE = 6
"""Scenarios that become conversations concurrently."""
MOST_BARREN = 2
"""Consecutive batches without a certified scenario that end the run."""
TAG = "conversation"


@dataclass
class Converse:
    """One bundle, one folder of artefacts. An interrupted run continues. The bundle's playground must be entered."""

    folder: Path
    bundle: Playground
    lines: ScenarioChains
    solver: Solver
    only: Sequence[str] = ()
    """The scenarios that may become one. Empty means all."""

    async def run(self, n: int) -> RunOutcome:
        """Make conversations until there are `n` in the output, existing ones included, or none is left.

        Raises:
            BundleError: no scenario of the bundle can become one.
            NotFound: a named scenario does not exist.
            Conflict: another run works in the folder.
            WriterRefused: the endpoint refuses requests.
        """
        with SynthesisFolder(self.folder).locked("--work"):
            origins = [origin for origin in self._origins() if await self._is_fit(origin)]
            if not origins and not self._there():
                raise BundleError(
                    f"{self.bundle.environment.id}: none of its scenarios can become a conversation: that takes a "
                    f"certificate that is up to date and {FEWEST} values in the task that no query decides upon; "
                    "--again gives those that were dropped another chance"
                )
            left, barren = iter(origins), 0
            while (before := self._there()) < n and barren < MOST_BARREN and not self.lines.outcome.is_stopped:
                several = list(islice(left, min(n - before, MOST_AT_ONCE)))
                if not several:
                    break
                await asyncio.gather(*map(self._one, several))
                barren = 0 if self._there() > before else barren + 1
        return self.lines.outcome

    def _there(self) -> int:
        """The number of conversations."""
        return sum(TAG in one.tags for one in self.lines.shelf.there)

    def _origins(self) -> Iterator[Scenario]:
        """The scenarios that are not conversations yet, and were not dropped."""
        there = {one.id for one in self.lines.shelf.there}
        every = load_scenarios(self.bundle.environment)
        unknown = [name for name in self.only if name not in every]
        if unknown:
            name = self.bundle.environment.id
            raise NotFound(f"{name} has no scenario {unknown[0]!r}; `farm scenarios {name}` lists them")
        for one in [every[name] for name in self.only] or every.values():
            dropped = rejection_of(self._place(one)) is not None and not self.lines.again
            certified = one.solution is not None and is_current(self.bundle.environment, one)
            if certified and one.persona is None and one.second is None and not dropped and name_of(one) not in there:
                yield one

    async def _is_fit(self, origin: Scenario) -> bool:
        reference = await played(self.bundle, origin)
        await reference.close()
        return needed(reference).is_enough

    async def _one(self, origin: Scenario) -> None:
        name = name_of(origin)
        if self.lines.again and rejection_of(self._place(origin)) is not None:
            shutil.rmtree(self._place(origin))  # its runs too: they would be judged again, and fail again
        line = self.lines.line(name, self._place(origin), self._steps(origin))
        line.begin(Topic(title=origin.title, task=origin.task))
        end = await self.lines.advanced(line)
        self.lines.ended(name, end)
        if end.state == "accepted":
            standing = line.line.standing()
            scenario = Certified.model_validate(standing[-1].value).scenario
            licence = origin.provenance.licence if origin.provenance else "MIT"
            self.lines.shelve(scenario, standing, f"synthesised as a conversation, from {origin.id}", licence)

    def _place(self, origin: Scenario) -> Path:
        return self.folder / "scenarios" / name_of(origin)

    def _steps(self, origin: Scenario) -> tuple[Stage, ...]:
        return (
            Stage("talk", Talk, Writing(self.bundle, origin).make),
            Stage("meet", Met, Meeting(self.bundle, self.solver, origin).make, needs_model=False, backs=1),
            Stage("certify", Certified, CertificateGate(self.bundle, origin).make, needs_model=False),
        )
