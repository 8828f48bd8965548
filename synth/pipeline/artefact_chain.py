"""The artefacts of one environment on disk: the valid ones, and the steps back."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from servers.files.atomic_write import write_whole
from servers.files.named_file import bytes_named, text_named
from servers.records import Record
from synth.pipeline.artefact import Artefact, digest_of_file, read_artefact
from synth.pipeline.asker import WriterExchange
from synth.pipeline.stage import Stage


class Back(Record):
    """Stage `by` sent the environment back to stage `to`."""

    by: str
    to: str
    evidence: tuple[str, ...]
    exchanges: tuple[WriterExchange, ...]
    seen: dict[str, Any] | None = None
    """The partial result of `by`."""


@dataclass(frozen=True)
class ArtefactChain:
    """The folder of an environment, and its stages."""

    folder: Path
    stages: Sequence[Stage]

    def path(self, number: int) -> Path:
        """The path of a stage's artefact."""
        return self.folder / f"{number:02}-{self.stages[number].name}.json"

    def standing(self) -> list[Artefact]:
        """The valid artefacts from the first on: complete, made from one another, with all files."""
        found: list[Artefact] = []
        after = ""
        backs = self.backs()
        for number, stage in enumerate(self.stages):
            artefact = read_artefact(self.path(number))
            turn = sum(back.to == stage.name for back in backs)
            if artefact is None or artefact.after != after or artefact.turn != turn or not is_of(stage, artefact):
                break
            after = artefact.link
            found.append(artefact)
        return self._with_files(found)

    def _with_files(self, found: list[Artefact]) -> list[Artefact]:
        """Remove artefacts with a missing file. If several stages wrote a file, the last one owns it."""
        owners = {name: number for number, artefact in enumerate(found) for name in artefact.files}
        for name, number in sorted(owners.items(), key=lambda item: item[1]):
            if digest_of_file(self.folder / name) != found[number].files[name]:
                return self._with_files(found[:number])
        return found

    def backs(self) -> list[Back]:
        """The steps back, with reasons."""
        found: list[Back] = []
        for path in sorted(self.folder.glob("backs/*.json")):
            with suppress(ValidationError):  # one that is not whole: its stage is asked again
                found.append(Back.model_validate_json(bytes_named(path)))
        return found

    def send_back(self, back: Back) -> None:
        """Record that a stage has to repair its artefact.

        That artefact, and all later ones, are kept beside the record.
        """
        number = 1 + len(self.backs())
        kept = self.folder / "backs" / f"{number:02}"
        kept.mkdir(parents=True, exist_ok=True)
        at = self.position(back.to)
        if not 0 < at < self.position(back.by):
            raise ValueError(f"{back.by} cannot go back to {back.to}: that stage is not before it")
        for path in map(self.path, range(at, self.position(back.by))):
            write_whole(kept / path.name, text_named(path))
        write_whole(kept.with_suffix(".json"), json.dumps(back.model_dump(mode="json"), ensure_ascii=False, indent=1))

    def given_up(self, standing: Sequence[Artefact] | None = None) -> list[tuple[str, tuple[WriterExchange, ...]]]:
        """The exchanges for abandoned artefacts, by stage, if they are known."""
        still = {artefact.digest for artefact in (self.standing() if standing is None else standing)}
        kept = [read_artefact(path) for path in sorted(self.folder.glob("backs/*/*.json"))]
        found = {one.digest: (one.stage, one.exchanges) for one in kept if one and one.digest not in still}
        return [*found.values(), *((back.by, back.exchanges) for back in self.backs())]

    def before(self, stage: Stage) -> Record | None:
        """The artefact that a stage had before the last step back over it."""
        name = self.path(self.position(stage.name)).name
        for path in sorted(self.folder.glob(f"backs/*/{name}"), reverse=True):
            artefact = read_artefact(path)
            if artefact is not None and is_of(stage, artefact):
                return stage.kind.model_validate(artefact.value)
        return None

    def evidence(self, stage: Stage, backs: Sequence[Back]) -> tuple[str, ...]:
        """Why a stage has to repair its artefact. Empty if another stage had to since."""
        here = self.position(stage.name)
        voiding = [back for back in backs if self.position(back.to) <= here < self.position(back.by)]
        return voiding[-1].evidence if voiding and voiding[-1].to == stage.name else ()

    def seen(self, stage: Stage, backs: Sequence[Back]) -> Record | None:
        """The partial result of a stage when it last sent the environment back."""
        found = next((back.seen for back in reversed(backs) if back.by == stage.name), None)
        with suppress(ValidationError):
            return None if found is None else stage.kind.model_validate(found)
        return None

    def position(self, name: str) -> int:
        """The index of a stage. -1 if there is none of that name."""
        return next((at for at, stage in enumerate(self.stages) if stage.name == name), -1)


def is_of(stage: Stage, artefact: Artefact) -> bool:
    """True if an artefact belongs to a stage in its present version."""
    try:
        stage.kind.model_validate(artefact.value)
    except ValidationError:
        return False
    return artefact.stage == stage.name
