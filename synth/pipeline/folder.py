"""The folder of a run: what was asked for, the topics, an environment each, the library that comes out.

run.json          what was asked for, and when the run began
topics.json       what mining chose
mining/           what mining keeps
environments/ID/  the artefacts of one environment
library/ID/       the bundles that passed everything
cache/            the exchanges
batch/            what is to be answered, and the answers
report.html
"""

import json
import re
import unicodedata
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from servers.errors import Conflict, RequestError
from servers.files.atomic_write import write_whole
from servers.files.file_lock import locked
from servers.files.named_file import bytes_named, text_named
from servers.records import Record
from synth.llm.writer import digest_of
from synth.pipeline.artefact import Topic, read_artefact

LONGEST_ID = 48


class Mined(Record):
    """The topics from a file of tasks. `asked` is the digest of the file and the wanted number."""

    asked: str
    topics: tuple[Topic, ...]


@dataclass(frozen=True)
class SynthesisFolder:
    """The folder of a run."""

    path: Path

    def locked(self, option: str = "--out") -> AbstractContextManager[None]:
        """Lock the folder against other runs.

        Entering raises Conflict, or RequestError if the folder cannot be written.
        """
        where = f"{option} {self.path}"
        return locked(
            self.path / ".lock",
            unusable=lambda why: RequestError(f"{where}: cannot be written: {why}"),
            taken=lambda holder: Conflict(f"{where}: another run works in it (process {holder})"),
        )

    @property
    def environments(self) -> Path:
        return self.path / "environments"

    @property
    def library(self) -> Path:
        return self.path / "library"

    def note(self, plan: dict[str, Any], now: datetime) -> None:
        """Write the plan. The run's first start time stays."""
        file = self.path / "run.json"
        began = now.isoformat(timespec="seconds")
        with suppress(OSError, ValueError, LookupError, TypeError):  # a new run, or a file that nobody can read
            began = str(json.loads(text_named(file))["began_at"])
        write_whole(file, json.dumps({"began_at": began, "plan": plan}, ensure_ascii=False, indent=1) + "\n")

    def asked_before(self) -> dict[str, Any]:
        """The plan of the last start. Empty if there is none, or it cannot be read."""
        try:
            plan = json.loads(text_named(self.path / "run.json"))["plan"]
            return dict(plan.items())
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return {}

    def begun(self) -> dict[str, Topic]:
        """The environments that were begun, by id. One with a damaged first artefact is left out."""
        found: dict[str, Topic] = {}
        for path in sorted(self.environments.glob("*/00-topic.json")):
            artefact = read_artefact(path)
            if artefact is not None:
                found[path.parent.name] = Topic.model_validate(artefact.value)
        return found

    def ids(self, topics: Sequence[Topic]) -> dict[str, Topic]:
        """All environments of the run by id: the begun ones, and one for each new topic."""
        found = self.begun()
        for topic in topics:
            if all(topic.title != other.title for other in found.values()):
                found[_id(topic.title, found.keys())] = topic
        return found

    def mined(self, asked: str) -> tuple[Topic, ...] | None:
        """The mined topics, if the request was the same."""
        try:
            mined = Mined.model_validate_json(bytes_named(self.path / "topics.json"))
        except (OSError, ValidationError):
            return None
        return mined.topics if mined.asked == asked else None

    def keep_mined(self, asked: str, topics: Sequence[Topic]) -> None:
        """Keep the topics."""
        mined = Mined(asked=asked, topics=tuple(topics))
        text = json.dumps(mined.model_dump(mode="json"), ensure_ascii=False, indent=1)
        write_whole(self.path / "topics.json", text + "\n")


def _id(title: str, taken: Any) -> str:
    """An environment's id from its title."""
    ascii_only = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "_", ascii_only).strip("_")[:LONGEST_ID].rstrip("_")
    name = words if re.match(r"[a-z]", words) else f"environment_{words or digest_of(title)[:8]}"
    number = 2
    unique = name
    while unique in taken:
        unique = f"{name}_{number}"
        number += 1
    return unique
