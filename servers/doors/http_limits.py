"""HTTP with bounds on connections, bytes and time, which hold before any token is checked.

Uvicorn alone buffers heads, trailers and bodies without a bound, and waits for ever for a client that neither sends nor
reads.
"""

import asyncio
import resource
import time
from typing import Any, cast

import httptools
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from servers.doors.known_heads import HeadWords, KnownHeads, head_words
from servers.doors.whole_exchange import WHOLE, HeadWithBody, WholeExchange
from servers.limits.memory import BufferBudget, UploadBudget
from servers.limits.throttle import Turns

LARGEST_HEAD = 64 * 1024
"""Bytes of a request without its body: its head, the frames of its chunks, its trailers."""
MOST_HEADERS = 100
BLANKS = b" \t"
"""Whitespace around the value of a header, which is no part of it (RFC 9110, 5.5).

The parser leaves some at the end.
"""
LONGEST_LINE = 8 * 1024
"""Bytes of a URL, and of the value of a header. Their parts are parsed on the event loop."""
LARGEST_REQUEST = 17 * 1024 * 1024
"""Bytes of a whole request. Each door has a smaller bound for bodies."""
REQUEST_SECONDS = 30.0
"""Seconds until a request must be complete, and until a client must have read some of its answer."""
LEAST_READ = 64 * 1024
"""Bytes of an answer that a client must read in that time, if so much is left."""
MOST_RECEIVED = 24 * 1024 * 1024
"""Bytes of unfinished requests over all connections. Of those with long ones, the one that began first is closed."""
MOST_UNREAD = 32 * 1024 * 1024
"""Bytes of unread answers over all connections. The connection with the most is closed first.

A snapshot is not among them: it is sent in pieces, as it is read.
"""
SMALL_REQUEST = 4096
"""Bytes up to which an unfinished request is not counted."""
SMALL_BODY = 64 * 1024
"""Bytes of an announced body up to which its request starts only when it is complete."""
MOST_SMALL_CHUNKS = 64
SMALL_CHUNK = 256
"""The least average size in bytes of a body's chunks, if there are many.

Each chunk takes a step of the event loop, however small it is. Pipelined requests count as one.
"""
STEP = 16 * 1024
"""Bytes that are parsed before what is unfinished is counted."""
SMALL_PIECE = 2048
"""Bytes of a piece that is parsed immediately."""
MOST_PIECES = 2
"""Larger pieces, and those with several requests, that are parsed in one turn of the event loop."""
HEAD_MARK = b" HTTP/1."
"""A mark that each request has once. A piece with more of them holds several requests."""
MOST_QUICK = 16
"""Quick requests that are started in one turn of the event loop."""
LINGER_SECONDS = 2.0
"""Seconds for a client to read an answer that it got before it had sent its whole request."""
MOST_CONNECTIONS = 4096
MOST_PIPELINED = 16
"""Pipelined requests that wait on one connection."""
MOST_WAITING = 1024
"""Pipelined requests that wait on all connections: Python's garbage collector looks at each, and nothing else runs."""
FILES_EACH = 3
"""At most one of this many open files of the process is a connection."""
LOOK_SECONDS = 1.0
UNREADABLE = "Invalid HTTP request received."


def _refusal(status: str, told: str, more: str = "") -> bytes:
    """A whole answer that closes its connection."""
    head = f"content-type: text/plain; charset=utf-8\r\ncontent-length: {len(told)}\r\n{more}connection: close"
    return f"HTTP/1.1 {status}\r\n{head}\r\n\r\n{told}".encode()


TOO_LARGE = _refusal(
    "431 Request Header Fields Too Large",
    f"the head of a request, its trailers and the frames of its chunks have at most {LARGEST_HEAD} bytes together",
)
TOO_LONG = _refusal("413 Content Too Large", f"a request has at most {LARGEST_REQUEST} bytes")
NO_ROOM = _refusal(
    "503 Service Unavailable", "all connections of this server are in use; try again later", "retry-after: 5\r\n"
)


class _Refused(ValueError):
    """What a request has too much of."""


class ServerConnections:
    """All connections of one server, and their shared limits."""

    def __init__(
        self,
        *,
        most: int = MOST_CONNECTIONS,
        most_received: int = MOST_RECEIVED,
        most_unread: int = MOST_UNREAD,
        most_waiting: int = MOST_WAITING,
        seconds: float = REQUEST_SECONDS,
        look_seconds: float = LOOK_SECONDS,
        at_once: frozenset[str] = frozenset(),
    ) -> None:
        """`at_once` lists paths with such fast answers that they have turns of their own, if alone on a connection."""
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._most = max(1, min(most, files // FILES_EACH))
        self._all: set[BoundedHttp] = set()
        self._look_seconds = look_seconds
        self.idle: dict[BoundedHttp, None] = {}  # those without a request under way, the longest idle one first
        self.unfinished: dict[BoundedHttp, None] = {}  # those with a head and without the whole body, in their order
        self.received = UploadBudget(most_received)
        self.unread = BufferBudget(most_unread)
        self.turns = Turns()
        self.quick = Turns(MOST_QUICK)
        self.heads = KnownHeads()
        self.pieces = Turns(MOST_PIECES)
        self.at_once = at_once
        self.most_waiting = most_waiting
        self.waiting = 0
        """Requests that wait for the answer to an earlier one of their connection."""
        self.seconds = seconds

    def __len__(self) -> int:
        return len(self._all)

    def protocol(self, *args: Any, **options: Any) -> "BoundedHttp":
        """A new connection, for uvicorn."""
        return BoundedHttp(self, *args, **options)

    def join(self, connection: "BoundedHttp") -> bool:
        """Admit a connection. If there are too many, close the one that was idle longest.

        If none is idle, close the one whose request is unfinished longest. False if all are answered: then there is no
        room.
        """
        if len(self._all) >= self._most:
            longest = next(iter(self.idle), None) or next(iter(self.unfinished), None)
            if longest is None:
                return False
            longest.give_up()
            self.leave(longest)
        self._all.add(connection)
        self.idle[connection] = None
        return True

    def leave(self, connection: "BoundedHttp") -> None:
        self._all.discard(connection)
        self.idle.pop(connection, None)
        self.unfinished.pop(connection, None)
        self.received.release(connection)
        self.unread.release(connection)

    async def watched(self) -> None:
        """Close slow connections for as long as this runs."""
        while True:
            await asyncio.sleep(self._look_seconds)
            now = time.monotonic()
            for connection in list(self._all):
                connection.look(now)


class BoundedHttp(HttpToolsProtocol):
    """One connection. It is closed if a request is too long or too slow, or if its answer is not read."""

    def __init__(self, connections: ServerConnections, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._connections = connections
        self._is_whole = self._has_ended_one = True
        self._has_host = False
        self._raw = self._payload = 0
        self._chunks = self._in_chunks = 0
        self._since: float | None = None
        self._unread = 0
        self._unread_since = 0.0
        self._lingers_since: float | None = None
        self._piece = b""
        self._held: tuple[RequestResponseCycle, ASGI3Application] | None = None
        self._under_way: RequestResponseCycle | None = None
        self._starts_next = False
        self._waiting = 0
        self._is_new = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = time.monotonic()
        if not self._connections.join(self):
            transport.write(NO_ROOM)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.leave(self)
        self._connections.waiting -= self._waiting
        self._waiting = 0
        self._piece = b""
        if self._under_way is not None:  # uvicorn tells the request that came last alone, and that one may wait
            self._under_way.disconnected = True
            self._under_way.message_event.set()
        super().connection_lost(exc)
        self.pipeline.clear()
        if self._is_answered:
            self._forget_last()

    def data_received(self, data: bytes) -> None:
        if self._piece:
            self._piece += data  # uvicorn read on for a body
        elif len(data) > SMALL_PIECE or data.count(HEAD_MARK) > 1:
            self._piece = data
            self.transport.pause_reading()
            self._connections.received.hold(self, self._raw + len(data))
            self._connections.pieces.start(self._parse_piece)
        else:
            self._parse(data)

    def _parse_piece(self) -> None:
        """Parse a long piece in its turn, and resume reading."""
        data, self._piece = self._piece, b""
        if not data or self.transport.is_closing():
            return
        self._parse(data)
        if self._is_whole or self._raw <= SMALL_REQUEST:  # else it keeps its place among the unfinished ones
            self._connections.received.release(self)
        if not self.flow.read_paused and not self.transport.is_closing():
            self.transport.resume_reading()

    def _parse(self, data: bytes) -> None:
        if self._lingers_since is not None:  # the request was answered, and its rest is not even parsed
            self._raw += len(data)
            if self._raw > LARGEST_REQUEST:
                self.transport.abort()
            return
        words = head_words(data) if self._is_whole and not self.pipeline and self._is_answered else None
        if words is not None and self._start_known(words):
            return
        for begin in range(0, len(data), STEP):
            if not self._feed(data[begin : begin + STEP]) or self.transport.is_closing():
                return
        if self._is_whole and words is not None:
            self._keep_head(words)

    def _feed(self, data: bytes) -> bool:
        """Parse a step, and bound what is unfinished. False if nothing more is to be parsed."""
        self._has_ended_one = False
        if not self._has_parsed(data):
            return False
        if self._is_whole:
            return True
        if self._since is None:
            self._since = time.monotonic()
        if not self._has_ended_one:  # else this piece began with another request, and is counted as nothing
            self._raw += len(data)
        self._bound()
        return True

    @property
    def _is_answered(self) -> bool:
        """True if no request is under way."""
        return self._under_way is None or self._under_way.response_complete

    def _start_known(self, words: HeadWords) -> bool:
        """Start a request whose head came before, without the parser. False if it did not come before."""
        scope = self._connections.heads.scope_of(words)
        if scope is None:
            return False
        self._unset_keepalive_if_required()
        self._connections.idle.pop(self, None)
        scope.update(server=self.server, client=self.client, scheme=self.scheme, state=self.app_state.copy())
        self.cycle = cycle = RequestResponseCycle(
            scope=scope,  # pyright: ignore[reportArgumentType]
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=self.access_log,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=False,
            keep_alive=True,
            on_response=self.on_response_complete,
        )
        self._raw = self._payload = self._chunks = self._in_chunks = 0
        self._since = None
        cycle.body += words.body
        cycle.more_body = False
        cycle.message_event.set()
        self._start_asgi_task(cycle, cast("Any", self.app))  # pyright: ignore[reportUnknownMemberType]
        return True

    def _keep_head(self, words: HeadWords) -> None:
        """Keep the head of a request that was just parsed and is not started yet."""
        cycle = self.cycle
        if cycle is self._under_way and cycle.keep_alive and not cycle.waiting_for_100_continue:
            self._connections.heads.keep(words, cast("dict[str, Any]", cycle.scope), bytes(cycle.body))

    def _has_parsed(self, data: bytes) -> bool:
        """Parse as uvicorn does, but without logging: a client that sends garbage would fill the log."""
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)  # pyright: ignore[reportOptionalMemberAccess] - it is None after the end alone
        except httptools.HttpParserUpgrade:  # the request is answered, and what follows is not read
            return False
        except httptools.HttpParserError as error:
            why = error.__context__  # what a callback raised
            self.send_400_response(str(why) if isinstance(why, _Refused) else UNREADABLE)
            return False
        return True

    def _bound(self) -> None:
        if self.transport.is_closing():
            return
        if self._raw - self._payload > LARGEST_HEAD:
            self.transport.write(TOO_LARGE)
            self.transport.close()
        elif self._raw > LARGEST_REQUEST:
            self.transport.write(TOO_LONG)
            self.transport.close()
        elif self._raw > SMALL_REQUEST:
            self._connections.received.hold(self, self._raw)

    def give_up(self) -> None:
        self.transport.abort()

    def on_message_begin(self) -> None:
        waits = not self._is_answered
        if len(self.pipeline) >= MOST_PIPELINED or (
            waits and self._connections.waiting >= self._connections.most_waiting
        ):
            told = f"at most {MOST_PIPELINED} requests of a connection, and {self._connections.most_waiting} of all"
            raise _Refused(f"{told}, wait for the answer to an earlier one")  # _feed answers 400
        super().on_message_begin()
        self._is_whole = self._has_host = False
        self._raw = self._payload = 0
        if self._under_way is None or self._under_way.response_complete:
            self._chunks = self._in_chunks = 0

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) > LONGEST_LINE:
            raise _Refused(f"a URL has at most {LONGEST_LINE} bytes")

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self.headers) >= MOST_HEADERS or len(value) > LONGEST_LINE:
            raise _Refused(f"a request has at most {MOST_HEADERS} headers, and each at most {LONGEST_LINE} bytes")
        name, value = name.lower(), value.strip(BLANKS)
        if name == b"host":
            if self._has_host:
                raise _Refused("a request has one Host")  # RFC 9112, 3.2
            self._has_host = True
        if name == b"expect":
            super().on_header(name, value)
        else:
            self.headers.append((name, value))  # all that uvicorn does, at a third of the price

    def on_headers_complete(self) -> None:
        self._connections.idle.pop(self, None)
        self._connections.unfinished[self] = None
        super().on_headers_complete()
        self._count_waiting()

    def on_chunk_header(self) -> None:
        self._chunks += 1
        if self._chunks > MOST_SMALL_CHUNKS and self._in_chunks < SMALL_CHUNK * self._chunks:
            told = (
                f"a body in more than {MOST_SMALL_CHUNKS} chunks has at least {SMALL_CHUNK} bytes in each, on average"
            )
            raise _Refused(told)

    def on_body(self, body: bytes) -> None:
        self._payload += len(body)
        self._in_chunks += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._is_whole = self._has_ended_one = True
        self._since = None
        self._connections.received.release(self)
        self._connections.unfinished.pop(self, None)
        super().on_message_complete()
        held, self._held = self._held, None
        if held is not None:
            self._start_asgi_task(*held)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        """Start a request in its turn. A small body is awaited first, as reading it later would escape the turns."""
        self._under_way = cycle
        if cycle.more_body and not cycle.waiting_for_100_continue and 0 < _announced(cycle) <= SMALL_BODY:
            self._held = cycle, app
            return
        is_quick = cycle.scope["path"] in self._connections.at_once and not self._starts_next
        turns = self._connections.quick if is_quick else self._connections.turns
        if self._is_new:  # its client may be gone already, which the event loop sees when it looks at the socket again
            self._is_new = False
            self.loop.call_soon(self.loop.call_soon, turns.start, lambda: self._start(cycle, app))
        else:
            turns.start(lambda: self._start(cycle, app))

    def _start(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        if cycle.disconnected or self.transport.is_closing():
            return  # nobody waits for the answer any more
        if cycle.scope["method"] != "HEAD":  # its answer has no body for the head to go with
            cycle.scope[WHOLE] = WholeExchange(cycle)  # pyright: ignore[reportGeneralTypeIssues]
            cycle.transport = HeadWithBody(cycle)
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        answered = self._under_way
        if answered is not None:  # nothing of it refers to itself, so it is freed at once, and not by thousands later
            cast("dict[str, Any]", answered.scope).pop(WHOLE, None)
            answered.transport = self.transport
        self._starts_next = True
        super().on_response_complete()
        self._starts_next = False
        self._count_waiting()
        if self.transport.is_closing():
            self._forget_last()
            return
        if self.cycle.response_complete and self.cycle.more_body:
            self._linger()
        self._hold_unread()
        if not self.pipeline:
            self._connections.idle[self] = None

    def _forget_last(self) -> None:
        """Free the last request of a closed connection, which refers to its connection."""
        self._under_way = None
        self.cycle = None  # type: ignore[assignment]

    def _count_waiting(self) -> None:
        self._connections.waiting += len(self.pipeline) - self._waiting
        self._waiting = len(self.pipeline)

    def _hold_unread(self) -> None:
        """Update the number of unread bytes."""
        unread = self.transport.get_write_buffer_size()
        if unread > SMALL_REQUEST:
            self._connections.unread.hold(self, unread)
        else:
            self._connections.unread.release(self)

    def _linger(self) -> None:
        """End a connection whose client is still sending after the answer.

        An immediate close might discard the answer.
        """
        self._lingers_since = time.monotonic()
        self._since = None
        self._connections.received.release(self)
        self.transport.write_eof()

    def look(self, now: float) -> None:
        """Close this connection if it is too slow: with an answer while it sends, without one if it does not read."""
        seconds = self._connections.seconds
        if self._lingers_since is not None and now - self._lingers_since > min(LINGER_SECONDS, seconds):
            self.transport.close()
        self._hold_unread()
        unread = self.transport.get_write_buffer_size()
        if not unread or not self._unread or unread <= self._unread - LEAST_READ:
            self._unread, self._unread_since = unread, now
        elif now - self._unread_since > seconds:
            self.transport.abort()
        if self._since is not None and now - self._since > seconds and not self.transport.is_closing():
            self.transport.close()

    def shutdown(self) -> None:
        """The server ends. An incomplete request gets no answer."""
        if self._is_whole:
            super().shutdown()
        else:
            self.transport.close()


def _announced(cycle: RequestResponseCycle) -> int:
    """The announced length of a body in bytes, 0 without one."""
    for name, value in cycle.scope["headers"]:
        if name == b"content-length":
            return int(value[:19]) if value.isdigit() else 0
    return 0
