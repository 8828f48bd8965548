"""ACEBench's agent part: an import of a clone, its tools over real HTTP, upstream's own end and process accuracy."""

import json
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from registry.client import FarmClient
from servers.errors import RequestError
from servers.sandbox.guest_pool import Guests
from synth.interop.benchmarks.acebench import AceKind, AceLanguage, acebench
from synth.interop.benchmarks.bundle_writer import write
from synth.interop.benchmarks.clone import Clone
from tests.benchmarks.replays import STAND_INS, UPSTREAM, Replay, farm_of, milestones, nothing, replayed
from tests.processes import farm

STAND_IN = STAND_INS / "acebench"
FULL = UPSTREAM / "ACEBench"
needs_upstream = pytest.mark.skipif(
    not FULL.is_dir(), reason="needs a clone of ACEBench in ../shared/upstream, or in FARM_UPSTREAM"
)


async def imported(clone: Path, out: Path, language: AceLanguage, kind: AceKind) -> None:
    bundle = acebench(Clone(clone, "ACEBench"), language, kind, any_version=clone == STAND_IN)
    async with Guests() as guests:
        await write(bundle, out, guests)


@asynccontextmanager
async def stand_in(folder: Path, kind: AceKind) -> AsyncGenerator[FarmClient]:
    await imported(STAND_IN, folder / "imported", "en", kind)
    async with farm_of(folder / "imported", folder / "state") as client:
        yield client


def told(replay: Replay) -> dict[str, Any]:
    assert replay.score is not None
    return json.loads(replay.score.verdicts[0].seen)


@pytest.mark.parametrize("kind", ["multi_turn", "multi_step"])
async def test_milestones_reach_the_end_and_nothing_reaches_none(tmp_path: Path, kind: AceKind) -> None:
    async with stand_in(tmp_path, kind) as client:
        found = await replayed(client, f"acebench_en_{kind}", milestones)
        assert [one.passed for one in found.values()] == [True, True]
        assert all(told(one)["process"] == 1.0 for one in found.values())
        found = await replayed(client, f"acebench_en_{kind}", nothing)
        assert not any(one.passed for one in found.values())
        assert all(told(one)["process"] == 0.0 for one in found.values())


async def test_a_call_is_answered_by_the_execution_role_of_the_clone(tmp_path: Path) -> None:
    async with stand_in(tmp_path, "multi_turn") as client, client.leased("acebench_en_multi_turn", "task_0") as live:
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
    await imported(FULL, tmp_path / "imported", "en", "multi_turn")
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


def test_a_task_that_cannot_be_read_is_told_by_row(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(STAND_IN, clone)
    path = clone / "data_all/data_en/data_agent_multi_turn.json"
    path.write_text(path.read_text(encoding="utf-8").replace('["Beds"]', '["Fax"]'), encoding="utf-8")
    with pytest.raises(RequestError, match="row 1: ValueError: unknown class 'Fax'"):
        acebench(Clone(clone, "ACEBench"), "en", "multi_turn", any_version=True)


async def test_another_version_is_refused(tmp_path: Path) -> None:
    done = await farm(
        "import", "acebench", str(STAND_IN), "--language", "en", "--out", str(tmp_path / "o"), home=tmp_path
    )
    assert (done.code, "is not ACEBench at e6db74b" in done.err) == (2, True)
    assert not (tmp_path / "o").exists()


@needs_upstream
@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "kind", "tasks", "reached"),
    [
        ("en", "multi_step", 20, [2, 3, 18, 19]),
        ("en", "multi_turn", 30, [*range(6), 7, *range(16, 30)]),
        ("zh", "multi_step", 20, [*range(6), 18, 19]),
        ("zh", "multi_turn", 30, [*range(6), *range(7, 30)]),
    ],
)
async def test_milestones_reach_what_they_reach_upstream(
    tmp_path: Path, language: AceLanguage, kind: AceKind, tasks: int, reached: list[int]
) -> None:
    await imported(FULL, tmp_path / "imported", language, kind)
    async with farm_of(tmp_path / "imported", tmp_path / "state") as client:
        found = await replayed(client, f"acebench_{language}_{kind}", milestones)
        assert len(found) == tasks
        assert sorted(int(name.removeprefix("task_")) for name, one in found.items() if one.passed) == reached
        found = await replayed(client, f"acebench_{language}_{kind}", nothing)
        assert not any(one.passed for one in found.values())
        assert all(told(one)["process"] == 0.0 for one in found.values())
