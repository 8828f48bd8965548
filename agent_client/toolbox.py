"""The tools of an instance over MCP: connect with a URL and a token, read the instructions, call tools.

A refusal is a result, which the agent reads. An error that the agent cannot mend raises FarmUnreachable. A task over
two environments has a server for each: both toolboxes are joined to one. Whoever connects says how tools are named.
"""

import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

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


class Place(NamedTuple):
    """An instance of an environment, where an agent reaches it."""

    environment: str
    url: str
    token: str


ToolPlace = tuple[int, str]
"""Where a call goes: to which of the two instances, 0 or 1, and the tool's own name there."""
Naming = Callable[[Sequence[str], Sequence[Sequence[str]]], Mapping[str, ToolPlace]]
"""Gives each tool of two environments the name that an agent sees."""


@dataclass(frozen=True)
class JoinedToolbox(Toolbox):
    """Open connections to two instances. `wire` is the first one's."""

    both: tuple[Toolbox, Toolbox] = field(kw_only=True)
    names: Mapping[str, ToolPlace] = field(kw_only=True)

    def at(self, url: str, token: str) -> Toolbox:
        """Two instances have two addresses: see `moved`. Raises FarmUnreachable."""
        raise FarmUnreachable("a task over two environments has two servers, and this is the address of one")

    def moved(self, places: Sequence[Place]) -> "JoinedToolbox":
        """The same tools at two other instances of the same environments."""
        first, second = (one.at(to.url, to.token) for one, to in zip(self.both, places, strict=True))
        return replace(self, wire=first.wire, both=(first, second))

    async def listed_again(self) -> Toolbox:
        """The same: no task over two environments gets tools at a later turn."""
        return self

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Make one call, of the environment that has the tool. Raises FarmUnreachable."""
        route = self.names.get(tool)
        if route is None:
            return refusal(f"no tool named {tool[:128]!r}; there are: {', '.join(self.names)}")
        at, own = route
        return await self.both[at].call(own, arguments)


def joined(environments: Sequence[str], both: tuple[Toolbox, Toolbox], naming: Naming) -> JoinedToolbox:
    """The tools of two connections as those of one."""
    names = naming(environments, [[spec.name for spec in one.tools] for one in both])
    specs = [{spec.name: spec for spec in one.tools} for one in both]
    tools = tuple(_named(specs[at][own], name) for name, (at, own) in names.items())
    instructions = _instructions(environments, both, names)
    return JoinedToolbox(both[0].wire, instructions, tools, both=both, names=names)


def _named(spec: ToolSpec, name: str) -> ToolSpec:
    return spec if spec.name == name else spec.model_copy(update={"name": name})


def _instructions(environments: Sequence[str], both: tuple[Toolbox, Toolbox], names: Mapping[str, ToolPlace]) -> str:
    """What both say, each under its name. A last paragraph that both have, about answers, ends the whole."""
    head = (
        f"You have the tools of two places, {' and '.join(environments)}. Each has its own clock and its own rules, "
        "which hold for its own tools."
    )
    twice = [name for name, (_, own) in names.items() if name != own]
    if twice:
        head += f" Tools that both have are named after their places: {', '.join(twice)}."
    told = [one.instructions.strip().split("\n\n") for one in both]
    same = [one for one, other in zip(told[0][-1:], told[1][-1:], strict=False) if one == other]
    texts = ["\n\n".join(one[: len(one) - len(same)]) for one in told]
    parts = [f"# {name}\n\n{text}" for name, text in zip(environments, texts, strict=True)]
    return "\n\n".join((head, *parts, *same))


@asynccontextmanager
async def connect_both(
    places: Sequence[Place], naming: Naming, *, http_client: httpx2.AsyncClient | None = None
) -> AsyncGenerator[JoinedToolbox]:
    """Open connections to two instances. Raises FarmUnreachable."""
    async with AsyncExitStack() as stack:
        first, second = [
            await stack.enter_async_context(connect(one.url, one.token, http_client=http_client)) for one in places
        ]
        yield joined([one.environment for one in places], (first, second), naming)
