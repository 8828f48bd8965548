"""A stage of synthesis: it makes one artefact from the earlier ones."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from servers.files.atomic_write import write_whole
from servers.records import Record
from synth.pipeline.asker import Asker

T = TypeVar("T", bound=Record)


class Wishes(Record):
    """The caller's wishes for every environment."""

    size: Literal["small", "medium", "large"] = "small"


PLAIN = Wishes()


@dataclass(frozen=True)
class Artefacts:
    """The artefacts of one environment: those of earlier stages by kind, `made[Topic]`, and a folder.

    `before` is this stage's artefact before a later stage stepped back, and `evidence` that stage's reasons if it
    stepped back to this one. Without evidence an earlier stage was repaired, and `before` may still be valid. `seen` is
    this stage's partial result when it stepped back itself, and `sent` the stages it stepped back to. `date` is the day
    on which the environment was begun, also after a resume.
    """

    environment: str
    folder: Path
    date: str
    wishes: Wishes = PLAIN
    evidence: tuple[str, ...] = ()
    before: Record | None = None
    seen: Record | None = None
    sent: tuple[str, ...] = ()
    artefacts: Mapping[type[Record], Record] = field(default_factory=dict[type[Record], Record])
    written: list[str] = field(default_factory=list[str])
    """The names of the files that this stage wrote with `write`."""

    def __getitem__(self, kind: type[T]) -> T:
        """The artefact of an earlier stage. Raises KeyError if no stage makes such."""
        return cast("T", self.artefacts[kind])

    @property
    def bundle(self) -> Path:
        """The folder of the growing bundle. A finished one is copied into the run's library."""
        return self.folder / "bundle" / self.environment

    def write(self, name: str, text: str) -> Path:
        """Write a larger file of this stage atomically. A stage with a missing file is repeated.

        `name` may be in a subfolder, such as `bundle/library_loans/tools.py`.
        """
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
        self.written.append(name)
        return path


class GoBack(Exception):
    """Raised by a stage that found a fault in an earlier artefact, which is made again with the evidence.

    `seen` is the stage's partial result, which it gets back later.
    """

    def __init__(self, to: str, evidence: list[str], seen: Record | None = None) -> None:
        super().__init__(f"back to {to}: {'; '.join(evidence)}")
        self.to = to
        self.evidence = tuple(evidence)
        self.seen = seen


@dataclass(frozen=True)
class Stage:
    """An entry in the list of stages.

    `make` raises Rejected if the environment must be given up, and GoBack if an earlier stage has to repair it, at most
    `backs` times each. Change `version` when the code changes the artefact. `counts` returns figures of an artefact for
    a report, such as the number of tables.
    """

    name: str
    kind: type[Record]
    make: Callable[[Artefacts, Asker], Awaitable[Record]]
    needs_model: bool = True
    version: str = "1"
    backs: int = 2
    counts: Callable[[Any], Mapping[str, int]] | None = None
