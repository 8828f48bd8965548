"""Whole runs against an endpoint over real sockets; those that are killed in processes of their own."""

import json
import signal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.doubles import StubEndpoint, refused, said
from tests.processes import farm
from tests.synth.pipeline.model import Model, answer_to
from tests.synth.pipeline.tiny_process import artefact, ran, started, values

TOPICS = ["Loans", "Hotels"]
STRAIGHT = 10
"""Requests of an undisturbed run: for each topic two for tables, one for tools, two for code."""


async def test_a_run_makes_an_environment_of_each_topic(tmp_path: Path) -> None:
    model = Model()
    async with model.serve() as base_url:
        done = await ran(tmp_path, topics=TOPICS, base_url=base_url, prompt_price=100.0, completion_price=200.0)
    assert (done.code, done.err) == (0, "")
    assert "2 accepted, 0 rejected; 10 requests, 0 answers from the cache, 100 + 50 tokens, 0.02 spent." in done.out
    loans = [line for line in done.out.splitlines() if line.startswith("loans: ")]
    assert [line.split(" (")[0] for line in loans] == [
        "loans: tables begins",
        "loans: tools begins",
        "loans: code begins",
        "loans: bundle begins",
        "loans: accepted",
    ]
    assert "(2 requests, 1 answer refused, 30 tokens)" in loans[1]
    assert "First answers accepted: tables 0 of 2, tools 2 of 2, code 4 of 4." in done.out
    assert len(model.requests) == STRAIGHT
    assert values(tmp_path)["loans/01-tables.json"] == {"names": ["loans_a", "loans_b"]}
    assert values(tmp_path)["hotels/04-bundle.json"] == {"files": 1}
    tables = artefact(tmp_path, "loans/01-tables.json")
    assert [one["reasons"] for one in tables["exchanges"]] == [["names: 1 is too few; 2 are asked"], []]
    assert tables["models"] == ["stub"]
    assert all(len(tables[key]) == 64 for key in ("digest", "code", "after"))
    assert (tmp_path / "run/library/loans/tools.py").read_text().startswith("def list_loans_a(db): ...")
    report = (tmp_path / "run/report.html").read_text()
    assert "names: 1 is too few; 2 are asked" in report


async def test_a_rejection_is_told_to_the_writer_with_its_own_answer(tmp_path: Path) -> None:
    model = Model()
    async with model.serve() as base_url:
        done = await ran(tmp_path, topics=["Loans"], base_url=base_url)
    assert "tokens.\n" in done.out
    assert "spent" not in done.out  # no price was given
    said, told = model.requests[1]["messages"][2:]
    assert (said["role"], json.loads(said["content"])) == ("assistant", {"names": ["one"]})
    assert told["role"] == "user"
    assert "- names: 1 is too few; 2 are asked" in told["content"]


@pytest.mark.parametrize("held", range(1, 6))
async def test_a_run_that_was_killed_in_any_stage_goes_on_without_loss(held: int, tmp_path: Path) -> None:
    model = Model(held=held)
    async with model.serve() as base_url:
        one = await started(tmp_path, topics=["Loans"], base_url=base_url, at_once=1)
        await model.came.wait()
        one.send(signal.SIGKILL)
        await one.ended()
        before = {name: artefact(tmp_path, name) for name in values(tmp_path)}
        done = await ran(tmp_path, topics=["Loans"], base_url=base_url)
        assert done.code == 0, done.err
        assert len(model.requests) == STRAIGHT // 2 + 1  # what was under way is asked again, and nothing else
        assert {name: artefact(tmp_path, name) for name in before} == before
    straight = tmp_path / "straight"
    straight.mkdir()
    async with Model().serve() as base_url:
        await ran(straight, topics=["Loans"], base_url=base_url)
    assert values(tmp_path) == values(straight)


async def test_a_run_that_was_interrupted_goes_on(tmp_path: Path) -> None:
    model = Model(held=4)
    async with model.serve() as base_url:
        one = await started(tmp_path, topics=TOPICS, base_url=base_url)
        await model.came.wait()
        one.send(signal.SIGINT)
        assert (await one.ended()).code != 0
        done = await ran(tmp_path, topics=TOPICS, base_url=base_url)
    assert "2 accepted" in done.out


async def test_a_finished_run_asks_nothing_again_and_changes_nothing(tmp_path: Path) -> None:
    model = Model()
    async with model.serve() as base_url:
        await ran(tmp_path, topics=TOPICS, base_url=base_url)
        before = {name: artefact(tmp_path, name) for name in values(tmp_path)}
        done = await ran(tmp_path, base_url=base_url)
    assert "2 accepted, 0 rejected; 0 requests, 0 answers from the cache" in done.out
    assert len(model.requests) == STRAIGHT
    assert {name: artefact(tmp_path, name) for name in before} == before


@pytest.mark.parametrize("harm", ["half", "empty", "altered", "its file"])
async def test_a_harmed_artefact_is_made_again_from_what_was_said(harm: str, tmp_path: Path) -> None:
    model = Model()
    async with model.serve() as base_url:
        await ran(tmp_path, topics=["Loans"], base_url=base_url)
        made = values(tmp_path)
        spoil(tmp_path / "run/environments/loans", harm)
        done = await ran(tmp_path, base_url=base_url)
    assert "1 accepted, 0 rejected; 0 requests" in done.out
    assert values(tmp_path) == made
    assert len(model.requests) == STRAIGHT // 2


def spoil(folder: Path, harm: str) -> None:
    tools = folder / "02-tools.json"
    text = tools.read_text()
    if harm == "its file":
        (folder / "bundle/loans/tools.py").write_text("import os")
    else:
        tools.write_text({"half": text[: len(text) // 2], "empty": "", "altered": text.replace("_a", "_x")}[harm])


async def test_a_second_run_is_kept_out_of_the_folder(tmp_path: Path) -> None:
    model = Model(held=1)
    async with model.serve() as base_url:
        one = await started(tmp_path, topics=["Loans"], base_url=base_url)
        await model.came.wait()
        done = await ran(tmp_path, topics=["Loans"], base_url=base_url)
        assert done.err == f"Conflict: --out {tmp_path}/run: another run works in it (process {one.process.pid})\n"
        one.send(signal.SIGKILL)
        await one.ended()


async def test_a_title_is_one_environment_however_often_it_is_given(tmp_path: Path) -> None:
    async with Model().serve() as base_url:
        await ran(tmp_path, topics=["Loans", "Loans"], base_url=base_url)
        done = await ran(tmp_path, topics=["Loans", "loans"], base_url=base_url)
    assert "2 accepted" in done.out
    assert {path.name for path in (tmp_path / "run/environments").iterdir()} == {"loans", "loans_2"}


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"topic": ["Loans"]}, "unknown key 'topic'; there are: out, topics"),
        ({"at_once": 0}, "plan.toml: at_once: must be at least 1"),
        ({"writer": "typist"}, "plan.toml: writer: must be 'endpoint', 'batch' or 'recording'"),
        ({}, "nothing to make: give --topic, --tasks or --from"),
        ({"tasks": "/none.jsonl", "n": 2}, "--tasks /none.jsonl: no such file"),
        ({"tasks": "/etc/hostname"}, "--tasks wants --n"),
        ({"writer": "recording"}, "--writer recording wants --recording FILE"),
        ({"writer": "recording", "recordings": ["/no.jsonl"], "topics": ["a"]}, "/no.jsonl: cannot be read"),
        ({"model": "", "topics": ["a"]}, "--writer endpoint wants --model NAME"),
        ({"out": "/proc/here", "topics": ["a"]}, "--out /proc/here: cannot be written"),
    ],
    ids=str,
)
async def test_a_wrong_plan_is_refused_by_name(plan: dict[str, Any], message: str, tmp_path: Path) -> None:
    done = await ran(tmp_path, **plan)
    assert done.code == 1
    assert message in done.err
    assert done.err.count("\n") == 1


async def test_what_is_no_toml_is_refused(tmp_path: Path) -> None:
    done = await ran(tmp_path, **{"topics = ": 1})
    assert "plan.toml: no TOML: " in done.err


async def test_an_endpoint_that_breaks_stops_an_environment_and_the_next_run_goes_on(tmp_path: Path) -> None:
    broken = Model(answer=hotels_are_broken)
    async with broken.serve() as base_url:
        done = await ran(tmp_path, topics=TOPICS, base_url=base_url, attempts=1)
    assert done.code == 1
    assert "hotels: stopped: tables: http" in done.out
    assert done.out.count("HTTP 500") == 1
    assert "1 accepted, 0 rejected" in done.out
    async with Model().serve() as base_url:
        done = await ran(tmp_path, topics=TOPICS, base_url=base_url)
    assert (done.code, "2 accepted" in done.out) == (0, True)


def hotels_are_broken(messages: list[dict[str, str]]) -> Any:
    return refused(500, "oops") if "Hotels" in messages[1]["content"] else answer_to(messages)


async def test_a_wrong_key_ends_the_run_with_one_line(tmp_path: Path) -> None:
    model = Model(answer=lambda messages: refused(401, "no such key"))
    async with model.serve() as base_url:
        done = await ran(tmp_path, topics=TOPICS, base_url=base_url)
    assert done.code == 1
    assert "the key is wrong" in done.err
    assert done.err.count("\n") == 1


async def test_an_environment_that_is_never_accepted_is_kept_with_its_reasons(tmp_path: Path) -> None:
    stubborn = Model(answer=lambda messages: {"names": ["<b>one</b>"]})
    async with stubborn.serve() as base_url:
        done = await ran(tmp_path, topics=["Loans"], base_url=base_url)
        again = await ran(tmp_path, base_url=base_url)
    assert (done.code, again.code) == (1, 1)
    assert "0 accepted, 1 rejected; 4 requests" in done.out
    assert "loans: tables begins\nloans: rejected: tables: names: 1 is too few; 2 are asked (4 requests" in done.out
    assert "\nIt is not tried again" in done.out
    assert "Written by stub." in (tmp_path / "run/report.html").read_text()
    assert "0 accepted, 1 rejected; 0 requests" in again.out
    rejection = json.loads((tmp_path / "run/environments/loans/rejected.json").read_text())
    assert (rejection["stage"], rejection["reasons"]) == ("tables", ["names: 1 is too few; 2 are asked"])
    assert len(rejection["exchanges"]) == 4
    async with Model().serve() as base_url:
        done = await ran(tmp_path, base_url=base_url, again=True, model="m2")
    assert "1 accepted" in done.out


async def test_a_run_goes_on_when_its_folder_alone_is_named(tmp_path: Path) -> None:
    endpoint = StubEndpoint([refused(401, "no such key"), *[said("{}") for _ in range(8)]])
    async with endpoint.serve() as base_url:
        run = partial(farm, "synth", "run", "--out", "r", home=tmp_path, OPENAI_API_KEY="sk-1")
        begun = await run("--topic", "Loans", "--model", "m", "--base-url", base_url)
        resumed = await run()
        again = await run("--again", "--model", "m2")
    assert (begun.code, "the key is wrong (OPENAI_API_KEY)" in begun.err) == (2, True)
    assert (resumed.code, resumed.err) == (1, "")
    assert "0 accepted, 1 rejected; 4 requests" in resumed.out
    assert resumed.out.startswith("Writing into r; each stage has a line")
    assert again.code == 1
    assert [request["model"] for request in endpoint.requests] == ["m"] * 5 + ["m2"] * 4


async def test_a_folder_without_a_run_has_nothing_to_go_on_with(tmp_path: Path) -> None:
    done = await farm("synth", "run", "--out", "r", home=tmp_path)
    wants = "r holds no run to go on with; a new one wants --topic, --tasks or --from, and --model"
    assert (done.code, done.err) == (2, f"farm: {wants}\n")


async def test_answers_of_a_model_cannot_write_into_the_report(tmp_path: Path) -> None:
    nonsense = Model(answer=lambda messages: {"<script>alert(1)</script>": 1})
    async with nonsense.serve() as base_url:
        await ran(tmp_path, topics=["<script>alert(2)</script>"], base_url=base_url)
    report = (tmp_path / "run/report.html").read_text()
    assert "&lt;script&gt;alert(1)" in report
    assert "&lt;script&gt;alert(2)" in report
    assert "<script" not in report


async def test_topics_are_mined_once(tmp_path: Path) -> None:
    (tmp_path / "tasks.txt").write_text("Museums\nHotels\nLoans\n")
    model = Model()
    async with model.serve() as base_url:
        plan = {"tasks": str(tmp_path / "tasks.txt"), "n": 2, "base_url": base_url}
        done = await ran(tmp_path, **plan)
        await ran(tmp_path, **plan, cache=str(tmp_path / "elsewhere"))
    assert "2 accepted" in done.out
    assert {path.name for path in (tmp_path / "run/environments").iterdir()} == {"hotels", "loans"}
    assert len(model.requests) == 1 + STRAIGHT


async def test_a_recording_of_a_run_replays_it_and_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    recording = tmp_path / "r.jsonl"
    async with Model().serve() as base_url:
        await ran(tmp_path, topics=["Loans"], base_url=base_url, record=str(recording), out=str(tmp_path / "first"))
    done = await ran(tmp_path, topics=["Loans"], writer="recording", recordings=[str(recording)])
    assert "1 accepted" in done.out
    done = await ran(tmp_path, topics=["Lians"], writer="recording", recordings=[str(recording)])
    assert done.code == 1
    assert f"lians/tables: {recording}: no answer to this; the nearest recorded prompt differs" in done.err
    assert "-Which tables has Loans?\n+Which tables has Lians?" in done.err
