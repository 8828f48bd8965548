"""Task texts become topics: what is read, what is left out, what is judged, what is chosen."""

import json
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

import synth
from agent_client.models.endpoint import Endpoint, Retries
from servers.errors import NotFound, RequestError
from synth.environments.mining.similarity import cosine, distinct, diverse, map_svg, vectors
from synth.environments.mining.tasks import read_tasks
from synth.environments.mining.topics import (
    TaskJudgement,
    judgement_findings,
    mine,
    select,
)
from synth.llm.endpoint import Embedder
from synth.llm.recording import RecordingWriter
from synth.llm.writer import WriterRefused, WriterUnreachable
from synth.pipeline.artefact import Topic
from synth.pipeline.asker import Asker
from tests.doubles import serving
from tests.synth.environments.replay import RECORDINGS

SAMPLE = Path(synth.__file__).parent / "data" / "tasks.jsonl"
ASKS = "Please cancel my booking of Friday and tell me what it costs."
needs_datasets = pytest.mark.skipif(find_spec("datasets") is None, reason="needs the extra [datasets]")
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


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read_tasks(tmp_path / "none.jsonl")


SAVES = """
import datasets, json, sys
folder, texts = sys.argv[1], json.loads(sys.argv[2])
part = datasets.Dataset.from_list([{"query": text, "number": 1} for text in texts])
datasets.DatasetDict({"train": part.select([0]), "test": part}).save_to_disk(folder)
part.save_to_disk(folder + "-alone")
"""


@needs_datasets
def test_a_data_set_is_read_by_its_name_and_split(tmp_path: Path) -> None:
    folder = tmp_path / "saved"
    command = [sys.executable, "-c", SAVES, str(folder), json.dumps([ASKS, MOVES])]
    subprocess.run(command, check=True, capture_output=True)
    assert read_tasks(Path(f"hf:{folder}")).texts == (ASKS,)
    assert read_tasks(Path(f"hf:{folder}:test")).texts == (ASKS, MOVES)
    assert read_tasks(Path(f"hf:{folder}-alone")).texts == (ASKS, MOVES)
    with pytest.raises(RequestError, match="there is no split 'dev'; there are: train, test"):
        read_tasks(Path(f"hf:{folder}:dev"))
    with pytest.raises(RequestError, match="cannot be read"):
        read_tasks(Path(f"hf:{tmp_path}"))


@pytest.mark.skipif(find_spec("datasets") is not None, reason="the package datasets is installed")
def test_a_data_set_needs_its_package(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"pip install 'envfarm\[datasets\]'"):
        read_tasks(Path("hf:owner/name"))


SPACE = {"Dental": (1.0, 0.1, 0.0), "Dentist": (1.0, 0.0, 0.0), "Harbour": (0.0, 1.0, 0.0), "Archive": (0.6, 0.6, 0.5)}


@dataclass
class Embeddings:
    """An embeddings endpoint that knows a few titles; `lost` leaves one out of each answer."""

    lost: int = 0
    requests: list[dict[str, Any]] = field(default_factory=list[Any])

    @asynccontextmanager
    async def serve(self) -> AsyncGenerator[str]:
        app = FastAPI()
        app.add_api_route("/v1/embeddings", self._embed, methods=["POST"], response_model=None)
        async with serving(app) as origin:
            yield f"{origin}/v1"

    async def _embed(self, request: Request) -> JSONResponse:
        body = await request.json()
        self.requests.append(body)
        if body["model"] != "e-1":
            return JSONResponse({"error": {"message": "no such model"}}, status_code=404)
        found = [{"index": at, "embedding": SPACE[text.split()[0]]} for at, text in enumerate(body["input"])]
        return JSONResponse({"object": "list", "data": found[self.lost :][::-1], "model": "e-1"})


def about(title: str, score: int) -> Topic:
    return Topic(title=title, introduction="The same words.", task="t", usefulness=score, modelability=score)


async def chosen_by(stub: Embeddings, model: str = "e-1") -> list[str]:
    async with stub.serve() as base_url, Endpoint(base_url, retries=Retries(attempts=1)) as endpoint:
        topics = [about("Dental", 9), about("Dentist", 8), about("Harbour", 7), about("Archive", 6)]
        every, space, chosen = await select(topics, 2, Embedder(endpoint, model))
    assert len(space) == len(every)
    assert [one.title for one in every] == ["Dental", "Harbour", "Archive"], "two names of the same are one topic"
    return [every[place].title for place in chosen]


async def test_topics_are_compared_by_their_embeddings() -> None:
    stub = Embeddings()
    assert await chosen_by(stub) == ["Dental", "Harbour"]
    assert [(one["model"], len(one["input"])) for one in stub.requests] == [("e-1", 4)]
    assert stub.requests[0]["input"][0] == "Dental\nThe same words."


async def test_an_endpoint_that_does_not_embed_is_named() -> None:
    with pytest.raises(WriterRefused, match=r"--embeddings e-2: .* HTTP 404"):
        await chosen_by(Embeddings(), "e-2")
    with pytest.raises(WriterUnreachable, match="answered 3 embeddings to 4 texts"):
        await chosen_by(Embeddings(lost=1))


def test_alike_texts_are_near_and_the_chosen_ones_are_far_apart() -> None:
    texts = ["dentist appointments", "appointments of a dentist", "bicycle rental fleet", "harbour pilots and tugs"]
    space = vectors(texts)
    assert cosine(space[0], space[1]) > 0.9
    assert cosine(space[0], space[2]) == 0
    assert distinct(space, most_alike=0.6) == [0, 2, 3]
    assert diverse(space, 3) == [0, 2, 3]
    assert diverse(space, 9) == [0, 2, 3, 1]
    picture = map_svg([*texts[:3], "a <b> & c"], space, [0, 3])
    assert picture.count("<circle") == 4
    assert "a &lt;b&gt; &amp; c" in picture


async def test_of_one_title_the_best_stays() -> None:
    topics = [
        Topic(title="Bike Rental", introduction="bikes", task="a", usefulness=6, modelability=7),
        Topic(title="Bike rental", introduction="bikes", task="b", usefulness=9, modelability=9),
        Topic(title="Archive", introduction="files", task="c", usefulness=6, modelability=6),
    ]
    every, _, chosen = await select(topics, 1)
    assert [one.task for one in every] == ["b", "c"]
    assert [every[place].task for place in chosen] == ["b"]


def test_every_text_is_judged_once_with_scores_and_a_setting() -> None:
    fine = TaskJudgement(
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
