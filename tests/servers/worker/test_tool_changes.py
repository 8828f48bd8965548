"""Who waits to be told that tools have changed: how many, and until when."""

from contextlib import ExitStack

import pytest
from starlette.types import Message

from servers.doors.disconnect import CHANGED, PING, ToolStream
from servers.errors import CapacityError
from servers.worker.tool_changes import MOST_LISTENERS, MOST_LISTENERS_EACH, ToolChanges, ToolListener


def test_only_so_many_wait_to_be_told() -> None:
    changes = ToolChanges()
    with ExitStack() as stack:
        for _ in range(MOST_LISTENERS_EACH):
            stack.enter_context(changes.listener("a"))
        with pytest.raises(CapacityError, match="close one"):
            stack.enter_context(changes.listener("a"))
        for number in range(MOST_LISTENERS - MOST_LISTENERS_EACH):
            stack.enter_context(changes.listener(str(number)))
        with pytest.raises(CapacityError, match="close one"):
            stack.enter_context(changes.listener("b"))
    with changes.listener("a"), changes.listener("b"):
        pass


async def test_a_listener_hears_of_changes_and_of_the_end() -> None:
    changes = ToolChanges()
    with changes.listener("a") as own, changes.listener("b") as other:
        own.tell()
        own.tell()
        assert await own.changed()
        changes.end("a")
        assert not await own.changed()
        changes.end_all()
        assert not await other.changed()
        with changes.listener("c") as late:
            assert not await late.changed()


async def test_a_silent_stream_pings() -> None:
    """And it ends with its listener."""
    listener = ToolListener()
    sent: list[bytes] = []

    async def send(message: Message) -> None:
        sent.append(message.get("body", b""))
        if len(sent) == 4:
            listener.tell()
        if sent[-1] == CHANGED:
            listener.end()

    await ToolStream(listener, ping_seconds=0.001)({}, _never, send)
    assert sent == [b"", PING, PING, PING, CHANGED, b""]


async def _never() -> Message:
    raise AssertionError("nothing is read")
