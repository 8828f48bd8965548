"""More instances than stay open, all in use at once."""

import asyncio
import resource
from pathlib import Path

import pytest_asyncio

from servers.bundle_library import Library
from servers.messages import Launch
from servers.worker.instance import CallOutcome
from servers.worker.instance_cache import FILES_EACH, LEAST_HELD
from servers.worker.settings import WorkerSettings
from servers.worker.worker import Worker

MOST = LEAST_HELD + 16


@pytest_asyncio.fixture
async def worker(own_worker: Worker) -> Worker:
    """A worker of one test, which is counted on or hurt."""
    return own_worker


async def test_more_instances_than_stay_open_can_be_in_use_at_once(library: Library, tmp_path: Path) -> None:
    async with Worker(library, tmp_path / "state", WorkerSettings(most_held=MOST)) as worker:
        tickets = await worker.launch(Launch(environment="shop", count=MOST + 40))

        async def called(instance_id: str) -> CallOutcome:
            return await worker.find(instance_id).call("price", {"id": "t1", "cents": 100})

        for _ in range(2):
            outcomes = await asyncio.gather(*(called(ticket.instance) for ticket in tickets))
            assert {outcome.kind for outcome in outcomes} == {"ok"}


async def test_more_are_held_open_only_while_those_let_go_of_keep_coming_back(worker: Worker) -> None:
    tickets = await worker.launch(Launch(environment="shop", count=LEAST_HELD + 40))
    for ticket in tickets:
        worker.find(ticket.instance)
    assert len(worker.in_use) == LEAST_HELD
    for ticket in tickets:
        worker.find(ticket.instance)
    assert len(worker.in_use) == len(tickets)


async def test_no_more_are_held_open_than_the_most(library: Library, tmp_path: Path) -> None:
    async with Worker(library, tmp_path / "state", WorkerSettings(most_held=MOST)) as worker:
        tickets = await worker.launch(Launch(environment="shop", count=MOST + 40))
        for _ in range(3):
            for ticket in tickets:
                worker.find(ticket.instance)
        assert len(worker.in_use) == MOST


async def test_held_files_leave_room_for_connections(library: Library, tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = FILES_EACH * (LEAST_HELD + 8)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, before[1]))
    try:
        async with Worker(library, tmp_path / "state") as worker:
            tickets = await worker.launch(Launch(environment="shop", count=LEAST_HELD + 40))
            for _ in range(3):
                for ticket in tickets:
                    worker.find(ticket.instance)
            assert len(worker.in_use) == LEAST_HELD + 8
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


async def test_guests_share_the_room_for_rows(worker: Worker) -> None:
    guests = worker.guests
    guests.room = 400_000_000
    before = guests.room_each
    async with guests.fresh(), guests.fresh():
        assert guests.room_each == 400_000_000 // guests.alive < before
