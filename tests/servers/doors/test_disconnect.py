"""What a client that goes away leaves behind: nothing, where it only wanted to read."""

import asyncio
from collections.abc import Callable

import pytest
from starlette.types import Message, Receive, Scope, Send

from servers.doors.control import only_reads
from servers.doors.disconnect import EndsWithClient
from servers.doors.operations import OPERATIONS
from servers.doors.request import TooLarge, body_of

SCOPE: Scope = {"type": "http", "headers": [], "path": "/w/query"}
BODY: Message = {"type": "http.request", "body": b"order", "more_body": False}


class Client:
    """One side of a request: what it sends, and whether it has gone away."""

    def __init__(self, *sends: Message) -> None:
        self._sends = list(sends)
        self.gone = asyncio.Event()
        self.answers: list[Message] = []

    async def receive(self) -> Message:
        if self._sends:
            return self._sends.pop(0)
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.answers.append(message)


class App:
    """Reads an order, and answers it when it is let."""

    def __init__(self, *, largest: int = 100) -> None:
        self.begun, self.let, self.was_cancelled = asyncio.Event(), asyncio.Event(), False
        self._largest = largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await body_of(scope, receive, self._largest)
        self.begun.set()
        try:
            await self.let.wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        await send({"type": "http.response.body", "body": body})


def asked(app: App, client: Client, *, reads: Callable[[Scope], bool] = lambda _scope: True) -> asyncio.Task[None]:
    door = EndsWithClient(app, reads)

    async def ask() -> None:
        await door(SCOPE, client.receive, client.send)

    return asyncio.create_task(ask())


async def test_a_request_whose_client_has_gone_is_cancelled() -> None:
    app, client = App(), Client(BODY)
    asking = asked(app, client)
    await app.begun.wait()
    client.gone.set()
    await asking
    assert (app.was_cancelled, client.answers) == (True, [])


async def test_a_client_that_waits_is_answered() -> None:
    app, client = App(), Client({**BODY, "more_body": True}, BODY)
    asking = asked(app, client)
    await app.begun.wait()
    app.let.set()
    await asking
    assert client.answers == [{"type": "http.response.body", "body": b"orderorder"}]


async def test_what_changes_something_goes_on_without_its_client() -> None:
    app, client = App(), Client(BODY)
    asking = asked(app, client, reads=lambda _scope: False)
    await app.begun.wait()
    client.gone.set()
    app.let.set()
    await asking
    assert len(client.answers) == 1


async def test_what_reading_a_request_raises_reaches_who_reads_it() -> None:
    with pytest.raises(TooLarge):
        await asked(App(largest=3), Client(BODY))


async def test_a_farm_that_ends_cancels_what_it_has_begun() -> None:
    app, client = App(), Client(BODY)
    asking = asked(app, client)
    await app.begun.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert app.was_cancelled


def test_orders_that_change_an_instance_are_never_cut_short() -> None:
    reading = {name for name in OPERATIONS if only_reads({"path": f"/w/{name}"})}
    assert reading == {"at_start", "tables", "table", "diff", "history", "query", "judge", "snapshot", "export"}
