"""Workers that stand still: found, left out of placement, started anew; and an event loop that stands still."""

import asyncio
import logging
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.client import FarmClient
from registry.workers.fleet import Fleet, FleetMember
from registry.workers.watchdog import Watchdog
from servers.doors.operations import AnswerT, Operation, OrderT
from servers.errors import CapacityError
from servers.telemetry.loop_watchdog import watched_loop
from tests.processes import farm_up, workers
from tests.registry.farms import Clock
from tests.test_up import called


class Door:
    """The door of a worker that nobody asks. It counts what is no longer waited for."""

    def __init__(self) -> None:
        self.cuts: list[bool] = []

    async def ask(self, operation: Operation[OrderT, AnswerT], order: OrderT) -> AnswerT:
        raise CapacityError(f"nobody asks for {operation.name} with {order}")

    def cut(self, *, launches_only: bool = False) -> None:
        self.cuts.append(launches_only)


class Watched:
    """A worker under a watchdog whose time is told by the test."""

    def __init__(self, restart: Callable[[], None] | None = None) -> None:
        self.clock, self.door, self.lost = Clock(), Door(), list[str]()
        self.seat = FleetMember("one", "http://one", self.door, session="s", restart=restart)
        self.watchdog = Watchdog(Fleet([self.seat]), self._lose, clock=self.clock)

    async def _lose(self, seat: FleetMember) -> None:
        seat.lost = True
        self.lost.append(seat.name)

    async def silent_for(self, seconds: int) -> None:
        for _ in range(seconds):
            self.clock.now += 1
            await self.watchdog.look()

    def beats(self) -> None:
        self.seat.silence, self.seat.answers = 0.0, True


async def test_a_silent_worker_is_left_out_then_started_anew_and_back_when_it_answers() -> None:
    killed: list[int] = []
    one = Watched(lambda: killed.append(1))
    await one.silent_for(2)
    assert one.seat.answers
    await one.silent_for(1)
    assert (one.seat.answers, killed) == (False, [])
    await one.silent_for(6)
    assert killed == []
    await one.silent_for(1)
    assert (killed, one.seat.restarts) == ([1], 1)
    await one.silent_for(29)  # it is starting
    assert killed == [1]
    one.beats()
    await one.silent_for(1)
    assert (one.seat.answers, one.lost, one.door.cuts) == (True, [], [])


async def test_a_worker_that_others_keep_is_given_up_on_once_and_nobody_waits_for_its_answers() -> None:
    one = Watched()
    await one.silent_for(3)
    assert (one.seat.answers, one.lost, one.door.cuts) == (False, [], [True])
    await one.silent_for(8)
    assert one.lost == []
    await one.silent_for(5)
    assert (one.lost, one.door.cuts) == (["one"], [True, False])


async def test_a_registry_that_stood_still_gives_up_on_nobody() -> None:
    one = Watched()
    one.clock.now += 3600
    await one.watchdog.look()
    assert (one.seat.answers, one.lost) == (True, [])


@pytest.mark.slow
@pytest.mark.parametrize("goes_on", [True, False])
async def test_a_stopped_worker_shows_in_health_gets_no_launches_and_comes_back(tmp_path: Path, goes_on: bool) -> None:
    async with (
        farm_up(tmp_path / "state", "--port", "0", "--workers", "2", home=tmp_path) as up,
        FarmClient(up.url, up.token) as client,
    ):
        leases = await client.launch("library_loans", count=4)
        [stopped] = [one.pid for one in workers(up.pid) if "worker-1" in one.command]
        os.kill(stopped, signal.SIGSTOP)
        begin = time.monotonic()
        await health(client, "degraded")
        assert time.monotonic() - begin < 5
        assert {lease.worker for lease in await client.launch("library_loans", count=6)} == {"worker-2"}
        if goes_on:
            os.kill(stopped, signal.SIGCONT)
        await health(client, "ok")
        assert [one.pid for one in workers(up.pid) if "worker-1" in one.command] == [stopped] or not goes_on
        for lease in leases:
            assert (await client.lease(lease.instance)).status == "live"
            assert "books" in await called(lease, "find_books")


BLOCKED = """
import signal, time

signal.signal(signal.SIGUSR1, lambda *_: time.sleep(3600))
"""
"""A handler runs in the main thread, where the event loop is: the loop stands still, and the process lives."""


@pytest.mark.slow
async def test_a_worker_whose_loop_is_blocked_shows_in_health_and_is_started_anew(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(BLOCKED)
    options = ("--port", "0", "--workers", "2")
    async with (
        farm_up(tmp_path / "state", *options, home=tmp_path, PYTHONPATH=str(tmp_path / "site")) as up,
        FarmClient(up.url, up.token) as client,
    ):
        leases = await client.launch("library_loans", count=4)
        [blocked] = [one.pid for one in workers(up.pid) if "worker-1" in one.command]
        os.kill(blocked, signal.SIGUSR1)
        await health(client, "degraded")
        assert {lease.worker for lease in await client.launch("library_loans", count=6)} == {"worker-2"}
        await health(client, "ok")
        assert blocked not in [one.pid for one in workers(up.pid)]
        for lease in leases:
            assert "books" in await called(lease, "find_books")
        done = await up.ended_by(signal.SIGTERM)
    assert [event["worker"] for event in done.events if event["event"] == "worker is started anew"] == ["worker-1"]
    assert any("<lambda>" in event["stack"] for event in done.events if event["event"] == "event loop stands still")


async def health(client: FarmClient, status: str) -> None:
    async with asyncio.timeout(60):
        while (await client.health()).status != status:  # noqa: ASYNC110 - what is waited for is in another process
            await asyncio.sleep(0.05)


async def test_a_loop_that_stands_still_is_told_with_the_place_where_it_stands(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with watched_loop(0.05), caplog.at_level(logging.WARNING, "farm.loop"):
        stand_still(caplog)
        await asyncio.sleep(0)
    [told, *_] = caplog.records
    assert told.getMessage() == "event loop stands still"
    assert "stand_still" in vars(told)["stack"]


def stand_still(caplog: pytest.LogCaptureFixture) -> None:
    until = time.monotonic() + 30
    while not caplog.records and time.monotonic() < until:
        time.sleep(0.01)
