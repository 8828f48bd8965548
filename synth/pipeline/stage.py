"""A stage of synthesis: from what was made before it to one artefact more."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from servers.files.atomic_write import write_whole
from servers.records import Record
from synth.pipeline.asker import Asker

T = TypeVar("T", bound=Record)


class Wishes(Record):
    """What the caller wants of every environment."""

    size: Literal["small", "medium", "large"] = "small"


PLAIN = Wishes()


@dataclass(frozen=True)
class Artefacts:
    """What there is of one environment: the artefacts of the stages before by kind, `made[Topic]`, and a folder.

    `before` is what this stage had made when a later one sent the environment back, `evidence` what that one said if
    it was sent back to this stage; without evidence an earlier stage has been mended, and `before` may still do.
    `seen` is what this stage had come to when it sent the environment back itself, and `sent` to which stages it did.
    `date` is the day on which the environment was begun; it stays the same however often a run is resumed.
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
        """The artefact of a stage before. Raises KeyError where no stage makes such."""
        return cast("T", self.artefacts[kind])

    @property
    def bundle(self) -> Path:
        """Where the bundle of this environment grows. When every stage is done, it is copied into the run's library."""
        return self.folder / "bundle" / self.environment

    def write(self, name: str, text: str) -> Path:
        """Write a larger file of this stage into the folder, whole or not at all; a stage whose file is gone is redone.

        `name` may lie in a folder below, such as `bundle/library_loans/tools.py`.
        """
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
        self.written.append(name)
        return path


class GoBack(Exception):
    """Raised by a stage that found fault with what an earlier one made; that one is made again, with the evidence.

    `seen` is what the stage has come to so far, of its own kind: it is given back to it.
    """

    def __init__(self, to: str, evidence: list[str], seen: Record | None = None) -> None:
        super().__init__(f"back to {to}: {'; '.join(evidence)}")
        self.to = to
        self.evidence = tuple(evidence)
        self.seen = seen


@dataclass(frozen=True)
class Stage:
    """A line in the list of stages.

    `make` raises Rejected where the environment must be given up, and GoBack where an earlier stage has to mend it, at
    most `backs` times each. Change `version` when the code changes what it makes. `counts` tells the numbers of an
    artefact that a report shows, such as how many tables there are.
    """

    name: str
    kind: type[Record]
    make: Callable[[Artefacts, Asker], Awaitable[Record]]
    needs_model: bool = True
    version: str = "1"
    backs: int = 2
    counts: Callable[[Any], Mapping[str, int]] | None = None
