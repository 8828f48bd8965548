"""The lines of stages that make scenarios, one each: taken as far as they go, counted, and put on the shelf."""

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
    """What came of a run: how its scenarios ended, and where they were sent back."""

    ends: dict[str, EnvironmentEnd] = field(default_factory=dict[str, EnvironmentEnd])
    backs: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    """How often an answer was refused, by stage."""

    def count(self, state: str) -> int:
        """How many scenarios ended so."""
        return sum(end.state == state for end in self.ends.values())

    @property
    def scenarios(self) -> int:
        """How many scenarios were tried: all but the rounds in which they were proposed."""
        return sum(not name.startswith("round_") for name in self.ends)

    @property
    def is_stopped(self) -> bool:
        """Whether something could not go on, as where an endpoint was down."""
        return any(end.state not in ("accepted", "rejected") for end in self.ends.values())


@dataclass
class ScenarioChains:
    """What the lines of a run have in common."""

    shelf: Shelf
    writer: Writer
    again: bool = False
    progress: RunProgress = field(default_factory=RunProgress)
    now: Callable[[], datetime] = utc_now
    outcome: RunOutcome = field(default_factory=RunOutcome)

    def line(self, name: str, folder: Path, steps: Sequence[Stage]) -> EnvironmentRun:
        """A line, by its name and where its artefacts lie."""
        return EnvironmentRun(name, folder, steps, self.writer, now=self.now, progress=self.progress)

    async def advanced(self, line: EnvironmentRun) -> EnvironmentEnd:
        """How far a line comes; what was given up is tried again where that is wanted."""
        if self.again:
            (line.folder / "rejected.json").unlink(missing_ok=True)
        end = await line.advance()
        self._note(line.line)
        return end

    def ended(self, name: str, end: EnvironmentEnd) -> None:
        """Say how a scenario ended."""
        self.outcome.ends[name] = end
        self.progress.end(name, end.state, end.why)

    def shelve(self, scenario: Scenario, standing: Sequence[Artefact], source: str, licence: str = "MIT") -> None:
        """Put a scenario on the shelf with what made it, unless it stands there."""
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
        """Count the answers that were refused and the ways back."""
        for artefact in line.standing():
            self.outcome.refused[artefact.stage] += sum(bool(one.reasons) for one in artefact.exchanges)
        for stage, exchanges in line.given_up():
            self.outcome.refused[stage] += sum(bool(one.reasons) for one in exchanges)
        self.outcome.backs.update(f"{back.by} → {back.to}" for back in line.backs())
