"""The agent's door as agents use it: the official client over HTTP, in both eras, and clients that mean no good."""

import asyncio
import json
import traceback
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import httpx2
import pytest
import pytest_asyncio
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

from servers.answer import HOW_TO_ANSWER
from servers.bundle_library import OWN_LIBRARY, Library
from servers.doors.mcp import COPIES_OF_BODY, LARGEST_BODY, MOST_ANSWERED, MOST_VALUES, AgentDoor
from servers.doors.server import listen, serving, url_of
from servers.messages import Launch, Ticket
from servers.worker.settings import WorkerSettings
from servers.worker.worker import Worker
from tests.processes import until
from tests.told import history_of

Mode = Literal["auto", "legacy", "2026-07-28"]
MODES: tuple[Mode, ...] = ("auto", "legacy", "2026-07-28")
HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
META = "io.modelcontextprotocol/"


@pytest_asyncio.fixture(scope="module")
async def worker(shelf: Path, odd_shelf: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Worker]:
    async with Worker(
        Library([shelf, odd_shelf, OWN_LIBRARY]), tmp_path_factory.mktemp("worker"), WorkerSettings(call_seconds=0.5)
    ) as worker:
        yield worker


@asynccontextmanager
async def open_door(worker: Worker) -> AsyncGenerator[str]:
    """Gives the URL of the door."""
    door, listening = AgentDoor(worker, loopback_only=True), listen("127.0.0.1", 0)
    url = url_of(listening)
    async with door.running(), serving(door, listening):
        yield url


@pytest_asyncio.fixture
async def ticket(worker: Worker) -> Ticket:
    [ticket] = await worker.launch(Launch(environment="shop"))
    return ticket


@asynccontextmanager
async def connected(door: str, ticket: Ticket, mode: Mode = "auto") -> AsyncGenerator[Client]:
    headers = {"authorization": f"Bearer {ticket.token}"}
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False) as http,
        Client(streamable_http_client(door + ticket.path, http_client=http), mode=mode) as client,
    ):
        yield client


def text(result: CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


def modern(method: str, **params: Any) -> dict[str, Any]:
    """A request of the stateless era."""
    meta = {
        f"{META}protocolVersion": "2026-07-28",
        f"{META}clientCapabilities": {},
        f"{META}clientInfo": {"name": "test", "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}


def modern_headers(ticket: Ticket, method: str, **more: str) -> dict[str, str]:
    return {
        **HEADERS,
        "authorization": f"Bearer {ticket.token}",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        **more,
    }


def refused(kind: str, message: str) -> dict[str, Any]:
    """The body of an answer of the door itself."""
    return {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": message, "data": {"kind": kind}}}


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_reads_the_rules_lists_the_tools_and_calls_them(
    worker: Worker, ticket: Ticket, mode: Mode
) -> None:
    async with open_door(worker) as door, connected(door, ticket, mode) as client:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
        if mode != "2026-07-28":  # a client that is told the version does not ask for more
            assert "A shop of things.\n\n# Rules\n\nA thing has a price." in (client.instructions or "")
            assert (client.instructions or "").rstrip().endswith(HOW_TO_ANSWER)
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["find", "make", "price", "scrap"]
        described = worker.library.environment("shop").tools
        assert {name: tool.input_schema for name, tool in tools.items()} == {
            name: tool.arguments for name, tool in described.items()
        }
        assert tools["make"].description == "Make a thing."
        hints = {name: tool.annotations for name, tool in tools.items() if tool.annotations}
        assert {name: (hint.read_only_hint, hint.destructive_hint) for name, hint in hints.items()} == {
            "find": (True, False),
            "make": (False, True),
            "price": (False, True),
            "scrap": (False, True),
        }
        made = await client.call_tool("make", {"name": "drum", "cents": 400})
        assert not made.is_error
        assert json.loads(text(made)) == made.structured_content
        refused = await client.call_tool("price", {"id": "t9", "cents": 1})
        assert (refused.is_error, text(refused)) == (True, "there is no thing 't9'")
        assert refused.structured_content is None
        invalid = await client.call_tool("price", {"id": "t1"})
        missing = "price was not called: argument cents: expected an integer, got nothing"
        assert (invalid.is_error, text(invalid)) == (True, missing)
        unknown = await client.call_tool("sell", {})
        assert unknown.is_error
        assert text(unknown).endswith("the tools are: find, make, price, scrap")
    calls = await history_of(worker, ticket.instance)
    assert [call.outcome for call in calls] == ["ok", "refused", "invalid", "invalid"]


async def test_the_policy_of_a_real_bundle_is_told(worker: Worker) -> None:
    [ticket] = await worker.launch(Launch(environment="library_loans"))
    async with open_door(worker) as door, connected(door, ticket) as client:
        assert worker.library.environment("library_loans").policy.strip() in (client.instructions or "")
        assert len((await client.list_tools()).tools) == len(worker.library.environment("library_loans").tools)
        branches = await client.call_tool("list_branches", {})
        assert branches.structured_content == json.loads(text(branches))


@pytest.mark.parametrize("mode", MODES)
async def test_two_instances_behind_one_door_do_not_mix(worker: Worker, mode: Mode) -> None:
    tickets = await worker.launch(Launch(environment="shop", count=4))
    async with open_door(worker) as door:

        async def played(number: int, ticket: Ticket) -> Any:
            async with connected(door, ticket, mode) as client:
                for _ in range(5):
                    await client.call_tool("price", {"id": "t2", "cents": number})
                return (await client.call_tool("find", {"text": "bell"})).structured_content

        seen = await asyncio.gather(*(played(number, ticket) for number, ticket in enumerate(tickets)))
    assert [found["things"][0]["cents"] for found in seen] == [0, 1, 2, 3]
    assert [(await worker.standing(ticket.instance)).calls for ticket in tickets] == [6] * 4


@pytest.mark.parametrize("mode", MODES)
async def test_what_a_tool_does_wrong_is_told_without_a_trace_or_a_path(worker: Worker, mode: Mode) -> None:
    [ticket] = await worker.launch(Launch(environment="odd"))
    async with open_door(worker) as door, connected(door, ticket, mode) as client:
        for tool in ("fail", "leave_at_once", "hang", "recurse"):
            result = await client.call_tool(tool, {})
            assert result.is_error
            for word in ("/srv/secret", "Traceback", "tools.py", str(worker.folder), "site-packages"):
                assert word not in result.model_dump_json()
        assert not (await client.call_tool("print_much", {})).is_error


async def test_a_state_that_is_broken_is_told_without_a_path(worker: Worker, ticket: Ticket) -> None:
    (worker.folder / "instances" / f"{ticket.instance}.history").write_bytes(b"junk")
    async with open_door(worker) as door, httpx2.AsyncClient(trust_env=False) as http:
        answer = await http.post(
            door + ticket.path, json=modern("tools/list"), headers=modern_headers(ticket, "tools/list")
        )
    assert answer.status_code == 503
    assert answer.json() == refused("infra", "this instance cannot be served now; try again, or launch a new one")


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer wrong", "{token}", "Basic {token}", "Bearer {token}x", "Bearer {other}", "ÿ"],
)
async def test_only_the_token_of_an_instance_opens_it(worker: Worker, ticket: Ticket, header: str) -> None:
    [other] = await worker.launch(Launch(environment="shop"))
    given = header.replace("{token}", ticket.token).replace("{other}", other.token).encode("latin-1")
    async with open_door(worker) as door, httpx2.AsyncClient(trust_env=False) as http:
        headers = [(b"authorization", given), *((k.encode(), v.encode()) for k, v in HEADERS.items())]
        for path in (ticket.path, f"{ticket.path}?token={ticket.token}"):
            answer = await http.post(door + path, json=modern("tools/list"), headers=headers)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
            assert answer.json()["error"]["data"] == {"kind": "unauthorized"}
    assert (await worker.standing(ticket.instance)).calls == 0


@pytest.mark.parametrize("scheme", ["bearer", "BEARER", "Bearer "])
async def test_the_scheme_and_content_types_are_read_in_any_case(worker: Worker, ticket: Ticket, scheme: str) -> None:
    odd = {
        "authorization": f"{scheme} {ticket.token}",
        "content-type": "APPLICATION/JSON; Charset=UTF-8",
        "accept": "APPLICATION/JSON",
    }
    legacy = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    async with open_door(worker) as door, httpx2.AsyncClient(trust_env=False) as http:
        for path in (ticket.path, f"{ticket.path}/"):
            headers = modern_headers(ticket, "tools/list") | odd
            answer = await http.post(door + path, json=modern("tools/list"), headers=headers)
            assert len(answer.json()["result"]["tools"]) == 4
            answer = await http.post(door + path, json=legacy, headers=odd)
            assert len(answer.json()["result"]["tools"]) == 4


async def test_a_request_without_accept_takes_what_there_is(worker: Worker, ticket: Ticket) -> None:
    headers = modern_headers(ticket, "tools/list")
    del headers["accept"]
    async with open_door(worker) as door, httpx2.AsyncClient(trust_env=False) as http:
        del http.headers["accept"]
        answer = await http.post(door + ticket.path, json=modern("tools/list"), headers=headers)
        assert "accept" not in answer.request.headers
        assert (answer.status_code, len(answer.json()["result"]["tools"])) == (200, 4)


REFUSALS: list[tuple[int, str, dict[str, Any]]] = [
    (401, "unauthorized", {"headers": {"authorization": "Bearer wrong"}}),
    (404, "not_found", {"path": "/i/0123456789abcdef/mcp"}),
    (404, "not_found", {"path": "/.well-known/oauth-protected-resource"}),
    (404, "not_found", {"path": "/register"}),
    (404, "not_found", {"path": "/"}),
    (404, "not_found", {"path": "/favicon.ico"}),
    (403, "misled", {"headers": {"origin": "http://evil.example"}}),
    (403, "misled", {"headers": {"origin": "null"}}),
    (403, "misled", {"headers": {"origin": "http://127.0.0.1.evil.example"}}),
    (421, "misled", {"headers": {"host": "evil.example"}}),
    (421, "misled", {"headers": {"host": "127.0.0.1:x"}}),
    (405, "method_not_allowed", {"method": "GET"}),
    (406, "not_acceptable", {"headers": {"accept": "text/html"}}),
    (415, "unsupported_media_type", {"headers": {"content-type": "text/plain"}}),
    (415, "unsupported_media_type", {"headers": {"content-encoding": "gzip"}}),
    (415, "unsupported_media_type", {"headers": {"content-encoding": "identity, br"}}),
    (413, "too_large", {"content": b" " * (LARGEST_BODY + 1)}),
    (413, "too_large", {"content": b"[" + b"1," * MOST_VALUES + b"1]"}),
]


@pytest.mark.parametrize(("status", "kind", "odd"), REFUSALS, ids=lambda value: str(value)[:40])
async def test_what_the_door_refuses_is_told_in_json_rpc(
    worker: Worker, ticket: Ticket, status: int, kind: str, odd: dict[str, Any]
) -> None:
    request: dict[str, Any] = {"method": "POST", "content": json.dumps(modern("tools/list")), "path": ticket.path}
    request |= odd
    request["headers"] = modern_headers(ticket, "tools/list") | odd.get("headers", {})
    async with open_door(worker) as door, httpx2.AsyncClient(trust_env=False) as http:
        answer = await http.request(url=door + request.pop("path"), **request)
    body = answer.json()
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
    assert body == refused(kind, body["error"]["message"])
    assert str(worker.folder) not in answer.text


async def test_only_so_many_large_messages_are_answered_at_once(worker: Worker, ticket: Ticket) -> None:
    small, large = (modern("tools/call", name="none", arguments={"text": "x" * size}) for size in (1, 1_000_000))
    most = MOST_ANSWERED // (COPIES_OF_BODY * 1_000_000)
    headers = modern_headers(ticket, "tools/call", **{"mcp-name": "none"})
    async with open_door(worker) as door, httpx2.AsyncClient(trust_env=False, timeout=60) as http:

        async def sent(message: dict[str, Any]) -> httpx2.Response:
            return await http.post(door + ticket.path, json=message, headers=headers)

        instance = await worker.opened(ticket.instance)
        async with instance.in_turn():
            waiting = [asyncio.ensure_future(sent(large)) for _ in range(most)]
            await until(lambda: instance.waiting == most + 1, "all of them wait for their turn")
            refused_one = await sent(large)
            assert (refused_one.status_code, refused_one.json()["error"]["data"]) == (503, {"kind": "capacity"})
            waiting.append(asyncio.ensure_future(sent(small)))
            await until(lambda: instance.waiting == most + 2, "a small one is let in")
        assert {answer.status_code for answer in await asyncio.gather(*waiting)} == {200}


@pytest.mark.parametrize("mode", MODES)
async def test_the_official_client_is_told_why_its_token_does_not_open(
    worker: Worker, ticket: Ticket, mode: Mode
) -> None:
    headers = {"authorization": "Bearer wrong"}
    async with open_door(worker) as door, httpx2.AsyncClient(headers=headers, trust_env=False) as http:
        client = Client(streamable_http_client(door + ticket.path, http_client=http), mode=mode)
        with pytest.raises((MCPError, ExceptionGroup)) as caught:
            async with client:
                await client.list_tools()
    told = "".join(traceback.format_exception(caught.value))
    assert "the token of this instance goes into the header Authorization" in told


ODD_IDS: list[Any] = [None, 1.5, True, {}, [], "\ud800"]


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("number", ODD_IDS, ids=repr)
async def test_a_request_whose_id_is_none_is_answered_with_an_error(
    worker: Worker, ticket: Ticket, version: str, number: Any
) -> None:
    headers = modern_headers(ticket, "tools/list") | {"mcp-protocol-version": version}
    body = json.dumps({**modern("tools/list"), "id": number})
    async with open_door(worker) as door, httpx2.AsyncClient(trust_env=False, headers=headers) as http:
        answer = await http.post(door + ticket.path, content=body)
    assert answer.status_code == 400
    assert (answer.json()["id"], answer.json()["error"]["code"]) == (None, -32600)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25", "2026-07-28"])
async def test_wrong_parameters_of_a_call_are_named(worker: Worker, ticket: Ticket, version: str) -> None:
    headers = modern_headers(ticket, "tools/call") | {"mcp-protocol-version": version}
    told: dict[str, dict[str, Any]] = {
        "params.name: expected a string, got nothing": {"arguments": {}},
        "params.arguments: expected an object, got [1]": {"name": "find", "arguments": [1]},
    }
    async with open_door(worker) as door, httpx2.AsyncClient(trust_env=False, headers=headers) as http:
        for message, params in told.items():
            name = {"mcp-name": "find"} if "name" in params else {}
            body = modern("tools/call", **params)
            if version != "2026-07-28":
                del body["params"]["_meta"]
            answer = await http.post(door + ticket.path, json=body, headers=name)
            assert answer.json()["id"] == 1
            assert answer.json()["error"] == {"code": -32602, "message": message}


async def test_a_request_without_a_token_is_refused_whatever_it_is(worker: Worker, ticket: Ticket) -> None:
    async with open_door(worker) as door, httpx2.AsyncClient(trust_env=False) as http:
        for method in ("GET", "POST", "DELETE", "OPTIONS", "PUT"):
            assert (await http.request(method, door + ticket.path)).status_code == 401


@pytest.mark.parametrize(
    "path",
    ["/", "/i", "/i/", "/i//mcp", "/i/{id}", "/i/{id}/", "/i/{id}/mcp/x", "/x/{id}/mcp", "/mcp",
     "/i/abcdefgh/mcp", "/i/..%2f{id}/mcp", "/i/%2e%2e/mcp", "/v1/instances", "/docs", "/openapi.json"],
)  # fmt: skip
async def test_nothing_else_is_behind_the_door(worker: Worker, ticket: Ticket, path: str) -> None:
    headers = modern_headers(ticket, "tools/list")
    async with open_door(worker) as door, httpx2.AsyncClient(trust_env=False) as http:
        url = door + path.replace("{id}", ticket.instance)
        answer = await http.post(url, json=modern("tools/list"), headers=headers)
    assert answer.status_code == 404
    assert answer.json() == refused("not_found", "there is no instance here; it was closed, or never launched")


async def test_a_closed_instance_is_gone_for_a_client_that_is_connected(worker: Worker, ticket: Ticket) -> None:
    headers = modern_headers(ticket, "tools/call", **{"mcp-name": "find"})
    async with open_door(worker) as door, httpx2.AsyncClient(trust_env=False, headers=headers) as http:
        body = modern("tools/call", name="find", arguments={})
        assert (await http.post(door + ticket.path, json=body)).status_code == 200
        await worker.close(ticket.instance)
        assert (await http.post(door + ticket.path, json=body)).status_code == 404


async def test_an_instance_whose_bundle_has_changed_says_so(tmp_path: Path, worker: Worker, ticket: Ticket) -> None:
    async with Worker(Library([OWN_LIBRARY]), worker.folder) as other:
        headers = modern_headers(ticket, "tools/list")
        async with open_door(other) as door, httpx2.AsyncClient(trust_env=False, headers=headers) as http:
            answer = await http.post(door + ticket.path, json=modern("tools/list"))
    assert answer.status_code == 404
    assert "no environment 'shop' in the library" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"junk", 400),
        (b"\xff\xfe", 400),
        (b"[]", 400),
        (b"3", 400),
        (b"null", 400),
        (b"[" * MOST_VALUES, 400),
        (b"[" * 100_000, 413),
        (b'{"jsonrpc": "1.0"}', 400),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 3}', 400),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": []}', 400),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 1}}', 400),
        (b'"' + b"x" * (1024 * 1024) + b'"', 413),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, bytes) else str(value),
)
async def test_a_body_that_is_no_request_is_refused(worker: Worker, ticket: Ticket, body: bytes, status: int) -> None:
    async with open_door(worker) as door, httpx2.AsyncClient(trust_env=False) as http:
        for headers in (
            modern_headers(ticket, "tools/call"),
            {**HEADERS, "authorization": f"Bearer {ticket.token}", "mcp-protocol-version": "2025-11-25"},
        ):
            answer = await http.post(door + ticket.path, content=body, headers=headers)
            assert answer.status_code in (status, 200)
            if answer.status_code == 200:
                assert "error" in answer.json()
            assert "Traceback" not in answer.text
            assert str(worker.folder) not in answer.text
    assert (await worker.standing(ticket.instance)).calls == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"name": "find"', '"name": "find", "name": "scrap"'),
        ('"id": 1', '"id": 1, "id": 2'),
        ('"text": "x"', '"text": "x", "text" : "y"'),
        ('"text": "x"', '"text": {"a": 1, "a": 2}'),
        ('"jsonrpc"', '"method" :"ping", "jsonrpc"'),
    ],
)
@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
async def test_a_message_with_a_key_twice_is_refused(
    worker: Worker, ticket: Ticket, version: str, old: str, new: str
) -> None:
    """Its readers differ in which of the two they take."""
    message = modern("tools/call", name="find", arguments={"text": "x"})
    if version != "2026-07-28":
        del message["params"]["_meta"]
    headers = modern_headers(ticket, "tools/call", **{"mcp-name": "find"})
    headers = headers if version == "2026-07-28" else {**HEADERS, "authorization": headers["authorization"]}
    body = json.dumps(message)
    async with open_door(worker) as door, httpx2.AsyncClient(trust_env=False, headers=headers) as http:
        for text, status in ((body, 200), (body.replace(old, new), 400)):
            sent = {"mcp-protocol-version": version}
            answer = await http.post(door + ticket.path, content=text, headers=sent)
            assert answer.status_code == status, answer.text
    assert "twice in one object" in answer.json()["error"]["message"]
    assert (await worker.standing(ticket.instance)).calls == 1


@pytest.mark.parametrize("mode", MODES)
async def test_an_instance_that_lay_idle_answers_the_same_client_again(shelf: Path, tmp_path: Path, mode: Mode) -> None:
    async with Worker(
        Library([shelf]), tmp_path / "idle", WorkerSettings(idle_seconds=0.03, idle_guest_seconds=0.05)
    ) as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
        async with open_door(worker) as door, connected(door, ticket, mode) as client:
            for cents in (7, 8):
                await until(lambda: not worker.in_use and worker.guests.alive == 0, "all of it has ended")
                answer = await client.call_tool("price", {"id": "t1", "cents": cents})
                assert answer.structured_content == {"id": "t1", "cents": cents}


@pytest.mark.parametrize("method", ["DELETE", "PUT", "PATCH"])
async def test_methods_that_mean_nothing_here_are_refused(worker: Worker, ticket: Ticket, method: str) -> None:
    headers = {"authorization": f"Bearer {ticket.token}"}
    async with open_door(worker) as door, httpx2.AsyncClient(trust_env=False, headers=headers) as http:
        answer = await http.request(method, door + ticket.path)
    assert answer.status_code == 405
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
async def test_there_is_no_stream_and_no_session_to_ask_for(worker: Worker, ticket: Ticket, method: str) -> None:
    headers = {"authorization": f"Bearer {ticket.token}", "accept": "text/event-stream"}
    async with open_door(worker) as door, httpx2.AsyncClient(trust_env=False, headers=headers) as http:
        answer = await http.request(method, door + ticket.path)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert worker.has(ticket.instance)


@pytest.mark.parametrize("name", ["resources/list", "prompts/list", "farm/state", "score", "logging/setLevel"])
async def test_there_are_tools_and_nothing_else(worker: Worker, ticket: Ticket, name: str) -> None:
    async with open_door(worker) as door, httpx2.AsyncClient(trust_env=False) as http:
        answer = await http.post(door + ticket.path, json=modern(name), headers=modern_headers(ticket, name))
    assert answer.json()["error"]["code"] == -32601


@pytest.mark.parametrize(
    "body",
    [
        b'{"text": "\\ud800"}',
        b'{"text": NaN}',
        b'{"text": 1e999}',
        b'{"text": ' + b"9" * 1000 + b"}",
        b'{"text": ' + b"[" * 500 + b"]" * 500 + b"}",
        b'{"text": "a\\u0000b"}',
        b'{"text": "a", "text": "b"}',
    ],
    ids=lambda body: str(body)[:30],
)
async def test_strange_arguments_are_answered_and_the_next_call_works(
    worker: Worker, ticket: Ticket, body: bytes
) -> None:
    call = json.dumps(modern("tools/call", name="find", arguments={"HERE": 1})).encode()
    headers = modern_headers(ticket, "tools/call", **{"mcp-name": "find"})
    async with open_door(worker) as door, httpx2.AsyncClient(trust_env=False, headers=headers) as http:
        answer = await http.post(door + ticket.path, content=call.replace(b'{"HERE": 1}', body))
        assert answer.status_code < 500
        assert answer.json().keys() & {"result", "error"}
        again = await http.post(door + ticket.path, content=call.replace(b'{"HERE": 1}', b"{}"))
        assert len(again.json()["result"]["structuredContent"]["things"]) == 3
        for kept in await history_of(worker, ticket.instance):
            kept.model_dump_json()


async def test_names_that_are_not_of_this_machine_are_not_answered(worker: Worker, ticket: Ticket) -> None:
    """A page in a browser may be led here by a name of its own."""
    headers = modern_headers(ticket, "tools/list")
    async with open_door(worker) as door, httpx2.AsyncClient(trust_env=False, headers=headers) as http:
        body = modern("tools/list")
        for odd in ({"host": "evil.example:80"}, {"origin": "http://evil.example"}):
            assert (await http.post(door + ticket.path, json=body, headers=odd)).status_code in (403, 421)
        assert (await http.post(door + ticket.path, json=body)).status_code == 200


async def test_calls_of_many_clients_at_once_are_all_answered(worker: Worker) -> None:
    tickets = await worker.launch(Launch(environment="shop", count=30))
    async with open_door(worker) as door, httpx2.AsyncClient(trust_env=False) as http:

        async def call(ticket: Ticket) -> str:
            headers = modern_headers(ticket, "tools/call", **{"mcp-name": "make"})
            body = modern("tools/call", name="make", arguments={"name": ticket.instance})
            answer = await http.post(door + ticket.path, json=body, headers=headers)
            return answer.json()["result"]["content"][0]["text"]

        texts = await asyncio.gather(*(call(ticket) for ticket in tickets))
    assert len(set(texts)) == 1  # the same call on the same start
    for ticket in tickets:
        found = await worker.query(ticket.instance, "SELECT name FROM things WHERE cents = 0")
        assert found.rows == ((ticket.instance,),)
