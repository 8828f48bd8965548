"""Starts of scenarios: made of the environment's own start, by a guest that waits for the next."""

import asyncio
from pathlib import Path

import pytest

from servers.bundle.environment import Environment, load
from servers.errors import BundleError
from servers.guest.sqlite import start_image
from servers.sandbox.guest_pool import MOST_BUILDERS, Guests
from servers.state.start_images import LARGEST_BASE, Starts
from tests.bundles import SCHEMA, SEED, write_bundle

SETUPS = [
    f"INSERT INTO things (id, name, cents) VALUES ('n{number}', 'new {number}', {number});" for number in range(4)
]


async def test_one_guest_builds_the_starts_of_all_scenarios(shelf: Path, tmp_path: Path) -> None:
    environment = load(shelf / "shop")
    clock = environment.description.clock
    async with Guests() as guests:
        starts = Starts(tmp_path, guests)
        built = await asyncio.gather(*(starts.build(environment, setup, clock) for setup in SETUPS))
        assert guests.started == 2, "one for the environment's own start, and one for all others"
        for setup, start in zip(SETUPS, built, strict=True):
            alone, _ = start_image.build(environment.schema, environment.seed, setup, clock)
            assert start.image[:] == alone, (
                "a fresh guest builds the same bytes, so that a lost start can be built again"
            )
        with pytest.raises(BundleError, match="setup: no such table: absent"):
            await starts.build(environment, "INSERT INTO absent VALUES (1);", clock)
        with pytest.raises(BundleError, match="setup: "):
            await starts.build(environment, "CREATE TABLE more (id INTEGER PRIMARY KEY);", clock)
        assert guests.started == 2


async def test_a_guest_that_builds_starts_is_replaced(shelf: Path, tmp_path: Path) -> None:
    environment = load(shelf / "shop")
    clock = environment.description.clock
    async with Guests() as guests:
        starts = Starts(tmp_path, guests)
        await starts.build(environment, SETUPS[0], clock)
        (await guests.builder(environment)).kill("memory", "the test ends it")
        start = await starts.build(environment, SETUPS[1], clock)
        assert start.image[:] == start_image.build(environment.schema, environment.seed, SETUPS[1], clock)[0]


async def test_few_guests_wait_to_build_starts(tmp_path: Path) -> None:
    async with Guests() as guests:
        starts = Starts(tmp_path / "starts", guests)
        environments: list[Environment] = []
        for number in range(MOST_BUILDERS + 1):
            await write_bundle(tmp_path / f"shop_{number}", schema=f"{SCHEMA} -- {number}", scenarios=())
            environments.append(load(tmp_path / f"shop_{number}"))

        async def forks(environment: Environment, setup: str) -> int:
            before = guests.started
            await starts.build(environment, setup, environment.description.clock)
            return guests.started - before

        assert [await forks(one, SETUPS[0]) for one in environments] == [2] * (MOST_BUILDERS + 1)
        assert await forks(environments[-1], SETUPS[1]) == 0
        assert await forks(environments[0], SETUPS[1]) == 1, "it was ended for the last one"
        guests.end_idle(0)
        assert await forks(environments[0], SETUPS[2]) == 1


async def test_a_large_start_is_kept_by_no_guest(tmp_path: Path) -> None:
    large = f"INSERT INTO log (what) VALUES {', '.join(['(hex(zeroblob(450000)))'] * 5)};"
    await write_bundle(tmp_path / "shop", seed=f"{SEED}{large}", scenarios=())
    environment = load(tmp_path / "shop")
    async with Guests() as guests:
        starts = Starts(tmp_path / "starts", guests)
        for setup in SETUPS[:2]:
            start = await starts.build(environment, setup, environment.description.clock)
            assert len(start.image) > LARGEST_BASE
        assert guests.started == 3, "one for the environment's own start, and one for each other"
