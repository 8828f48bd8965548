# type: ignore  # It runs in a virtual environment of its own, on mcp 1.x, whose types are not installed here.
"""What a client of mcp 1.x does at an instance's door, as one line of JSON. Arguments: URL, token."""

import asyncio
import json
import sys

import httpx
from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client


async def played(url: str, token: str) -> dict:
    async with (
        httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http,
        streamable_http_client(url, http_client=http) as (incoming, outgoing, _),
        ClientSession(incoming, outgoing) as session,
    ):
        welcome = await session.initialize()
        listed = await session.list_tools()
        return {
            "version": welcome.protocolVersion,
            "server": welcome.serverInfo.name,
            "instructions": welcome.instructions,
            "read_only": {tool.name: tool.annotations.readOnlyHint for tool in listed.tools},
            "query": told(await session.call_tool("show_member", {"member_id": "mem_ruth"})),
            "command": told(await session.call_tool("renew_card", {"member_id": "mem_ruth"})),
            "refusal": told(await session.call_tool("renew_card", {"member_id": "mem_ruth"})),
        }


def told(result: types.CallToolResult) -> dict:
    return {"error": result.isError, "structured": result.structuredContent, "text": result.content[0].text}


def leaves(error: BaseException) -> list[str]:
    inner = getattr(error, "exceptions", ())
    return [leaf for part in inner for leaf in leaves(part)] or [f"{type(error).__name__}: {error}"]


async def main() -> None:
    try:
        said = await played(*sys.argv[1:])
    except Exception as error:
        said = {"failures": leaves(error)}
    sys.stdout.write("\n" + json.dumps(said) + "\n")


asyncio.run(main())
