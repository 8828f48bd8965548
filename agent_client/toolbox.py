"""The tools of one instance over MCP: connect with a URL and a token, read the instructions, call tools.

A refusal is a result, which the agent reads. An error that the agent cannot mend raises FarmUnreachable.
"""

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import httpx2
from mcp_types import CallToolResult, ContentBlock, DiscoverResult, ListToolsResult, TextContent, Tool
from pydantic import BaseModel, ValidationError

from agent_client.arguments import MalformedArguments, read_arguments
from agent_client.errors import FarmUnreachable
from agent_client.json_values import is_object
from agent_client.trace import ToolResult, ToolSpec
from agent_client.wire import INVALID_PARAMS, PROTOCOL, RpcError, Wire, shared_http

PAGES = 100  # of tools: a server whose list never ends cannot hold us
TOOL_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")  # what MCP allows; other names are not sent, they may break a header

Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True)
class Toolbox:
    """An open connection to one instance."""

    wire: Wire
    instructions: str
    tools: tuple[ToolSpec, ...]

    def at(self, url: str, token: str) -> "Toolbox":
        """The same tools at another instance, if the caller knows that both have the same tools."""
        return replace(self, wire=replace(self.wire, url=url, token=token))

    async def listed_again(self) -> "Toolbox":
        """The same connection with today's tools: a benchmark's task may get some at a later turn."""
        try:
            return replace(self, tools=await _tools(self.wire))
        except RpcError as error:
            raise FarmUnreachable(str(error)) from error

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Make one call. Raises FarmUnreachable if the answer says nothing about the agent."""
        if not TOOL_NAME.fullmatch(tool):
            return refusal(f"no tool named {tool[:128]!r}; there are: {', '.join(spec.name for spec in self.tools)}")
        try:
            given = read_arguments(dict(arguments))
            answer = await self.wire.ask("tools/call", {"name": tool, "arguments": given}, name=tool)
        except MalformedArguments as error:
            return refusal(f"the arguments of {tool} cannot be sent: {error}")
        except RpcError as error:
            if error.code == INVALID_PARAMS:
                return refusal(str(error))
            raise FarmUnreachable(str(error)) from error
        return _result(_read(CallToolResult, answer, f"the answer to {tool}"))


@asynccontextmanager
async def connect(
    url: str, token: str, *, http_client: httpx2.AsyncClient | None = None, patience: float = 60.0
) -> AsyncGenerator[Toolbox]:
    """Open a connection. An answer may take `patience` seconds. Raises FarmUnreachable."""
    if not (token.isascii() and token.isprintable()):
        raise FarmUnreachable("the token has characters that no token has: was it copied with a line break?")
    async with AsyncExitStack() as stack:
        http = http_client or await stack.enter_async_context(shared_http())
        wire = Wire(http, url, token, patience)
        try:
            told = _read(DiscoverResult, await wire.ask("server/discover", {}), url)
            toolbox = Toolbox(wire, told.instructions or "", await _tools(wire))
        except RpcError as error:
            raise FarmUnreachable(f"{url} does not speak MCP {PROTOCOL}: {error}") from error
        yield toolbox


async def _tools(wire: Wire) -> tuple[ToolSpec, ...]:
    tools: list[Tool] = []
    cursor: str | None = None
    for _ in range(PAGES):
        page = _read(ListToolsResult, await wire.ask("tools/list", {"cursor": cursor} if cursor else {}), wire.url)
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None:
            break
    return tuple(ToolSpec(name=t.name, description=t.description or "", arguments=t.input_schema) for t in tools)


def _read(form: type[Answer], answer: dict[str, Any], what: str) -> Answer:
    try:
        return form.model_validate(answer, by_name=False)
    except ValidationError as error:
        raise FarmUnreachable(f"{what} is not MCP: {error}") from error


def refusal(text: str) -> ToolResult:
    return ToolResult(text=text, is_error=True)


def _result(answer: CallToolResult) -> ToolResult:
    structured: object = answer.structured_content
    return ToolResult(
        text="\n".join(_text(block) for block in answer.content),
        structured=structured if is_object(structured) else None,
        is_error=answer.is_error,
    )


def _text(block: ContentBlock) -> str:
    return block.text if isinstance(block, TextContent) else f"[{block.type}]"
