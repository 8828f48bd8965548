"""The short way of ordinary calls: what it answers, and what it leaves alone, is what the SDK would have answered."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, cast
from urllib.parse import urlsplit

import httpx2
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server
from mcp_types import CallToolResult, ListToolsResult
from starlette.types import Scope, Send

from agent_client.toolbox import connect
from agent_client.trace import ToolResult
from servers.bundle_library import Library
from servers.doors.fast_path import FastPath
from servers.doors.mcp import SERVER_INFO, AgentDoor
from servers.doors.prepared_answers import AnswerKey, PlainQuestion, PreparedAnswers
from servers.doors.request import Headers
from servers.doors.server import listen, serving, url_of
from servers.messages import Launch, Ticket
from servers.worker.instance import Instance
from servers.worker.worker import Worker
from tests.told import history_of

LONG = 30.0
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
ABSENT = object()
RECORDED = Path(__file__).parent / "clients" / "recorded_calls.jsonl"
"""One `tools/call` of each client, as it came over the wire when tests/clients/scripts ran with its packages."""


class Counted(FastPath):
    """Counts what it answers."""

    def __init__(self) -> None:
        super().__init__(SERVER_INFO)
        self.answered = 0

    async def answer(self, scope: Scope, headers: Headers, body: bytes, send: Send, instance: Instance) -> bool:
        answered = await super().answer(scope, headers, body, send, instance)
        self.answered += answered
        return answered


class Closed(FastPath):
    """Answers nothing."""

    def __init__(self) -> None:
        super().__init__(SERVER_INFO)

    async def answer(self, scope: Scope, headers: Headers, body: bytes, send: Send, instance: Instance) -> bool:
        return False


class CountedAnswers(PreparedAnswers):
    """Counts what it answers."""

    def __init__(self) -> None:
        super().__init__()
        self.answered = 0

    async def answer(self, question: PlainQuestion, scope: Scope, send: Send) -> bool:
        answered = await super().answer(question, scope, send)
        self.answered += answered
        return answered


class Answer(NamedTuple):
    """What came back: the status, what kind of body it says it has, and the body, JSON in one way of writing it."""

    status: int
    kind: str
    body: str


@dataclass(frozen=True)
class Request:
    """A request of an agent. `{host}`, `{token}` and `{length}` in a header's value are filled in when it is sent."""

    headers: tuple[tuple[str, str], ...]
    body: bytes
    method: str = "POST"

    def as_sent(self, path: str, host: str, token: str) -> bytes:
        filled = {"{host}": host, "{token}": token, "{length}": str(len(self.body))}
        lines = [f"{self.method} {path} HTTP/1.1"]
        lines += [f"{name}: {filled.get(value, value).replace('{token}', token)}" for name, value in self.headers]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + self.body


@dataclass(frozen=True)
class Doors:
    """Two doors of one worker, each with an instance of the same seed; one has the short way."""

    portal: BlockingPortal
    worker: Worker
    express: Counted
    prepared: CountedAnswers
    short: tuple[Ticket, str]
    long: tuple[Ticket, str]

    def both(self, request: Request) -> tuple[Answer, Answer]:
        """What each door answers to a request, from where the instances began."""
        return self.portal.call(self._both, request)

    async def _both(self, request: Request) -> tuple[Answer, Answer]:
        for ticket, _ in (self.short, self.long):
            await self.worker.reset(ticket.instance)
        answers = await _asked(request, *self.short), await _asked(request, *self.long)
        assert await self._history(self.short[0]) == await self._history(self.long[0])
        return answers

    async def _history(self, ticket: Ticket) -> list[tuple[object, ...]]:
        calls = await history_of(self.worker, ticket.instance)
        return [(call.tool, call.arguments, call.outcome, call.text, call.changes) for call in calls]


async def _asked(request: Request, ticket: Ticket, url: str) -> Answer:
    host = urlsplit(url).netloc
    async with asyncio.timeout(LONG):
        reader, writer = await asyncio.open_connection(*host.split(":"))
        writer.write(request.as_sent(ticket.path, host, ticket.token))
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in head[1:] if line)
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        writer.close()
        await writer.wait_closed()
    return Answer(int(head[0].split()[1]), headers.get("content-type", ""), _in_one_way(body))


def _in_one_way(body: bytes) -> str:
    try:
        return json.dumps(json.loads(body), sort_keys=True)
    except ValueError:
        return body.decode("utf-8", "replace")


@asynccontextmanager
async def _opened(
    library: Library, folder: Path
) -> AsyncGenerator[tuple[Worker, Counted, CountedAnswers, list[tuple[Ticket, str]]]]:
    counted, prepared = Counted(), CountedAnswers()
    async with Worker(library, folder) as worker:
        tickets = await worker.launch(Launch(environment="shop", seed=7, count=2))
        with listen("127.0.0.1", 0) as one, listen("127.0.0.1", 0) as other:
            short = AgentDoor(worker, loopback_only=True, express=counted, prepared=prepared)
            long = AgentDoor(worker, loopback_only=True, express=Closed(), prepared=PreparedAnswers(0))
            async with short.running(), long.running(), serving(short, one), serving(long, other):
                yield worker, counted, prepared, [(tickets[0], url_of(one)), (tickets[1], url_of(other))]


@pytest.fixture(scope="module")
def doors(shelf: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Doors]:
    folder = tmp_path_factory.mktemp("express")
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(_opened(Library([shelf]), folder)) as (
            worker,
            counted,
            prepared,
            (short, long),
        ),
    ):
        yield Doors(portal, worker, counted, prepared, short, long)


def modern_meta(**changes: Any) -> dict[str, Any]:
    meta = {
        f"{META}protocolVersion": MODERN,
        f"{META}clientCapabilities": {},
        f"{META}clientInfo": {"name": "a test", "version": "1"},
    }
    return _without_absent({**meta, **changes})


def call(
    version: str = MODERN,
    *,
    tool: Any = "find",
    arguments: Any = ABSENT,
    number: Any = 1,
    method: Any = "tools/call",
    meta: Any = ABSENT,
    params: Any = ABSENT,
    more: dict[str, Any] | None = None,
) -> Request:
    """A request as clients of a version send it, but for what is asked to be otherwise."""
    modern = version >= MODERN
    if meta is ABSENT and modern:
        meta = modern_meta()
    if params is ABSENT:
        params = _without_absent({"name": tool, "arguments": arguments, "_meta": meta})
    message = _without_absent({"jsonrpc": "2.0", "id": number, "method": method, "params": params, **(more or {})})
    headers = [
        ("Host", "{host}"),
        ("Accept", "application/json, text/event-stream"),
        ("Accept-Encoding", "identity"),
        ("Connection", "keep-alive"),
        ("User-Agent", "a test"),
        ("Content-Type", "application/json"),
        ("MCP-Protocol-Version", version),
        ("Authorization", "Bearer {token}"),
        ("Content-Length", "{length}"),
    ]
    if modern:
        headers += [("Mcp-Method", str(method)), ("Mcp-Name", _for_header(tool))]
    return Request(tuple(headers), json.dumps(message).encode())


def _without_absent(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not ABSENT}


def _for_header(tool: object) -> str:
    return tool if isinstance(tool, str) and tool.isascii() and tool.isprintable() else "x"


WRITTEN_WITH_A_POINT = [1.0, -0.0, 250.0, 1e15, 2.0**53, 1e308, 1.5]
Anything: TypeAlias = st.SearchStrategy[Any]
TEXTS = st.text(max_size=12)
ORDINARY_CALLS: st.SearchStrategy[tuple[str, dict[str, Any]]] = st.one_of(
    st.tuples(st.just("find"), st.fixed_dictionaries({}, optional={"text": TEXTS.filter(str.isascii)})),
    st.tuples(st.just("make"), st.fixed_dictionaries({"name": TEXTS}, optional={"cents": st.integers(-5, 500)})),
    st.tuples(
        st.just("price"),
        st.fixed_dictionaries(
            {
                "id": st.sampled_from(["t1", "t9"]),
                "cents": st.integers(-1, 2**70) | st.sampled_from(WRITTEN_WITH_A_POINT),
            }
        ),
    ),
    st.tuples(st.just("scrap"), st.fixed_dictionaries({"id": st.sampled_from(["t1", "t2", ""])})),
    st.tuples(st.sampled_from(["nothing", "Find", "find/it"]), st.just({"text": "x"})),
    st.tuples(st.just("price"), st.dictionaries(st.sampled_from(["id", "cents", "colour"]), st.none() | TEXTS)),
)
VERSIONS = st.sampled_from([MODERN, "2025-11-25", "2025-06-18"])
JSON_IDS = st.integers(-(2**70), 2**70) | TEXTS

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
ODD_IDS: Anything = st.sampled_from([True, False, 0, -0.0, 1.0, 1.5, 10**30, 1e300, None, "", "1", [], {}, ABSENT])
ODD_TOOLS = st.sampled_from(["find", "", "fïnd", "=?base64?ZmluZA==?=", " find", "a" * 2000, 3, None, ["find"], ABSENT])
ODD_ARGUMENTS: Anything = (
    st.sampled_from(cast("list[Any]", [ABSENT, None, [], "x", 0, False, {"text": {}}, {"text": "\ud800"}, {"": 0}]))
    | st.dictionaries(st.text(max_size=8), JSON, max_size=3)
    | st.just(300).map(lambda depth: {"text": _nested(depth)})
)
ODD_METAS: Anything = st.sampled_from(
    [
        ABSENT,
        None,
        {},
        {"progressToken": 1},
        modern_meta(progressToken="p"),
        modern_meta(**{f"{META}protocolVersion": "2025-11-25"}),
        modern_meta(**{f"{META}protocolVersion": ABSENT}),
        modern_meta(**{f"{META}clientCapabilities": ABSENT}),
        modern_meta(**{f"{META}clientCapabilities": {"sampling": {}}}),
        modern_meta(**{f"{META}clientCapabilities": None}),
        modern_meta(**{f"{META}clientInfo": ABSENT}),
        modern_meta(**{f"{META}clientInfo": {"name": "a test"}}),
        modern_meta(**{f"{META}clientInfo": {"name": "a test", "version": 1}}),
        modern_meta(**{f"{META}clientInfo": {"name": "a test", "version": "1", "title": "A test"}}),
        {"progressToken": None},
        {"progressToken": True},
        {"progressToken": 1.5},
        {"progressToken": "p", "own/note": "x"},
        {"own/note": {"deep": 1}},
        {f"{META}related-task": {"taskId": "t"}},
        {f"{META}protocolVersion": MODERN},
        modern_meta(**{f"{META}logLevel": "debug"}),
        modern_meta(**{f"{META}logLevel": "loud"}),
        modern_meta(**{f"{META}logLevel": 7}),
        modern_meta(**{f"{META}subscriptionId": "s"}),
        modern_meta(progressToken=1.0),
        modern_meta(progressToken=[]),
        modern_meta(more=1),
    ]
)


def _nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


@st.composite
def odd_messages(draw: st.DrawFn) -> Request:
    """A request whose message is odd in a place or two."""
    version = draw(VERSIONS | st.sampled_from(["2025-03-26", "2024-11-05", "2099-01-01", "", "x"]))
    oddities: dict[str, st.SearchStrategy[Any]] = {
        "number": ODD_IDS,
        "tool": ODD_TOOLS,
        "arguments": ODD_ARGUMENTS,
        "meta": ODD_METAS,
        "method": st.sampled_from(["tools/list", "ping", "Tools/call", "", "initialize", 3, None, ABSENT]),
        "params": st.sampled_from(
            [None, [], "find", {}, {"name": "find", "task": {"ttl": 1}}, {"name": "find", "x": 1}]
        ),
        "more": st.sampled_from(
            [{"jsonrpc": "1.0"}, {"jsonrpc": 2.0}, {"jsonrpc": ABSENT}, {"extra": 1}, {"result": 1}]
        ),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(oddities)), max_size=2, unique=True))
    return call(version, **{name: draw(oddities[name]) for name in chosen})


@st.composite
def odd_headers(draw: st.DrawFn) -> Request:
    """An ordinary message under headers that are not."""
    tool, arguments = draw(ORDINARY_CALLS)
    request = call(draw(VERSIONS), tool=tool, arguments=arguments)
    headers = list(request.headers)
    for _ in range(draw(st.integers(1, 2))):
        number = draw(st.integers(0, len(headers) - 1))
        name, value = headers[number]
        match draw(st.sampled_from(["casing", "twice", "missing", "blank", "other", "more"])):
            case "casing":
                headers[number] = (draw(st.sampled_from([name.upper(), name.lower(), name.swapcase()])), value)
            case "twice" if name != "Content-Length":
                headers.insert(draw(st.integers(0, len(headers))), (name, draw(st.sampled_from([value, "x"]))))
            case "missing" if name != "Content-Length" and len(headers) > 1:
                del headers[number]
            case "blank" if name != "Content-Length":
                headers[number] = (name, draw(st.sampled_from([f" {value}", f"{value} \t"])))
            case "other":
                headers[number] = (name, draw(st.sampled_from(OTHER_VALUES.get(name, [value]))))
            case _:
                headers.append(draw(st.sampled_from(MORE_HEADERS)))
    return replace(request, headers=tuple(headers))


OTHER_VALUES = {
    "Host": ["127.0.0.1", "localhost", "localhost:1", "[::1]:1", "evil.example", "127.0.0.1:x", "127.0.0.1.evil:1", ""],
    "Accept": [
        "*/*",
        "application/*",
        "application/json",
        "text/event-stream",
        "application/json;q=0.5",
        "APPLICATION/JSON",
        "text/html, application/jsonl, text/event-stream",
        "x-application/json, text/event-stream",
        "",
    ],
    "Content-Type": ["application/json; charset=utf-8", "Application/JSON", "text/plain", ""],
    "MCP-Protocol-Version": ["2025-11-25", "2025-03-26", "2026-07-28", "latest", ""],
    "Mcp-Method": ["tools/list", "TOOLS/CALL", ""],
    "Mcp-Name": ["make", "FIND", "=?base64?ZmluZA==?=", ""],
    "Authorization": ["Bearer x", "bearer {token}", "Basic {token}", ""],
    "Connection": ["close"],
}
MORE_HEADERS = [
    ("Origin", "http://localhost"),
    ("Origin", "http://evil.example"),
    ("Mcp-Session-Id", "s1"),
    ("Last-Event-ID", "1"),
    ("Mcp-Param-Text", "x"),
    ("Content-Encoding", "gzip"),
    ("X-Forwarded-For", "10.0.0.1"),
    ("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    ("Mcp-Method", "tools/call"),
    ("Mcp-Method", "tools/list"),
    ("Mcp-Name", "make"),
    ("Mcp-Odd", "1"),
    ("Accept-Language", "*"),
    ("Sec-Fetch-Mode", "cors"),
    ("Cookie", "a=b"),
    ("Prefer", "respond-async"),
    ("Range", "bytes=0-1"),
    ("If-None-Match", "*"),
    ("X-HTTP-Method-Override", "DELETE"),
]
ODD_BODIES: dict[str, Callable[[bytes], bytes]] = {
    "byte order mark": lambda body: b"\xef\xbb\xbf" + body,
    "blanks around": lambda body: b" \r\n\t" + body + b"\n",
    "utf-16": lambda body: body.decode().encode("utf-16"),
    "utf-16-le": lambda body: body.decode().encode("utf-16-le"),
    "utf-32": lambda body: body.decode().encode("utf-32"),
    "something after": lambda body: body + b"{}",
    "cut off": lambda body: body[:-1],
    "empty": lambda body: b"",
    "batch": lambda body: b"[" + body + b"]",
    "null": lambda body: b"null",
    "two ids": lambda body: body.replace(b'"id": 1', b'"id": 1, "id": 2'),
    "id of 5000 digits": lambda body: body.replace(b'"id": 1', b'"id": 1' + b"0" * 5000),
    "id NaN": lambda body: body.replace(b'"id": 1', b'"id": NaN'),
    "id 01": lambda body: body.replace(b'"id": 1', b'"id": 01'),
    "id lone surrogate": lambda body: body.replace(b'"id": 1', b'"id": "\\ud800"'),
    "id not utf-8": lambda body: body.replace(b'"id": 1', b'"id": "\xff"'),
    "id surrogate bytes": lambda body: body.replace(b'"id": 1', b'"id": "\xed\xa0\x80"'),
    "two names": lambda body: body.replace(b'"name": "find"', b'"name": "make", "name": "find"'),
    "name lone surrogate": lambda body: body.replace(b'"name": "find"', b'"name": "\\ud800"'),
    "escaped slash": lambda body: body.replace(b'"tools/call"', b'"tools\\/call"'),
    "nul": lambda body: body.replace(b'"here"', b'"he\\u0000re"'),
    "control character": lambda body: body.replace(b'"here"', b'"\x01"'),
    "NaN": lambda body: body.replace(b'"here"', b"NaN"),
    "-Infinity": lambda body: body.replace(b'"here"', b"-Infinity"),
    "1e999": lambda body: body.replace(b'"here"', b"1e999"),
    "150 deep": lambda body: body.replace(b'"here"', b"[" * 150 + b"]" * 150),
    "250 deep": lambda body: body.replace(b'"here"', b"[" * 250 + b"]" * 250),
    "50000 deep": lambda body: body.replace(b'"here"', b"[" * 50_000 + b"]" * 50_000),
    "300 kB": lambda body: body.replace(b'"here"', b'"' + b"x" * 300_000 + b'"'),
    "2 MB": lambda body: body.replace(b'"here"', b'"' + b"x" * 2_000_000 + b'"'),
}


@given(version=VERSIONS, number=JSON_IDS, ordinary=ORDINARY_CALLS)
@settings(deadline=None)
def test_an_ordinary_call_goes_the_short_way_and_gets_the_sdk_s_answer(
    doors: Doors, version: str, number: int | str, ordinary: tuple[str, dict[str, Any]]
) -> None:
    before = doors.express.answered
    tool, arguments = ordinary
    short, long = doors.both(call(version, tool=tool, arguments=arguments, number=number))
    assert short == long
    assert (short.status, doors.express.answered) == (200, before + 1)


@pytest.mark.parametrize("version", [MODERN, "2025-11-25", "2025-03-26"])
@pytest.mark.parametrize(
    ("written", "meant"), [("7.0", 7), ("-0.0", 0), ("1e2", 100), ("9007199254740991.0", 2**53 - 1)]
)
def test_a_whole_number_is_an_integer_on_both_ways(doors: Doors, version: str, written: str, meant: int) -> None:
    request = call(version, tool="price", arguments={"id": "t1", "cents": 42})
    for answer in doors.both(replace(request, body=request.body.replace(b"42", written.encode()))):
        told = json.loads(answer.body)["result"]["content"][0]["text"]
        assert told == json.dumps({"id": "t1", "cents": meant})


@pytest.mark.parametrize("mode", ["auto", "legacy", MODERN])
def test_what_the_official_client_calls_goes_the_short_way(
    doors: Doors, mode: Literal["auto", "legacy", "2026-07-28"]
) -> None:
    async def play() -> list[CallToolResult]:
        ticket, url = doors.short
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {ticket.token}"}) as http,
            Client(streamable_http_client(f"{url}{ticket.path}", http_client=http), mode=mode) as client,
        ):
            return [await client.call_tool("find", {}), await client.call_tool("price", {"id": "t9", "cents": 1})]

    before = doors.express.answered
    found, refused = doors.portal.call(play)
    assert (found.is_error, refused.is_error) == (False, True)
    assert doors.express.answered == before + 2


def test_what_our_own_client_calls_goes_the_short_way(doors: Doors) -> None:
    async def play() -> list[ToolResult]:
        ticket, url = doors.short
        async with connect(f"{url}{ticket.path}", ticket.token) as toolbox:
            return [await toolbox.call("find", {}), await toolbox.call("price", {"id": "t9", "cents": 1})]

    before = doors.express.answered
    found, refused = doors.portal.call(play)
    assert (found.is_error, refused.is_error) == (False, True)
    assert doors.express.answered == before + 2


def recorded_calls() -> dict[str, Request]:
    """The calls of clients in the words of this test's environment."""
    told: dict[str, Request] = {}
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        one = json.loads(line.replace("find_members", "find").replace('{\\"name\\":\\"Ada', '{\\"text\\":\\"Ada'))
        headers = tuple((name, value) for name, value in one["headers"])
        told[one["client"]] = Request(headers, one["body"].encode())
    return told


@pytest.mark.parametrize("client", recorded_calls())
def test_what_a_client_of_others_calls_goes_the_short_way_and_gets_the_sdk_s_answer(doors: Doors, client: str) -> None:
    before = doors.express.answered
    short, long = doors.both(recorded_calls()[client])
    assert short == long
    assert (short.status, '"isError": false' in short.body, doors.express.answered) == (200, True, before + 1)


def test_both_ways_keep_a_connection_and_close_it_when_they_are_asked_to(doors: Doors) -> None:
    kept = call(number=1, tool="nothing")
    last = call(number=2, tool="nothing")
    closing = tuple((name, "close" if name == "Connection" else value) for name, value in last.headers)

    async def heads(ticket: Ticket, url: str) -> list[list[str]]:
        """The heads of three answers to requests that come at once, but for the date."""
        host = urlsplit(url).netloc
        requests = (kept, kept, replace(last, headers=closing))
        async with asyncio.timeout(LONG):
            reader, writer = await asyncio.open_connection(*host.split(":"))
            writer.write(b"".join(one.as_sent(ticket.path, host, ticket.token) for one in requests))
            told = (await reader.read()).decode("latin-1").lower()
            writer.close()
            await writer.wait_closed()
        lines = [head.split("\r\n") for head in told.split("http/1.1 ")[1:]]
        return [[line for line in head[: head.index("")] if not line.startswith("date: ")] for head in lines]

    before = doors.express.answered
    short, long = (doors.portal.call(heads, *door) for door in (doors.short, doors.long))
    assert doors.express.answered == before + 3
    assert sorted(map(sorted, short)) == sorted(map(sorted, long))
    assert ["connection: close" in head for head in short] == [False, False, True]


@given(request=odd_messages())
@settings(deadline=None)
def test_an_odd_message_gets_the_sdk_s_answer(doors: Doors, request: Request) -> None:
    check(doors, request)


@given(request=odd_headers())
@settings(deadline=None)
def test_an_odd_header_gets_the_sdk_s_answer(doors: Doors, request: Request) -> None:
    check(doors, request)


@pytest.mark.parametrize("version", [MODERN, "2025-11-25"])
@pytest.mark.parametrize("odd", ODD_BODIES)
def test_an_odd_body_gets_the_sdk_s_answer(doors: Doors, version: str, odd: str) -> None:
    request = call(version, arguments={"text": "here"})
    body = ODD_BODIES[odd](request.body)
    assert body != request.body
    check(doors, replace(request, body=body))


def test_a_call_without_a_name_in_its_headers_gets_the_sdk_s_answer(doors: Doors) -> None:
    for tool in ("", "find"):
        request = call(tool=tool)
        check(doors, replace(request, headers=tuple(one for one in request.headers if one[0] != "Mcp-Name")))


def test_a_name_in_base64_gets_the_sdk_s_answer(doors: Doors) -> None:
    check(doors, call(tool="=?base64?ZmluZA==?="))


@pytest.mark.parametrize(("method", "tool"), [("tools/list", "find"), ("tools/call", "make"), ("", "")])
def test_headers_of_the_modern_version_mean_nothing_in_an_earlier_one(doors: Doors, method: str, tool: str) -> None:
    request = call("2025-11-25")
    check(doors, replace(request, headers=(*request.headers, ("Mcp-Method", method), ("Mcp-Name", tool))))


@pytest.mark.parametrize("method", ["DELETE", "PUT", "post"])
def test_another_method_gets_the_sdk_s_answer(doors: Doors, method: str) -> None:
    check(doors, replace(call(), method=method))


@pytest.mark.parametrize("version", [MODERN, "2025-11-25", "2025-06-18"])
def test_a_call_that_the_farm_fails_at_is_not_made_twice_and_gets_the_sdk_s_answer(
    doors: Doors, version: str, caplog: pytest.LogCaptureFixture
) -> None:
    answers = [doors.portal.call(_asked_in_vain, doors.worker, url, version) for _, url in (doors.short, doors.long)]
    assert answers[0] == answers[1]
    assert "the environment cannot answer now, and nothing was changed" in answers[0].body
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == [
        "could not answer a call"
    ] * len(answers)


async def _asked_in_vain(worker: Worker, url: str, version: str) -> Answer:
    """What is answered to a call that runs, and that nobody can keep: its state file is gone."""
    [ticket] = await worker.launch(Launch(environment="shop"))
    worker.find(ticket.instance).state.path.unlink()
    return await _asked(call(version, tool="make", arguments={"name": "drum"}), ticket, url)


def question(version: str, method: str, **changes: Any) -> Request:
    """A question about the environment as clients of a version ask it."""
    request = call(version, method=method, tool=ABSENT, **changes)
    headers = [one for one in request.headers if one[0] != "Mcp-Name"]
    if method == "initialize":
        headers = [one for one in headers if one[0] != "MCP-Protocol-Version"]
    return replace(request, headers=tuple(headers))


def initialize(wanted: Any, **changes: Any) -> dict[str, Any]:
    client = {"name": "a test", "version": "1"}
    return {"protocolVersion": wanted, "capabilities": {}, "clientInfo": client, **changes}


QUESTIONS = {
    "a modern list": question(MODERN, "tools/list"),
    "a list": question("2025-11-25", "tools/list", params=ABSENT),
    "a list with empty parameters": question("2025-06-18", "tools/list", params={}),
    "a modern discovery": question(MODERN, "server/discover"),
    "an initialization": question("2025-11-25", "initialize", params=initialize("2025-11-25")),
    "an earlier initialization": question("2025-11-25", "initialize", params=initialize("2025-06-18")),
    "an initialization for the modern version": question("2025-11-25", "initialize", params=initialize(MODERN)),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_is_asked_of_an_environment_is_made_once_and_is_the_sdk_s_answer(doors: Doors, name: str) -> None:
    check(doors, QUESTIONS[name])
    before = doors.prepared.answered
    for number in (1, "ä", 2**60):
        body = json.loads(QUESTIONS[name].body)
        check(doors, replace(QUESTIONS[name], body=json.dumps({**body, "id": number}).encode()))
    assert doors.prepared.answered == before + 3


ODD_QUESTIONS = {
    "a page": question("2025-11-25", "tools/list", params={"cursor": "x"}),
    "a modern list in the clothes of another": question("2025-11-25", "tools/list", params={"_meta": modern_meta()}),
    "a list of another method": replace(
        question(MODERN, "tools/list"), headers=question(MODERN, "server/discover").headers
    ),
    "a modern list without its method": replace(
        question(MODERN, "tools/list"),
        headers=tuple(one for one in question(MODERN, "tools/list").headers if one[0] != "Mcp-Method"),
    ),
    "a list with a name": call(MODERN, method="tools/list"),
    "a discovery of before": question("2025-11-25", "server/discover", params={}),
    "an unknown version": question("2025-11-25", "initialize", params=initialize("1999-01-01")),
    "no version": question("2025-11-25", "initialize", params=initialize(3)),
    "capabilities": question(
        "2025-11-25", "initialize", params=initialize("2025-11-25", capabilities={"sampling": {}})
    ),
    "wrong capabilities": question("2025-11-25", "initialize", params=initialize("2025-11-25", capabilities=[])),
    "a client without a name": question("2025-11-25", "initialize", params=initialize("2025-11-25", clientInfo={})),
    "a modern initialization": question(MODERN, "initialize", params=initialize(MODERN)),
}


@pytest.mark.parametrize("name", ODD_QUESTIONS)
def test_an_odd_question_gets_the_sdk_s_answer(doors: Doors, name: str) -> None:
    for one in QUESTIONS.values():  # so that there is what could be sent by mistake
        check(doors, one)
    before = doors.prepared.answered
    check(doors, ODD_QUESTIONS[name])
    assert doors.prepared.answered == before


class _OneByOne(Server[Any]):
    """Counts how many requests are answered at once."""

    def __init__(self) -> None:
        super().__init__("one by one", on_list_tools=self._list)
        self.now = self.most = self.made = 0

    async def _list(self, _ctx: Any, _params: object) -> ListToolsResult:
        self.now, self.made = self.now + 1, self.made + 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1
        return ListToolsResult(tools=[])


@pytest.mark.parametrize(("header", "made"), [("Accept", 1), ("X-Odd", 1), ("Mcp-Odd", 20)])
def test_the_tools_are_listed_one_request_after_another(doors: Doors, header: str, made: int) -> None:
    """In the plain form they are listed once. The SDK answers odd requests, in turn with others of their kind."""
    server = _OneByOne()
    request = question("2025-11-25", "tools/list", params=ABSENT)
    request = replace(request, headers=(*[one for one in request.headers if one[0] != header], (header, "*/*")))

    async def asked() -> None:
        door = AgentDoor(doors.worker, loopback_only=True, server=server)
        with listen("127.0.0.1", 0) as socket:
            async with door.running(), serving(door, socket):
                await asyncio.gather(*(_asked(request, doors.short[0], url_of(socket)) for _ in range(20)))

    doors.portal.call(asked)
    assert (server.most, server.made) == (1, made)


def test_prepared_answers_take_so_much_memory_and_no_more() -> None:
    answers = PreparedAnswers(1000)
    kept = [
        PlainQuestion(AnswerKey("digest", f"{number}", "initialize", b"", ""), b'{"id":1,"result":')
        for number in range(9)
    ]
    for one in kept:
        answers.keep(one, one.head + b"x" * 300)
        answers.keep(one, one.head + b"x" * 300)
    assert answers.size == 900
    answers.keep(kept[0], kept[0].head + b"x" * 1000)
    answers.keep(kept[0], b'{"id":1,"error":{}}')
    assert answers.size == 900


def check(doors: Doors, request: Request) -> None:
    short, long = doors.both(request)
    assert short == long
