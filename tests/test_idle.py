"""What an agent connects to answers after ten minutes in which nobody called: over stdio, over HTTP, and as a lease."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from agent_client.toolbox import connect
from registry.client import FarmClient
from tests.processes import farm_up, started, until

pytestmark = pytest.mark.slow

SILENCE = 600.0
"""Seconds; longer than a worker keeps an instance open, a guest alive, or a connection that nobody uses."""
ROOT = Path(__file__).parents[1]
Ask = Callable[[], Awaitable[bool]]
"""Makes a call that changes nothing; True when it was answered and was no error."""


async def test_every_door_answers_after_ten_minutes_of_silence(tmp_path: Path) -> None:
    """Before the first call, and between two. One silence serves all doors: they wait side by side."""
    async with AsyncExitStack() as stack:
        asks = {
            "farm serve": await stack.enter_async_context(over_stdio()),
            "farm serve --port": await stack.enter_async_context(over_http(tmp_path)),
            "a lease": await stack.enter_async_context(leased(tmp_path)),
        }
        for _ in range(2):
            await asyncio.sleep(SILENCE)
            assert {door: await ask() for door, ask in asks.items()} == dict.fromkeys(asks, True)


@asynccontextmanager
async def over_stdio() -> AsyncGenerator[Ask]:
    server = StdioServerParameters(command=sys.executable, args=[str(ROOT / "farm.py"), "serve", "library_loans"])
    async with Client(server) as client:

        async def ask() -> bool:
            return not (await client.call_tool("list_branches", {})).is_error

        yield ask


@asynccontextmanager
async def over_http(home: Path) -> AsyncGenerator[Ask]:
    serving = await started("serve", "library_loans", "--port", "0", home=home, cold=True)
    try:
        url, token = await _told(serving.err.fileno())
        async with at(url, token) as ask:
            yield ask
    finally:
        serving.send(signal.SIGKILL)
        await serving.ended()


async def _told(standard_error: int) -> tuple[str, str]:
    """What `farm serve --port` tells: a line with the URL, and one with the token."""

    def lines() -> list[str]:
        return os.pread(standard_error, 4096, 0).decode().splitlines()

    await until(lambda: len(lines()) == 2, "it serves")
    url, token = lines()
    return url, token.removeprefix("Authorization: Bearer ")


@asynccontextmanager
async def leased(home: Path) -> AsyncGenerator[Ask]:
    async with (
        farm_up(home / "state", "--port", "0", home=home, cold=True) as up,
        FarmClient(up.url, up.token) as farm,
    ):
        [lease] = await farm.launch("library_loans", "renew_before_trip", ttl_seconds=3600)
        assert lease.mcp_url is not None
        assert lease.token is not None
        async with at(lease.mcp_url, lease.token) as ask:
            yield ask


@asynccontextmanager
async def at(url: str, token: str) -> AsyncGenerator[Ask]:
    async with connect(url, token) as toolbox:

        async def ask() -> bool:
            return not (await toolbox.call("list_branches", {})).is_error

        yield ask
