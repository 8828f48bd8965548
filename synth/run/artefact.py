"""What a stage made, on disk: a file that a person can open, with what made it."""

import hashlib
import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from servers.record import Record
from synth.run.asker import Exchange
from synth.run.stage import write_whole
from synth.writers.writer import digest_of


class Artefact(Record):
    """`files` are the digests of the larger files that the stage wrote beside it, `digest` that of all the rest."""

    stage: str
    version: str
    environment: str
    made_at: str
    models: tuple[str, ...]
    exchanges: tuple[Exchange, ...]
    files: dict[str, str]
    value: dict[str, Any]
    digest: str = ""

    def sealed(self) -> "Artefact":
        """The same with its digest."""
        return self.model_copy(update={"digest": digest_of(self.model_dump(mode="json", exclude={"digest"}))})


def write_artefact(path: Path, artefact: Artefact) -> None:
    """Write it whole or not at all."""
    write_whole(path, json.dumps(artefact.sealed().model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n")


def read_artefact(path: Path) -> Artefact | None:
    """What a stage made, or None where that is missing, half written or not what was written."""
    try:
        artefact = Artefact.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
    whole = artefact.digest == artefact.sealed().digest
    return artefact if whole and all(_is(path.parent / name, of) for name, of in artefact.files.items()) else None


def digest_of_file(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _is(path: Path, digest: str) -> bool:
    return path.is_file() and digest_of_file(path) == digest
