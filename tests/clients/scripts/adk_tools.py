# type: ignore  # It runs in an environment of its own, whose packages are not installed here.
"""google-adk's toolset."""

import asyncio
import os

from google.adk.tools.mcp_tool.mcp_session_manager import StreamableHTTPConnectionParams
from google.adk.tools.mcp_tool.mcp_toolset import McpToolset


async def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
    toolset = McpToolset(connection_params=StreamableHTTPConnectionParams(url=os.environ["MCP_URL"], headers=headers))
    tools = {tool.name: tool for tool in await toolset.get_tools()}
    print(len(tools))
    session = await toolset._mcp_session_manager.create_session(headers=headers)
    print((await session.call_tool("find_members", {"name": "Ada"})).content[0].text)
    await toolset.close()


asyncio.run(main())
