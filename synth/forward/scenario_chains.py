"""Stage chains that make scenarios: each is processed as far as possible, counted, and written out."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from servers.bundle.description import Provenance
from servers.scenario.scenario import Scenario
from synth.backward.generator import Shelf
from synth.llm.writer import Writer
from synth.pipeline.artefact import Artefact
from synth.pipeline.artefact_chain import ArtefactChain
from synth.pipeline.environment_run import EnvironmentEnd, EnvironmentRun, utc_now
from synth.pipeline.progress import RunProgress
from synth.pipeline.stage import Stage


@dataclass
class RunOutcome:
    """The outcome of a run: how its scenarios ended, and where they were sent back."""

    ends: dict[str, EnvironmentEnd] = field(default_factory=dict[str, EnvironmentEnd])
    backs: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    """The number of refused answers, by stage."""

    def count(self, state: str) -> int:
        """The number of scenarios that ended in a state."""
        return sum(end.state == state for end in self.ends.values())

    @property
    def scenarios(self) -> int:
        """The number of scenarios tried, without the rounds of proposals."""
        return sum(not name.startswith("round_") for name in self.ends)

    @property
    def is_stopped(self) -> bool:
        """True if something could not continue, such as an endpoint that is down."""
        return any(end.state not in ("accepted", "rejected") for end in self.ends.values())


@dataclass
class ScenarioChains:
    """The common part of a run's chains."""

    shelf: Shelf
    writer: Writer
    again: bool = False
    progress: RunProgress = field(default_factory=RunProgress)
    now: Callable[[], datetime] = utc_now
    outcome: RunOutcome = field(default_factory=RunOutcome)

    def line(self, name: str, folder: Path, steps: Sequence[Stage]) -> EnvironmentRun:
        """A chain, by name and folder of its artefacts."""
        return EnvironmentRun(name, folder, steps, self.writer, now=self.now, progress=self.progress)

    async def advanced(self, line: EnvironmentRun) -> EnvironmentEnd:
        """Process a chain as far as possible. A dropped one is tried again if that is wanted."""
        if self.again:
            (line.folder / "rejected.json").unlink(missing_ok=True)
        end = await line.advance()
        self._note(line.line)
        return end

    def ended(self, name: str, end: EnvironmentEnd) -> None:
        """Report the end of a scenario."""
        self.outcome.ends[name] = end
        self.progress.end(name, end.state, end.why)

    def shelve(self, scenario: Scenario, standing: Sequence[Artefact], source: str, licence: str = "MIT") -> None:
        """Write a scenario with its provenance to the output, unless it is there."""
        if any(one.id == scenario.id for one in self.shelf.there):
            return
        prompts = {one.stage: one.exchanges[-1].prompt[:16] for one in standing if one.exchanges}
        models = {model for one in standing for model in one.models}
        provenance = Provenance(
            source=source,
            licence=licence,
            date=standing[0].made_at[:10],
            model=", ".join(sorted(models)) or None,
            prompts=prompts,
        )
        whole = scenario.model_copy(update={"provenance": provenance})
        self.shelf.add(whole)
        self.shelf.there.append(whole)

    def _note(self, line: ArtefactChain) -> None:
        """Count refused answers and steps back."""
        for artefact in line.standing():
            self.outcome.refused[artefact.stage] += sum(bool(one.reasons) for one in artefact.exchanges)
        for stage, exchanges in line.given_up():
            self.outcome.refused[stage] += sum(bool(one.reasons) for one in exchanges)
        self.outcome.backs.update(f"{back.by} → {back.to}" for back in line.backs())
