"""A person in the place of a model: how a typed line becomes a call, and what is said to a line that is none."""

import asyncio
import os
from collections.abc import Sequence

import pytest

from agent_client.errors import AgentError
from agent_client.model import Instructions, Message, Reply, User
from agent_client.models.human_model import HumanModel, InputLines
from agent_client.trace import ToolSpec

BOOK = ToolSpec(
    name="book",
    description="Book a room.\n\nAt most a year ahead.",
    arguments={
        "properties": {
            "room": {"type": "string", "description": "Its number."},
            "nights": {"type": "integer"},
            "extras": {"anyOf": [{"type": "array"}, {"type": "null"}]},
            "kind": {"enum": ["single", "double"]},
        },
        "required": ["room", "nights"],
    },
)
BEGIN: tuple[Message, ...] = (Instructions("Be kind."), User("Book 12 for two nights."))


async def replied(*lines: str, messages: Sequence[Message] = (*BEGIN, Reply())) -> tuple[Reply, str]:
    """The reply of a person who types these lines, and everything that was said meanwhile."""
    left: list[str | None] = [*lines, None]
    told: list[str] = []

    async def next_line() -> str | None:
        return left.pop(0)

    reply = await HumanModel(next_line, told.append).reply(messages, (BOOK,))
    return reply, "\n".join(told)


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ("book room=12 nights=2", {"room": "12", "nights": 2}),
        ("  book room='12 b' nights=2  ", {"room": "12 b", "nights": 2}),
        ('book room="" kind=double', {"room": "", "kind": "double"}),
        ('book {"room": "12", "nights": 2}', {"room": "12", "nights": 2}),
        ("book room=a=b extras='[\"crib\", 1]'", {"room": "a=b", "extras": ["crib", 1]}),
        ("book nights=two extras=null", {"nights": "two", "extras": None}),
        ("book", {}),
    ],
)
async def test_a_line_is_a_call(line: str, arguments: dict[str, object]) -> None:
    reply, told = await replied(line)
    assert [(call.tool, call.arguments) for call in reply.calls] == [("book", arguments)]
    assert told == ""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("boook room=12", "No tool is called 'boook'. Did you mean book?"),
        ("Hello there!", "No tool is called 'Hello'."),
        ("book 12", "'12' is not name=value. ? book shows the arguments."),
        ("book room='12", "The line cannot be read: No closing quotation."),
        ('book {"room": ', "EOF while parsing"),
        ("book room=12 nights=1e999", ""),
        ("=", "The text is missing: = TEXT"),
        ("? bok", "No tool is called 'bok'. Tools:"),
        ("?", "book: Book a room."),
        ("?book", "kind: one of single, double, may be left out"),
        ("? book", "room: string. Its number."),
        ("", ""),
    ],
)
async def test_a_line_that_is_no_call_is_explained_and_asked_for_again(line: str, said: str) -> None:
    reply, told = await replied(line, "= Done.")
    assert said in told
    assert reply.text == "Done." or reply.calls


async def test_at_first_the_instructions_and_the_tools_are_shown() -> None:
    _, told = await replied("= No.", messages=BEGIN)
    assert told.startswith("Be kind.\n\nTools:\n  book: Book a room.\n\nIt is your turn.")


@pytest.mark.parametrize("lines", [(), ("quit",), ("", "quit", "= Done.")])
async def test_a_person_may_stop(lines: tuple[str, ...]) -> None:
    with pytest.raises(AgentError, match="stopped without an answer"):
        await replied(*lines)


async def test_lines_arrive_whole_while_the_loop_goes_on() -> None:
    reading, writing = os.pipe()
    lines = InputLines(reading)
    lines.start()
    waiting = asyncio.create_task(lines.next_line())
    os.write(writing, b"caf")
    await asyncio.sleep(0)
    os.write(writing, "é\nsecond\nlast".encode())
    os.close(writing)
    assert [await waiting, *[await lines.next_line() for _ in range(3)]] == ["café", "second", "last", None]
    os.close(reading)
