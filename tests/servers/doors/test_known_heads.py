"""A head that came before is not parsed again, and means what it meant. All else goes to the parser."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from bench import subject
from bench.load import HANDSHAKE, MODERN, call_request
from servers.bundle_library import Library
from servers.doors.known_heads import HEAD_WORDS, LARGEST_KEPT, MOST_KEPT, KnownHeads, head_words
from servers.doors.mcp import AgentDoor
from servers.doors.server import listen, serving, url_of
from servers.messages import Launch
from servers.worker.worker import Worker

HEAD = "POST /there HTTP/1.1\r\nHost: here\r\nX: {x}\r\nContent-Length: {length}\r\n\r\n"


async def tell(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with what a request said, and whether the parser was asked."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    told = {
        "known": HEAD_WORDS in scope,
        "body": body.decode(),
        "path": scope["path"],
        "query": scope["query_string"].decode(),
        "headers": [[name.decode(), value.decode()] for name, value in scope["headers"]],
    }
    text = json.dumps(told).encode()
    headers = [(b"content-length", str(len(text)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": text})


@asynccontextmanager
async def telling() -> AsyncGenerator[str]:
    listening = listen("127.0.0.1", 0)
    async with serving(tell, listening):
        yield url_of(listening)


async def answers(url: str, *requests: bytes) -> list[dict[str, object]]:
    """What is told of some requests on one connection, each sent when the one before was answered."""
    reader, writer = await asyncio.open_connection(httpx.URL(url).host, httpx.URL(url).port)
    told: list[dict[str, object]] = []
    for one in requests:
        writer.write(one)
        told.append(await answer(reader))
    writer.close()
    return told


async def answer(reader: asyncio.StreamReader) -> dict[str, object]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    return json.loads(await reader.readexactly(length))


def request(body: str, x: str = "1") -> bytes:
    return (HEAD.format(x=x, length=len(body)) + body).encode()


async def test_a_head_that_came_before_means_what_it_meant_with_the_length_that_it_tells_now() -> None:
    async with telling() as url:
        told = await answers(url, request("one"), request("three"), request("3"), request("4", x="2"))
        on_another = await answers(url, request("seven"))
    assert [one["known"] for one in [*told, *on_another]] == [False, True, True, False, True]
    assert [one["body"] for one in [*told, *on_another]] == ["one", "three", "3", "4", "seven"]
    assert [one["headers"] for one in told] == [
        [["host", "here"], ["x", x], ["content-length", length]]
        for x, length in (("1", "3"), ("1", "5"), ("1", "1"), ("2", "1"))
    ]
    assert {str(one["path"]) for one in told} == {"/there"}


@pytest.mark.parametrize(
    "odd",
    [
        request("whole") + request("behind it"),
        request("in ")[:-1],
        request("").replace(b"Content-Length: 0", b"Content-Length: 5\r\nContent-Length: 5") + b"twice",
        request("").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked") + b"2\r\nin\r\n0\r\n\r\n",
        request("close").replace(b"X: 1", b"Connection: close"),
        request("short").replace(b"Content-Length: 5", b"Content-Length: 4"),
    ],
    ids=["two", "part", "lengths", "chunks", "close", "too long"],
)
async def test_what_is_not_exactly_such_a_request_is_parsed(odd: bytes) -> None:
    async with telling() as url:
        [first, known] = await answers(url, request("known"), request("known"))
        assert (first["known"], known["known"]) == (False, True)
        for _ in range(2):
            reader, writer = await asyncio.open_connection(httpx.URL(url).host, httpx.URL(url).port)
            writer.write(odd)
            writer.write_eof()
            said = await reader.read()
            assert b'"known": true' not in said
            writer.close()


CALL = (
    "POST /i/{id}/mcp HTTP/1.1\r\nHost: here\r\n{before}Content-Length: {length}\r\n"
    "Authorization: {scheme} {token}\r\n{after}\r\n{body}"
)


def call(number: int, body: str = "body", **other: str) -> bytes:
    parts = {"before": "", "after": "", "scheme": "Bearer", "id": f"{number:016x}", "token": f"{number:032d}"}
    return CALL.format(**{**parts, **other}, length=len(body), body=body).encode()


async def test_one_head_serves_calls_to_all_instances_each_with_its_own_id_and_token() -> None:
    in_another_order = (
        call(4).replace(b"Content-Length: 4\r\n", b"").replace(b"\r\n\r\n", b"\r\nContent-Length: 4\r\n\r\n")
    )
    async with telling() as url:
        told = await answers(url, call(1), call(2, "longer"), call(3, "3"), in_another_order, call(5))
    assert [one["known"] for one in told] == [False, True, True, False, True]
    assert [one["path"] for one in told] == [f"/i/{number:016x}/mcp" for number in range(1, 6)]
    assert [one["body"] for one in told] == ["body", "longer", "3", "body", "body"]
    for number, one in enumerate(told, 1):
        assert one["headers"] == sorted(
            [
                ["host", "here"],
                ["content-length", str(len(str(one["body"])))],
                ["authorization", f"Bearer {number:032d}"],
            ],
            key=lambda header: ("hac" if number == 4 else "hca").index(str(header[0])[0]),
        )


@pytest.mark.parametrize(
    "odd",
    [
        call(2, scheme="Basic"),
        call(2, token="short"),
        call(2, id="0" * 15),
        call(2, id=""),
        call(2, token=""),
        call(2, after=f"Authorization: Bearer {3:032d}\r\n"),
        call(2, before=f"Authorization: Bearer {3:032d}\r\n"),
        call(2, before="X: y\r\n"),
        call(2, id=f"{2:016x}/mcp?x="),
        call(2, token=f"{2:032d} "),
    ],
    ids=["scheme", "token", "id", "no id", "no token", "two tokens", "two tokens before", "header", "query", "blank"],
)
async def test_a_call_of_another_form_is_never_taken_for_a_known_one(odd: bytes) -> None:
    async with telling() as url:
        [*_, known] = await answers(url, call(1), call(1))
        assert known["known"]
        [told] = await answers(url, odd)
        assert not told["known"]
        [*_, known] = await answers(url, odd, call(1))
        assert known["known"]
        assert known["path"] == f"/i/{1:016x}/mcp"


def test_few_heads_are_kept_and_none_that_is_long() -> None:
    heads = KnownHeads()
    long = head_words(request("body", x="x" * LARGEST_KEPT))
    assert long is None
    for number in range(MOST_KEPT + 1):
        read = head_words(request("body", x=str(number)))
        assert read is not None
        scope = dict.fromkeys(("type", "asgi", "path", "raw_path", "query_string", "root_path"), "")
        headers = [(b"content-length", b"4")]
        heads.keep(read, {**scope, "method": "POST", "http_version": "1.1", "headers": headers}, b"body")
    assert len(heads) == 1


@pytest.mark.parametrize("era", [MODERN, HANDSHAKE])
async def test_who_was_let_in_by_a_head_is_let_in_by_it_as_long_as_there_is_something(era: str, tmp_path: Path) -> None:
    subject.write_bundle(tmp_path / "library" / "store")
    async with Worker(Library([tmp_path / "library"]), tmp_path / "state") as worker:
        door = AgentDoor(worker)
        listening = listen("127.0.0.1", 0)
        async with door.running(), serving(door, listening), httpx.AsyncClient(base_url=url_of(listening)) as client:
            ended, closed = await worker.launch(Launch(environment="store", count=2))
            body, headers = call_request(subject.ARGUMENTS, subject.TOOL, era)

            async def status_of(path: str, token: str) -> int:
                said = {**headers, "Authorization": f"Bearer {token}"}
                return (await client.post(path, content=body, headers=said)).status_code

            for ticket in (ended, closed):
                assert [await status_of(ticket.path, ticket.token) for _ in range(3)] == [200] * 3
                assert [await status_of(ticket.path, "another") for _ in range(3)] == [401] * 3
            assert await status_of(ended.path, closed.token) == 401
            assert await status_of(ended.path, ended.token[::-1]) == 401
            await worker.suspend(ended.instance)
            await worker.close(closed.instance)
            assert [await status_of(one.path, one.token) for one in (ended, closed)] == [410, 404]
