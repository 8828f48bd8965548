# type: ignore  # It runs in an environment of its own, whose packages are not installed here.
"""mcp 1.x: the handshake era."""

import asyncio
import os

import httpx
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client


async def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
    async with (
        httpx.AsyncClient(headers=headers) as http,
        streamable_http_client(os.environ["MCP_URL"], http_client=http) as (incoming, outgoing, _),
        ClientSession(incoming, outgoing) as session,
    ):
        await session.initialize()
        print(len((await session.list_tools()).tools))
        print((await session.call_tool("find_members", {"name": "Ada"})).content[0].text)


asyncio.run(main())
