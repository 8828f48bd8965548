"""Load: prepared HTTP requests over keep-alive connections, from a process of its own, as fast as answers come.

Run as `python -m bench.load`, with a plan as JSON on standard input; it prints what it measured as JSON.
"""

import asyncio
import json
import sys
import time
from typing import Any, NamedTuple
from urllib.parse import urlsplit


class Plan(NamedTuple):
    """Where to send calls, for how long, and over how many connections each."""

    targets: list[tuple[str, str]]
    """MCP URLs and their tokens; each connection keeps to one."""
    body: str
    headers: dict[str, str]
    seconds: float
    connections: int


class Measured(NamedTuple):
    """Calls that were answered with 200, others, and latencies in milliseconds."""

    calls: int
    failed: int
    per_second: float
    p50: float
    p99: float


def call_request(arguments: dict[str, Any], tool: str, era: str) -> tuple[str, dict[str, str]]:
    """Body and headers of one `tools/call`, in one of the two eras of the protocol."""
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    params: dict[str, Any] = {"name": tool, "arguments": arguments}
    if era == "2026-07-28":
        headers |= {"MCP-Protocol-Version": era, "Mcp-Method": "tools/call", "Mcp-Name": tool}
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": era,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        }
    else:
        headers["MCP-Protocol-Version"] = era
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}), headers


async def run(plan: Plan) -> Measured:
    """Send until the time is over."""
    latencies: list[float] = []
    failed = [0]
    until = time.perf_counter() + plan.seconds
    async with asyncio.TaskGroup() as group:
        for number in range(plan.connections):
            url, token = plan.targets[number % len(plan.targets)]
            group.create_task(_connection(url, token, plan, until, latencies, failed))
    latencies.sort()
    count = len(latencies)
    return Measured(
        calls=count,
        failed=failed[0],
        per_second=count / plan.seconds,
        p50=latencies[count // 2] * 1000 if count else 0,
        p99=latencies[int(count * 0.99)] * 1000 if count else 0,
    )


async def _connection(
    url: str, token: str, plan: Plan, until: float, latencies: list[float], failed: list[int]
) -> None:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    body = plan.body.encode()
    lines = [f"POST {parts.path} HTTP/1.1", f"Host: {parts.netloc}", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in plan.headers.items()]
    if token:
        lines.append(f"Authorization: Bearer {token}")
    request = "\r\n".join(lines).encode() + b"\r\n\r\n" + body
    while (begin := time.perf_counter()) < until:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        answer = await reader.readexactly(length)
        if head.startswith(b"HTTP/1.1 200") and b'"error"' not in answer and b'"isError":true' not in answer:
            latencies.append(time.perf_counter() - begin)
        else:
            failed[0] += 1
    writer.close()


if __name__ == "__main__":
    given: dict[str, Any] = json.load(sys.stdin)
    measured = asyncio.run(run(Plan(**given)))
    print(json.dumps(measured._asdict()))
