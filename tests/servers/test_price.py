"""What a call costs, counted where other programs do not show: in calls of functions, and in what is kept."""

import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest_asyncio
from starlette.types import Message

import servers
from bench import subject
from bench.load import MODERN, call_request
from servers.bundle_library import Library
from servers.doors.mcp import AgentDoor
from servers.guest.changeset_verifier import VerifiedRows, Verifier
from servers.messages import Launch, Ticket
from servers.state.changeset_verification import STEPS_BETWEEN_CHECKS
from servers.state.state_file import LARGEST_NET_KEPT
from servers.worker.instance import Instance
from servers.worker.worker import Worker

MOST_CALLS_OF_FUNCTIONS = 133.5
"""Functions of `servers` that one ordinary call enters, and coroutines that it goes on with, behind the HTTP server."""
CALLS_COUNTED = STEPS_BETWEEN_CHECKS
"""SQLite looks at the time once in so many of its steps, and counts on from one call to the next. So one call may look
once more than another, and so many calls look once for each step of one."""
OURS = str(Path(servers.__file__).parent)

ROUNDS = 5
"""The least of so many counts: timers, which come once a second, are in some of them on a slow machine."""


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Worker]:
    subject.write_bundle(tmp_path / "library" / "store")
    async with Worker(Library([tmp_path / "library"]), tmp_path / "state") as worker:
        yield worker


@contextmanager
def entered() -> Generator[list[str]]:
    """The functions of `servers` that are entered inside, and the coroutines that are gone on with."""
    names: list[str] = []

    def note(frame: FrameType, event: str, _what: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            names.append(frame.f_code.co_qualname)

    sys.setprofile(note)
    try:
        yield names
    finally:
        sys.setprofile(None)


async def called(door: AgentDoor, ticket: Ticket) -> bytes:
    """One ordinary call through the door of agents; its answer."""
    body, headers = call_request(subject.ARGUMENTS, subject.TOOL, MODERN)
    named = {**headers, "Authorization": f"Bearer {ticket.token}", "Content-Length": str(len(body))}
    coming: list[Message] = [{"type": "http.request", "body": body.encode(), "more_body": False}]
    sent: list[Message] = []

    async def receive() -> Message:
        return coming.pop()

    async def send(message: Message) -> None:
        sent.append(message)

    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": ticket.path,
        "headers": [(name.lower().encode(), value.encode()) for name, value in named.items()],
    }
    await door(scope, receive, send)
    return sent[-1]["body"]


async def test_a_call_enters_so_many_functions_and_no_more(store: Worker) -> None:
    [ticket] = await store.launch(Launch(environment="store"))
    async with AgentDoor(store).running():
        door = AgentDoor(store)
        for _ in range(3):
            assert b'"isError":false' in await called(door, ticket)
        counts: list[int] = []
        for _ in range(ROUNDS):
            with entered() as functions:
                answers = [await called(door, ticket) for _ in range(CALLS_COUNTED)]
            assert all(b'"isError":false' in answer for answer in answers)
            counts.append(len(functions))
    assert min(counts) <= MOST_CALLS_OF_FUNCTIONS * CALLS_COUNTED


async def test_rows_of_many_instances_stay_where_their_changes_are_verified(store: Worker) -> None:
    many = [await store.opened(one.instance) for one in await store.launch(Launch(environment="store", count=80))]

    async def round_of_calls() -> int:
        """How many instances' rows are built again for one call of each."""
        with entered() as functions:
            for instance in many:
                assert (await instance.call(subject.TOOL, subject.ARGUMENTS)).kind == "ok"
        return functions.count(VerifiedRows.restore.__qualname__)

    await round_of_calls()
    assert all(instance.start.schema.is_cheap for instance in many)
    assert await round_of_calls() == 0


async def test_a_guest_holds_the_rows_of_as_many_instances_as_it_has_room_for(store: Worker) -> None:
    [ticket] = await store.launch(Launch(environment="store"))
    image = (await store.opened(ticket.instance)).start.image[:]
    verifier = Verifier(most_held=20 * len(image))
    for number in range(12):
        verifier.stand(str(number), "0.0", image, b"")
    held = [number for number in range(12) if verifier.find(str(number), "0.0") is not None]
    assert held == list(range(12 - len(held), 12))
    assert 4 < len(held) < 12
    assert verifier.size <= 20 * len(image)


async def test_what_calls_change_again_and_again_is_not_read_again_from_the_disk(store: Worker) -> None:
    [ticket] = await store.launch(Launch(environment="store"))
    instance: Instance = await store.opened(ticket.instance)
    for _ in range(2):
        assert (await instance.call(subject.TOOL, {"item_id": "item_7", "count": 1})).kind == "ok"
    _, call = instance.state.calls()
    for seq in range(3, 3 + 3 * LARGEST_NET_KEPT // len(call.changes)):
        instance.state.keep(call._replace(seq=seq))
    assert instance.state.net is not None
    assert sum(map(len, instance.state.net)) <= LARGEST_NET_KEPT
    assert len(instance.state.changes_since_start()) < 2 * len(call.changes)
