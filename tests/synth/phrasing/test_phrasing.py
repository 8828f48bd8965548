"""The words of an environment are asked for once; what cannot serve is told to the writer."""

import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from servers.bundle.paraphrases import read_paraphrases
from servers.bundle.phrases import read_phrases
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import load_scenarios
from synth.backward.generator import Shelf, make_backward
from synth.llm.writer import WriterAnswer, WriterMessage
from synth.play.playground import Playground
from synth.scenarios.phrase_stage import NotWritten, written
from tests.bundles import write, write_bundle

WORDS: dict[str, Any] = {
    "rows": {"things": ["the {name}"]},
    "asks": {
        "make": {"chores": ["add a {name} to the shelf[, at {cents}]"]},
        "price": {"chores": ["put {id} down at {cents}"]},
        "scrap": {"chores": ["throw {id} away"]},
    },
    "senders": [{"names": ["Ines Ferrand"]}],
    "voices": {"chores": {"open": ["{name} from the shop."], "close": [""]}},
    "currency": "{} euros",
    "examples": {"make": [{"name": "gong", "cents": 900}, {"name": "drum", "cents": 4500}]},
}


TEMPLATES = {
    "right": [
        "{value}",
        "It is {value|code}.",
        "**{value|bare}**",
        "{value|words}",
        "Now {value|sign}",
        "{value|comma}",
    ],
    "wrong": ["{other}", "It is {other}.", "{value} or {other}", "{value}, {other}", "{value}. No, {other}.", "Cheap."],
}
TOLD = {**WORDS, "tells": {"price": [{"value": "cents", "ask": "what {id} costs now", "say": "It costs {value}."}]}}


def templates(**instead: list[str]) -> dict[str, Any]:
    """Answers in other words to what a thing costs."""
    return {"tells": {"price": {"cents": {**TEMPLATES, **instead}}}}


class Scripted:
    """A writer whose answers are given beforehand, those in other words apart."""

    def __init__(self, *answers: dict[str, Any], others: Sequence[dict[str, Any]] = ()) -> None:
        self._answers = list(answers)
        self._others = list(others)
        self.asked: list[str] = []

    async def ask(self, messages: Sequence[WriterMessage], schema: dict[str, Any], *, label: str) -> WriterAnswer:
        """The next answer; the last one for ever."""
        self.asked.append(messages[-1].content)
        answers = self._others if label.endswith("/paraphrases") else self._answers
        value = answers.pop(0) if len(answers) > 1 else answers[0]
        return WriterAnswer.nothing("0" * 64).model_copy(update={"value": value, "model": "scripted"})


def without(*path: str, **instead: Any) -> dict[str, Any]:
    """The words with something else in one place."""
    changed = copy.deepcopy(WORDS)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place.pop(path[-1], None)
    place.update(instead)
    return changed


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (without("rows", "things"), "rows: nothing for 'things', whose rows commands name"),
        (without("rows", "things", things=["number {id}"]), "rows.things: 'number {id}' tells an id"),
        (without("asks", "scrap"), "asks: nothing for the command 'scrap'"),
        (without("asks", "scrap", scrap={"chores": ["throw it away"]}), "asks.scrap.chores: does not tell 'id'"),
        (without("asks", "scrap", scrap={"chores": ["do scrap_it to {id}"]}), "names something of the program"),
        (without("asks", "scrap", scrap={"self": ["throw {id} away"]}), "the voice 'self' is not among `voices`"),
        (without("senders"), "senders: nobody is named who may ask"),
        (without("senders", senders=[{"table": "things", "name": "{colour}"}]), "senders.1: no row of 'things' fits"),
        (without("senders", senders=[{"table": "people"}]), "no table named 'people'"),
        (without("senders", senders=[{"names": ["Ines"], "tools": ["sell"]}]), "no tool named 'sell'"),
        (without("senders", senders=[{}]), "senders.1: give either the table whose rows they are, or their names"),
        (without("senders", senders=[{"table": "things", "name": "Tom"}]), "senders.1: every row would be called"),
        (without("voices", "chores", chores={"open": ["Hello."]}), "voices.chores.open: none says who asks"),
        (
            without("voices", "chores", chores={"open": ["Hello.", "{name}."]}),
            "voices.chores.open: does not say who asks, by the hole {name}: 'Hello.'",
        ),
    ],
)
async def test_words_that_cannot_serve_are_told_to_the_writer(
    tmp_path: Path, answer: dict[str, Any], reason: str
) -> None:
    shop = await write_bundle(tmp_path / "shop")
    writer = Scripted(answer)
    with pytest.raises(NotWritten):
        await written(shop, tmp_path / "work", tmp_path / "words.json", writer)
    assert reason in writer.asked[1]


async def test_what_is_accepted_is_the_bundles_phrases_and_says_what_made_it(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop", scenarios=())
    writer = Scripted(without("rows", "things"), WORDS)
    await written(shop, tmp_path / "work", shop / "phrases.json", writer)
    assert len(writer.asked) == 2
    async with Playground(shop) as stage:
        problems, phrases = read_phrases(shop, stage.environment)
        assert problems == []
        assert phrases is not None
        assert phrases.provenance is not None
        assert phrases.provenance.model == "scripted"
        shelf = Shelf(shop / "scenarios.jsonl", stage)
        await make_backward(stage, n=5, seed=1, there=[], on_certified=shelf.add, on_walk=lambda _: None)
        tasks = [one.task for one in load_scenarios(stage.environment).values()]
    assert all(task.startswith("Ines Ferrand from the shop. ") for task in tasks)


async def test_what_was_accepted_is_not_asked_for_again(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop")
    for name in ("first", "second"):
        writer = Scripted(WORDS)
        await written(shop, tmp_path / "work", tmp_path / name, writer)
        assert len(writer.asked) == (name == "first")
    assert json.loads((tmp_path / "first").read_text()) == json.loads((tmp_path / "second").read_text())


async def test_after_four_attempts_nothing_is_written(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop")
    writer = Scripted(without("asks", "scrap"))
    with pytest.raises(NotWritten, match="shop: rejected: phrases: asks: nothing for the command 'scrap'"):
        await written(shop, tmp_path / "work", tmp_path / "words.json", writer)
    assert len(writer.asked) == 4
    assert not (tmp_path / "words.json").exists()


async def tasks(shop: Path, senders: list[dict[str, Any]], n: int) -> list[Scenario]:
    """Tasks made with other senders."""
    write(shop, {"phrases.json": json.dumps(without("senders", senders=senders))})
    async with Playground(shop) as stage:
        shelf = Shelf(shop / "scenarios.jsonl", stage)
        await make_backward(stage, n=n, seed=1, there=[], on_certified=shelf.add, on_walk=lambda _: None)
        return list(load_scenarios(stage.environment).values())


async def test_who_asks_is_somebody_whom_it_is_not_about(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop", scenarios=())
    made = await tasks(shop, [{"table": "things", "only": {"name": ["bell", "candle"]}}], 8)
    asking = [(one.task.partition(" from the shop. ")[0], one.task.partition(" from the shop. ")[2]) for one in made]
    assert {name for name, _ in asking} == {"bell", "candle"}
    assert not [(name, errand) for name, errand in asking if f"the {name}" in errand]


async def test_who_asks_for_a_command_is_somebody_who_may(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop", scenarios=())
    everybody = {"names": ["Ines"], "tools": ["make", "price"]}
    made = await tasks(shop, [everybody, {"names": ["Tom"], "tools": ["make", "price", "scrap"]}], 9)
    scrapped = [one.task.startswith("Tom ") for one in made if "scrap" in one.tags]
    assert scrapped
    assert all(scrapped)
    assert any(one.task.startswith("Ines ") for one in made)


async def test_answers_in_other_words_are_asked_for_what_is_told(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop", scenarios=())
    writer = Scripted(TOLD, others=[templates()])
    await written(shop, tmp_path / "work", shop / "phrases.json", writer)
    [_, asked] = writer.asked
    assert "- price, cents (amount): “what {id} costs now”; “It costs {value}.”; 1 euro, 2 euros, 3 euros" in asked
    problems, found = read_paraphrases(shop)
    assert problems == []
    assert found.tells["price"]["cents"].right == tuple(TEMPLATES["right"])
    assert found.provenance is not None
    assert found.provenance.model == "scripted"


FAULTS: list[list[tuple[dict[str, Any], str]]] = [
    [
        (templates(right=["{value}"]), "tells.price.cents.right: 1 different templates; 6 are wanted"),
        (templates(wrong=["{other}"] * 6), "tells.price.cents.wrong: 1 different templates; 6 are wanted"),
        (templates(right=["{value|long}", *TEMPLATES["right"]]), "right: no form 'long'; there are bare, code, comma"),
    ],
    [
        (templates(right=["It costs a lot.", *TEMPLATES["right"]]), "does not tell the value: 'It costs a lot.'"),
        ({"tells": {}}, "tells.price.cents.right: 0 different templates"),
        ({"tells": {**templates()["tells"], "make": {"id": {}}}}, "tells.make: nobody asks for 'id'"),
    ],
    [({**templates(), "scenarios": {"dearer": {}}}, "`tells` is the only key")],
]
"""Answers that cannot serve and what is wrong with each: as many in a row as a writer is asked."""


@pytest.mark.parametrize("faults", FAULTS)
async def test_templates_that_cannot_serve_are_told_to_the_writer(
    tmp_path: Path, faults: list[tuple[dict[str, Any], str]]
) -> None:
    shop = await write_bundle(tmp_path / "shop")
    writer = Scripted(TOLD, others=[*(answer for answer, _ in faults), templates()])
    await written(shop, tmp_path / "work", tmp_path / "phrases.json", writer)
    assert len(writer.asked) == 2 + len(faults)
    for (_, reason), asked in zip(faults, writer.asked[2:], strict=True):
        assert reason in asked


async def test_whole_answers_that_are_there_stay_and_say_who_wrote_them(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop")
    whole = {"dearer": {"right": ["Done."], "wrong": ["No."]}}
    by = {"source": "a test", "licence": "MIT", "date": "2026-03-16", "model": "Ada"}
    write(shop, {"paraphrases.json": json.dumps({"scenarios": whole, "provenance": by})})
    await written(shop, tmp_path / "work", shop / "phrases.json", Scripted(TOLD, others=[templates()]))
    found = read_paraphrases(shop)[1]
    assert found.scenarios["dearer"].right == ("Done.",)
    assert found.tells.keys() == {"price"}
    assert found.provenance is not None
    assert found.provenance.notes == "Whole answers by: Ada, 2026-03-16."


async def test_words_are_kept_where_no_answers_in_other_words_are_accepted(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop")
    writer = Scripted(TOLD, others=[{"tells": {}}])
    with pytest.raises(NotWritten, match="shop: rejected: paraphrases: "):
        await written(shop, tmp_path / "work", tmp_path / "phrases.json", writer)
    assert (tmp_path / "phrases.json").exists()
    assert not (tmp_path / "paraphrases.json").exists()
