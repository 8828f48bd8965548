"""A stage plays a bundle in this process: the same calls from the same start do the same, and scenes share nothing."""

from pathlib import Path

import pytest

from servers.errors import BundleError, Conflict
from servers.scenario.checkpoints.sql import SqlCheckpoint
from synth.play.playground import Playground

MAKE = ("make", {"name": "drum", "cents": 5})


async def test_the_same_calls_from_the_start_give_the_same_texts_and_rows(shelf: Path) -> None:
    async with Playground(shelf / "shop") as stage:
        scene = await stage.launch(seed=3)
        start = await scene.digest()
        first = await scene.call(*MAKE)
        made = await scene.digest()
        await scene.rewind()
        assert await scene.digest() == start != made
        again = await scene.call(*MAKE)
        assert (again.text, again.changes, await scene.digest()) == (first.text, first.changes, made)


async def test_another_seed_gives_other_ids_and_another_clock_other_times(shelf: Path) -> None:
    async with Playground(shelf / "shop") as stage:
        scenes = [
            await stage.launch(seed=1),
            await stage.launch(seed=2),
            await stage.launch(clock="2030-01-01 00:00:00"),
        ]
        made = [(await scene.call(*MAKE)).structured or {} for scene in scenes]
    assert len({one["id"] for one in made}) == 3
    assert made[2]["now"] == "2030-01-01 00:00:00"


async def test_scenes_share_nothing(shelf: Path) -> None:
    async with Playground(shelf / "shop") as stage:
        one, other = await stage.launch(), await stage.launch(setup="DELETE FROM parts")
        await one.call(*MAKE)
        [fork] = await one.fork()
        await fork.call("price", {"id": "t2", "cents": 1})
        assert await other.diff() == []
        assert [change.table for change in await one.diff()] == ["things"]
        assert (one.calls, fork.calls, other.calls) == (1, 2, 0)


async def test_a_scene_is_read_judged_and_told_what_a_call_changed(shelf: Path) -> None:
    goal = SqlCheckpoint(
        id="cheap", role="goal", question="?", kind="sql", sql="SELECT cents FROM things WHERE id = 't2'", expect=[[1]]
    )
    async with Playground(shelf / "shop") as stage:
        scene = await stage.launch()
        assert (await scene.judge([goal])).reward == 0
        outcome = await scene.call("price", {"id": "t2", "cents": 1})
        assert [change.table for change in scene.changed(outcome)] == ["log", "things"]
        assert (await scene.judge([goal])).reward == 1
        async with scene.reading() as reader:
            assert reader.select("SELECT cents FROM start.things WHERE id = 't2'").rows == [(200,)]
        with pytest.raises(Conflict):
            await scene.rewind(5)


async def test_what_is_no_bundle_is_said_before_anything_is_started(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "environment.json").write_text("{}")
    with pytest.raises(BundleError):
        async with Playground(tmp_path / "empty"):
            pass
