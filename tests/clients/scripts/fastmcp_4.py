# type: ignore  # It runs in an environment of its own, whose packages are not installed here.
"""fastmcp's client."""

import asyncio
import os

from fastmcp import Client


async def main() -> None:
    async with Client(os.environ["MCP_URL"], auth=os.environ["TOKEN"]) as client:
        print(len(await client.list_tools()))
        print((await client.call_tool("find_members", {"name": "Ada"})).content[0].text)


asyncio.run(main())
