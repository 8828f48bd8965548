# type: ignore  # It runs in an environment of its own, whose packages are not installed here.
"""smolagents' tools of an MCP server."""

import os

from smolagents import ToolCollection

server = {
    "url": os.environ["MCP_URL"],
    "transport": "streamable-http",
    "headers": {"Authorization": f"Bearer {os.environ['TOKEN']}"},
}
with ToolCollection.from_mcp(server, trust_remote_code=True) as found:
    tools = {tool.name: tool for tool in found.tools}
    print(len(tools))
    print(tools["find_members"](name="Ada"))
