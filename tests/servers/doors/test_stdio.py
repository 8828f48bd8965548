"""An instance over standard input and output: it is there after any pause, and every request gets its answer."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from anyio import to_thread
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from servers.bundle_library import Library
from servers.doors.mcp import LARGEST_BODY, serve_stdio
from servers.messages import Launch
from servers.worker.settings import WorkerSettings
from servers.worker.worker import Worker
from tests.processes import LONG, until
from tests.told import history_of

ROOT = Path(__file__).parents[3]
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "a test", "version": "1"},
}


def request(number: Any, method: str, **params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": META}}
    return json.dumps(message).encode()


def call(number: Any, tool: str, **arguments: Any) -> bytes:
    return request(number, "tools/call", name=tool, arguments=arguments)


@dataclass(frozen=True)
class Speaker:
    """The client's end of the two streams."""

    to_server: BinaryIO
    from_server: BinaryIO

    async def say(self, line: bytes) -> None:
        await to_thread.run_sync(self.to_server.write, line + b"\n")
        await to_thread.run_sync(self.to_server.flush)

    async def hear(self) -> dict[str, Any]:
        return json.loads(await to_thread.run_sync(self.from_server.readline))

    async def ask(self, line: bytes) -> dict[str, Any]:
        await self.say(line)
        return await self.hear()


@asynccontextmanager
async def speaking(worker: Worker, instance: str) -> AsyncGenerator[Speaker]:
    (theirs, ours), (our_ear, their_mouth) = os.pipe(), os.pipe()
    with os.fdopen(theirs, "rb") as incoming, os.fdopen(our_ear, "rb") as ear, os.fdopen(their_mouth, "wb") as mouth:
        with os.fdopen(ours, "wb") as voice:
            serving = asyncio.create_task(serve_stdio(worker, instance, incoming, mouth))
            serving.add_done_callback(lambda _: mouth.close())  # else whoever listens waits for ever
            yield Speaker(voice, ear)
        await serving


async def test_an_instance_that_lay_idle_answers_as_before(shelf: Path, tmp_path: Path) -> None:
    async with Worker(
        Library([shelf]), tmp_path / "state", WorkerSettings(idle_seconds=0.03, idle_guest_seconds=0.05)
    ) as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
        async with speaking(worker, ticket.instance) as speaker:
            for number, cents in enumerate((7, 8, 9)):
                await until(lambda: not worker.in_use and worker.guests.alive == 0, "all of it has ended")
                answer = await speaker.ask(call(number, "price", id="t1", cents=cents))
                assert answer["result"]["structuredContent"] == {"id": "t1", "cents": cents}
            await until(lambda: not worker.in_use, "its file is closed")
            assert (await speaker.ask(request(9, "tools/list")))["result"]["tools"]


async def test_a_bundle_that_changed_while_its_instance_lay_idle_is_said_to_have_changed(
    shelf: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(shelf / "shop", tmp_path / "shelf" / "shop"))
    async with Worker(Library([folder.parent]), tmp_path / "state", WorkerSettings(idle_seconds=0.03)) as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
        async with speaking(worker, ticket.instance) as speaker:
            await speaker.ask(call(1, "find"))
            (folder / "policy.md").write_text("# Other rules\n")
            await until(lambda: not worker.in_use, "its file is closed")
            for line in (call(2, "find"), request(3, "tools/list"), request(4, "server/discover")):
                error = (await speaker.ask(line))["error"]
                assert "the bundle shop has changed since" in error["message"]


PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602
ODD_LINES: dict[str, tuple[bytes, Any, int]] = {
    "garbage": (b"hello", None, PARSE_ERROR),
    "cut off": (request(1, "tools/list")[:-1], None, PARSE_ERROR),
    "not UTF-8": (b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}', 1, PARSE_ERROR),
    "50,000 deep": (b"[" * 50_000, None, PARSE_ERROR),
    "an id of 5,000 digits": (
        request(1, "tools/list").replace(b'"id": 1', b'"id": 1' + b"0" * 5000),
        None,
        PARSE_ERROR,
    ),
    "a batch": (b"[" + request(1, "tools/list") + b"]", None, INVALID_REQUEST),
    "an empty batch": (b"[]", None, INVALID_REQUEST),
    "null": (b"null", None, INVALID_REQUEST),
    "a number": (b"7", None, INVALID_REQUEST),
    "an empty object": (b"{}", None, INVALID_REQUEST),
    "too long": (b'"' + b"x" * LARGEST_BODY + b'"', None, INVALID_REQUEST),
    "a call that is too long": (call(21, "find", text="x" * LARGEST_BODY), 21, INVALID_REQUEST),
    "one with its id at its end": (
        b'{"method": "tools/call", "params": {"id": 5, "text": "%b"}, "jsonrpc": "2.0", "id": "a \\" b"}'
        % (b"x" * LARGEST_BODY),
        'a " b',
        INVALID_REQUEST,
    ),
    "one whose id is another's": (
        b'{"params": {"text": "%b", "id": 5}}' % (b"x" * LARGEST_BODY),
        None,
        INVALID_REQUEST,
    ),
    "a call 50,000 deep": (
        b'{"jsonrpc": "2.0", "id": 22, "method": "tools/call", "params": %b}' % (b"[" * 50_000 + b"]" * 50_000),
        22,
        PARSE_ERROR,
    ),
    "a call 501 deep": (
        b'{"jsonrpc": "2.0", "id": 23, "method": "tools/call", "params": %b}' % (b"[" * 500 + b"]" * 500),
        23,
        PARSE_ERROR,
    ),
    "id null": (request(None, "tools/list"), None, INVALID_REQUEST),
    "id 1.5": (request(1.5, "tools/list"), None, INVALID_REQUEST),
    "id true": (request(True, "tools/list"), None, INVALID_REQUEST),
    "id {}": (request({}, "tools/list"), None, INVALID_REQUEST),
    "id a lone surrogate": (request("\ud800", "tools/list"), None, INVALID_REQUEST),
    "jsonrpc 1.0": (b'{"jsonrpc": "1.0", "id": 4, "method": "ping"}', 4, INVALID_REQUEST),
    "no method": (b'{"jsonrpc": "2.0", "id": 5}', 5, INVALID_REQUEST),
    "a method that is a number": (b'{"jsonrpc": "2.0", "id": 6, "method": 7}', 6, INVALID_REQUEST),
    "a method that is a lone surrogate": (b'{"jsonrpc": "2.0", "id": 6, "method": "\\ud800"}', 6, INVALID_REQUEST),
    "params that are a list": (b'{"jsonrpc": "2.0", "id": "p", "method": "ping", "params": []}', "p", INVALID_REQUEST),
    "no such method": (request(8, "tools/fly"), 8, -32601),
    "no name": (request(9, "tools/call"), 9, INVALID_PARAMS),
    "arguments that are a list": (request(10, "tools/call", name="find", arguments=[1]), 10, INVALID_PARAMS),
}
ODD_CALLS: dict[str, bytes] = {
    "a lone surrogate": call(20, "find", text="\ud800"),
    "300 deep": call(20, "find").replace(
        b'"arguments": {}', b'"arguments": {"text": ' + b"[" * 300 + b"]" * 300 + b"}"
    ),
    "NaN": call(20, "find", text=float("nan")),
    "a tool named by a lone surrogate": call(20, "\ud800"),
}


async def test_every_odd_line_is_answered_and_the_next_call_works(shelf: Path, tmp_path: Path) -> None:
    async with Worker(Library([shelf]), tmp_path / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
        async with speaking(worker, ticket.instance) as speaker:
            assert "result" in await speaker.ask(call(0, "find"))
            for odd, (line, number, code) in ODD_LINES.items():
                answer = await speaker.ask(line)
                assert (answer["id"], answer["error"]["code"]) == (number, code), odd
                assert answer["error"]["message"], odd
            for odd, line in ODD_CALLS.items():
                answer = await speaker.ask(line)
                assert (answer["id"], answer["result"]["isError"]) == (20, True), odd
            await speaker.say(b"  \r\n")
            await speaker.say(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
            assert "result" in await speaker.ask(call("last", "find"))


def of_the_older_era(number: Any, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


async def test_wrong_parameters_are_named_with_what_was_expected_and_what_came(shelf: Path, tmp_path: Path) -> None:
    long = f'"{"x" * 79}…'
    told: dict[str, dict[str, Any]] = {
        "params.name: expected a string, got nothing": {"arguments": {}},
        "params.name: expected a string, got 7": {"name": 7},
        "params.arguments: expected an object, got [1]": {"name": "find", "arguments": [1]},
        f"params.arguments: expected an object, got {long}": {"name": "find", "arguments": "x" * 300},
    }
    async with Worker(Library([shelf]), tmp_path / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
        async with speaking(worker, ticket.instance) as speaker:
            for message, params in told.items():
                error = (await speaker.ask(request(1, "tools/call", **params)))["error"]
                assert (error["code"], error["message"]) == (INVALID_PARAMS, message)
            error = (await speaker.ask(request(1, "tools/list", cursor=7)))["error"]
            assert error["message"] == "params.cursor: expected a string, got 7"
        async with speaking(worker, ticket.instance) as speaker:
            error = (await speaker.ask(of_the_older_era(1, "tools/list")))["error"]
            assert error["message"].startswith("initialize comes first: ")
            error = (await speaker.ask(of_the_older_era(2, "initialize", protocolVersion=7, capabilities={})))["error"]
            assert error["message"] == (
                "params.clientInfo: expected an object, got nothing; params.protocolVersion: expected a string, got 7"
            )
            client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
            assert "result" in await speaker.ask(of_the_older_era(3, "initialize", **client))
            for message, params in told.items():
                error = (await speaker.ask(of_the_older_era(4, "tools/call", **params)))["error"]
                assert (error["code"], error["message"]) == (INVALID_PARAMS, message)
            meta: dict[str, Any] = {"progressToken": []}
            error = (await speaker.ask(of_the_older_era(5, "tools/list", _meta=meta)))["error"]
            assert error["message"] == "params._meta.progressToken: expected a string or an integer, got []"
            assert "result" in await speaker.ask(of_the_older_era(6, "tools/call", name="find", arguments=None))


async def test_a_whole_number_is_an_integer(shelf: Path, tmp_path: Path) -> None:
    async with Worker(Library([shelf]), tmp_path / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
        async with speaking(worker, ticket.instance) as speaker:
            answer = await speaker.ask(call(1, "price", id="t1", cents=7.0))
        assert answer["result"]["content"][0]["text"] == '{"id": "t1", "cents": 7}'


async def test_what_was_asked_before_the_end_of_input_is_answered(shelf: Path, tmp_path: Path) -> None:
    async with Worker(Library([shelf]), tmp_path / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
        async with speaking(worker, ticket.instance) as speaker:
            for number in range(5):
                await speaker.say(call(number, "price", id="t1", cents=number))
        assert [kept.outcome for kept in await history_of(worker, ticket.instance)] == ["ok"] * 5


def farm_serve(*lines: bytes) -> list[dict[str, Any]]:
    command = [sys.executable, str(ROOT / "farm.py"), "serve", "library_loans"]
    done = subprocess.run(command, input=b"\n".join(lines) + b"\n", capture_output=True, check=True, timeout=60)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_farm_serve_answers_what_a_pipe_says_and_ends_with_it() -> None:
    answers = farm_serve(b"hello", call(1, "list_branches"), b"[]", request(2, "tools/list"))
    assert {answer["id"] for answer in answers} == {None, 1, 2}
    assert next(answer for answer in answers if answer["id"] == 1)["result"]["structuredContent"]["branches"]


async def test_farm_serve_ends_when_it_is_told_to_while_its_client_says_nothing() -> None:
    command = [sys.executable, str(ROOT / "farm.py"), "serve", "library_loans"]
    pipe = asyncio.subprocess.PIPE
    serving = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe)
    assert serving.stdin is not None
    assert serving.stdout is not None
    assert serving.stderr is not None
    serving.stdin.write(call(1, "list_branches") + b"\n")
    assert json.loads(await serving.stdout.readline())["id"] == 1
    serving.terminate()
    try:
        async with asyncio.timeout(LONG):
            assert (await serving.wait(), await serving.stderr.read()) == (130, b"farm: interrupted\n")
    finally:
        serving.stdin.close()  # else one that has not ended would wait for ever


@pytest.mark.slow
async def test_farm_serve_answers_after_45_seconds_of_silence() -> None:
    """Longer than a worker keeps an instance open that nobody uses; before the first call, and between two."""
    server = StdioServerParameters(command=sys.executable, args=[str(ROOT / "farm.py"), "serve", "library_loans"])
    async with Client(server) as client:
        for _ in range(2):
            await asyncio.sleep(45)
            assert not (await client.call_tool("list_branches", {})).is_error
