"""The artefact of a stage: a readable file, with a record of its origin. The first one is the topic."""

import hashlib
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from servers.files.atomic_write import write_whole
from servers.files.named_file import bytes_named
from servers.records import Record
from synth.llm.writer import digest_of
from synth.pipeline.asker import WriterExchange


class Topic(Record):
    """The topic of an environment: a given title, or one mined from a task.

    Scores go from 1 to 10, and are None if there are none. `imported` is the folder of the bundle that is rewritten, if
    one is.
    """

    title: str = Field(min_length=1, max_length=200)
    introduction: str = ""
    task: str = ""
    usefulness: int | None = Field(default=None, ge=1, le=10)
    modelability: int | None = Field(default=None, ge=1, le=10)
    imported: str = ""


class Artefact(Record):
    """An artefact. `files` are the digests of larger files of the stage, `digest` that of everything else.

    `after` is the link of the previous artefact, so that a changed input is noticed. `turn` is the number of times the
    stage had been sent back. `code` is the digest of the stage's source file.
    """

    stage: str
    version: str
    code: str
    environment: str
    made_at: str
    models: tuple[str, ...]
    exchanges: tuple[WriterExchange, ...]
    files: dict[str, str]
    after: str
    turn: int
    value: dict[str, Any]
    digest: str = ""

    @property
    def link(self) -> str:
        """The digest of this artefact and all before it, which the next stages depend on."""
        return digest_of({"after": self.after, "value": self.value, "files": self.files})

    def sealed(self) -> "Artefact":
        """The same with its digest."""
        return self.model_copy(update={"digest": digest_of(self.model_dump(mode="json", exclude={"digest"}))})


def write_artefact(path: Path, artefact: Artefact) -> Artefact:
    """Write an artefact atomically. Returns it with its digest."""
    sealed = artefact.sealed()
    write_whole(path, sealed.model_dump_json(indent=1) + "\n")
    return sealed


def read_artefact(path: Path) -> Artefact | None:
    """An artefact, or None if it is missing, incomplete or changed. Its files are not checked."""
    try:
        artefact = Artefact.model_validate_json(bytes_named(path))
    except (OSError, ValidationError):
        return None
    return artefact if artefact.digest == artefact.sealed().digest else None


def digest_of_file(path: Path) -> str:
    """The SHA-256 of a file. Empty if it is missing."""
    try:
        return hashlib.sha256(bytes_named(path)).hexdigest()
    except OSError:
        return ""
