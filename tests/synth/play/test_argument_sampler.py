"""Arguments are drawn from schema and state, the same for the same seed, and better the more has been seen."""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from servers.bundle_library import OWN_LIBRARY
from servers.messages import OutcomeKind
from synth.play.argument_sampler import ArgumentSampler, Mode
from synth.play.playground import Playground, Session
from synth.play.value_sources import ColumnKind
from synth.play.values import likely_moment
from tests.bundles import SCHEMA, write_bundle

Made = tuple[str, dict[str, Any], OutcomeKind]


async def played(
    stage: Playground, *, seed: int = 0, walks: int = 10, mode: Mode = "plausible", only: str | None = None
) -> list[Made]:
    """Walks of ten drawn calls."""
    scene: Session = await stage.launch()
    shape = await scene.shape()
    random = Random(seed)  # noqa: S311 - a seed is what repeats
    drawer = ArgumentSampler(stage.environment, shape, random)
    made: list[Made] = []
    for _ in range(walks):
        await scene.rewind()
        drawer.begin()
        for _ in range(10):
            drawer.look(await scene.view(shape), scene.now)
            tool = only or random.choice(list(stage.environment.tools))
            arguments = drawer.draw(tool, mode)
            outcome = await scene.call(tool, arguments)
            drawer.learn(tool, arguments, outcome)
            made.append((tool, arguments, outcome.kind))
    return made


@pytest.mark.parametrize("environment", ["library_loans", "hotel_bookings"])
async def test_the_same_seed_draws_the_same_calls(environment: str) -> None:
    async with Playground(OWN_LIBRARY / environment) as stage:
        first = await played(stage, seed=7, walks=3)
        assert await played(stage, seed=7, walks=3) == first
        assert await played(stage, seed=8, walks=3) != first


@pytest.mark.parametrize("mode", ["plausible", "near_miss", "wild"])
async def test_every_mode_keeps_to_the_schema(mode: Mode) -> None:
    async with Playground(OWN_LIBRARY / "hotel_bookings") as stage:
        made = await played(stage, mode=mode, walks=20)
    kinds = Counter(kind for _, _, kind in made)
    assert kinds["invalid"] == 0


async def test_likely_calls_succeed_more_often_than_those_with_a_mistake() -> None:
    async with Playground(OWN_LIBRARY / "library_loans") as stage:
        likely = Counter(kind for _, _, kind in await played(stage, walks=20))
        mistaken = Counter(kind for _, _, kind in await played(stage, walks=20, mode="near_miss"))
    assert likely["ok"] > mistaken["ok"]
    assert mistaken["refused"] > likely["refused"]


async def test_what_succeeded_is_drawn_more_often() -> None:
    async with Playground(OWN_LIBRARY / "library_loans") as stage:
        made = [kind == "ok" for _, _, kind in await played(stage, walks=30, only="pay_fine")]
    assert sum(made[200:]) > sum(made[:100])


async def test_ids_come_from_the_tables_that_they_point_to() -> None:
    async with Playground(OWN_LIBRARY / "library_loans") as stage:
        scene = await stage.launch()
        async with scene.reading() as reader:
            copies = {row[0] for row in reader.select("SELECT id FROM copies").rows}
        made = await played(stage, walks=3, only="move_copy")
    assert {arguments["copy_id"] for _, arguments, _ in made} <= copies


async def test_what_a_call_showed_is_used_by_later_ones(shelf: Path) -> None:
    async with Playground(shelf / "shop") as stage:
        scene = await stage.launch()
        shape = await scene.shape()
        drawer = ArgumentSampler(stage.environment, shape, Random(0))  # noqa: S311
        drawer.look(await scene.view(shape), scene.now)
        drawer.draw("price")
        made = await scene.call("make", {"name": "drum"})
        drawer.learn("make", {"name": "drum"}, made)
        drawer.look(await scene.view(shape), scene.now)
        drawn = [drawer.draw("price")["id"] for _ in range(40)]
        assert drawn.count((made.structured or {})["id"]) > 10


FAVOURS = '''
class Thing(TypedDict):
    thing_id: str
    name: str


class Things(TypedDict):
    things: list[Thing]


def find_things(db: Database) -> Things:
    """Find things."""
    return {"things": db.all("SELECT id AS thing_id, name FROM things ORDER BY id")}


def favour(db: Database, *, favoured_by: str, name: str, noted_by: str) -> dict:
    """Have a thing favour something.

    Args:
        favoured_by: The thing that does, as `find_things` shows it.
        name: What it favours, by its name as `find_things` shows it.
        noted_by: Who wrote it down.
    """
    return {}
'''


async def test_an_argument_whose_name_is_no_column_is_drawn_from_what_its_description_names(tmp_path: Path) -> None:
    schema = SCHEMA.replace("note TEXT", "note TEXT, noted_by_id TEXT REFERENCES things (id)")
    await write_bundle(tmp_path / "shop", tools=FAVOURS, scenarios=(), schema=schema)
    async with Playground(tmp_path / "shop") as stage:
        scene = await stage.launch()
        shape = await scene.shape()
        drawer = ArgumentSampler(stage.environment, shape, Random(0))  # noqa: S311
        drawer.look(await scene.view(shape), scene.now)
        drawn = [drawer.draw("favour") for _ in range(40)]
    ids = {"t1", "t2", "t3"}
    assert {one["favoured_by"] for one in drawn} == ids
    assert {one["noted_by"] for one in drawn} == ids, "a foreign key of nearly that name"
    assert {one["name"] for one in drawn} & {"anvil", "bell", "candle"}
    assert not {one["name"] for one in drawn} & ids


@pytest.mark.parametrize("known", [["9999-12-31"], ["0001-01-01"], ["2026-02-30"], ["9999-12-31 10:00:00"], ["soon"]])
@pytest.mark.parametrize("kind", ["date", "datetime", "time"])
def test_moments_are_drawn_beside_any_value_that_a_row_may_hold(known: list[str], kind: ColumnKind) -> None:
    chance = Random(1)  # noqa: S311
    drawn = [likely_moment("2026-03-16 09:00:00", kind, known, chance) for _ in range(200)]
    assert all(drawn)
