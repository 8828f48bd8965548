"""An episode is shown as it happens."""

import io

from rich.console import Console

from agent_client.events import CallAnswered, EpisodeEnd, ModelReply
from agent_client.play import Limits, play
from agent_client.scripted_model import ScriptedCall, ScriptedModel
from agent_client.show import show
from agent_client.toolbox import connect
from agent_client.trace import ToolCall, ToolResult, Trace, Turn
from tests.doubles import TOKEN


def console() -> Console:
    return Console(file=io.StringIO(), width=100, color_system=None)


def shown(screen: Console) -> str:
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


async def test_task_calls_results_and_end_are_shown(url: str) -> None:
    screen = console()
    script = ScriptedModel([ScriptedCall(tool="borrow", arguments={"book": "Dune [red]"})], "Lent it.")
    async with connect(url, TOKEN) as toolbox:
        await play(script, toolbox, "Borrow [b]Dune[/b].", limits=Limits(), on_event=show(screen))
    text = shown(screen)
    assert "task for scripted, 2 tools" in text
    assert "Borrow [b]Dune[/b]." in text
    assert '→ borrow(book="Dune [red]")' in text
    assert "← loan_1: Dune [red]" in text
    assert "finished" in text
    assert "Lent it." in text
    assert "2 turns, 1 call," in text


def test_thinking_and_text_beside_calls_are_shown_and_long_things_cut() -> None:
    screen = console()
    tell = show(screen)
    call = ToolCall(id="a", tool="find", arguments={"query": "x" * 500})
    tell(ModelReply(1, Turn(text="I look.", thinking="Hm.", calls=(call,))))
    tell(CallAnswered(call, ToolResult(text="no\nluck " + "y" * 5000, is_error=True)))
    text = shown(screen)
    assert "Hm." in text
    assert "I look." in text
    assert "✗ no luck" in text
    assert text.count("x") < 70
    assert text.count("y") < 310
    assert text.count("…") == 2


def test_a_call_that_could_not_be_read_is_not_shown_as_if_it_were_made() -> None:
    screen = console()
    call = ToolCall.read("a", "find", "{bad")
    show(screen)(CallAnswered(call, ToolResult(text="no", is_error=True)))
    assert shown(screen).startswith(
        "→ find could not be read: key must be a string at line 1 column 2; they were: {bad"
    )


def test_an_end_with_an_error_says_which() -> None:
    screen = console()
    end = Trace(
        task="", instructions="", model="m", tools=(), turns=(), answer="", end="infra_error", error="farm is gone"
    )
    show(screen)(EpisodeEnd(end))
    assert "infra error" in shown(screen)
    assert "farm is gone" in shown(screen)
