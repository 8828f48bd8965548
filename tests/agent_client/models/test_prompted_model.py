"""Tools in words: what a model is told, what it may write, and that nothing it writes gets lost or raises."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_client.model import (
    CallReply,
    Instructions,
    Message,
    Reply,
    User,
)
from agent_client.models.call_text import HERMES, JSON, UNREADABLE, CallText
from agent_client.models.prompted_model import PromptedModel
from agent_client.play import Limits, play
from agent_client.toolbox import connect
from agent_client.trace import ToolCall, ToolResult, ToolSpec
from tests.doubles import TOKEN

BORROW = ToolSpec(name="borrow", description="Borrow a book.", arguments={"type": "object"})


class Writer:
    """A model without tools that writes prepared texts, and keeps what it was shown."""

    name = "writer"

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.shown: list[list[Message]] = []

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        assert not tools
        self.shown.append(list(messages))
        return Reply(text=self.texts.pop(0), tokens_in=7, tokens_out=3)


def hermes(*calls: str) -> str:
    return "\n".join(f"<tool_call>\n{call}\n</tool_call>" for call in calls)


DUNE = '{"name": "borrow", "arguments": {"book": "Dune"}}'
EMMA = '{"name": "borrow", "arguments": {"book": "Emma"}}'


async def test_an_episode_in_words_is_an_episode_like_any_other(url: str) -> None:
    writer = Writer(f"<think>\nTwo at once.\n</think>\nI fetch them.\n{hermes(DUNE, EMMA)}", "Both are yours.")
    async with connect(url, TOKEN) as toolbox:
        trace = await play(PromptedModel(writer, HERMES), toolbox, "Borrow both.", limits=Limits())
    first = trace.turns[0]
    assert (first.text, first.thinking) == ("I fetch them.", "Two at once.")
    assert [(call.id, call.tool, call.arguments["book"]) for call in first.calls] == [
        ("call_1_1", "borrow", "Dune"),
        ("call_1_2", "borrow", "Emma"),
    ]
    assert (trace.end, trace.answer, trace.tokens) == ("finished", "Both are yours.", 20)
    rules, task, reply, results = writer.shown[1]
    assert isinstance(rules, Instructions)
    assert '<tools>\n{"type": "function", "function": {"name": "borrow"' in rules.text
    assert task == User("Borrow both.")
    assert isinstance(reply, Reply)
    assert reply.text == f"I fetch them.\n{hermes(DUNE, EMMA)}"
    assert isinstance(results, User)
    assert results.text == "\n".join(f"<tool_response>\n{result.text}\n</tool_response>" for result in first.results)


async def test_the_json_format_plays_too(url: str) -> None:
    ask = json.dumps({"say": "One moment.", "calls": [{"tool": "borrow", "arguments": {"book": "Dune"}}]})
    writer = Writer(ask, "```json\n" + json.dumps({"answer": "It is yours."}) + "\n```")
    async with connect(url, TOKEN) as toolbox:
        trace = await play(PromptedModel(writer, JSON), toolbox, "Borrow it.", limits=Limits())
    assert (trace.end, trace.answer, trace.turns[0].text) == ("finished", "It is yours.", "One moment.")
    assert isinstance(writer.shown[1][-1], User)
    assert json.loads(writer.shown[1][-1].text) == {"results": [{"tool": "borrow", "result": "loan_1: Dune"}]}


@pytest.mark.parametrize(
    ("text", "tool", "malformed"),
    [
        (hermes("{broken"), UNREADABLE, "the call was: {broken"),
        (hermes("[]"), UNREADABLE, "a call is an object with 'name' and 'arguments'"),
        (hermes('{"arguments": {}}'), UNREADABLE, "a call is an object"),
        (hermes('{"name": "borrow", "arguments": 5}'), "borrow", "an object {...} is needed"),
        (hermes('{"name": "borrow"}'), "borrow", ""),
        ('<tool_call>\n{"name": "borrow", "arguments": "{}"}', "borrow", ""),
        (hermes(DUNE) + "\n<tool_response>\nDone!\n</tool_response>\nIt is yours.", "borrow", ""),
    ],
)
def test_a_call_that_is_not_as_it_should_be_is_a_call_all_the_same(text: str, tool: str, malformed: str) -> None:
    said = HERMES.read(text, 1)
    [call] = said.calls
    assert call.tool == tool
    assert malformed in call.malformed
    assert bool(call.malformed) == bool(malformed)
    assert said.text == ""


@pytest.mark.parametrize(
    ("text", "words", "tools"),
    [
        ("Just words.", "Just words.", []),
        ("", "", []),
        ("[1, 2]", "[1, 2]", []),
        ('{"answer": 5}', "5", []),
        ('{"calls": []}', '{"calls": []}', []),
        ('{"tool": "borrow"}', "", ["borrow"]),
        ('{"calls": {"tool": "borrow"}}', "", ["borrow"]),
        ('{"calls": ["borrow"]}', "", [UNREADABLE]),
        ('{"calls": [', "", [UNREADABLE]),
    ],
)
def test_json_that_is_not_as_it_should_be_is_read_as_what_it_can_mean(text: str, words: str, tools: list[str]) -> None:
    said = JSON.read(text, 1)
    assert (said.text, [call.tool for call in said.calls]) == (words, tools)


CALLS = st.lists(
    st.builds(
        ToolCall,
        id=st.just("x"),
        tool=st.sampled_from(["borrow", "find_books"]),
        arguments=st.dictionaries(st.text(), st.one_of(st.integers(-9, 9), st.text(), st.none())),
    ),
    min_size=1,
    max_size=3,
)
PLAIN = st.from_regex(r"[A-Za-z ,.]{0,20}", fullmatch=True).map(str.strip)


@pytest.mark.parametrize("form", [HERMES, JSON], ids=["hermes", "json"])
@given(text=PLAIN, calls=CALLS)
def test_what_is_written_reads_back(form: CallText, text: str, calls: list[ToolCall]) -> None:
    marks = ("<tool_call>", "</tool_call>", "<tool_response>")
    if any(mark in json.dumps(call.arguments, ensure_ascii=False) for call in calls for mark in marks):
        return
    said = form.read(form.written(text, calls), 1)
    assert said.text == text
    assert [(call.tool, call.arguments) for call in said.calls] == [(call.tool, call.arguments) for call in calls]


@pytest.mark.parametrize("form", [HERMES, JSON], ids=["hermes", "json"])
@given(text=st.text(alphabet='<>/{}[]":, tool_calresponse\n`', max_size=200) | st.text())
def test_no_text_breaks_the_reading(form: CallText, text: str) -> None:
    said = form.read(text, 1)
    assert isinstance(form.written(said.text, said.calls), str)
    assert form.results([(call, ToolResult(text="x")) for call in said.calls]) or not said.calls


async def test_results_of_separate_turns_stay_separate() -> None:
    call = ToolCall(id="a", tool="borrow")
    messages = [User("Go."), Reply(calls=(call,)), CallReply(call, ToolResult(text="1")), User("Now?")]
    writer = Writer("Yes.")
    await PromptedModel(writer, HERMES).reply(messages, [BORROW])
    _, _, _, result, now = writer.shown[0]
    assert result == User("<tool_response>\n1\n</tool_response>")
    assert now == User("Now?")
