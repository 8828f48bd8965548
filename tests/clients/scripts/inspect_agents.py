# type: ignore  # It runs in an environment of its own, whose packages are not installed here.
"""inspect_ai's MCP server over HTTP, its tools called as its agents call them."""

import asyncio
import os

from inspect_ai.tool import mcp_server_http


async def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
    server = mcp_server_http(name="farm", url=os.environ["MCP_URL"], headers=headers)
    async with server:
        tools = await server.tools()
        print(len(tools))
        for tool in tools:
            if "find_members" in str(getattr(tool, "__registry_info__", tool)):
                print(await tool(name="Ada"))


asyncio.run(main())
