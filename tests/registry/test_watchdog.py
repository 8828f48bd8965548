"""Workers that stand still: found, left out of placement, started anew; and an event loop that stands still."""

import asyncio
import logging
import os
import signal
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from registry.client import FarmClient
from registry.fleet import FleetMember
from registry.remote_worker import RemoteWorker
from registry.watchdog import Watchdog, WatchedWorker
from servers.telemetry.loop_watchdog import watched_loop
from tests.doubles import serving
from tests.processes import farm_up, workers
from tests.registry.farms import Clock
from tests.test_up import called


@dataclass
class Silent:
    """The door of a worker that answers, or does not."""

    answers: bool = True
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if not self.answers:
            await self.over.wait()
        await JSONResponse(["uid"])(scope, receive, send)


@asynccontextmanager
async def watched(silent: Silent, killed: list[int]) -> AsyncGenerator[WatchedWorker]:
    async with serving(silent) as url:
        door = RemoteWorker(url, "x")
        yield WatchedWorker(FleetMember("one", url, door), door, lambda: killed.append(1))
        silent.over.set()
        await door.aclose()


async def test_a_silent_worker_is_left_out_then_started_anew_and_back_when_it_answers() -> None:
    silent, killed, clock = Silent(), list[int](), Clock()
    async with watched(silent, killed) as worker:
        watchdog = Watchdog([worker], seconds_to_answer=0.05, seconds_to_restart=10, clock=clock)
        silent.answers = False
        await watchdog.ask(worker)
        assert (worker.seat.answers, killed) == (False, [])
        clock.now += 9
        await watchdog.ask(worker)
        assert killed == []
        clock.now += 1
        await watchdog.ask(worker)
        assert (killed, worker.seat.restarts) == ([1], 1)
        clock.now += 29  # it is starting
        await watchdog.ask(worker)
        assert killed == [1]
        silent.answers = True
        await Watchdog([worker], clock=clock).ask(worker)
        assert worker.seat.answers


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
