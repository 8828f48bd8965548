"""The tools of one instance over MCP: connect with a URL and a token, read the rules, call.

A refusal is a result that the agent reads. What the agent cannot mend raises FarmUnreachable.
"""

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal, cast

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    ContentBlock,
    DiscoverResult,
    TextContent,
    Tool,
)
from pydantic import ValidationError

from agent_client.arguments import MalformedArguments, read_arguments
from agent_client.errors import FarmUnreachable
from agent_client.trace import ToolResult, ToolSpec
from agent_client.wire import Wire, shared_http

Mode = Literal["auto", "legacy", "2026-07-28"]
PAGES = 100  # of tools: a server whose list never ends cannot hold us
TOOL_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")  # what MCP allows; other names are not sent, they may break a header


@dataclass(frozen=True)
class Toolbox:
    """An open connection to one instance."""

    client: Client
    instructions: str
    tools: tuple[ToolSpec, ...]

    @property
    def protocol(self) -> str:
        return self.client.protocol_version

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Make one call. Raises FarmUnreachable where the answer says nothing about the agent."""
        if not TOOL_NAME.fullmatch(tool):
            return refusal(f"no tool named {tool[:128]!r}; there are: {', '.join(spec.name for spec in self.tools)}")
        try:
            params = CallToolRequestParams(name=tool, arguments=read_arguments(dict(arguments)))
            # Not client.call_tool: it hides a result that breaks the tool's own schema from the agent.
            answer = await self.client.session.send_request(CallToolRequest(params=params), CallToolResult)
        except MalformedArguments as error:
            return refusal(f"the arguments of {tool} cannot be sent: {error}")
        except MCPError as error:
            if error.code == INVALID_PARAMS:
                return refusal(error.message)
            raise _unreachable(error) from error
        except ValidationError as error:
            raise FarmUnreachable(f"the answer to {tool} is not MCP: {error}") from error
        return _result(answer)


@asynccontextmanager
async def connect(
    url: str,
    token: str,
    *,
    http_client: httpx2.AsyncClient | None = None,
    mode: Mode = "auto",
    patience: float = 60.0,
) -> AsyncGenerator[Toolbox]:
    """Open a connection; one answer may take `patience` seconds. Raises FarmUnreachable."""
    if not (token.isascii() and token.isprintable()):
        raise FarmUnreachable("the token has characters that no token has: was it copied with a line break?")
    trouble: Exception | None = None
    left = False
    try:
        async with AsyncExitStack() as stack:
            http = http_client or await stack.enter_async_context(shared_http())
            wire = httpx2.AsyncClient(transport=Wire(http, token), timeout=patience, trust_env=False)
            await stack.enter_async_context(wire)
            # Every error is carried past the MCP client's task groups, which would wrap it in a group.
            try:
                yield await _opened(stack, url, wire, mode, patience)
            except Exception as error:
                trouble = error
            left = True
    except ExceptionGroup as group:
        # After the caller left it is an answer that nobody waits for any more: the MCP client trips over it in closing.
        if not left:
            raise FarmUnreachable(f"the connection to {url} broke: {_cause(group)}") from group
    if trouble is not None:
        raise trouble


async def _opened(stack: AsyncExitStack, url: str, wire: httpx2.AsyncClient, mode: Mode, patience: float) -> Toolbox:
    transport = streamable_http_client(url, http_client=wire)
    try:
        # The wire gives up after `patience`, and says why; twice that ends an answer that only trickles.
        client = Client(transport, mode=mode, read_timeout_seconds=2 * patience, cache=None)
        await stack.enter_async_context(client)
        return Toolbox(client, await _instructions(client, mode), await _tools(client))
    except (MCPError, ExceptionGroup) as error:
        raise _unreachable(_cause(error)) from error
    except ValidationError as error:
        raise FarmUnreachable(f"{url} does not speak MCP: {error}") from error


async def _instructions(client: Client, mode: Mode) -> str:
    """The rules come with the handshake; a connection that is pinned to a stateless revision makes none, and asks."""
    if mode in ("auto", "legacy"):
        return client.instructions or ""
    raw = await client.session.send_discover(mode)
    return DiscoverResult.model_validate(raw).instructions or ""


async def _tools(client: Client) -> tuple[ToolSpec, ...]:
    tools: list[Tool] = []
    cursor: str | None = None
    for _ in range(PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None:
            break
    return tuple(ToolSpec(name=t.name, description=t.description or "", arguments=t.input_schema) for t in tools)


def refusal(text: str) -> ToolResult:
    return ToolResult(text=text, is_error=True)


def _result(answer: CallToolResult) -> ToolResult:
    structured: object = answer.structured_content
    return ToolResult(
        text="\n".join(_text(block) for block in answer.content),
        structured=cast("dict[str, Any]", structured) if isinstance(structured, dict) else None,
        is_error=answer.is_error,
    )


def _text(block: ContentBlock) -> str:
    return block.text if isinstance(block, TextContent) else f"[{block.type}]"


def _cause(error: Exception) -> Exception:
    while isinstance(error, ExceptionGroup):
        error = cast("ExceptionGroup[Exception]", error).exceptions[0]
    return error


def _unreachable(error: Exception) -> FarmUnreachable:
    data: object = error.data if isinstance(error, MCPError) else None
    status = cast("dict[str, object]", data).get("status") if isinstance(data, dict) else None
    return FarmUnreachable(str(error), status=status if isinstance(status, int) else None)
