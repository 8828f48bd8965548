"""A script is played call by call; references take values from results."""

from typing import Any

import pytest

from agent_client.errors import AgentError
from agent_client.model import (
    CallReply,
    Message,
    Reply,
    User,
)
from agent_client.scripted_model import ReplayedModel, ScriptedCall, ScriptedModel
from agent_client.trace import ToolCall, ToolResult

LOANS = ToolResult(text="two loans", structured={"loans": [{"id": "loan_1", "days": 14, "late": False}], "note": None})
REFUSED = ToolResult(text="no member 'eve'", is_error=True)
MADE = [CallReply(ToolCall(id=f"call_{n}", tool="t"), result) for n, result in enumerate((LOANS, REFUSED), start=1)]


async def resolved(value: Any) -> Any:
    """The value as the third call of a script sends it."""
    calls = [ScriptedCall(tool="t"), ScriptedCall(tool="t"), ScriptedCall(tool="renew", arguments={"value": value})]
    reply = await ScriptedModel(calls).reply([User("Go."), *MADE], [])
    return reply.calls[0].arguments["value"]


async def test_a_script_is_one_call_a_turn_and_then_its_answer() -> None:
    model = ScriptedModel([ScriptedCall(tool="find"), ScriptedCall(tool="renew", arguments={"days": 7})], "Renewed.")
    messages: list[Message] = [User("Renew it.")]
    first = await model.reply(messages, [])
    assert first == Reply(calls=(ToolCall(id="call_1", tool="find"),))
    messages += [first, CallReply(first.calls[0], LOANS)]
    second = await model.reply(messages, [])
    assert second == Reply(calls=(ToolCall(id="call_2", tool="renew", arguments={"days": 7}),))
    messages += [second, CallReply(second.calls[0], LOANS)]
    assert await model.reply(messages, []) == Reply(text="Renewed.", final=True)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("${1.loans[0].id}", "loan_1"),
        ("${1.loans[0].days}", 14),
        ("${1.loans[0].late}", False),
        ("${1.note}", None),
        ("${1.loans[0]}", {"id": "loan_1", "days": 14, "late": False}),
        ("${1}", LOANS.structured),
        ("loan ${1.loans[0].id} for ${1.loans[0].days} days", "loan loan_1 for 14 days"),
        ("late: ${1.loans[0].late}", "late: false"),
        ({"deep": ["${1.loans[0].days}", 3]}, {"deep": [14, 3]}),
        ("costs $5 {each}", "costs $5 {each}"),
    ],
)
async def test_a_reference_alone_keeps_its_type_and_is_text_inside_a_text(written: Any, value: Any) -> None:
    assert await resolved(written) == value


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("${1.loans[1].id}", r"\$\{1.loans\[1\].id\}: the result of call 1 has no 1 here"),
        ("for ${1.loans[0].title}", r"\$\{1.loans\[0\].title\}: the result of call 1 has no 'title' here"),
        ("${1.loans.id}", "the result of call 1 has no 'id' here"),
        ("${2.member}", "call 2 gave no object but: no member 'eve'"),
        ("${3.loans}", "there is no call 3 before this one; 2 were made"),
        ("${0.loans}", "there is no call 0"),
        ("${1.loans[first]}", r"a path is made of .name and \[number\]"),
    ],
)
async def test_a_reference_that_leads_nowhere_names_call_and_path(written: str, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        await resolved(written)


async def test_the_answer_may_hold_references_and_is_always_text() -> None:
    results = MADE[:1]
    for answer, text in [("It is ${1.loans[0].id}.", "It is loan_1."), ("${1.loans[0].days}", "14")]:
        reply = await ScriptedModel([ScriptedCall(tool="find")], answer).reply([User("Go."), *results], [])
        assert reply == Reply(text=text, final=True)


async def test_what_looks_like_a_reference_is_a_text_in_a_recording() -> None:
    call = ToolCall(id="c1", tool="note", arguments={"text": "write ${1.id} there"})
    model = ReplayedModel([call], "It says ${1.id}.")
    first = await model.reply([], [])
    assert first.calls == (call,)
    then = await model.reply([CallReply(call=call, result=ToolResult(text="{}"))], [])
    assert (then.text, then.final) == ("It says ${1.id}.", True)
