"""A worker with one instance of `library_loans`, served on loopback behind two doors for the suite.

The suite cannot send a token, so something stands before each door here that adds it. The doors are the real ones, and
so is the server of HTTP before them.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.types import Receive, Scope, Send

from servers.bundle_library import OWN_LIBRARY, Library
from servers.doors.mcp import AgentDoor
from servers.doors.server import listen, serving, url_of
from servers.messages import Launch, Ticket
from servers.worker.worker import Worker
from tests.conformance.fixture import fixture_server
from tests.conformance.scenarios import Target

# What Node's fetch adds, as no MCP client does: with it, no call would take the door's short way.
OF_FETCH = {b"accept-language", b"sec-fetch-mode"}
# With a header of the protocol that is not known, every call goes to the SDK; the short way knows instances alone.
TO_THE_SDK = (b"mcp-conformance-fixture", b"1")


@dataclass(frozen=True)
class BeforeTheDoor:
    """Adds headers to each request, its token among them, and takes away those of Node's fetch."""

    door: AgentDoor
    added: tuple[tuple[bytes, bytes], ...]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kept = [(name, value) for name, value in scope["headers"] if name not in OF_FETCH]
        await self.door({**scope, "headers": [*kept, *self.added]}, receive, send)


@dataclass(frozen=True)
class Doors:
    """A worker, and how its one instance is reached."""

    worker: Worker
    ticket: Ticket

    @asynccontextmanager
    async def plain(self) -> AsyncGenerator[str]:
        """The door as agents find it, which wants the token. Gives its URL."""
        async with _served(AgentDoor(self.worker, loopback_only=True), self.ticket, None) as url:
            yield url

    @asynccontextmanager
    async def opened(self, target: Target) -> AsyncGenerator[str]:
        """A door for the suite. Gives its URL."""
        token = (b"authorization", f"Bearer {self.ticket.token}".encode())
        if target == "instance":
            door, added = AgentDoor(self.worker, loopback_only=True), (token,)
        else:
            door = AgentDoor(self.worker, loopback_only=True, server=fixture_server())
            added = (token, TO_THE_SDK)
        async with _served(door, self.ticket, added) as url:
            yield url


@asynccontextmanager
async def launched(folder: Path) -> AsyncGenerator[Doors]:
    """One instance of `library_loans`; its state goes into a folder."""
    async with Worker(Library([OWN_LIBRARY]), folder) as worker:
        [ticket] = await worker.launch(Launch(environment="library_loans"))
        yield Doors(worker, ticket)


@asynccontextmanager
async def _served(
    door: AgentDoor, ticket: Ticket, added: tuple[tuple[bytes, bytes], ...] | None
) -> AsyncGenerator[str]:
    front = door if added is None else BeforeTheDoor(door, added)
    listening = listen("127.0.0.1", 0)
    async with door.running(), serving(front, listening):
        yield url_of(listening) + ticket.path
