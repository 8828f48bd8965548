"""A recorded environment, replayed from its exchanges."""

import gzip
import json
from pathlib import Path

from synth.run.environment import End, Environment
from synth.run.stage import Wishes
from synth.run.topic import Topic
from synth.stages.line import STAGES
from synth.writers.recording import RecordingWriter

RECORDINGS = Path(__file__).parent.parent / "recordings"


def recording(name: str, folder: Path) -> RecordingWriter:
    """The writer that answers as it was answered then."""
    path = folder / f"{name}.jsonl"
    path.write_bytes(gzip.decompress((RECORDINGS / f"{name}.jsonl.gz").read_bytes()))
    return RecordingWriter(path)


def all_answers(name: str, kind: str) -> list[str]:
    """The recorded answers of a kind, in their order; a kind is the title of its schema."""
    lines = gzip.decompress((RECORDINGS / f"{name}.jsonl.gz").read_bytes()).decode().splitlines()
    exchanges = [json.loads(line) for line in lines]
    return [
        exchange["response"]["choices"][0]["message"]["content"]
        for exchange in exchanges
        if exchange["request"]["messages"][0]["content"].endswith(f'"title": "{kind}", "type": "object"}}')
    ]


def answers(name: str) -> dict[str, str]:
    """The first recorded answer of each kind that is one request alone."""
    return {kind: all_answers(name, kind)[0] for kind in ("Setting", "Schema", "Seed", "Interface")}


def environment(folder: Path) -> Environment:
    """The veterinary clinic, before anything of it was made."""
    writer = recording("veterinary_clinic", folder)
    made = Environment("veterinary_clinic", folder / "veterinary_clinic", STAGES, writer, Wishes(size="small"))
    made.begin(Topic(title="Veterinary clinic"))
    return made


async def replayed(folder: Path) -> tuple[Environment, End]:
    """The environment after all of its stages."""
    made = environment(folder)
    return made, await made.advance()
