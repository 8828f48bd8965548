"""A stage that finds fault with an earlier one sends the environment back to it, with the evidence."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from servers.records import Record
from synth.llm.writer import WriterAnswer, WriterMessage
from synth.pipeline.artefact import Topic
from synth.pipeline.asker import Asker
from synth.pipeline.environment_run import EnvironmentEnd, EnvironmentRun
from synth.pipeline.folder import SynthesisFolder
from synth.pipeline.progress import Prices
from synth.pipeline.stage import Artefacts, GoBack, Stage
from synth.runner.summary import summed_up


class Word(Record):
    text: str


class Length(Record):
    signs: int


class Verdict(Record):
    good: bool


class Counting:
    """A writer that answers a, ab, abc: a sign more at each question."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def ask(self, messages: Sequence[WriterMessage], schema: dict[str, Any], *, label: str) -> WriterAnswer:
        self.asked.append(messages[-1].content)
        value = {"text": "abcdefgh"[: len(self.asked)]}
        return WriterAnswer.nothing(label).model_copy(update={"value": value, "prompt_tokens": 1})


async def fine(_value: Word) -> list[str]:
    return []


async def word(made: Artefacts, asker: Asker) -> Word:
    before = made.before.text if isinstance(made.before, Word) else "nothing"
    text = f"A word. Before: {before}. Evidence: {', '.join(made.evidence)}"
    return await asker.ask([WriterMessage(role="user", content=text)], Word, fine)


async def length(made: Artefacts, _asker: Asker) -> Length:
    return Length(signs=len(made[Word].text))


def line(wanted: int) -> tuple[Stage, ...]:
    async def judge(made: Artefacts, _asker: Asker) -> Verdict:
        if made[Length].signs < wanted:
            raise GoBack("word", [f"{made[Word].text} is too short"])
        return Verdict(good=True)

    return Stage("word", Word, word), Stage("length", Length, length), Stage("judge", Verdict, judge)


def begun(folder: Path, writer: Counting, wanted: int) -> EnvironmentRun:
    environment = EnvironmentRun("words", folder / "environments" / "words", line(wanted), writer)
    environment.begin(Topic(title="Words"))
    return environment


async def test_it_is_made_again_with_what_was_and_why(tmp_path: Path) -> None:
    writer = Counting()
    assert await begun(tmp_path, writer, 3).advance() == EnvironmentEnd("accepted")
    assert writer.asked == [
        "A word. Before: nothing. Evidence: ",
        "A word. Before: a. Evidence: a is too short",
        "A word. Before: ab. Evidence: ab is too short",
    ]


async def test_after_two_times_the_environment_is_given_up(tmp_path: Path) -> None:
    end = await begun(tmp_path, Counting(), 4).advance()
    assert end == EnvironmentEnd("rejected", "judge: abc is too short")


async def test_a_run_that_comes_later_neither_repeats_nor_forgets_it(tmp_path: Path) -> None:
    writer = Counting()
    await begun(tmp_path, writer, 3).advance()
    assert await begun(tmp_path, writer, 3).advance() == EnvironmentEnd("accepted")
    assert len(writer.asked) == 3
    (tmp_path / "environments/words/01-word.json").unlink()
    assert await begun(tmp_path, writer, 3).advance() == EnvironmentEnd("accepted")
    assert writer.asked[3] == "A word. Before: ab. Evidence: ab is too short"


async def test_what_was_said_for_what_was_remade_is_counted(tmp_path: Path) -> None:
    await begun(tmp_path, Counting(), 3).advance()
    summary = summed_up(SynthesisFolder(tmp_path), line(3), Prices(prompt=1_000_000))
    [card] = summary.cards
    assert (card.state, card.asked, card.money) == ("accepted", 3, 3.0)
    tallies = {tally.name: tally for tally in summary.stages}
    assert (tallies["word"].passed, tallies["word"].at_first, tallies["judge"].sent_back) == (1, 0, 2)


async def test_trouble_in_a_stage_is_kept_and_the_next_run_tries_again(tmp_path: Path) -> None:
    async def breaks(_made: Artefacts, _asker: Asker) -> Word:
        raise ZeroDivisionError("no words")

    environment = begun(tmp_path, Counting(), 1)
    environment.stages = (Stage("word", Word, breaks),)
    assert await environment.advance() == EnvironmentEnd("failed", "ZeroDivisionError: no words")
    assert "Traceback" in (environment.folder / "failed.txt").read_text()
    assert await begun(tmp_path, Counting(), 1).advance() == EnvironmentEnd("accepted")
    assert not (environment.folder / "failed.txt").exists()


class Trust(Record):
    words: tuple[str, ...]


async def test_each_destination_has_its_own_turns_and_what_was_seen_is_given_back(tmp_path: Path) -> None:
    seen: list[tuple[Record | None, tuple[str, ...]]] = []
    made_before: list[tuple[Record | None, tuple[str, ...]]] = []

    async def number(made: Artefacts, _asker: Asker) -> Length:
        made_before.append((made.before, made.evidence))
        return Length(signs=len(made[Word].text))

    async def trust(made: Artefacts, _asker: Asker) -> Trust:
        seen.append((made.seen, made.sent))
        if len(made.sent) < 4:
            raise GoBack(("word", "number")[len(made.sent) % 2], ["no"], Trust(words=(*made.sent, "no")))
        return Trust(words=())

    stages = (Stage("word", Word, word), Stage("number", Length, number), Stage("trust", Trust, trust))
    environment = EnvironmentRun("words", tmp_path / "words", stages, Counting())
    environment.begin(Topic(title="Words"))
    assert await environment.advance() == EnvironmentEnd("accepted")
    assert seen[0] == (None, ())
    assert seen[2] == (Trust(words=("word", "no")), ("word", "number"))
    assert seen[4][1] == ("word", "number", "word", "number")
    # Only where it was sent back itself it has evidence; what it had made is there in any case.
    assert made_before == [
        (None, ()),
        (Length(signs=1), ()),
        (Length(signs=2), ("no",)),
        (Length(signs=2), ()),
        (Length(signs=3), ("no",)),
    ]
