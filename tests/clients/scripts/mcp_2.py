# type: ignore  # It runs in an environment of its own, whose packages are not installed here.
"""mcp 2.x: the stateless era, or the handshake where that is asked for."""

import asyncio
import os

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
    for mode in ("2026-07-28", "legacy", "auto"):
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(os.environ["MCP_URL"], http_client=http), mode=mode) as client,
        ):
            print(len((await client.list_tools()).tools))
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(os.environ["MCP_URL"], http_client=http)) as client,
    ):
        print((await client.call_tool("find_members", {"name": "Ada"})).content[0].text)


asyncio.run(main())
