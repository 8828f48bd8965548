"""`farm synth retell`: some tasks a request, refused ones asked once more, each accepted one certified and written."""

import asyncio
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from servers.bundle.environment import load
from servers.bundle_library import OWN_LIBRARY
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import is_current, load_scenarios
from synth.certify.certificates import write_certificate
from synth.certify.certifier import examine
from synth.llm.exchange import sent
from synth.llm.writer import WriterAnswer, WriterMessage, WriterUnreachable, prompt_digest
from synth.play.playground import Playground
from synth.retelling.retell_run import Retelling
from tests.processes import farm

NAMES = ("back1_0006", "back1_0010", "back1_0020")
TEXTS = {
    "back1_0006": "Marta at the order desk. The site rang. [1]Cork needs 8 hammers in one parcel; send them.",
    "back1_0010": "Tom from sales here: wrong customer, sorry. [1]Have the parcel of valves for Riga called back.",
    "back1_0020": (
        "Ines from the shop floor, with a small box. [1]10 keys have been delivered, put them on their shelf. [2]How "
        "many keys do we have now? [3]Let me know if anything doesn't work, and why."
    ),
}


class ScriptedWriter:
    """Answers with given texts, the wrong ones first, and remembers what it was asked."""

    def __init__(self, wrong: dict[str, str] | None = None, *, dies_at: int = 0) -> None:
        self.wrong = wrong or {}
        self.dies_at = dies_at
        self.asked: list[str] = []
        self.sent: list[list[dict[str, Any]]] = []

    async def ask(self, messages: Sequence[WriterMessage], schema: dict[str, Any], *, label: str) -> WriterAnswer:
        if self.dies_at and len(self.asked) + 1 >= self.dies_at:
            raise WriterUnreachable("the endpoint is down")
        prompt = messages[-1].content
        self.asked.append(prompt)
        self.sent.append(sent(messages, schema))
        texts = TEXTS if label.endswith("again") else {**TEXTS, **self.wrong}
        ids = re.findall(r"^## (\S+)$", prompt, re.MULTILINE)
        value = {"retold": [{"id": name, "text": texts[name]} for name in ids if name in texts]}
        return WriterAnswer(
            value=value,
            model="writer-1",
            prompt=prompt_digest(messages, schema),
            prompt_tokens=7,
            completion_tokens=3,
            cached=False,
        )


def in_first_words(scenario: Scenario) -> Scenario:
    """A walk of the library as it was before it was told again."""
    assert scenario.provenance is not None
    first = {"task": scenario.provenance.first_wording, "provenance": None, "certificate": None}
    return scenario.model_copy(update=first)


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The parcel room with three walks in their first words, certified."""
    folder = tmp_path_factory.mktemp("walks") / "parcel_room"
    shutil.copytree(OWN_LIBRARY / "parcel_room", folder)
    own = load_scenarios(load(OWN_LIBRARY / "parcel_room"))
    lines = [in_first_words(own[name]).model_dump_json(exclude_defaults=True) for name in NAMES]
    (folder / "scenarios.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    async def certify() -> None:
        async with Playground(folder) as stage:
            for one in load_scenarios(stage.environment).values():
                seen = await examine(stage, one)
                write_certificate(folder, one.id, seen.certificate)

    asyncio.run(certify())
    return folder


@pytest.fixture
def bundle(tmp_path: Path, walks: Path) -> Path:
    """A copy of the parcel room with three walks."""
    return Path(shutil.copytree(walks, tmp_path / "parcel_room"))


def there(bundle: Path) -> dict[str, Scenario]:
    return load_scenarios(load(bundle))


async def test_walks_are_retold_and_certified_and_only_their_words_differ(bundle: Path, tmp_path: Path) -> None:
    before = there(bundle)
    writer = ScriptedWriter()
    async with Playground(bundle) as stage:
        outcome = await Retelling(stage, tmp_path / "work", writer).run()
    assert sorted(outcome.accepted) == list(NAMES), outcome.refused
    assert len(writer.asked) == 1
    for name, one in there(bundle).items():
        old = before[name]
        assert is_current(load(bundle), one)
        assert "[" not in one.task
        assert one.task != old.task
        assert (one.checkpoints, one.solution, one.tags) == (old.checkpoints, old.solution, old.tags)
        assert one.provenance is not None
        assert (one.provenance.first_wording, one.provenance.model) == (old.task, "writer-1")
        assert one.certificate is not None
        assert old.certificate is not None
        assert one.certificate.told == old.certificate.told


async def test_a_refused_retelling_is_asked_for_once_more_with_the_reasons(bundle: Path, tmp_path: Path) -> None:
    writer = ScriptedWriter({"back1_0006": TEXTS["back1_0006"].replace("8 hammers", "9 hammers")})
    async with Playground(bundle) as stage:
        outcome = await Retelling(stage, tmp_path / "work", writer).run()
    assert (sorted(outcome.accepted), outcome.first_refused) == (list(NAMES), 1)
    assert re.findall(r"^## (\S+)$", writer.asked[1], re.MULTILINE) == ["back1_0006"]
    assert "wrong: part 1: “8” is missing" in writer.asked[1]
    assert [bool(one.reasons) for one in outcome.exchanges] == [True, False]


async def test_what_is_refused_twice_keeps_its_words_and_is_not_asked_for_again(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TEXTS, "back1_0010", "Tom from sales here. [1]Have the parcel of valves for Nice called back.")
    old = there(bundle)["back1_0010"]
    async with Playground(bundle) as stage:
        outcome = await Retelling(stage, tmp_path / "work", ScriptedWriter()).run()
        assert "part 1: “riga” is missing" in outcome.refused["back1_0010"]
        assert there(bundle)["back1_0010"] == old
        again = ScriptedWriter()
        second = await Retelling(stage, tmp_path / "work", again).run()
    assert again.asked == []
    assert (second.there, list(second.refused)) == (2, ["back1_0010"])


async def test_a_run_that_was_stopped_goes_on_and_keeps_what_it_had(bundle: Path, tmp_path: Path) -> None:
    writer = ScriptedWriter(dies_at=3)
    async with Playground(bundle) as stage:
        with pytest.raises(WriterUnreachable):
            await Retelling(stage, tmp_path / "work", writer, batch=1).run()
        kept = [name for name, one in there(bundle).items() if one.provenance is not None]
        assert len(kept) == 2
        rest = ScriptedWriter()
        outcome = await Retelling(stage, tmp_path / "work", rest, batch=1).run()
    assert (len(rest.asked), outcome.there, len(outcome.accepted)) == (1, 2, 1)


async def test_what_was_retold_is_told_anew_from_its_first_wording_once(bundle: Path, tmp_path: Path) -> None:
    first = there(bundle)
    async with Playground(bundle) as stage:
        await Retelling(stage, tmp_path / "work", ScriptedWriter()).run()
        writer = ScriptedWriter()
        outcome = await Retelling(stage, tmp_path / "anew", writer, anew=True).run()
        assert (sorted(outcome.accepted), outcome.there) == (list(NAMES), 0)
        assert "It begins: A note from Ines from the shop floor." in writer.asked[0]
        for name, one in there(bundle).items():
            assert one.provenance is not None
            assert one.provenance.first_wording == first[name].task
        again = await Retelling(stage, tmp_path / "anew", ScriptedWriter(), anew=True).run()
    assert (again.accepted, again.there) == ([], 3)


async def test_the_command_replays_a_recording_and_tells_what_came_of_it(bundle: Path, tmp_path: Path) -> None:
    first = tmp_path / "first" / "parcel_room"
    shutil.copytree(bundle, first)
    writer = ScriptedWriter()
    async with Playground(first) as stage:
        retelling = Retelling(stage, tmp_path / "work", writer)
        await retelling.run()
    recording = tmp_path / "recorded.jsonl"
    answer = json.dumps({"retold": [{"id": name, "text": text} for name, text in TEXTS.items()]})
    line = {
        "request": {"model": "m", "messages": writer.sent[0]},
        "response": {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "writer-1",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": answer}}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
        },
    }
    recording.write_text(json.dumps(line) + "\n", encoding="utf-8")
    done = await farm(
        *("synth", "retell", "parcel_room", "--writer", "recording", "--recording", str(recording), "--work", "w"),
        home=bundle.parent,
    )
    assert done.code == 0, done.err
    assert "parcel_room: 3 tasks retold, 0 refused twice" in done.out


async def test_an_unknown_scenario_is_named(bundle: Path) -> None:
    done = await farm("synth", "retell", "parcel_room", "--scenario", "nobody", "--model", "m", home=bundle.parent)
    assert done.code == 2
    assert "nobody" in done.err
