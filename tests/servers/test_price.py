"""What a call costs, counted where other programs do not show: in calls of functions, and in what is kept."""

import sys
from collections.abc import AsyncGenerator
from itertools import count
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
from servers.messages import Launch, Ticket
from servers.state.state_file import LARGEST_NET_KEPT
from servers.worker.instance import Instance
from servers.worker.worker import Worker

MOST_CALLS_OF_FUNCTIONS = 165
"""Functions of `servers` that one ordinary call enters, and coroutines that it goes on with, behind the HTTP server."""
OURS = str(Path(servers.__file__).parent)


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Worker]:
    subject.write_bundle(tmp_path / "library" / "store")
    async with Worker(Library([tmp_path / "library"]), tmp_path / "state") as worker:
        yield worker


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
    entered = count()

    def note(frame: FrameType, event: str, _what: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            next(entered)

    async with AgentDoor(store).running():
        door = AgentDoor(store)
        for _ in range(3):
            assert b'"isError":false' in await called(door, ticket)
        sys.setprofile(note)
        try:
            answer = await called(door, ticket)
        finally:
            sys.setprofile(None)
    assert b'"isError":false' in answer
    assert next(entered) <= MOST_CALLS_OF_FUNCTIONS


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
