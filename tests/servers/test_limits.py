"""Limits that keep one instance, one bundle or one connection from taking what others need."""

import asyncio
import functools
import gc
import shutil
import socket
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

import apsw
import httpx
import pytest
import uvloop
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from registry.client import FarmClient
from registry.farm import Options, running
from servers.bundle_library import Library
from servers.doors.http_limits import LARGEST_HEAD, SMALL_PIECE, STEP, ServerConnections
from servers.doors.server import ACCEPTED_A_TURN, listen, serving, url_of
from servers.doors.whole_exchange import WHOLE
from servers.errors import BundleError
from servers.guest.sqlite.start_image import build
from servers.limits.fair_pool import MOST_THREADS_EACH
from servers.limits.memory import UploadBudget
from servers.limits.throttle import Pace, Turns
from servers.messages import Judge, Launch
from servers.state.changeset_verification import LARGEST_ON_LOOP
from servers.state.start_images import beside_the_schema
from servers.worker.instance import Instance
from servers.worker.settings import WorkerSettings
from servers.worker.worker import Worker
from tests.bundles import SCHEMA, SEED, with_description, write_bundle
from tests.processes import until
from tests.registry.farms import Clock
from tests.servers.sandbox.test_guest_pool import Sender
from tests.test_up import called
from tests.told import diff_of, history_of

Streams: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]
NOW = "2026-03-16 09:00:00"


# calls a second


def test_a_pace_lets_through_so_many_a_second_and_as_many_at_once_after_a_rest() -> None:
    clock = Clock()
    pace = Pace(3, clock=clock)
    assert [pace.take() for _ in range(5)] == [True] * 3 + [False] * 2
    clock.now += 0.34
    assert [pace.take() for _ in range(2)] == [True, False]
    clock.now += 1000
    assert [pace.take() for _ in range(4)] == [True] * 3 + [False]


def test_a_pace_of_less_than_one_a_second_lets_one_through_at_a_time() -> None:
    clock = Clock()
    pace = Pace(0.1, clock=clock)
    assert [pace.take(), pace.take()] == [True, False]
    clock.now += 10
    assert [pace.take(), pace.take()] == [True, False]


async def test_an_agent_that_is_too_fast_is_told_so_and_nothing_is_recorded(library: Library, tmp_path: Path) -> None:
    async with Worker(library, tmp_path / "state", WorkerSettings(calls_per_second=0.001)) as worker:
        fast, other = await worker.launch(Launch(environment="shop", count=2))
        instance = worker.find(fast.instance)
        outcomes = [await instance.call("find", {}) for _ in range(3)]
        assert [outcome.kind for outcome in outcomes] == ["ok", "invalid", "invalid"]
        assert outcomes[1].text == "slow down: at most 0.001 calls a second; nothing was done, call again later"
        assert len(await history_of(worker, fast.instance)) == 1
        assert (await worker.find(other.instance).call("find", {})).kind == "ok"


@pytest.mark.parametrize("workers", [1, 2])
async def test_farm_up_takes_a_limit_of_calls_a_second(shelf: Path, tmp_path: Path, workers: int) -> None:
    options = Options(
        library=(shelf,), state=tmp_path / "s", port=0, workers=workers, worker=WorkerSettings(calls_per_second=0.001)
    )
    async with running(options) as address, FarmClient(address.url, address.token) as farm:
        [lease] = await farm.launch("shop")
        assert "anvil" in await called(lease, "find")
        assert (await called(lease, "find")).startswith("slow down: at most 0.001 calls a second")


# bundles


@pytest.mark.parametrize("text", ["-" * 100_000 + "1", "x = 1" + "+1" * 50_000], ids=["signs", "sums"])
async def test_a_bundle_that_no_parser_follows_is_the_authors_to_mend(tmp_path: Path, text: str) -> None:
    folder = await write_bundle(tmp_path / "library" / "shop")
    (folder / "tools.py").write_text(text)
    async with Worker(Library([tmp_path / "library"]), tmp_path / "state") as worker:
        with pytest.raises(BundleError, match=r"not Python|has no function"):
            await worker.launch(Launch(environment="shop"))


ODD_SCHEMA = """
create  table if not exists main.foo(a integer primary key, b text /* x; */ default 'create table z' ) ;
 Create Unique INDEX if not exists i1 on foo (b) ;
create view main.v(x) as select a from foo;
/* hello */ create trigger if not exists main."t r" after insert on foo begin update foo set b = 'x;' ; end;
create table foo2(a text primary key, c as (a||'x') stored) without rowid
"""


@pytest.mark.parametrize(("schema", "seed"), [(SCHEMA, SEED), (ODD_SCHEMA, "")])
def test_a_start_image_holds_what_its_schema_says_and_nothing_else(schema: str, seed: str) -> None:
    image, findings = build(schema, seed, "", NOW)
    assert findings == []
    assert beside_the_schema(image, schema) is None
    for more in (
        "CREATE TABLE more (id INTEGER PRIMARY KEY)",
        "CREATE TRIGGER more AFTER DELETE ON {} BEGIN SELECT 1; END",
        "CREATE VIEW more AS SELECT 1 AS one",
        "CREATE INDEX more ON {} (1)",
        "CREATE VIRTUAL TABLE more USING fts5 (x)",
    ):
        connection = apsw.Connection(":memory:")
        connection.deserialize("main", image)
        connection.execute(more.format("foo" if schema is ODD_SCHEMA else "things"))
        foreign = beside_the_schema(connection.serialize("main"), schema)
        assert foreign is not None
        assert foreign.startswith("more")


# connections


def on_libuv(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """The event loop of a farm in place of that of other tests."""

    @functools.wraps(test)
    def run_there() -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(test())

    return run_there


async def fine(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that reads the body to its end, as far as there is one; its answer is as long as the path says."""
    while scope["path"] != "/unread" and (await receive()).get("more_body"):
        pass
    length = int(scope["path"].strip("/") or 4) if scope["path"] != "/unread" else 4
    headers = [(b"content-length", str(length).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"fine" * (length // 4)})


@asynccontextmanager
async def hasty(
    app: ASGIApp = fine,
    *,
    seconds: float = 0.1,
    most: int = 100,
    most_received: int = 10_000_000,
    most_unread: int = 100_000_000,
    connections: ServerConnections | None = None,
) -> AsyncGenerator[Callable[[], Awaitable[Streams]]]:
    """A server with tight limits; gives what opens a connection to it."""
    listening = listen("127.0.0.1", 0)
    address = listening.getsockname()
    opened: list[Streams] = []

    async def connection() -> Streams:
        opened.append(await asyncio.open_connection(*address))
        return opened[-1]

    if connections is None:
        connections = ServerConnections(
            most=most, most_received=most_received, most_unread=most_unread, seconds=seconds, look_seconds=0.02
        )
    async with asyncio.timeout(30), serving(app, listening, connections):
        yield connection
        for _, writer in opened:
            writer.transport.abort()


GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"POST /i/x/mcp HTT",
        b"GET / HTTP/1.1\r\nHost: x\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nslow",
        b"POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nslow",
        CHUNKED + b"1\r\nx\r\n",
        CHUNKED + b"0\r\nX: trailer\r\n",
    ],
)
async def test_a_connection_that_does_not_say_what_it_wants_is_closed(said: bytes) -> None:
    async with hasty() as connection:
        reader, writer = await connection()
        if said:  # a whole request first, which is answered
            writer.write(GET)
            assert (await reader.readuntil(b"fine")).startswith(ANSWER)
            writer.write(said)
        assert b"x" not in await reader.read()


@pytest.mark.parametrize(
    "pieces",
    [
        (CHUNKED + b"0\r\n", b"X: trailer\r\n"),
        (CHUNKED, b"1\r\nx\r\n"),
        (CHUNKED + b"1;", b"extension"),
        (b"POST / HTTP/1.1\r\nX: ", b"y" * 100),
        (b"POST / HTTP/1.1\r\nContent-Length: 999999999\r\n\r\n", bytes(1000)),
        (b"POST /unread HTTP/1.1\r\nContent-Length: 999999999\r\n\r\n", bytes(1000)),
    ],
    ids=["trailers", "tiny chunks", "a chunk's extension", "a header", "a body", "a body that nobody reads"],
)
async def test_a_request_without_end_is_cut_off(pieces: tuple[bytes, bytes]) -> None:
    begin, more = pieces
    async with hasty(seconds=60) as connection:
        reader, writer = await connection()
        writer.write(begin)
        sent = 0
        with suppress(ConnectionError):
            while not reader.at_eof():
                writer.write(more * 100)
                await writer.drain()
                sent += len(more) * 100
                await asyncio.sleep(0)
        assert sent < 100_000_000


async def test_frames_of_chunks_are_bounded_even_if_they_come_in_one_piece_with_their_end() -> None:
    async with hasty(seconds=60) as connection:
        for size, status in ((LARGEST_HEAD + 2 * STEP, b"431"), (LARGEST_HEAD - 2 * STEP, b"200")):
            reader, writer = await connection()
            writer.write(CHUNKED + b"1;" + b"x" * size + b"\r\nx\r\n0\r\n\r\n")
            assert (await reader.readline()).startswith(b"HTTP/1.1 " + status)


@pytest.mark.parametrize(
    ("head", "why"),
    [
        (b"GET /?" + b"&a=b" * 3000 + b" HTTP/1.1\r\n", b"a URL has at most 8192 bytes"),
        (b"GET / HTTP/1.1\r\n" + b"a:\r\n" * 101, b"a request has at most 100 headers, and each at most 8192 bytes"),
        (b"GET / HTTP/1.1\r\nCookie: " + b"a=b;" * 3000 + b"\r\n", b"and each at most 8192 bytes"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n", b"a request has one Host"),
        (b"GET / HTTP/9.9\r\n", b"Invalid HTTP request received."),
    ],
    ids=["a long URL", "many headers", "a long header", "two hosts", "no HTTP"],
)
async def test_a_head_that_takes_long_to_take_apart_is_refused(head: bytes, why: bytes) -> None:
    async with hasty(seconds=60) as connection:
        reader, writer = await connection()
        writer.write(head + b"\r\n")
        answered = await reader.read()
        assert answered.startswith(b"HTTP/1.1 400 ")
        assert answered.endswith(why)


@pytest.mark.parametrize(
    "said",
    [CHUNKED + b"1\r\nx\r\n" * 70, (CHUNKED + b"1\r\nx\r\n" * 9 + b"0\r\n\r\n") * 8],
    ids=["one body", "bodies of requests that wait behind one another"],
)
async def test_a_body_in_many_small_chunks_is_refused(said: bytes) -> None:
    async with hasty(seconds=60) as connection:
        reader, writer = await connection()
        writer.write(said)
        answered = await reader.read()
        assert b"HTTP/1.1 400 " in answered
        assert answered.endswith(b"a body in more than 64 chunks has at least 256 bytes in each, on average")


async def test_a_body_in_large_chunks_and_many_small_bodies_in_turn_are_taken() -> None:
    small = CHUNKED + b"1\r\nx\r\n" * 9 + b"0\r\n\r\n"
    async with hasty(seconds=60) as connection:
        reader, writer = await connection()
        for said in [CHUNKED + (b"200\r\n" + bytes(512) + b"\r\n") * 200 + b"0\r\n\r\n", *[small] * 20]:
            writer.write(said)
            assert (await reader.readuntil(b"fine")).startswith(ANSWER)


async def test_an_answer_that_is_not_read_is_dropped() -> None:
    async with hasty() as connection:
        reader, writer = await connection()
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(GET.replace(b"/", b"/40000000", 1))
        await until_lost(writer)
        assert not reader.at_eof()


async def test_the_client_that_has_read_the_least_is_given_up_when_too_much_is_unread() -> None:
    async with hasty(seconds=60, most_unread=20_000_000) as connection:
        (small_reader, small), (_, large) = await connection(), await connection()
        for writer, size in ((small, b"/12000000"), (large, b"/16000000")):
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            writer.write(GET.replace(b"/", size, 1))
        await until_lost(large)
        small.transport.resume_reading()  # type: ignore[attr-defined]
        await small_reader.readuntil(b"\r\n\r\n")
        assert len(await small_reader.readexactly(12_000_000)) == 12_000_000


async def until_lost(writer: asyncio.StreamWriter) -> None:
    """Write until the other side is gone."""
    with suppress(ConnectionError):
        while not writer.is_closing():
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.01)


async def test_the_longest_of_unfinished_requests_is_closed_when_all_are_too_long_together() -> None:
    post = b"POST / HTTP/1.1\r\nContent-Length: 900000\r\n\r\n"
    async with hasty(seconds=60, most_received=1_000_000) as connection:
        (short_reader, short), (long_reader, long) = await connection(), await connection()
        short.write(post + bytes(200_000))
        long.write(post + bytes(890_000))
        assert await long_reader.read() == b""
        short.write(bytes(700_000))
        assert (await short_reader.readuntil(b"fine")).startswith(ANSWER)


async def test_the_connection_that_was_idle_longest_makes_room_for_a_new_one() -> None:
    async with hasty(seconds=60, most=2) as connection:
        (first_reader, _), (second_reader, second) = await connection(), await connection()
        second.write(GET)
        await second_reader.readuntil(b"fine")
        third_reader, third = await connection()
        third.write(GET)
        assert (await third_reader.readuntil(b"fine")).startswith(ANSWER)
        assert await first_reader.read() == b""
        second.write(GET)
        assert (await second_reader.readuntil(b"fine")).startswith(ANSWER)


@pytest.mark.slow
async def test_a_connection_is_kept_for_longer_than_clients_keep_it() -> None:
    """An agent thinks for some seconds between two calls. A client that sends while the farm closes loses its call."""
    async with hasty(seconds=60) as connection:
        reader, writer = await connection()
        for pause in (0, 7):
            await asyncio.sleep(pause)
            writer.write(GET)
            assert (await reader.readuntil(b"fine")).startswith(ANSWER)


async def test_many_unfinished_requests_do_not_keep_a_whole_one_out() -> None:
    """They are a little shorter than it is. The first of them goes, and each that comes in its place."""
    post = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
    async with hasty(seconds=60, most_received=500_000) as connection:
        halves = [await connection() for _ in range(12)]
        for _, writer in halves[:9]:
            writer.write(post % 90_000 + bytes(50_000))
            await writer.drain()
        reader, writer = await connection()
        for _, half in halves[9:]:
            writer.write(post % 55_000 + bytes(55_000))
            assert (await reader.readuntil(b"fine")).startswith(ANSWER)
            half.write(post % 90_000 + bytes(50_000))
            await half.drain()
        writer.write(post % 55_000 + bytes(55_000))
        assert (await reader.readuntil(b"fine")).startswith(ANSWER)
        assert await halves[0][0].read() == b""


def test_of_large_unfinished_messages_the_first_is_given_up() -> None:
    budget = UploadBudget(10)
    small, first, large, last = Sender(), Sender(), Sender(), Sender()
    for sender, size in ((small, 1), (first, 3), (large, 5), (small, 1)):
        budget.hold(sender, size)
    budget.hold(last, 4)
    assert [one.given_up for one in (small, first, large, last)] == [False, True, False, False]
    budget.hold(last, 5)
    assert [one.given_up for one in (small, first, large, last)] == [False, True, True, False]


async def test_an_unfinished_request_makes_room_for_a_new_connection() -> None:
    """The first of them: whoever opens many and ends none keeps nobody out."""
    async with hasty(seconds=60, most=2) as connection:
        (first_reader, first), (second_reader, second) = await connection(), await connection()
        for writer in (first, second):
            writer.write(CHUNKED + b"1\r\nx\r\n")
            await writer.drain()
            await asyncio.sleep(0.05)
        third_reader, third = await connection()
        third.write(GET)
        assert (await third_reader.readuntil(b"fine")).startswith(ANSWER)
        assert await first_reader.read() == b""
        second.write(b"0\r\n\r\n")
        assert (await second_reader.readuntil(b"fine")).startswith(ANSWER)


async def test_a_connection_is_refused_when_all_are_busy() -> None:
    over = asyncio.Event()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        await over.wait()
        await fine(scope, receive, send)

    async with hasty(slow, seconds=60, most=1) as connection:
        reader, writer = await connection()
        writer.write(GET)
        await writer.drain()
        await asyncio.sleep(0.05)
        late_reader, _ = await connection()
        said = await late_reader.read()
        assert said.startswith(b"HTTP/1.1 503 ")
        over.set()
        assert (await reader.readuntil(b"fine")).startswith(ANSWER)


async def test_only_so_many_requests_wait_for_the_answer_to_an_earlier_one() -> None:
    came: list[int] = []
    seen = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        came.append(1)
        await seen.wait()
        await fine(scope, receive, send)

    async with hasty(app, seconds=60) as connection:
        reader, writer = await connection()
        writer.write(GET)
        await until(lambda: came == [1], "the first is under way")
        writer.write(GET * 200)
        assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
        assert came == [1]
        seen.set()


async def test_only_so_many_requests_of_all_connections_wait_for_the_answer_to_an_earlier_one() -> None:
    seen = asyncio.Event()
    connections = ServerConnections(most_waiting=3)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await seen.wait()
        await fine(scope, receive, send)

    async with hasty(app, connections=connections, seconds=60) as connection:
        reader, writer = await connection()
        writer.write(GET * 3)
        await until(lambda: connections.waiting == 2, "two wait for the first")
        more, writer = await connection()
        writer.write(GET * 3)
        assert (await more.read()).startswith(b"HTTP/1.1 400 ")
        await until(lambda: connections.waiting == 2, "those of a closed connection do not count")
        alone, writer = await connection()
        writer.write(GET)
        seen.set()
        for one, answers in ((reader, 3), (alone, 1)):
            for _ in range(answers):
                assert (await one.readuntil(b"fine")).startswith(ANSWER)
        assert connections.waiting == 0


async def test_an_answered_request_and_a_closed_connection_are_freed_at_once() -> None:
    """The garbage collector would free thousands of them in one step, in which nobody is served."""
    exchanges: list[weakref.ref[object]] = []
    connections = ServerConnections()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        exchanges.append(weakref.ref(scope[WHOLE]))
        await fine(scope, receive, send)

    gc.disable()
    try:
        async with hasty(app, connections=connections, seconds=60) as connection:
            reader, writer = await connection()
            writer.write(GET * 3)
            for _ in range(3):
                await reader.readuntil(b"fine")
            [kept] = map(weakref.ref, connections.idle)
            await until(lambda: [one() for one in exchanges] == [None] * 3, "requests are freed")
            writer.close()
            await until(lambda: kept() is None, "the connection is freed")
    finally:
        gc.enable()


async def test_what_was_answered_before_it_was_sent_whole_is_read_no_further_and_its_connection_ends() -> None:
    async with hasty(seconds=60) as connection:
        reader, writer = await connection()
        writer.write(b"POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 16000000\r\n\r\n" + bytes(8_000_000))
        writer.write(GET)  # no request: it is a part of that body
        assert (await reader.read()).count(ANSWER) == 1


async def test_a_client_gets_its_answer_though_it_goes_on_sending() -> None:
    async with hasty(seconds=60) as connection:
        reader, writer = await connection()
        writer.write(b"POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n")
        for _ in range(80):
            writer.write(bytes(100_000))
            await writer.drain()
        assert (await reader.read()).startswith(ANSWER)


async def test_a_burst_of_requests_is_started_in_turns_and_what_is_answered_at_once_waits_for_none() -> None:
    started: list[str] = []
    over = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        started.append(scope["path"])
        if scope["path"] != "/health":
            await over.wait()
        await fine({**scope, "path": "/4"}, receive, send)

    turns = Turns(1)
    for _ in range(5):
        turns.start(lambda: started.append("turn"))
    seen: list[int] = []
    while len(started) < 5:
        seen.append(len(started))
        await asyncio.sleep(0)
    assert (seen, started.clear()) == ([1, 2, 3, 4], None)
    connections = ServerConnections(at_once=frozenset({"/health"}))
    connections.turns = Turns(0)  # nobody else's turn ever comes
    async with hasty(app, connections=connections) as connection:
        _, busy = await connection()
        busy.write(GET)
        reader, writer = await connection()
        writer.write(GET.replace(b"/", b"/health", 1))
        assert (await reader.readuntil(b"fine")).startswith(ANSWER)
    assert started == ["/health"]


async def test_what_is_answered_at_once_takes_turns_of_its_own_and_only_by_itself() -> None:
    health = GET.replace(b"/", b"/4", 1)
    connections = ServerConnections(at_once=frozenset({"/4"}))
    connections.turns = Turns(0)  # nobody else's turn ever comes
    async with hasty(connections=connections, seconds=60) as connection:
        reader, writer = await connection()
        writer.write(health * 3)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(ANSWER)
        await reader.readexactly(4)
        with pytest.raises(TimeoutError):  # the others are asked behind it
            async with asyncio.timeout(0):
                await reader.read(1)
        connections.quick = Turns(0)
        waiting, writer = await connection()
        writer.write(health)
        connections.turns = Turns()
        reader, writer = await connection()
        writer.write(GET)
        assert (await reader.readuntil(b"fine")).startswith(ANSWER)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await waiting.read(1)


async def test_short_requests_that_come_together_are_parsed_in_turns() -> None:
    connections = ServerConnections()
    connections.pieces = Turns(0)  # nobody's turn ever comes
    async with hasty(connections=connections, seconds=60) as connection:
        _, many = await connection()
        many.write(GET * 2)
        await until(lambda: connections.received.total == len(GET * 2), "they are held")
        reader, writer = await connection()
        writer.write(GET)
        assert (await reader.readuntil(b"fine")).startswith(ANSWER)


async def test_a_request_whose_client_is_gone_before_its_turn_is_not_started() -> None:
    started: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        started.append(scope["path"])
        await fine(scope, receive, send)

    class Held(Turns):
        """Nobody's turn comes yet."""

        def start(self, request: Callable[[], None]) -> None:
            held.append(request)

    held: list[Callable[[], None]] = []
    connections = ServerConnections()
    connections.turns = Held()
    async with hasty(app, connections=connections, seconds=60) as connection:
        _, gone = await connection()
        gone.write(GET.replace(b"/", b"/gone", 1))
        await until(lambda: len(held) == 1, "it is there")
        gone.transport.abort()
        await until(lambda: len(connections) == 0, "its client is gone")
        _, waits = await connection()
        waits.write(GET.replace(b"/", b"/waits", 1))
        await until(lambda: len(held) == 2, "the other one is there")
        for start in held:
            start()
        await until(lambda: bool(started), "one was started")
    assert started == ["/waits"]


@on_libuv
async def test_a_request_whose_client_reset_the_connection_at_once_is_not_started() -> None:
    started: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        started.append(scope["path"])
        await fine({**scope, "path": "/4"}, receive, send)

    listening = listen("127.0.0.1", 0)
    connections = ServerConnections(at_once=frozenset({"/gone"}))
    async with asyncio.timeout(30), serving(app, listening, connections):
        for path in (b"/gone", b"/other"):
            gone = socket.create_connection(listening.getsockname())
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # its end is a reset
            gone.sendall(GET.replace(b"/", path, 1))
            gone.close()
        reader, writer = await asyncio.open_connection(*listening.getsockname())
        writer.write(GET.replace(b"/", b"/here", 1))
        assert (await reader.readuntil(b"fine")).startswith(ANSWER)
        writer.close()
    assert started == ["/here"]


@on_libuv
async def test_many_connections_are_accepted_in_one_turn() -> None:
    listening = listen("127.0.0.1", 0)
    connections = ServerConnections()
    async with asyncio.timeout(30), serving(fine, listening, connections):
        many = [socket.create_connection(listening.getsockname()) for _ in range(4 * ACCEPTED_A_TURN)]
        turns = 0
        while len(connections) < len(many):
            turns += 1
            await asyncio.sleep(0)
        for one in many:
            one.close()
    assert turns <= len(many) / 4


async def test_what_is_no_request_is_answered_and_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    upgrade = GET.replace(b"\r\n\r\n", b"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    async with hasty(seconds=60) as connection:
        reader, writer = await connection()
        writer.write(b"nonsense\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
        reader, writer = await connection()
        writer.write(upgrade)
        assert (await reader.readuntil(b"fine")).startswith(ANSWER)
    assert caplog.records == []


async def test_long_pieces_are_parsed_in_turns_and_short_ones_wait_for_none() -> None:
    connections = ServerConnections()
    connections.pieces = Turns(0)  # nobody's turn ever comes
    long = GET.replace(b"\r\n\r\n", b"\r\nX: " + b"y" * SMALL_PIECE + b"\r\n\r\n")
    async with hasty(fine, connections=connections, seconds=60) as connection:
        _, waiting = await connection()
        waiting.write(long)
        await waiting.drain()
        reader, writer = await connection()
        writer.write(GET)
        assert (await reader.readuntil(b"fine")).startswith(ANSWER)
        assert connections.received.total > SMALL_PIECE
        connections.pieces = Turns(1)
        both = [await connection() for _ in range(2)]
        for _, one in both:
            one.write(long * 2)
        for reader, _ in both:
            for _ in range(2):
                assert (await reader.readuntil(b"fine")).startswith(ANSWER)


async def test_a_head_goes_out_with_the_first_piece_of_its_body_or_when_none_comes() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
        if scope["path"] != "/nothing":
            await send({"type": "http.response.body", "body": b"fine"})

    async with hasty(app, seconds=60) as connection:
        reader, writer = await connection()
        writer.write(GET)
        assert (await reader.read(65536)).endswith(b"\r\n\r\nfine")
        writer.write(GET.replace(b"GET", b"HEAD", 1))
        assert (await reader.read(65536)).endswith(b"\r\n\r\n")
        writer.write(GET.replace(b"/", b"/nothing", 1))
        assert (await reader.read()).startswith(ANSWER)  # and the connection ends


async def test_a_small_body_is_waited_for_before_its_request_takes_a_turn() -> None:
    came = asyncio.Queue[bytes]()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        assert not message.get("more_body")
        await came.put(message["body"])
        await fine({**scope, "path": "/unread"}, receive, send)

    async with hasty(app, seconds=60) as connection:
        reader, writer = await connection()
        writer.write(b"POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\n")
        await writer.drain()
        for byte in b"slow":
            assert came.empty()
            writer.write(bytes([byte]))
            await writer.drain()
        assert (await reader.readuntil(b"fine")).startswith(ANSWER)
        assert await came.get() == b"slow"


async def test_a_request_under_way_learns_that_its_client_is_gone_though_others_wait_behind_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        told.append((await receive())["type"])
        told.append((await receive())["type"])
        await fine({**scope, "path": "/unread"}, receive, send)

    listening = listen("127.0.0.1", 0)
    address = listening.getsockname()
    async with asyncio.timeout(30), serving(app, listening):
        _, writer = await asyncio.open_connection(*address)
        writer.write(GET * 16)
        await until(lambda: bool(told), "the first request is there")
        writer.transport.abort()
        await until(lambda: len(told) > 1, "it learns that its client is gone")
    assert told == ["http.request", "http.disconnect"]
    assert [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")] == []


@pytest.mark.parametrize("said", [b"GET / HTTP", CHUNKED + b"1\r\nx\r\n", CHUNKED + b"0\r\nX: y\r\n"])
async def test_the_end_of_a_server_with_an_unfinished_request_logs_nothing(
    said: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    came = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        came.set()
        await Request(scope, receive).body()

    listening = listen("127.0.0.1", 0)
    address = listening.getsockname()
    async with serving(app, listening):
        _, writer = await asyncio.open_connection(*address)
        writer.write(said)
        if b"POST" in said:
            await came.wait()
    writer.transport.abort()
    assert [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")] == []


async def test_the_time_of_a_guest_is_utc(instance: Instance) -> None:
    guests = instance.guests
    async with guests.fresh() as guest:
        source = b"from datetime import datetime\nraise ValueError(datetime(2026, 7, 1).astimezone().utcoffset())"
        head, _ = await guest.ask({"do": "describe"}, source, seconds=5)
    assert head["findings"][0].endswith("ValueError: 0:00:00")


# how long


async def test_what_lies_idle_is_let_go_of_and_is_there_again(library: Library, tmp_path: Path) -> None:
    async with Worker(library, tmp_path / "state", WorkerSettings(idle_seconds=0.06, idle_guest_seconds=0.1)) as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
        await worker.find(ticket.instance).call("price", {"id": "t1", "cents": 7})
        await until(lambda: not worker.in_use, "its file is closed")
        await until(lambda: worker.guests.alive == 0, "its guest has ended")
        assert worker.guests.deaths == {"idle": 1, "done": worker.guests.deaths["done"]}
        assert '"cents": 7' in (await worker.find(ticket.instance).call("find", {"text": "anvil"})).text


async def test_a_start_that_takes_too_long_to_build_is_told(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("servers.state.start_images.START_SECONDS", 0.5)
    forever = "INSERT INTO log (what) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    async with Worker(library, tmp_path / "state") as worker:
        with pytest.raises(BundleError, match=r"seed\.sql and setup: take more than 0\.5 s to run"):
            await worker.launch(Launch(environment="shop", setup=f"{forever};"))
        assert len(await worker.launch(Launch(environment="shop"))) == 1


async def test_an_endless_build_holds_up_no_other_environments_build(shelf: Path, tmp_path: Path) -> None:
    library = shutil.copytree(shelf, tmp_path / "library")
    for number in range(3):
        with_description(shutil.copytree(library / "shop", library / f"shop_{number}"), id=f"shop_{number}")
    forever = "INSERT INTO log (what) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n;"
    async with Worker(Library([library]), tmp_path / "state") as worker:
        endless = [
            asyncio.create_task(worker.launch(Launch(environment="shop", setup=f"{forever} -- {number}")))
            for number in range(20)
        ]
        await asyncio.sleep(0)
        launched = [worker.launch(Launch(environment=f"shop_{number}")) for number in range(3)]
        assert sum(map(len, await asyncio.gather(*launched))) == 3
        assert not any(task.done() for task in endless)
        for task in endless:
            task.cancel()
        await asyncio.wait(endless)


async def test_requests_under_way_at_the_end_get_time_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("servers.doors.server.SECONDS_TO_DRAIN", 1)
    came = asyncio.Queue[str]()

    async def app(scope: Scope, _: Receive, send: Send) -> None:
        await came.put(scope["path"])
        await asyncio.sleep(0.3 if scope["path"] == "/slow" else 3600)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    listening = listen("127.0.0.1", 0)
    async with httpx.AsyncClient(base_url=url_of(listening), timeout=60) as client:
        async with serving(app, listening):
            slow, stuck = asyncio.create_task(client.get("/slow")), asyncio.create_task(client.get("/stuck"))
            assert {await came.get(), await came.get()} == {"/slow", "/stuck"}
        assert (await slow).status_code == 204
        assert (await stuck).status_code == 503


# copies of states


LOOKS: dict[str, Callable[[Worker, str], Awaitable[object]]] = {
    "tables": lambda worker, instance: worker.tables(instance),
    "diff": lambda worker, instance: worker.diff(instance),
    "query": lambda worker, instance: worker.query(instance, "SELECT 1"),
    "judge": lambda worker, instance: worker.judge(instance, Judge(checkpoints=())),
    "history": lambda worker, instance: worker.history(instance),
    "snapshot": lambda worker, instance: worker.snapshot(instance),
    "fork": lambda worker, instance: worker.fork(instance, 2),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
async def test_who_copies_a_state_waits_until_there_is_room_for_copies(
    worker: Worker, instance: Instance, look: Callable[[Worker, str], Awaitable[object]]
) -> None:
    async with worker.copies.taken("another", worker.copies.most):
        looking = asyncio.ensure_future(look(worker, instance.id))
        await asyncio.sleep(0)
        assert worker.copies.waiting == 1
        assert (await instance.call("make", {"name": "meanwhile"})).kind == "ok"
        assert not looking.done()
    await looking
    assert worker.copies.waiting == 0


async def test_a_long_history_is_read_and_copied_in_threads_and_comes_in_parts(
    worker: Worker, instance: Instance
) -> None:
    for number in range(6):
        assert (await instance.call("make", {"name": f"{number}{'x' * 400_000}"})).kind == "ok"
    assert instance.state.size > LARGEST_ON_LOOP
    first = await history_of(worker, instance.id)
    assert [call.seq for call in first] == [1]
    assert [call.seq for call in await history_of(worker, instance.id, after=1, limit=1)] == [2]
    assert len(await diff_of(worker, instance.id)) == 6
    assert instance.state.net is None  # it is too large to be kept
    async with busy_threads(worker, instance.environment.id):
        forking = asyncio.ensure_future(worker.fork(instance.id, 1))
        await until(lambda: worker.threads.waiting == 1, "the history is read in a thread")
    [fork] = await forking
    async with busy_threads(worker, instance.environment.id):
        rewinding = asyncio.ensure_future(worker.rewind(instance.id, 1))
        await until(lambda: worker.threads.waiting == 1, "the history is read in a thread")
    await rewinding
    assert (await worker.standing(fork.instance)).calls == 6
    assert len(await history_of(worker, instance.id)) == 1


@asynccontextmanager
async def busy_threads(worker: Worker, environment: str) -> AsyncGenerator[None]:
    """An environment's threads are all in use while inside."""
    over = threading.Event()
    jobs = [asyncio.ensure_future(worker.threads.run(environment, over.wait)) for _ in range(MOST_THREADS_EACH)]
    try:
        yield
    finally:
        over.set()
        await asyncio.gather(*jobs)


def test_a_program_that_has_started_looks_at_its_garbage_no_more(capfd: pytest.CaptureFixture[str]) -> None:
    begin = "import gc, servers.worker.worker; from servers.limits.garbage_collection import settle; settle()"
    subprocess.run([sys.executable, "-c", f"{begin}; print(len(gc.get_objects()))"], check=True, timeout=60)
    assert int(capfd.readouterr().out) < 1000
