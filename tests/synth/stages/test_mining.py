"""Task texts become topics: what is read, what is left out, what is judged, what is chosen."""

import json
from pathlib import Path

import pytest

import synth
from servers.errors import NotFound, RequestError
from synth.run.asker import Asker
from synth.run.topic import Topic
from synth.stages.likeness import cosine, distinct, diverse, map_svg, vectors
from synth.stages.mining import Judgement, judgement_findings, mine, select
from synth.stages.tasks import read_tasks
from synth.writers.recording import RecordingWriter
from tests.synth.stages.replay import RECORDINGS

SAMPLE = Path(synth.__file__).parent / "data" / "tasks.jsonl"
ASKS = "Please cancel my booking of Friday and tell me what it costs."
MOVES = "Move the crate with number 12 to the cold store of the harbour."


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_json_lines_and_csv_and_both_data_sets_are_read(tmp_path: Path) -> None:
    lines = write(tmp_path / "a.jsonl", json.dumps({"task": ASKS}) + "\n" + json.dumps(MOVES) + "\n")
    table = write(tmp_path / "a.csv", f'n,query\n1,"{ASKS}"\n2,"{MOVES}"\n')
    asked = [f"{{api}}\nUser: {one}TIME: 2034\nGenerate API Request: " for one in (ASKS, MOVES)]
    bank = [{"instruction": "…", "input": one, "output": ""} for one in asked]
    turns = [{"system": "", "conversations": [{"from": "user", "value": one}]} for one in (ASKS, MOVES)]
    for path in (
        lines,
        table,
        write(tmp_path / "bank.json", json.dumps(bank)),
        write(tmp_path / "toolace.json", json.dumps(turns)),
    ):
        assert read_tasks(path).texts == (ASKS, MOVES), path


def test_what_is_left_out_is_counted_by_reason(tmp_path: Path) -> None:
    texts = [ASKS, ASKS.upper(), "short", "Draw a picture of my cat for the card that I send.", MOVES,
             "You are a pirate and answer to everything I ask.",
             "Écris une réponse à l'école, s'il te plaît, là-bas."]  # fmt: skip
    path = write(tmp_path / "a.jsonl", "".join(json.dumps({"text": one}) + "\n" for one in texts))
    read = read_tasks(path)
    assert read.texts == (ASKS, MOVES)
    assert (read.read, sum(read.dropped.values())) == (7, 5)
    assert read.dropped["twice"] == read.dropped["not English"] == read.dropped["a role for a chatbot"] == 1


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.xml", "<task/>", "come as .jsonl, .csv"),
        ("a.jsonl", "{broken", "line 1: no JSON"),
        ("a.jsonl", '{"colour": "red"}', "line 1: has no text under"),
        ("a.json", '{"a": 1}', "no list of entries"),
        ("a.csv", "", "holds no task texts"),
        ("a.jsonl", '{"task": "Bitte storniere meine Buchung für den nächsten Freitag."}', "are not English"),
    ],
)
def test_what_cannot_be_mined_is_refused_with_a_reason(tmp_path: Path, name: str, text: str, told: str) -> None:
    with pytest.raises(RequestError, match=told):
        read_tasks(write(tmp_path / name, text))


def test_a_missing_file_and_a_data_set_by_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read_tasks(tmp_path / "none.jsonl")
    with pytest.raises(RequestError, match="not fetched here"):
        read_tasks(Path("hf:owner/name"))


def test_alike_texts_are_near_and_the_chosen_ones_are_far_apart() -> None:
    texts = ["dentist appointments", "appointments of a dentist", "bicycle rental fleet", "harbour pilots and tugs"]
    space = vectors(texts)
    assert cosine(space[0], space[1]) > 0.9
    assert cosine(space[0], space[2]) == 0
    assert distinct(texts, most_alike=0.6) == [0, 2, 3]
    assert diverse(texts, 3) == [0, 2, 3]
    assert diverse(texts, 9) == [0, 2, 3, 1]
    picture = map_svg([*texts[:3], "a <b> & c"], texts, [0, 3])
    assert picture.count("<circle") == 4
    assert "a &lt;b&gt; &amp; c" in picture


def test_of_one_title_the_best_stays() -> None:
    topics = [
        Topic(title="Bike Rental", introduction="bikes", task="a", usefulness=6, modelability=7),
        Topic(title="Bike rental", introduction="bikes", task="b", usefulness=9, modelability=9),
        Topic(title="Archive", introduction="files", task="c", usefulness=6, modelability=6),
    ]
    every, chosen = select(topics, 1)
    assert [one.task for one in every] == ["b", "c"]
    assert [every[place].task for place in chosen] == ["b"]


def test_every_text_is_judged_once_with_scores_and_a_setting() -> None:
    fine = Judgement(
        number=1, stateful=True, reason="", title="Archive", introduction="x" * 80, usefulness=7, modelability=8
    )
    assert judgement_findings([fine], 1) == []
    faults = [
        ([fine], 2, "number 2 occurs 0 times"),
        ([fine, fine], 1, "occurs 2 times"),
        ([fine, fine.model_copy(update={"number": 9})], 1, "there is no text 9"),
        ([fine.model_copy(update={"usefulness": 11})], 1, "scores go from 1 to 10"),
        ([fine.model_copy(update={"introduction": ""})], 1, "is stateful, so give"),
    ]
    for judgements, count, told in faults:
        assert any(told in one for one in judgement_findings(judgements, count))


async def test_our_own_sample_is_mined_from_its_recording(tmp_path: Path) -> None:
    writer = RecordingWriter(RECORDINGS / "mining.jsonl")

    def asker(label: str) -> Asker:
        return Asker(writer, environment="mine", stage=label)

    topics = await mine(SAMPLE, 6, tmp_path, asker)
    assert len({one.title for one in topics}) == 6
    assert all(one.task and one.introduction for one in topics)
    report = (tmp_path / "mining.txt").read_text(encoding="utf-8")
    assert report.startswith("read 20\nkept 20\njudged 20\nstateful 16\nchosen 6\n")
    scored_high = 15  # the pottery studio is of little use
    assert (tmp_path / "themes.svg").read_text(encoding="utf-8").count("<circle") == scored_high
    assert [one.title for one in await mine(SAMPLE, 6, tmp_path, asker)] == [one.title for one in topics]
