"""The artefact of a stage: a readable file on disk, with a record of what made it. The first one is the topic."""

import hashlib
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from servers.files.atomic_write import write_whole
from servers.records import Record
from synth.llm.writer import digest_of
from synth.pipeline.asker import WriterExchange


class Topic(Record):
    """What an environment is about: a title given by hand, or a topic mined from a task.

    Scores go from 1 to 10. They are None where nobody gave one.
    """

    title: str = Field(min_length=1, max_length=200)
    introduction: str = ""
    task: str = ""
    usefulness: int | None = Field(default=None, ge=1, le=10)
    modelability: int | None = Field(default=None, ge=1, le=10)


class Artefact(Record):
    """`files` are the digests of the larger files that the stage wrote beside it, `digest` that of all the rest.

    `after` is the link of the artefact before, so that one that was made from something else is noticed; `turn` tells
    how often the stage had been sent back when it was made. `code` is the digest of the file that has the stage's code.
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
        """The digest of what the next stages see: this one and all before it."""
        return digest_of({"after": self.after, "value": self.value, "files": self.files})

    def sealed(self) -> "Artefact":
        """The same with its digest."""
        return self.model_copy(update={"digest": digest_of(self.model_dump(mode="json", exclude={"digest"}))})


def write_artefact(path: Path, artefact: Artefact) -> Artefact:
    """Write it whole or not at all; gives it with its digest."""
    sealed = artefact.sealed()
    write_whole(path, sealed.model_dump_json(indent=1) + "\n")
    return sealed


def read_artefact(path: Path) -> Artefact | None:
    """What a stage made, or None where that is missing, half written or not what was written. Passes over its files."""
    try:
        artefact = Artefact.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
    return artefact if artefact.digest == artefact.sealed().digest else None


def digest_of_file(path: Path) -> str:
    """The SHA-256 of a file; empty where there is none."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
