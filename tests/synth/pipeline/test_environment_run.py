"""One environment comes from its topic to its last artefact, and goes on where it stopped."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from servers.records import Record
from synth.llm.exchange import sent
from synth.llm.recording import RecordingWriter
from synth.llm.writer import WriterMessage
from synth.pipeline.artefact import Topic
from synth.pipeline.asker import Asker
from synth.pipeline.environment_run import EnvironmentEnd, EnvironmentRun
from synth.pipeline.stage import Artefacts, Stage


class Names(Record):
    names: tuple[str, ...]


async def fine(_value: Names) -> list[str]:
    return []


async def not_one(value: Names) -> list[str]:
    return ["one name is too few"] if len(value.names) < 2 else []


def question(made: Artefacts) -> tuple[WriterMessage, ...]:
    return (WriterMessage(role="user", content=f"Names for {made[Topic].title}?"),)


async def name(made: Artefacts, asker: Asker) -> Names:
    return await asker.ask(question(made), Names, not_one)


def exchange(messages: Sequence[WriterMessage], answer: object) -> dict[str, Any]:
    return {
        "request": {"messages": sent(messages, Names.model_json_schema())},
        "response": {"model": "m", "choices": [{"message": {"content": json.dumps(answer)}}]},
    }


async def test_an_environment_is_made_and_what_was_rejected_is_in_its_record(tmp_path: Path) -> None:
    first = (WriterMessage(role="user", content="Names for Loans?"),)
    again = (
        *first,
        WriterMessage(role="assistant", content='{\n "names": [\n  "a"\n ]\n}'),
        WriterMessage(
            role="user",
            content="This answer was not accepted (attempt 1 of 4):\n- one name is too few\n\n"
            "Answer again, in full, with all of this put right.",
        ),
    )
    lines = [exchange(first, {"names": ["a"]}), exchange(again, {"names": ["a", "b"]})]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    made = EnvironmentRun(
        "loans", tmp_path / "loans", [Stage("names", Names, name)], RecordingWriter(tmp_path / "r.jsonl")
    )
    made.begin(Topic(title="Loans"))
    assert await made.advance() == EnvironmentEnd("accepted")
    artefact = json.loads((tmp_path / "loans" / "01-names.json").read_text())
    assert artefact["value"] == {"names": ["a", "b"]}
    assert [one["reasons"] for one in artefact["exchanges"]] == [["one name is too few"], []]
