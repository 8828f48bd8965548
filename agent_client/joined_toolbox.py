"""The tools of two instances as those of one: a task over two environments has an MCP server for each.

Whoever connects says how the tools are named: two may have one name.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import httpx2

from agent_client.errors import FarmUnreachable
from agent_client.toolbox import Toolbox, connect, refusal
from agent_client.trace import ToolResult, ToolSpec


class Place(NamedTuple):
    """An instance of an environment, where an agent reaches it."""

    environment: str
    url: str
    token: str


Route = tuple[int, str]
"""Where a call goes: to which of the two instances, 0 or 1, and the tool's own name there."""
Naming = Callable[[Sequence[str], Sequence[Sequence[str]]], Mapping[str, Route]]
"""Gives each tool of two environments the name that an agent sees."""


@dataclass(frozen=True)
class JoinedToolbox(Toolbox):
    """Open connections to two instances. `wire` is the first one's."""

    both: tuple[Toolbox, Toolbox] = field(kw_only=True)
    names: Mapping[str, Route] = field(kw_only=True)

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


def _instructions(environments: Sequence[str], both: tuple[Toolbox, Toolbox], names: Mapping[str, Route]) -> str:
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
