"""ACEBench's agent part: an import of a clone, its tools over real HTTP, upstream's own end and process accuracy."""

import json
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from registry.client import FarmClient
from servers.errors import RequestError
from servers.guest.sqlite.sql_text import sql_literal
from servers.sandbox.guest_pool import Guests
from servers.scenario.scenario import PlannedCall, Scenario
from synth.interop.benchmarks.acebench import AceKind, AceLanguage, acebench
from synth.interop.benchmarks.bundle_writer import write
from synth.interop.benchmarks.clone import Clone, filled
from tests.benchmarks.replays import (
    STAND_INS,
    UPSTREAM,
    Replay,
    farm_of,
    lists_of_milestones,
    milestones,
    nothing,
    replayed,
)
from tests.processes import farm

STAND_IN = STAND_INS / "acebench"
FULL = UPSTREAM / "ACEBench"
MOST_LISTS = 3
KNOWN_BY = 7
"""The characters by which the name of a class is known: `ReminderApi` is also `ReminderAPI` and `Reminderpi`."""
needs_upstream = pytest.mark.skipif(
    not FULL.is_dir(), reason="needs a clone of ACEBench in ../shared/upstream, or in FARM_UPSTREAM"
)


def other_list(scenario: Scenario, place: int) -> list[PlannedCall]:
    """A list of milestones by its place: none, if there are not so many."""
    lists = lists_of_milestones(scenario)
    return lists[place] if place < len(lists) else []


async def import_acebench(clone: Path, out: Path, language: AceLanguage, kind: AceKind) -> None:
    bundle = acebench(Clone(clone, "ACEBench"), language, kind, any_version=clone != FULL)
    async with Guests() as guests:
        await write(bundle, out, guests)


@asynccontextmanager
async def acebench_farm(folder: Path, kind: AceKind) -> AsyncGenerator[FarmClient]:
    await import_acebench(STAND_IN, folder / "imported", "en", kind)
    async with farm_of(folder / "imported", folder / "state") as client:
        yield client


def told(replay: Replay) -> dict[str, Any]:
    assert replay.score is not None
    return json.loads(replay.score.verdicts[0].seen)


@pytest.mark.parametrize("kind", ["multi_turn", "multi_step"])
async def test_milestones_reach_the_end_and_nothing_reaches_none(tmp_path: Path, kind: AceKind) -> None:
    async with acebench_farm(tmp_path, kind) as client:
        found = await replayed(client, f"acebench_en_{kind}", milestones)
        assert [one.passed for one in found.values()] == [True, True]
        assert all(told(one)["process"] == 1.0 for one in found.values())
        found = await replayed(client, f"acebench_en_{kind}", nothing)
        assert not any(one.passed for one in found.values())
        assert all(told(one)["process"] == 0.0 for one in found.values())


async def test_a_call_is_answered_by_the_execution_role_of_the_clone(tmp_path: Path) -> None:
    async with (
        acebench_farm(tmp_path, "multi_turn") as client,
        client.leased("acebench_en_multi_turn", "task_0") as live,
    ):
        async with live.connect() as toolbox:
            assert toolbox.instructions.startswith("You tend a greenhouse.")
            assert "ask which one" in toolbox.instructions
            dry = await toolbox.call("water_bed", {"bed": 2, "cans": 3})
            assert dry.text == "[{'done': False, 'why': 'the power is off'}]"
            assert (await toolbox.call("switch_power", {"on": True})).text == "[{'done': True, 'power': 'on'}]"
            wrong = await toolbox.call("switch_power", {"to": True})
            assert wrong.text.startswith("['not called', ")
            none = await toolbox.call("water_bed", {"bed": 9, "cans": 3})
            assert none.text == "Error during execution: 9"
        score = await live.score()
        told = json.loads(score.verdicts[0].seen)
        assert (told["end"], told["process"]) == (0.0, 0.25)
        assert "Beds.beds is " in told["why"]


@needs_upstream
async def test_a_call_is_answered_by_upstreams_execution_role(tmp_path: Path) -> None:
    await import_acebench(FULL, tmp_path / "imported", "en", "multi_turn")
    async with (
        farm_of(tmp_path / "imported", tmp_path / "state") as client,
        client.leased("acebench_en_multi_turn", "task_0") as live,
    ):
        async with live.connect() as toolbox:
            assert "simulated mobile assistant" in toolbox.instructions
            text = (await toolbox.call("turn_on_wifi", {})).text
            assert text == "[{'status': True, 'message': 'Wi-Fi has been turned on'}]"
            text = (await toolbox.call("delete_message", {"message_id": 99})).text
            assert "'status': False" in text
            wrong = await toolbox.call("delete_message", {"number": 99})
            assert wrong.text == str(list("Error during execution: {str(e)}"))  # upstream lists its letters
        score = await live.score()
        assert json.loads(score.verdicts[0].seen)["process"] == 0.25


async def test_a_checker_that_raises_is_no_zero(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(STAND_IN, clone)
    checker = clone / "eval_main.py"
    text = checker.read_text(encoding="utf-8")
    checker.write_text(text.replace("def agent_eval(", "def agent_eval(*_): 1 / 0\ndef former_eval("), encoding="utf-8")
    await import_acebench(clone, tmp_path / "b", "en", "multi_turn")
    async with (
        farm_of(tmp_path / "b", tmp_path / "state") as client,
        client.leased("acebench_en_multi_turn", "task_0") as live,
    ):
        score = await live.score()
        assert (score.outcome, score.reward) == ("infra_error", None)
        assert "the official checker raised: ZeroDivisionError" in (score.error or "")


async def test_two_runs_of_one_task_share_nothing(tmp_path: Path) -> None:
    async with (
        acebench_farm(tmp_path, "multi_turn") as client,
        client.leased("acebench_en_multi_turn", "task_0") as one,
        client.leased("acebench_en_multi_turn", "task_0") as other,
        one.connect() as toolbox,
        other.connect() as another,
    ):
        for call in milestones((await client.scenario("acebench_en_multi_turn", "task_0")).scenario):
            await toolbox.call(call.tool, call.arguments)
        dry = await another.call("water_bed", {"bed": 2, "cans": 3})
        assert dry.text == "[{'done': False, 'why': 'the power is off'}]"
        assert [(await live.score()).success for live in (one, other)] == [True, False]


async def test_the_text_of_a_call_cannot_leave_it(tmp_path: Path) -> None:
    """Upstream evaluates the text of a call. Values are literals there, and names that are no names are left out."""
    async with (
        acebench_farm(tmp_path, "multi_turn") as client,
        client.leased("acebench_en_multi_turn", "task_0") as live,
        live.connect() as toolbox,
    ):
        evil = "'), __import__('os').system('true'), ('"
        assert "'power'" not in (await toolbox.call("water_bed", {"bed": evil, "cans": 1})).text
        on = await toolbox.call("switch_power", {"on=True) or exit(": 1, "on": True})
        assert on.text == "[{'done': True, 'power': 'on'}]"
        assert (await live.score()).outcome == "scored"


def test_a_task_that_cannot_be_read_is_told_by_row(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(STAND_IN, clone)
    path = clone / "data_all/data_en/data_agent_multi_turn.json"
    path.write_text(path.read_text(encoding="utf-8").replace('["Beds"]', '["Fax"]'), encoding="utf-8")
    with pytest.raises(RequestError, match="row 1: ValueError: unknown class 'Fax'"):
        acebench(Clone(clone, "ACEBench"), "en", "multi_turn", any_version=True)


@pytest.mark.parametrize(
    ("path", "text", "told"),
    [
        ("model_inference/apimodel_inference.py", "SAVED_CLASS = open('x')", "SAVED_CLASS: ValueError"),
        ("model_inference/apimodel_inference.py", f"SAVED_CLASS = {'-' * 600}1", "SAVED_CLASS: "),
        ("model_inference/prompt_en.py", "BASE_PROMPT_EN = TRAVEL_PROMPT_EN = [x]", "BASE_PROMPT: ValueError"),
    ],
)
def test_files_with_other_values_are_told(tmp_path: Path, path: str, text: str, told: str) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(STAND_IN, clone)
    (clone / path).write_text(text, encoding="utf-8")
    with pytest.raises(RequestError, match=told):
        acebench(Clone(clone, "ACEBench"), "en", "multi_turn", any_version=True)


def test_a_prompt_is_filled_with_plain_fields_alone() -> None:
    assert filled("{{x}} {instruction}.", instruction="go") == "{x} go."
    for prompt in ("{instruction:>9999999999}", "{instruction.__class__}", "{other}"):
        with pytest.raises(ValueError, match="has a field that is not plain"):
            filled(prompt, instruction="go")
    with pytest.raises(ValueError, match="a text of more than 1024 KiB is composed"):
        filled("{instruction}" * 2000, instruction="x" * 1000)


async def test_another_version_is_refused(tmp_path: Path) -> None:
    done = await farm(
        "import", "acebench", str(STAND_IN), "--language", "en", "--out", str(tmp_path / "o"), home=tmp_path
    )
    assert (done.code, "is not ACEBench at e6db74b" in done.err) == (2, True)
    assert not (tmp_path / "o").exists()


@needs_upstream
@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "kind", "tasks", "reached", "best"),
    [
        ("en", "multi_step", 20, [2, 3, 18, 19], 7),
        ("en", "multi_turn", 30, [*range(6), 7, *range(16, 30)], 21),
        ("zh", "multi_step", 20, [*range(6), 18, 19], 11),
        ("zh", "multi_turn", 30, [*range(6), *range(7, 30)], 29),
    ],
)
async def test_milestones_reach_what_they_reach_upstream(
    tmp_path: Path, language: AceLanguage, kind: AceKind, tasks: int, reached: list[int], best: int
) -> None:
    """`best` are the tasks whose end is reached by any of their lists of milestones."""
    await import_acebench(FULL, tmp_path / "imported", language, kind)
    async with farm_of(tmp_path / "imported", tmp_path / "state") as client:
        found = await replayed(client, f"acebench_{language}_{kind}", milestones)
        assert len(found) == tasks
        assert sorted(int(name.removeprefix("task_")) for name, one in found.items() if one.passed) == reached
        ends = {name for name, one in found.items() if one.passed}
        for place in range(1, MOST_LISTS):
            found = await replayed(client, f"acebench_{language}_{kind}", partial(other_list, place=place))
            ends |= {name for name, one in found.items() if one.passed}
        assert len(ends) == best
        found = await replayed(client, f"acebench_{language}_{kind}", nothing)
        assert not any(one.passed for one in found.values())
        assert all(told(one)["process"] == 0.0 for one in found.values())


@needs_upstream
@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", ["multi_step", "multi_turn"])
async def test_the_state_of_the_truth_is_the_end(tmp_path: Path, language: AceLanguage, kind: AceKind) -> None:
    await import_acebench(FULL, tmp_path / "imported", language, kind)
    path = tmp_path / "imported" / f"acebench_{language}_{kind}" / "scenarios.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["setup"] += state_of(row["checkpoints"][0]["truth"])
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    async with farm_of(tmp_path / "imported", tmp_path / "state") as client:
        found = await replayed(client, f"acebench_{language}_{kind}", nothing)
        assert [(told(one)["end"], told(one)["process"]) for one in found.values()] == [(1.0, 1.0)] * len(rows)


def state_of(truth: dict[str, Any]) -> str:
    """The statements that make the state of a task the truth's, which writes some names of classes wrongly."""
    wanted: dict[str, Any] | list[dict[str, Any]] = truth["answer"]["ground_truth"]
    states: dict[str, dict[str, Any]] = {
        name[:KNOWN_BY].lower(): held
        for one in (wanted if isinstance(wanted, list) else [wanted])
        for name, held in one.items()
    }
    told = ""
    for name in truth["classes"]:
        for place, (attribute, value) in enumerate(states[name[:KNOWN_BY].lower()].items()):
            row = (name, attribute, str(place), json.dumps(value, ensure_ascii=False))
            told += f"INSERT INTO attributes VALUES ({', '.join(map(sql_literal, row))});\n"
    return told
