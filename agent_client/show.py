"""Shows an episode on the terminal while it happens."""

import json
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from agent_client.events import (
    CallAnswered,
    EpisodeEnd,
    EpisodeStart,
    Event,
    ModelReply,
    UserReply,
)
from agent_client.trace import ToolCall, ToolResult, Trace, Turn

LONGEST_ARGUMENT = 60
LONGEST_RESULT = 300
LONGEST_THINKING = 600
END_STYLES = {"finished": "green", "infra_error": "magenta"}

Cut = Callable[[str, int], str]
"""Cuts a text to the most characters."""


def show(console: Console, *, is_full: bool = False) -> Callable[[Event], None]:
    """A callback for `play` that prints each event on a console. Long texts are cut, unless `is_full`."""
    cut = _whole if is_full else shortened

    def tell(event: Event) -> None:
        match event:
            case EpisodeStart(task, model, tools):
                said = f"task for {model}, {_counted(tools, 'tool')}"
                console.print(Panel(Text(task), title=Text(said), title_align="left"))
            case ModelReply(number, turn):
                _show_reply(console, number, turn, cut)
            case CallAnswered(call, result):
                _show_call(console, call, result, cut)
            case UserReply(text):
                console.print(Text.assemble(("user ", "bold magenta"), text))
            case EpisodeEnd(trace):
                _show_end(console, trace)

    return tell


def _show_reply(console: Console, number: int, turn: Turn, cut: Cut) -> None:
    console.print(Text(f"turn {number}", style="bold dim"))
    if turn.thinking:
        console.print(Text(cut(turn.thinking.strip(), LONGEST_THINKING), style="dim italic"))
    if turn.text.strip() and turn.calls:
        console.print(Text(turn.text.strip()))


def _show_call(console: Console, call: ToolCall, result: ToolResult, cut: Cut) -> None:
    arguments = ", ".join(f"{name}={_argument(value, cut)}" for name, value in call.arguments.items())
    asked = f" could not be read: {call.malformed}" if call.malformed else f"({arguments})"
    console.print(Text.assemble(("→ ", "cyan"), (call.tool, "bold cyan"), asked))
    sign, style = ("✗", "red") if result.is_error else ("←", "dim")
    console.print(Text(f"  {sign} {cut(' '.join(result.text.split()), LONGEST_RESULT)}", style=style))


def _argument(value: Any, cut: Cut) -> str:
    return cut(json.dumps(value, ensure_ascii=False), LONGEST_ARGUMENT)


def _show_end(console: Console, trace: Trace) -> None:
    style = END_STYLES.get(trace.end, "yellow")
    counts = ", ".join(
        [
            _counted(len(trace.turns), "turn"),
            _counted(trace.calls, "call"),
            _counted(trace.tokens, "token"),
            f"{trace.seconds:.1f} s",
        ]
    )
    said = trace.error or trace.answer.strip() or "(no answer)"
    console.print(
        Panel(
            Text(said), title=Text(trace.end.replace("_", " ")), title_align="left", subtitle=Text(counts), style=style
        )
    )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _whole(text: str, _: int) -> str:
    return text
