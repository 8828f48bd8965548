"""Load: prepared HTTP requests over keep-alive connections, from another process, as fast as answers come.

Run as `python -m bench.load`, with a plan as JSON on standard input. It prints its measurements as JSON. Each
connection waits for an answer before it sends again. A client takes a tenth of a server's time, so that it is not the
limit.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import uvloop

MODERN, HANDSHAKE = "2026-07-28", "2025-11-25"
"""The two generations of the protocol."""
HEAD_END = b"\r\n\r\n"
LENGTH = b"content-length:"


class Target(NamedTuple):
    """The URL of calls. `reset` is the path of the reset on the control door at the same address."""

    url: str
    token: str
    reset: str = ""


class Plan(NamedTuple):
    """The load: a duration, or a number of calls to each target with a reset half way."""

    targets: list[Target]
    """Distributed among the connections. Each uses its own in turn."""
    body: str
    headers: dict[str, str]
    connections: int
    seconds: float = 0.0
    calls_each: int = 0
    control_token: str = ""


class Measured(NamedTuple):
    """Numbers of successful and failed calls, latencies in milliseconds, and the client's share of a core."""

    calls: int
    failed: int
    seconds: float
    p50: float
    p99: float
    resets: int
    reset_p50: float
    reset_p99: float
    client_share: float

    @property
    def per_second(self) -> float:
        return self.calls / self.seconds if self.seconds else 0.0


class LoadError(Exception):
    """The load could not be generated, or an answer was wrong."""


def call_request(arguments: dict[str, Any], tool: str, era: str) -> tuple[str, dict[str, str]]:
    """Body and headers of one `tools/call`, in one generation of the protocol."""
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    params: dict[str, Any] = {"name": tool, "arguments": arguments}
    if era == MODERN:
        headers |= {"MCP-Protocol-Version": era, "Mcp-Method": "tools/call", "Mcp-Name": tool}
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": era,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        }
    else:
        headers["MCP-Protocol-Version"] = era
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}), headers


def put(*plans: Plan) -> list[Measured]:
    """Generate load: all plans concurrently, each in a process of its own.

    Raises:
        LoadError: a client ended early, or a call failed.
    """
    command = [sys.executable, "-m", "bench.load"]
    clients = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in plans]
    for client, plan in zip(clients, plans, strict=True):
        if client.stdin is not None:
            client.stdin.write(json.dumps(plan._asdict()).encode())
            client.stdin.close()
    results: list[Measured] = []
    for client in clients:
        text = client.stdout.read() if client.stdout is not None else b""
        if client.wait() != 0:
            raise LoadError(f"a client ended with {client.returncode}")
        results.append(Measured(**json.loads(text)))
    if failed := sum(result.failed for result in results):
        raise LoadError(f"{failed} calls failed")
    return results


class _Log:
    """The record of one client's connections."""

    def __init__(self) -> None:
        self.calls: list[float] = []
        self.resets: list[float] = []
        self.failed = 0

    def saw(self, answer: bytes, seconds: float, *, reset: bool) -> None:
        if (
            not answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 204"))
            or b'"error"' in answer
            or b'"isError":true' in answer
        ):
            self.failed += 1
        else:
            (self.resets if reset else self.calls).append(seconds)


class _Connection(asyncio.Protocol):
    """One connection: it sends the next request after each answer."""

    def __init__(self, requests: Iterator[tuple[bytes, bool]], log: _Log, ended: "asyncio.Future[None]") -> None:
        self._requests, self._log, self._ended = requests, log, ended
        self._data = b""
        self._begin = 0.0
        self._reset = False
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # pyright: ignore[reportAttributeAccessIssue]
        self._next()

    def data_received(self, data: bytes) -> None:
        self._data += data
        end = self._data.find(HEAD_END)
        if end < 0:
            return
        head = self._data[:end].lower()
        at = head.find(LENGTH)
        length = int(head[at + len(LENGTH) :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(self._data) < end + len(HEAD_END) + length:
            return
        self._log.saw(self._data, time.perf_counter() - self._begin, reset=self._reset)
        self._data = b""
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._ended.done():
            self._log.failed += 1
            self._ended.set_result(None)

    def _next(self) -> None:
        if self._transport is None:
            return
        request, self._reset = next(self._requests, (b"", False))
        if request:
            self._begin = time.perf_counter()
            self._transport.write(request)
        else:
            self._ended.set_result(None)
            self._transport.close()


def _requests(plan: Plan, mine: Sequence[Target], until: float) -> Iterator[tuple[bytes, bool]]:
    """The requests of one connection, each with whether it is a reset."""
    body = plan.body.encode()
    if plan.seconds:
        prepared = [_request(urlsplit(target.url).path, target, target.token, plan.headers, body) for target in mine]
        for request in cycle(prepared):
            if time.perf_counter() >= until:
                return
            yield request, False
    for target in mine:
        call = _request(urlsplit(target.url).path, target, target.token, plan.headers, body)
        half = plan.calls_each // 2
        yield from [(call, False)] * half
        if plan.control_token:
            yield _request(target.reset, target, plan.control_token, {}, b""), True
        yield from [(call, False)] * (plan.calls_each - half)


def _request(path: str, target: Target, token: str, headers: dict[str, str], body: bytes) -> bytes:
    lines = [f"POST {path} HTTP/1.1", f"Host: {urlsplit(target.url).netloc}", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if token:
        lines.append(f"Authorization: Bearer {token}")
    return "\r\n".join(lines).encode() + HEAD_END + body


async def run(plan: Plan) -> Measured:
    """Send all requests of a plan."""
    log, loop = _Log(), asyncio.get_running_loop()
    ended: list[asyncio.Future[None]] = []
    begin, processor = time.perf_counter(), time.process_time()
    for number in range(plan.connections):
        mine = plan.targets[number :: plan.connections] or [plan.targets[number % len(plan.targets)]]
        where = urlsplit(mine[0].url)
        ended.append(loop.create_future())
        requests = _requests(plan, mine, begin + plan.seconds)
        protocol = _Connection(requests, log, ended[-1])
        await loop.create_connection(lambda protocol=protocol: protocol, where.hostname or "", where.port or 80)
    await asyncio.gather(*ended)
    seconds = time.perf_counter() - begin
    return Measured(
        calls=len(log.calls),
        failed=log.failed,
        seconds=seconds,
        p50=percentile(log.calls, 0.5) * 1000,
        p99=percentile(log.calls, 0.99) * 1000,
        resets=len(log.resets),
        reset_p50=percentile(log.resets, 0.5) * 1000,
        reset_p99=percentile(log.resets, 0.99) * 1000,
        client_share=(time.process_time() - processor) / seconds,
    )


def percentile(values: Sequence[float], share: float) -> float:
    """A percentile of some values. 0 if there are none."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else 0.0


if __name__ == "__main__":
    given: dict[str, Any] = json.load(sys.stdin)
    given["targets"] = [Target(*target) for target in given["targets"]]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(run(Plan(**given)))._asdict()))
