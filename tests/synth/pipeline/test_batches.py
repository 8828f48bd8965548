"""Runs whose answers come in files, as batch APIs and `vllm run-batch` give them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.doubles import said
from tests.processes import Done
from tests.synth.pipeline.model import answer_to
from tests.synth.pipeline.tiny_process import ran, values

TOPICS = ["Loans", "Hotels"]


async def batch(home: Path, **plan: Any) -> Done:
    return await ran(home, topics=TOPICS, writer="batch", **plan)


def lines(home: Path, number: int) -> list[dict[str, Any]]:
    text = (home / f"run/batch/batch-{number:03}.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def answered(line: dict[str, Any]) -> dict[str, Any]:
    """A line of results, as the API writes them."""
    body = said(json.dumps(answer_to(line["body"]["messages"])))
    return {
        "id": f"batch_req_{line['custom_id'][:6]}",
        "custom_id": line["custom_id"],
        "response": {"status_code": 200, "request_id": "r", "body": body},
        "error": None,
    }


def failed(line: dict[str, Any]) -> dict[str, Any]:
    body = {"error": {"message": "overloaded"}}
    return {"custom_id": line["custom_id"], "response": {"status_code": 500, "body": body}, "error": None}


def reply(home: Path, number: int, by: Callable[[dict[str, Any]], dict[str, Any]] = answered) -> Path:
    """Put results where they are expected, the last first: their order means nothing."""
    file = home / f"run/batch/batch-{number:03}.results.jsonl"
    file.write_text("".join(json.dumps(by(line)) + "\n" for line in reversed(lines(home, number))))
    return file


async def test_all_environments_advance_one_question_per_batch(tmp_path: Path) -> None:
    sizes: list[int] = []
    done = await batch(tmp_path)
    while "Waiting for the answers" in done.out:
        assert done.code == 0
        sizes.append(len(lines(tmp_path, len(sizes) + 1)))
        reply(tmp_path, len(sizes))
        done = await batch(tmp_path)
    assert (done.code, "2 accepted" in done.out) == (0, True)
    assert sizes == [2, 2, 2, 4]  # the questions of a stage that asks several go together
    assert values(tmp_path)["loans/01-tables.json"] == {"names": ["loans_a", "loans_b"]}


async def test_a_line_is_what_batch_apis_read(tmp_path: Path) -> None:
    done = await batch(tmp_path, temperature=0.5)
    [line, other] = lines(tmp_path, 1)
    assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
    assert line["custom_id"] != other["custom_id"]
    assert line["body"]["model"] == "m"
    assert line["body"]["temperature"] == 0.5
    assert line["body"]["response_format"]["type"] == "json_schema"
    assert f"{tmp_path}/run/batch/batch-001.results.jsonl" in done.out
    assert "--batch-results" in done.out


async def test_while_there_are_no_results_no_second_batch_is_written(tmp_path: Path) -> None:
    await batch(tmp_path)
    done = await batch(tmp_path)
    assert (done.code, "batch-001.jsonl" in done.out, "batch-002" in done.out) == (0, True, False)


async def test_results_may_be_named_by_their_file(tmp_path: Path) -> None:
    await batch(tmp_path)
    results = reply(tmp_path, 1).rename(tmp_path / "output.jsonl")
    await batch(tmp_path, batch_results=str(results))
    assert len(lines(tmp_path, 2)) == 2


async def test_lines_that_failed_or_are_missing_go_into_the_next_batch(tmp_path: Path) -> None:
    await batch(tmp_path)
    first, second = lines(tmp_path, 1)
    reply(tmp_path, 1, lambda line: failed(line) if line == first else answered(line))
    await batch(tmp_path)
    [next_one] = [line for line in lines(tmp_path, 2) if line != first]
    assert first in lines(tmp_path, 2)
    assert next_one["custom_id"] != second["custom_id"]
    (tmp_path / "run/batch/batch-002.results.jsonl").write_text("")
    await batch(tmp_path)
    assert lines(tmp_path, 3) == lines(tmp_path, 2)


async def test_a_line_that_fails_time_and_again_stops_its_environment_alone(tmp_path: Path) -> None:
    await batch(tmp_path)
    bad = lines(tmp_path, 1)[0]["custom_id"]
    for number in (1, 2, 3):
        reply(tmp_path, number, lambda line: failed(line) if line["custom_id"] == bad else answered(line))
        if number < 3:
            assert (await batch(tmp_path)).code == 0
    done = await batch(tmp_path)
    assert done.code == 1
    assert 'loans: stopped: tables: failed in 3 batches: {"status_code": 500' in done.out
    assert "overloaded" in done.out
    assert [line["body"]["messages"][1]["content"] for line in lines(tmp_path, 4)] != []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "answers nothing that was asked"),
        ('{"custom_id": "x", "response": null}\n', "answers nothing that was asked"),
        ("{}\n", "line 1: custom_id: is missing"),
        ("<html>\n", "line 1: not JSON"),
    ],
)
async def test_a_file_that_is_no_answer_is_refused(text: str, message: str, tmp_path: Path) -> None:
    await batch(tmp_path)
    (tmp_path / "output.jsonl").write_text(text)
    done = await batch(tmp_path, batch_results=str(tmp_path / "output.jsonl"))
    assert (done.code, message in done.err) == (1, True), done.err
