"""Recorded answers: replayed as they were recorded, or as what somebody once answered to a question of that kind."""

import atexit
import gzip
import json
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from synth.environments.stages import STAGES
from synth.llm.recording import RecordingWriter
from synth.llm.writer import WriterAnswer, WriterMessage
from synth.pipeline.artefact import Topic
from synth.pipeline.environment_run import EnvironmentRun
from synth.pipeline.stage import Artefacts, Stage, Wishes

RECORDINGS = Path(__file__).parent.parent / "recordings"


def recording(name: str) -> RecordingWriter:
    """The writer that answers as it was answered then."""
    return RecordingWriter(RECORDINGS / f"{name}.jsonl.gz")


@cache
def exchanges(name: str, kind: str) -> tuple[tuple[frozenset[str], str], ...]:
    """What was asked (its lines) and answered of a kind, in the recorded order; a kind is the title of its schema."""
    lines = gzip.decompress((RECORDINGS / f"{name}.jsonl.gz").read_bytes()).decode().splitlines()
    every = [json.loads(line) for line in lines]
    return tuple(
        (lines_of(one["request"]["messages"][1:]), one["response"]["choices"][0]["message"]["content"])
        for one in every
        if one["request"]["messages"][0]["content"].endswith(f'"title": "{kind}", "type": "object"}}')
    )


def lines_of(messages: Sequence[dict[str, str]]) -> frozenset[str]:
    """The lines of some messages."""
    return frozenset(line for message in messages for line in message["content"].splitlines())


def all_answers(name: str, kind: str) -> list[str]:
    """The recorded answers of a kind, in their order."""
    return [answer for _, answer in exchanges(name, kind)]


def answers(name: str) -> dict[str, str]:
    """The first recorded answer of each kind that is one request alone."""
    return {kind: all_answers(name, kind)[0] for kind in ("Setting", "Schema", "Seed", "Interface")}


@dataclass
class OldAnswers:
    """A writer that gives, of the recorded answers of a kind, the one whose question had the most of the same lines.

    It shows what stages do with answers, and nothing of what a prompt, as it is worded by now, brings about.
    """

    name: str
    asked: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict[str, list[str]](list))

    async def ask(self, messages: Sequence[WriterMessage], schema: dict[str, Any], *, label: str) -> WriterAnswer:
        kind = str(schema["title"])
        self.asked[kind].append(messages[-1].content)
        here = lines_of([message.model_dump() for message in messages[1:]])
        _, text = max(exchanges(self.name, kind), key=lambda one: len(one[0] & here) / len(one[0] | here))
        return WriterAnswer(
            value=json.loads(text), model="m", prompt="p", prompt_tokens=0, completion_tokens=0, cached=False
        )


def environment(name: str, title: str, folder: Path) -> EnvironmentRun:
    """A recorded environment, before anything of it was made."""
    made = EnvironmentRun(name, folder / name, STAGES, recording(name), Wishes())
    made.begin(Topic(title=title))
    return made


MADE: dict[int, Path] = {}
"""The clinic's folder, by the number of stages that it has gone through in this process."""


async def made_of(folder: Path, stages: Sequence[Stage]) -> Artefacts:
    """The clinic as far as the first stages bring it, of the answers that were once given to them.

    Each stage is gone through once in a process, and what it made is copied.
    """
    before = max((number for number in MADE if number <= len(stages)), default=0)
    if before:
        shutil.copytree(MADE[before], folder / "clinic")
    clinic = EnvironmentRun("veterinary_clinic", folder / "clinic", stages, OldAnswers("veterinary_clinic"), Wishes())
    clinic.begin(Topic(title="Veterinary clinic"))
    end = await clinic.advance()
    assert end.state == "accepted", end.why
    if before < len(stages):
        MADE[len(stages)] = Path(tempfile.mkdtemp(prefix="clinic-")) / "clinic"
        shutil.copytree(clinic.folder, MADE[len(stages)])
        atexit.register(shutil.rmtree, MADE[len(stages)].parent)
    kinds = zip(clinic.line.stages, clinic.line.standing(), strict=True)
    artefacts = {stage.kind: stage.kind.model_validate(artefact.value) for stage, artefact in kinds}
    return Artefacts(clinic.id, clinic.folder, "2026-11-21", artefacts=artefacts)
