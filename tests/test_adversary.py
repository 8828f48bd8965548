"""Agents that attack: what one can do that holds one instance's URL and token, and knows our source.

The farm runs as `farm up` runs it, in a process of its own; everything goes over HTTP. Whatever it answers to the
adversary is kept, and searched for what no agent may see.
"""

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.client import FarmClient
from registry.messages import Lease
from servers.bundle_library import OWN_LIBRARY, Library
from servers.doors.http_limits import LARGEST_HEAD
from servers.doors.mcp import MOST_VALUES
from servers.limits.process_clock import cpu_seconds
from servers.messages import CallRecord, Launch
from servers.sandbox.guest_pool import CALL_SECONDS
from servers.worker.instance import LARGEST_HISTORY, MOST_WAITING
from servers.worker.worker import Worker
from tests.bundles import TOOLS, write_bundle
from tests.library import of_each_environment
from tests.processes import Running, farm_up, guests
from tests.told import diff_of

LOOP = pytest.mark.asyncio(loop_scope="module")
META = "io.modelcontextprotocol/"
SECRETS = ("SELECT count(*) + 40 = 42 FROM things", "is-the-secret-question", "is-the-secret-answer", "the-secret-task")

HOSTILE_USE = '''

def spin(db: Database) -> dict:
    """Take long."""
    number = 0
    while True:
        number += 1


def note(db: Database, *, texts: list[str]) -> dict:
    """Note texts.

    Args:
        texts: The texts.
    """
    for text in texts:
        db.run("INSERT INTO log (what) VALUES (:text)", text=text)
    return {"notes": len(texts)}


def ask(db: Database, *, text: str) -> dict:
    """Fail.

    Args:
        text: A text.
    """
    return {"rows": db.all("SELECT " + text)}
'''

SCENARIO: dict[str, Any] = {
    "id": "secret_scenario",
    "title": "Make the bell dearer",
    "task": "the-secret-task: please let the bell cost 2.50, and tell how many things there are.",
    "checkpoints": [
        {
            "id": "priced",
            "role": "goal",
            "question": "is-the-secret-question",
            "kind": "sql",
            "sql": "SELECT cents FROM things WHERE id = 't2'",
            "expect": [[250]],
        },
        {
            "id": "told",
            "role": "goal",
            "question": "is-the-secret-question",
            "kind": "sql",
            "sql": "SELECT count(*) + 40 = 42 FROM things WHERE :answer = 'is-the-secret-answer'",
            "expect": [[1]],
        },
    ],
    "solution": {
        "calls": [{"tool": "price", "arguments": {"id": "t2", "cents": 250}}],
        "answer": "is-the-secret-answer",
    },
}


@dataclass
class Adversary:
    """Holds the URL and the token of one instance. Keeps everything that it is answered."""

    lease: Lease
    http: httpx.AsyncClient
    seen: list[bytes] = field(default_factory=list[bytes])

    @property
    def path(self) -> str:
        return urlsplit(self.lease.mcp_url or "").path

    @property
    def origin(self) -> tuple[str, int]:
        parts = urlsplit(self.lease.mcp_url or "")
        return parts.hostname or "", parts.port or 0

    async def request(self, method: str, url: str, **options: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.lease.token}", **options.pop("headers", {})}
        answer = await self.http.request(method, url, headers=headers, **options)
        self.seen.append(answer.content + str(answer.headers).encode())
        return answer

    async def call(self, tool: str, arguments: dict[str, Any] | bytes, **options: Any) -> httpx.Response:
        body = message("tools/call", name=tool, arguments={} if isinstance(arguments, bytes) else arguments)
        if isinstance(arguments, bytes):
            body = body.replace(b'"arguments": {}', b'"arguments": ' + arguments)
        return await self.request("POST", self.path, content=body, headers=headers_of("tools/call", tool), **options)

    async def outcome(self, tool: str, **arguments: Any) -> tuple[bool, str]:
        """Whether a call was an error, and its text."""
        result = (await self.call(tool, arguments)).json()["result"]
        return result["isError"], result["content"][0]["text"]

    def raw_call(self, tool: str, **arguments: Any) -> bytes:
        """A call as it stands on the wire."""
        body = message("tools/call", name=tool, arguments=arguments)
        headers = {
            "Host": "127.0.0.1",
            "Authorization": f"Bearer {self.lease.token}",
            "Content-Length": len(body),
            "Connection": "close",
            **headers_of("tools/call", tool),
        }
        lines = [f"POST {self.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body

    async def say(self, data: bytes, *, end: bool = True) -> bytes:
        """Write bytes on a connection of its own; everything that comes back until it is closed."""
        reader, writer = await asyncio.open_connection(*self.origin)
        said = b""
        try:
            writer.write(data)
            if end:
                writer.write_eof()
            async with asyncio.timeout(20):
                while piece := await reader.read(65536):
                    said += piece
        except (ConnectionError, TimeoutError):
            self.seen.append(b"broken off")
        finally:
            writer.close()
        self.seen.append(said)
        return said


def message(method: str, **params: Any) -> bytes:
    meta = {
        f"{META}protocolVersion": "2026-07-28",
        f"{META}clientCapabilities": {},
        f"{META}clientInfo": {"name": "adversary", "version": "1"},
    }
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}).encode()


def headers_of(method: str, name: str | None = None) -> dict[str, str]:
    named = {} if name is None else {"mcp-name": name}
    return {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        **named,
    }


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def farm(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Running]:
    folder = tmp_path_factory.mktemp("adversary")
    await write_bundle(folder / "shelf" / "shop", tools=TOOLS + HOSTILE_USE, scenarios=[SCENARIO])
    async with farm_up(folder / "state", "--library", folder / "shelf", "--port", "0", home=folder) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def registry(farm: Running) -> AsyncGenerator[FarmClient]:
    async with FarmClient(farm.url, farm.token) as client:
        yield client


@pytest_asyncio.fixture(loop_scope="module")
async def adversary(farm: Running, registry: FarmClient) -> AsyncGenerator[Adversary]:
    """An adversary with an instance of its own. At the end, all that it was answered is searched."""
    [lease] = await registry.launch("shop", "secret_scenario")
    limits = httpx.Limits(max_connections=2000)
    async with httpx.AsyncClient(base_url=farm.url, timeout=60, limits=limits, trust_env=False) as http:
        adversary = Adversary(lease, http)
        yield adversary
    forbidden = [
        *SECRETS, "secret_scenario", farm.token, str(farm.state), str(farm.state.parent), "Traceback", "site-packages",
        str(Path.home()), str(OWN_LIBRARY.parent.parent), ".py", "sqlite3", "apsw",
    ]  # fmt: skip
    for said in adversary.seen:
        for one in forbidden:
            assert one.encode() not in said


@pytest_asyncio.fixture(loop_scope="module")
async def others(registry: FarmClient) -> list[Lease]:
    """Instances of others: one of the same environment, one of another."""
    return [*await registry.launch("shop", "secret_scenario"), *await registry.launch("library_loans", "renew_card")]


async def standing(registry: FarmClient, leases: list[Lease]) -> list[object]:
    """All there is to say of some instances."""
    return [
        (
            (await registry.lease(one.instance)).status,
            (await registry.diff(one.instance)).items,
            await history(registry, one),
        )
        for one in leases
    ]


async def history(registry: FarmClient, lease: Lease) -> list[CallRecord]:
    return list((await registry.history(lease.instance, limit=1000)).items)


async def others_call(farm: Running, lease: Lease) -> float:
    """How long a call of somebody else takes. It must go well."""
    tool = "find" if lease.environment == "shop" else "list_branches"
    begin = time.perf_counter()
    async with httpx.AsyncClient(base_url=farm.url, timeout=30, trust_env=False) as http:
        [status, text] = await Adversary(lease, http).outcome(tool)
    assert not status, text
    return time.perf_counter() - begin


# reaching what is not its own


@LOOP
async def test_its_token_opens_its_own_door_alone(
    registry: FarmClient, adversary: Adversary, others: list[Lease]
) -> None:
    before = await standing(registry, others)
    for other in others:
        path = f"/i/{other.instance}/mcp"
        for method in ("GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"):
            answer = await adversary.request(method, path, content=message("tools/list"))
            assert answer.status_code == 401
        body = message("tools/call", name="scrap", arguments={"id": "t2"})
        answer = await adversary.request("POST", path, content=body, headers=headers_of("tools/call", "scrap"))
        assert answer.status_code == 401
    assert (await adversary.request("POST", "/i/0123456789abcdef/mcp")).status_code == 404
    assert await standing(registry, others) == before


@LOOP
async def test_its_token_opens_nothing_of_the_registry(
    registry: FarmClient, adversary: Adversary, others: list[Lease]
) -> None:
    before = await standing(registry, [adversary.lease, *others])
    described = (await adversary.http.get("/v1/openapi.json")).json()  # not kept: it is for everybody
    tried = 0
    for path, methods in described["paths"].items():
        for method in methods:
            for instance in (adversary.lease.instance, others[0].instance):
                url = re.sub(r"\{instance\}", instance, path)
                url = re.sub(r"\{environment\}", "shop", url).replace("{scenario}", "secret_scenario")
                answer = await adversary.request(method, url, json={} if method == "post" else None)
                assert answer.status_code == (200 if path in ("/v1/health", "/v1/openapi.json") else 401), url
                tried += 1
    assert tried > 30
    for path in ("/w/ids", "/w/judge", "/w/launch", "/metrics", "/", "/dashboard", "/v1", "/i", "/i/", "/.git/config"):
        for method in ("GET", "POST"):
            assert (await adversary.request(method, path)).status_code in (401, 404, 405)
    assert await standing(registry, [adversary.lease, *others]) == before


TARGETS = [
    "/i/../v1/instances",
    "/i/{own}/../../v1/instances",
    "/i/{own}/mcp/../../../v1/instances",
    "/i/{own}/mcp/../../{other}/mcp",
    "/i/{own}/../{other}/mcp",
    "//i/{other}/mcp",
    "/i//{other}/mcp",
    "/i/{other}//mcp",
    "/i/{other}/mcp/",
    "/i/{other}/mcp?x=/i/{own}/mcp",
    "/i/{other}/mcp#/i/{own}/mcp",
    "/i/{other}/mcp;/i/{own}/mcp",
    "/i%2f{other}%2fmcp",
    "/i/{own}%2f..%2f{other}/mcp",
    "/i/{own}/mcp%2f..%2f..%2f{other}%2fmcp",
    "/i/%2e%2e/v1/instances",
    "/i/{own}/%2e%2e/%2e%2e/v1/instances",
    "/%69/{other}/mcp",
    "/i/{other}%00/mcp",
    "/i/{own}%00{other}/mcp",
    "/i/{other}%0d%0aAuthorization:%20x/mcp",
    "/I/{other}/mcp",
    "/i/{other}/MCP",
    "\\i\\{other}\\mcp",
    "/v1/../i/{other}/mcp",
    "/v1/health/../instances",
    "/v1//instances",
    "/v1/instances%2f{other}",
    "/v1/health%2f..%2finstances",
    "/v1/openapi.json/../instances",
    "//v1/instances",
    "http://other.example/v1/instances",
    "http://127.0.0.1/i/{other}/mcp",
    "http://127.0.0.1/v1/instances",
    "*",
    "/i/{other_upper}/mcp",
    "/i/../../../../etc/passwd",
    "/i/%2e%2e%2f%2e%2e%2fsecret/mcp",
    "/i/{own}.db/mcp",
    "/i/*/mcp",
]


@LOOP
@pytest.mark.parametrize("target", TARGETS)
async def test_paths_that_play_tricks_lead_nowhere(
    registry: FarmClient, adversary: Adversary, others: list[Lease], target: str
) -> None:
    before = await standing(registry, others)
    own, other = adversary.lease.instance, others[0].instance
    path = target.format(own=own, other=other, other_upper=other.upper())
    for method in ("GET", "POST"):
        body = message("tools/call", name="scrap", arguments={"id": "t2"})
        lines = [
            f"{method} {path} HTTP/1.1",
            "Host: 127.0.0.1",
            f"Authorization: Bearer {adversary.lease.token}",
            *(f"{name}: {value}" for name, value in headers_of("tools/call", "scrap").items()),
            f"Content-Length: {len(body)}",
            "Connection: close",
        ]
        said = await adversary.say("\r\n".join(lines).encode() + b"\r\n\r\n" + body, end=False)
        assert re.match(rb"HTTP/1.1 4\d\d ", said), said[:200]
    assert await standing(registry, others) == before


def requests_that_differ(own: str, other: str, token: str, body: bytes) -> dict[str, bytes]:
    """Requests in which two readers could see two different things."""
    common = f"POST /i/{other}/mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    mine = f"POST /i/{own}/mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
    kind = "".join(f"{name}: {value}\r\n" for name, value in headers_of("tools/call", "scrap").items())
    length, close = f"Content-Length: {len(body)}\r\n", "Connection: close\r\n\r\n"
    inner = (common + kind + f"Authorization: Bearer {token}\r\n" + length + close).encode() + body

    def request(head: str, after: bytes = body) -> bytes:
        return head.encode() + after

    return {
        "two tokens": request(
            f"{common}Authorization: Bearer x\r\nAuthorization: Bearer {token}\r\n{kind}{length}{close}"
        ),
        "a token for others in the path's place": request(
            f"{common}Authorization: Bearer {token}, Bearer {token}\r\n{kind}{length}{close}"
        ),
        "a folded token": request(f"{common}Authorization: Bearer\r\n {token}\r\n{kind}{length}{close}"),
        "a token in a trailer": request(
            f"{common}{kind}Transfer-Encoding: chunked\r\nTrailer: Authorization\r\n{close}",
            f"{len(body):x}\r\n".encode() + body + f"\r\n0\r\nAuthorization: Bearer {token}\r\n\r\n".encode(),
        ),
        "two lengths": request(f"{mine}{kind}Content-Length: 0\r\n{length}{close}", body + inner),
        "two equal lengths": request(f"{mine}{kind}{length}{length}{close}", body + inner),
        "a length and chunks": request(
            f"{mine}{kind}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n{close}", b"0\r\n\r\n" + inner
        ),
        "chunks in other words": request(f"{mine}{kind}Transfer-Encoding: xchunked\r\n{length}{close}", inner),
        "a negative length": request(f"{mine}{kind}Content-Length: -1\r\n{close}", inner),
        "an endless length": request(f"{mine}{kind}Content-Length: {'9' * 5000}\r\n{close}", inner),
        "a length with a sign": request(f"{mine}{kind}Content-Length: +5\r\n{close}", inner),
        "a blank before a colon": request(f"{mine}{kind}Content-Length : {len(body)}\r\n{close}", body + inner),
        "a line feed alone": (mine + kind + length + close).replace("\r\n", "\n").encode() + body + inner,
        "a NUL in a header": request(f"{mine}x: a\0b\r\n{kind}{length}{close}", body + inner),
        "no version": f"POST /i/{other}/mcp\r\n\r\n".encode(),
        "another version": request(f"{mine}{kind}{length}{close}".replace("HTTP/1.1", "HTTP/9.9"), body),
        "two hosts": request(f"{common}Host: other.example\r\nAuthorization: Bearer {token}\r\n{kind}{length}{close}"),
        "another way in": request(
            f"{common}Authorization: Bearer {token}\r\nX-Original-URL: /i/{own}/mcp\r\nX-Rewrite-URL: /i/{own}/mcp\r\n"
            f"X-Forwarded-For: 127.0.0.1\r\nX-HTTP-Method-Override: GET\r\n{kind}{length}{close}"
        ),
        "an upgrade": request(
            f"GET /i/{other}/mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
            b"",
        ),
        "another protocol": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "bytes": bytes(range(256)) * 16,
        "one after another": inner * 20,
    }


@LOOP
@pytest.mark.parametrize("name", requests_that_differ("", "", "", b""))
async def test_requests_that_two_readers_read_differently_do_nothing_to_others(
    registry: FarmClient, adversary: Adversary, others: list[Lease], name: str
) -> None:
    before = await standing(registry, others)
    body = message("tools/call", name="scrap", arguments={"id": "t2"})
    token = adversary.lease.token or ""
    said = await adversary.say(requests_that_differ(adversary.lease.instance, others[0].instance, token, body)[name])
    for status in re.findall(rb"HTTP/1\.1 (\d{3})", said):
        assert status in (b"200", b"400", b"401", b"404", b"405", b"406", b"415", b"421", b"431")
    assert await standing(registry, others) == before
    calls = await history(registry, adversary.lease)
    assert len(calls) <= 1  # its own request may have been answered; never the one that is hidden behind it


# seeing what it may not


@LOOP
async def test_nothing_that_its_door_answers_tells_of_the_farm(adversary: Adversary) -> None:
    """What is answered is searched when the test has ended, here as everywhere."""
    for method in ("server/discover", "initialize", "tools/list", "resources/list", "prompts/list", "ping", "x/y"):
        await adversary.request("POST", adversary.path, content=message(method), headers=headers_of(method))
    odd: list[dict[str, Any]] = [
        {"text": "1 / 0 FROM nowhere"}, {"text": "load_extension('/etc/passwd')"}, {"text": "x'00'"},
        {"text": "(SELECT group_concat(sql) FROM sqlite_schema)"}, {"text": "sqlite_version()"}, {"texts": 1},
        {"text": "* FROM _farm_calls"}, {"text": "* FROM start.things"}, {"text": "* FROM pragma_database_list"},
        {"text": "\ud800"}, {"text": "a\0b"}, {"text": "x" * 300_000}, {},
    ]  # fmt: skip
    for arguments in odd:
        for tool in ("ask", "note", "nothing of that name"):
            await adversary.call(tool, arguments)
    for body in (b"", b"{", b"[]", b"null", b"\xff", b'{"jsonrpc": "2.0"}', b"[" * 100_000, b'{"a":' * 50_000):
        for headers in ({}, headers_of("tools/call", "find")):
            answer = await adversary.request("POST", adversary.path, content=body, headers=headers)
            assert 400 <= answer.status_code < 500
    assert len(adversary.seen) > 40


@LOOP
async def test_a_tool_that_fails_tells_the_agent_nothing_of_how(registry: FarmClient, adversary: Adversary) -> None:
    failed, text = await adversary.outcome("ask", text="1 FROM nowhere")
    assert failed
    assert text == "ask failed; this is a fault of the tool, not of your request, and nothing was changed"
    [call] = await history(registry, adversary.lease)
    assert "no such table: nowhere" in (call.detail or "")


# taking what others need


@LOOP
async def test_slow_wrong_and_huge_requests_do_not_hold_others_up(
    farm: Running, adversary: Adversary, others: list[Lease]
) -> None:
    quick = [await others_call(farm, one) for one in others]
    assert max(quick) < CALL_SECONDS
    huge = json.dumps({"texts": list(range(100_000))}).encode()
    pending = [asyncio.create_task(adversary.call("spin", {})) for _ in range(10)]
    pending += [asyncio.create_task(adversary.call("note", huge)) for _ in range(5)]
    pending += [asyncio.create_task(adversary.call("note", b'{"texts": ' + b"[" * 200_000)) for _ in range(5)]
    await asyncio.sleep(0.3)
    held = [await others_call(farm, one) for one in others for _ in range(3)]
    assert sum(not task.done() for task in pending) >= 9  # they were in flight all the while
    assert max(held) < CALL_SECONDS / 2
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)


@LOOP
async def test_arguments_with_many_faults_take_no_longer_than_others(farm: Running, adversary: Adversary) -> None:
    huge = json.dumps({"texts": list(range(MOST_VALUES - 100))}).encode()
    begin = time.process_time()
    answer = await adversary.call("note", huge)
    assert time.process_time() - begin < 0.5
    result = answer.json()["result"]
    assert result["isError"]
    assert result["content"][0]["text"] == "note was not called: argument texts[0]: expected a string, got 0"


async def thousandth(adversary: Adversary, number: int) -> bytes:
    return await adversary.say(adversary.raw_call("make", name=f"thing {number}"), end=False)


@LOOP
async def test_a_thousand_calls_at_once_are_all_answered_and_few_wait(
    farm: Running, registry: FarmClient, adversary: Adversary, others: list[Lease]
) -> None:
    calling = asyncio.gather(*(thousandth(adversary, number) for number in range(1000)))
    held = [await others_call(farm, one) for one in others for _ in range(3)]
    answers = await calling
    assert max(held) < CALL_SECONDS
    assert all(said.startswith(b"HTTP/1.1 200 ") for said in answers)
    results = [json.loads(said.partition(b"\r\n\r\n")[2])["result"] for said in answers]
    turned_away = [one for one in results if one["isError"]]
    assert {one["content"][0]["text"] for one in turned_away} <= {
        f"more than {MOST_WAITING} calls at once; wait for the earlier ones"
    }
    found = await registry.query(adversary.lease.instance, "SELECT count(*) FROM things WHERE name LIKE 'thing %'")
    assert found.rows == ((1000 - len(turned_away),),)


@LOOP
@pytest.mark.parametrize("chunked", [True, False])
async def test_bodies_are_bounded(adversary: Adversary, chunked: bool) -> None:
    body = message("tools/call", name="find", arguments={"text": "x" * 1024 * 1024})

    async def pieces() -> AsyncGenerator[bytes]:
        for begin in range(0, len(body), 50_000):
            yield body[begin : begin + 50_000]

    answer = await adversary.request(
        "POST", adversary.path, content=pieces() if chunked else body, headers=headers_of("tools/call", "find")
    )
    assert answer.status_code == 413
    assert (await adversary.outcome("find"))[0] is False


@LOOP
async def test_heads_are_bounded_before_anybody_is_known(farm: Running, adversary: Adversary) -> None:
    fine = await adversary.request("POST", adversary.path, headers={"x": "a" * 8_000}, content=message("tools/list"))
    assert fine.status_code < 500
    for head in (b"x: " + b"a" * 50_000_000, b"".join(b"x%d: y\r\n" % number for number in range(1_000_000))):
        used = cpu_seconds(farm.pid)
        said = await adversary.say(b"GET / HTTP/1.1\r\nHost: x\r\n" + head)
        assert said == b"" or said.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 431 "))
        assert cpu_seconds(farm.pid) - used < 2
    said = await adversary.say(b"GET / HTTP/1.1\r\nHost: x\r\n" + b"x" * (LARGEST_HEAD + 1), end=False)
    assert said.startswith(b"HTTP/1.1 431 ")
    assert memory(farm.pid) < 600


@LOOP
async def test_a_request_with_two_hosts_is_none(adversary: Adversary) -> None:
    one, another = b"Host: 127.0.0.1\r\n", b"Host: evil\r\n"
    for hosts, status in ((one, b"200"), (one + another, b"400"), (one + one, b"400")):
        said = await adversary.say(b"GET /v1/health HTTP/1.1\r\n" + hosts + b"Connection: close\r\n\r\n", end=False)
        assert said.startswith(b"HTTP/1.1 " + status)


@LOOP
async def test_connections_that_say_nothing_do_not_hold_others_up(farm: Running, others: list[Lease]) -> None:
    host = urlsplit(farm.url)
    open_ones = [await asyncio.open_connection(host.hostname, host.port) for _ in range(300)]
    for number, (_, writer) in enumerate(open_ones):
        writer.write((b"", b"POST /i/", b"POST /i/x/mcp HTTP/1.1\r\nContent-Length: 100\r\n\r\n{")[number % 3])
    assert max([await others_call(farm, one) for one in others]) < CALL_SECONDS
    for _, writer in open_ones:
        writer.close()


@LOOP
async def test_an_instance_cannot_grow_without_end(
    farm: Running, registry: FarmClient, adversary: Adversary, others: list[Lease]
) -> None:
    texts: list[str] = []
    for _ in range(40):  # as rows
        failed, text = await adversary.outcome("note", texts=["x" * 900_000])
        texts.append(text)
        if failed:
            break
    assert texts[-1] == "there is no room for so much: what is kept here may grow by 16 MiB"
    assert 10 < len(texts) < 20
    for _ in range(80):  # as history
        failed, last = await adversary.outcome("find", text="x" * 1_000_000)
        texts.append(last)
        if failed:
            break
    assert texts[-1] == (
        f"the history of this instance has used up its {LARGEST_HISTORY // 1024 // 1024} MiB; it takes no more calls"
    )
    calls = len(await history(registry, adversary.lease))
    assert (await adversary.outcome("find"))[0]
    assert len(await history(registry, adversary.lease)) == calls
    size = sum(path.stat().st_size for path in farm.state.rglob(f"{adversary.lease.instance}*"))
    assert size < 2 * LARGEST_HISTORY
    assert memory(farm.pid) < 600
    assert all(memory(guest.pid) < 400 for guest in guests(farm.pid))
    assert (await registry.score(adversary.lease.instance)).outcome == "scored"
    assert max([await others_call(farm, one) for one in others]) < CALL_SECONDS


def memory(pid: int) -> int:
    """MB of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) // 1024


# earning what it has not done


async def earned(registry: FarmClient, adversary: Adversary, answer: str) -> float | None:
    score = await registry.score(adversary.lease.instance, answer)
    assert score.outcome == "scored", (score, answer[:50])
    return score.reward


INJECTIONS = [
    "' OR 1=1 --", "') OR ('1'='1", "1; UPDATE things SET cents = 250 WHERE id = 't2'", ":answer", "?1",
    "is-the-secret",
    "IS-THE-SECRET-ANSWER", "is-the-secret-answer ", "is-the-secret-answer\0", "%", "_" * 20, "x'69732d7468652d'",
    "' UNION SELECT 1 --", "\\' OR 1", '" OR ""="', "NULL", "true", "1", "", "\ud800", "\0" * 1000,
    '{"reward": 1, "success": true}', "x" * 3_000_000, "\U0001f600" * 1_000_000, "\0" * 1_200_000,
]  # fmt: skip


@LOOP
async def test_no_answer_earns_what_the_state_is_not_worth(registry: FarmClient, adversary: Adversary) -> None:
    for answer in INJECTIONS:
        assert await earned(registry, adversary, answer) == 0, answer[:50]
    assert await earned(registry, adversary, "is-the-secret-answer") == 0.0  # three things are not two
    await adversary.call("price", {"id": "t2", "cents": 250})
    for answer in INJECTIONS:
        assert await earned(registry, adversary, answer) == 0.5


@LOOP
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answer=st.text() | st.text(alphabet="'\";-:?()=%_ \0ORSELECTUNION1"))
async def test_any_answer_is_a_value_and_no_sql(registry: FarmClient, adversary: Adversary, answer: str) -> None:
    assert await earned(registry, adversary, answer) == 0


# the tools of the farm's own bundles


@dataclass
class Played:
    """A worker of the farm's own bundles, driven by a test that is not async."""

    runner: asyncio.Runner
    worker: Worker


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Generator[Played]:
    worker = Worker(Library([OWN_LIBRARY]), tmp_path_factory.mktemp("played"))
    with asyncio.Runner() as runner:
        runner.run(worker.__aenter__())
        yield Played(runner, worker)
        runner.run(worker.__aexit__())


PIECES = [
    "'", '"', "''", "'--", "';", ";", "--", "/*", "*/", "\\", "\0", "%", "_", ":id", "?", "$1", "@x", "`", "[", "]",
    "(", ")", " OR 1=1", "UNION SELECT", "DROP TABLE", "NULL", "x'00'", "{}", "{0}", "{0.__class__}", "%s", "%(x)s",
    "\n", "mem_ada", "book_dune", "copy_dune_1", "loan_0025", "room_203", "bkg_1025", "2026-03-16", "2026-06-19",
    "ada@x.org",
    "é", "\u202e", "😀", "9" * 30, "-1", "1e400",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=4).map("".join) | st.text(max_size=20)


def arguments_of(schema: dict[str, Any], keys: Sequence[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments of a tool: of the right shape, with texts that mean no good, and some keys of rows."""
    required = set(schema["required"])
    texts = TEXTS | st.sampled_from(keys)
    fields = {name: of_schema(part, texts) for name, part in schema["properties"].items()}
    return st.fixed_dictionaries(
        {name: part for name, part in fields.items() if name in required},
        optional={name: part for name, part in fields.items() if name not in required},
    )


def of_schema(schema: dict[str, Any], texts: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    if "anyOf" in schema:
        return st.one_of([of_schema(part, texts) for part in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "array":
        return st.lists(of_schema(schema["items"], texts), max_size=3)
    some: dict[str, st.SearchStrategy[Any]] = {
        "string": texts,
        "integer": st.integers(-3, 10) | st.sampled_from([2**31, 2**62]),
        "number": st.floats(allow_nan=False, allow_infinity=False),
        "boolean": st.booleans(),
        "null": st.none(),
        "object": st.dictionaries(texts, texts, max_size=2),
    }
    named: str | list[str] = schema["type"]
    return st.one_of([some[kind] for kind in ([named] if isinstance(named, str) else named)])


@of_each_environment()
def test_no_text_in_an_argument_is_taken_for_sql(played: Played, name: str) -> None:
    worker, run = played.worker, played.runner.run
    [ticket] = run(worker.launch(Launch(environment=name)))
    instance = worker.find(ticket.instance)
    tools = list(instance.environment.tools.values())
    keys = re.findall(r"\('([^']+)'", instance.environment.seed)
    kinds: set[str] = set()

    @settings(deadline=None)
    @given(st.sampled_from(tools).flatmap(lambda tool: st.tuples(st.just(tool), arguments_of(tool.arguments, keys))))
    def attempt(drawn: tuple[Any, dict[str, Any]]) -> None:
        tool, arguments = drawn
        run(worker.reset(instance.id))
        outcome = run(instance.call(tool.name, arguments))
        kinds.add(outcome.kind)
        assert outcome.kind in ("ok", "refused", "invalid"), (tool.name, arguments, outcome.detail)
        assert not re.search(r"syntax error|near \"|unrecognized token|no such column", outcome.text)
        if outcome.kind != "ok" or not tool.writes:
            assert run(diff_of(worker, instance.id)) == []

    attempt()
    assert {"ok", "refused"} <= kinds
