"""A bare low-level MCP server: the same two SQL statements in its own process, no guest, no history, no token.

Run as `python -m bench.peers.bare_server PORT`.
"""

import asyncio
import json
import sqlite3
import sys
from typing import Any

import mcp_types as mcp
import uvicorn
import uvloop
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from bench.subject import SCHEMA, SEED, TOOL_ARGUMENTS

Context = ServerRequestContext[Any, Any]


class Application:
    """The ASGI application: one MCP endpoint for every path."""

    def __init__(self) -> None:
        self.rows = sqlite3.connect(":memory:", isolation_level=None)
        self.rows.executescript(SCHEMA + SEED)
        server: Server[Any] = Server(
            "bare",
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            get_tool_input_schema=lambda _name: None,
        )
        self.manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)

    async def list_tools(self, _ctx: Context, _params: mcp.PaginatedRequestParams | None) -> mcp.ListToolsResult:
        return mcp.ListToolsResult(tools=[mcp.Tool(name="add_to_stock", input_schema=TOOL_ARGUMENTS)])

    async def call_tool(self, _ctx: Context, params: mcp.CallToolRequestParams) -> mcp.CallToolResult:
        arguments = params.arguments or {}
        row = self.rows.execute("SELECT * FROM items WHERE id = ?", (arguments["item_id"],)).fetchone()
        stock = row[2] + arguments["count"]
        self.rows.execute("UPDATE items SET stock = ? WHERE id = ?", (stock, row[0]))
        result = {"item_id": row[0], "name": row[1], "stock": stock}
        return mcp.CallToolResult(content=[mcp.TextContent(text=json.dumps(result))], structured_content=result)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.manager.handle_request(scope, receive, send)


async def serve(port: int) -> None:
    application = Application()
    async with application.manager.run():
        config = uvicorn.Config(application, port=port, log_level="warning", lifespan="off", access_log=False)
        await uvicorn.Server(config).serve()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(int(sys.argv[1])))
