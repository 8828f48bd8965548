"""A passing run as a reference solution."""

from typing import Any

from agent_client.trace import ToolCall, ToolResult, Trace, Turn
from servers.scenario.scenario import PlannedCall
from synth.forward.checks import Free
from synth.forward.solution import solutions


def run(*steps: tuple[str, dict[str, Any], dict[str, Any]]) -> Trace:
    """A run of so many calls: the tool, its arguments, what came back."""
    turns = tuple(
        Turn(
            text="",
            calls=(ToolCall(id=str(number), tool=tool, arguments=arguments),),
            results=(ToolResult(text="{}", structured=result),),
        )
        for number, (tool, arguments, result) in enumerate(steps)
    )
    return Trace(task="Book it.", instructions="", model="m", tools=(), turns=turns, answer="Booked.", end="finished")


def test_an_argument_is_free_in_the_calls_that_give_it() -> None:
    trace = run(("book", {"note": "by the window"}, {}), ("book", {}, {"id": "b1"}), ("find", {"note": "x"}, {}))
    first, *_ = solutions(trace, "Book it.", [Free(tool="book", argument="note")])
    assert [call.free for call in first.calls] == [("note",), (), ()]


def test_what_was_looked_up_becomes_a_reference() -> None:
    trace = run(("find", {"name": "Ada"}, {"id": "mem_ada"}), ("renew", {"member": "mem_ada"}, {}))
    first, *_ = solutions(trace, "Renew the card of Ada.", [])
    assert first.calls[1] == PlannedCall(tool="renew", arguments={"member": "${1.id}"})
