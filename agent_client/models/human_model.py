"""A person who plays in the place of a model: each line is a tool call, a question about the tools, or an answer."""

import asyncio
import os
import shlex
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

from pydantic_core import from_json

from agent_client.arguments import MalformedArguments, read_arguments
from agent_client.errors import AgentError
from agent_client.model import CallReply, Instructions, Message, Reply
from agent_client.trace import ToolCall, ToolSpec

HELP = """\
TOOL name=value …   make a call; a value with blanks stands in quotes, a list or an object is JSON
TOOL {"name": …}    the same, with all arguments as one JSON object
?                   list the tools
? TOOL              show what a tool does, and its arguments
= TEXT              say this to the person; where nobody answers, it is the answer and ends the episode
quit                stop without an answer"""
CHUNK = 65_536  # bytes read from standard input at once

ReadLine = Callable[[], Awaitable[str | None]]
"""The next line, or None when there is none left."""


class HumanModel:
    """Asks for lines until one is a call or an answer. A mistake in typing is explained, and costs no turn."""

    name = "human"

    def __init__(self, read_line: ReadLine, tell: Callable[[str], None]) -> None:
        self._read_line = read_line
        self._tell = tell

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """The next call, or the answer. Raises AgentError if the person stops."""
        if not any(isinstance(message, Reply) for message in messages):
            told = [message.text for message in messages if isinstance(message, Instructions)]
            self._tell("\n\n".join([*told, _listed(tools), f"It is your turn. Lines to type:\n{HELP}"]))
        number = sum(isinstance(message, CallReply) for message in messages) + 1
        while (line := await self._read_line()) is not None:
            word, _, rest = line.strip().partition(" ")
            rest = rest.strip()
            if word == "quit":
                break
            if word == "=" and rest:
                return Reply(text=rest)
            if word == "=":
                self._tell("The text is missing: = TEXT")
            elif word.startswith("?"):
                self._tell(_described(rest or word[1:], tools))
            elif word:
                try:
                    return Reply(calls=(_call(word, rest, tools, number),))
                except MalformedArguments as error:
                    self._tell(str(error))
        raise AgentError("the person who plays stopped without an answer")


def _call(name: str, written: str, tools: Sequence[ToolSpec], number: int) -> ToolCall:
    """A call as a person wrote it. Raises MalformedArguments if the line cannot be read."""
    tool = next((one for one in tools if one.name == name), None)
    if tool is None:
        close = get_close_matches(name.lower(), [one.name for one in tools], n=1)
        meant = f" Did you mean {close[0]}?" if close else ""
        raise MalformedArguments(f"No tool is called {name!r}.{meant} ? lists the tools, and = TEXT says something.")
    arguments = read_arguments(written) if written.startswith("{") else _pairs(written, tool)
    return ToolCall(id=f"call_{number}", tool=name, arguments=arguments)


def _pairs(written: str, tool: ToolSpec) -> dict[str, Any]:
    try:
        words = shlex.split(written)
    except ValueError as error:
        raise MalformedArguments(f"The line cannot be read: {error}. A quote in a value is written \\'.") from error
    arguments: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise MalformedArguments(f"{word!r} is not name=value. ? {tool.name} shows the arguments.")
        arguments[name] = value if _is_text(tool, name) else _value(value)
    return read_arguments(arguments)


def _is_text(tool: ToolSpec, name: str) -> bool:
    """Whether the argument may be a text. Then it is one, also if it looks like a number."""
    return "string" in _types(tool.arguments.get("properties", {}).get(name, {}))


def _types(schema: dict[str, Any]) -> set[str]:
    """The JSON types that a schema accepts. Without a type, its choices tell."""
    told = schema.get("type", [])
    types = {told} if isinstance(told, str) else set(told)
    if any(isinstance(choice, str) for choice in schema.get("enum", ())):
        types.add("string")
    return types.union(*(_types(one) for one in schema.get("anyOf", ())))


def _value(written: str) -> object:
    """JSON if it is JSON, otherwise the text: the environment says what is wrong with it."""
    try:
        return from_json(written, allow_inf_nan=False)
    except ValueError:
        return written


def _listed(tools: Sequence[ToolSpec]) -> str:
    return "Tools:\n" + "\n".join(f"  {tool.name}: {_first_line(tool)}" for tool in tools)


def _first_line(tool: ToolSpec) -> str:
    return next(iter(tool.description.strip().splitlines()), "")


def _described(name: str, tools: Sequence[ToolSpec]) -> str:
    """One tool with its arguments, or all tools if the name is empty or nobody's."""
    tool = next((one for one in tools if one.name == name), None)
    if tool is None:
        return (f"No tool is called {name!r}. " if name else "") + _listed(tools)
    needed = tool.arguments.get("required", ())
    lines = [
        f"  {argument}: {_form(schema)}{'' if argument in needed else ', may be left out'}"
        f"{'. ' + schema['description'] if 'description' in schema else ''}"
        for argument, schema in tool.arguments.get("properties", {}).items()
    ]
    return "\n".join([f"{tool.name}: {tool.description.strip()}", *(lines or ["  no arguments"])])


def _form(schema: dict[str, Any]) -> str:
    """The form of a value in a few words: its choices, or its types."""
    choices = [choice for one in (schema, *schema.get("anyOf", ())) for choice in one.get("enum", ())]
    return "one of " + ", ".join(map(str, choices)) if choices else " or ".join(sorted(_types(schema))) or "any value"


class InputLines:
    """The lines of a file descriptor, read by a thread of its own, so that waiting for a person stops nothing else."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()

    def start(self) -> None:
        """Begin to read. The thread ends with the process: a read from a terminal cannot be called off."""
        threading.Thread(target=self._read, args=(asyncio.get_running_loop(),), daemon=True).start()

    async def next_line(self) -> str | None:
        return await self._lines.get()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(RuntimeError):  # the loop is closed: the episode is over
            self._hand_over(loop)

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        unfinished = b""
        while chunk := os.read(self._descriptor, CHUNK):
            *whole, unfinished = (unfinished + chunk).split(b"\n")
            for line in whole:
                loop.call_soon_threadsafe(self._lines.put_nowait, line.decode(errors="replace"))
        if unfinished:
            loop.call_soon_threadsafe(self._lines.put_nowait, unfinished.decode(errors="replace"))
        loop.call_soon_threadsafe(self._lines.put_nowait, None)
