"""Episodes from the task to the trace: a real farm, and an endpoint that gives prepared answers."""

from collections.abc import Sequence
from typing import Any

import pytest
from fastapi.responses import Response

from agent_client.events import (
    CallAnswered,
    EpisodeEnd,
    EpisodeStart,
    Event,
    ModelReply,
)
from agent_client.model import Message, Model, Reply
from agent_client.models.chat_model import ChatModel
from agent_client.models.endpoint import Retries
from agent_client.play import REMINDER, Limits, play
from agent_client.scripted_model import ScriptedCall, ScriptedModel
from agent_client.toolbox import connect
from agent_client.trace import ToolSpec, Trace
from tests.doubles import RULES, TOKEN, Farm, StubEndpoint, refused, said

TASK = "Borrow Dune."
DUNE = {"id": "a", "name": "borrow", "arguments": '{"book": "Dune"}'}
EMMA = {"id": "b", "name": "borrow", "arguments": '{"book": "Emma"}'}
PONDER = {"id": "p", "name": "ponder", "arguments": '{"matter": "life"}'}


async def episode(url: str, model: Model, **limits: Any) -> Trace:
    async with connect(url, TOKEN) as toolbox:
        return await play(model, toolbox, TASK, limits=Limits(**limits))


async def chat(url: str, *answers: dict[str, Any] | Response | None, **limits: Any) -> tuple[Trace, StubEndpoint]:
    endpoint = StubEndpoint(list(answers))
    async with endpoint.serve() as base_url, ChatModel(base_url, "stub-1", retries=Retries(attempts=1)) as model:
        return await episode(url, model, **limits), endpoint


async def test_a_text_without_calls_is_the_answer(url: str) -> None:
    trace, _ = await chat(url, said("I look.", calls=[DUNE], reasoning_content="Hm."), said("Done."))
    assert (trace.end, trace.answer, trace.error) == ("finished", "Done.", "")
    assert (trace.task, trace.instructions, trace.model) == (TASK, RULES, "stub-1")
    assert [tool.name for tool in trace.tools] == ["borrow", "ponder"]
    first, last = trace.turns
    assert (first.text, first.thinking, first.results[0].text) == ("I look.", "Hm.", "loan_1: Dune")
    assert (last.text, last.calls, trace.tokens) == ("Done.", (), 30)
    assert Trace.model_validate_json(trace.model_dump_json()) == trace


async def test_calls_of_one_turn_are_made_in_order_and_all_answered(url: str, farm: Farm) -> None:
    trace, endpoint = await chat(url, said(calls=[EMMA, DUNE]), said("Done."))
    assert [arguments for _, arguments in farm.calls] == [{"book": "Emma"}, {"book": "Dune"}]
    assert [result.text for result in trace.turns[0].results] == ["loan_1: Emma", "loan_2: Dune"]
    answered = [(m["tool_call_id"], m["content"]) for m in endpoint.requests[1]["messages"] if m["role"] == "tool"]
    assert answered == [("b", "loan_1: Emma"), ("a", "loan_2: Dune")]


async def test_an_endpoint_that_never_answers_is_no_timeout_of_the_agent(url: str) -> None:
    trace, _ = await chat(url, None, seconds=0.2)
    assert (trace.end, trace.turns) == ("infra_error", ())
    assert "did not answer the first request" in trace.error


async def test_a_retry_that_would_begin_after_the_end_is_not_waited_for(url: str) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    busy, later = refused(503, "busy", retry_after="1"), refused(503, "busy", retry_after="60")
    endpoint = StubEndpoint([busy, later])
    async with (
        endpoint.serve() as base_url,
        ChatModel(base_url, "stub-1", retries=Retries(sleep=sleep)) as model,
    ):
        trace = await episode(url, model, seconds=59)
    assert (trace.end, waited, len(endpoint.requests)) == ("infra_error", [1.0], 2)
    assert trace.error.endswith("busy (2 attempts; another would follow in 60.0 s, and the time is over before)")


async def test_a_malformed_call_is_answered_and_never_sent(url: str, farm: Farm) -> None:
    broken = {"id": "x", "name": "borrow", "arguments": '{"book": "Du'}
    trace, endpoint = await chat(url, said(calls=[broken, DUNE]), said("Done."))
    assert trace.end == "finished"
    assert [arguments for _, arguments in farm.calls] == [{"book": "Dune"}]
    malformed, made = trace.turns[0].results
    assert malformed.is_error
    assert 'they were: {"book": "Du. Nothing was done.' in malformed.text
    assert not made.is_error
    assert [m["tool_call_id"] for m in endpoint.requests[1]["messages"] if m["role"] == "tool"] == ["x", "a"]
    assert Trace.model_validate_json(trace.model_dump_json()) == trace


async def test_an_unknown_tool_is_answered_by_the_server(url: str, farm: Farm) -> None:
    trace, _ = await chat(url, said(calls=[{**DUNE, "name": "steal"}]), said("Sorry."))
    assert (trace.end, trace.turns[0].results[0].is_error) == ("finished", True)
    assert trace.turns[0].results[0].text.startswith("no tool named steal")
    assert farm.calls == [("steal", {"book": "Dune"})]


async def test_an_empty_reply_is_reminded_of_once(url: str) -> None:
    trace, endpoint = await chat(url, said(""), said("Done."))
    assert (trace.end, trace.answer) == ("finished", "Done.")
    assert trace.turns[0].user == REMINDER
    assert endpoint.requests[1]["messages"][-1] == {"role": "user", "content": REMINDER}


async def test_a_second_empty_reply_is_the_agents_failure(url: str) -> None:
    trace, _ = await chat(url, said(" \n"), said(calls=[DUNE]), said(None))
    assert (trace.end, trace.answer) == ("agent_error", "")
    assert "said nothing" in trace.error
    assert len(trace.turns) == 3


async def test_an_episode_ends_after_its_turns(url: str, farm: Farm) -> None:
    trace, endpoint = await chat(url, said(calls=[DUNE]), said(calls=[EMMA]), turns=2)
    assert (trace.end, trace.answer, trace.error) == ("turn_limit", "", "not finished after 2 turns")
    assert len(farm.calls) == len(endpoint.requests) == 2


async def test_an_answer_in_the_last_turn_counts(url: str) -> None:
    trace, _ = await chat(url, said(calls=[DUNE]), said("Done."), turns=2)
    assert trace.end == "finished"


async def test_an_episode_ends_after_its_tokens(url: str) -> None:
    trace, endpoint = await chat(url, said(calls=[DUNE]), said(calls=[EMMA]), tokens=30)
    assert (trace.end, trace.tokens) == ("token_limit", 30)
    assert len(endpoint.requests) == 2


async def test_a_model_that_never_answers_ends_with_the_time(url: str) -> None:
    trace, _ = await chat(url, said(calls=[DUNE]), None, seconds=0.3)
    assert (trace.end, trace.error) == ("time_limit", "not finished after 0.3 s")
    assert trace.turns[0].results[0].text == "loan_1: Dune"


async def test_a_tool_that_never_answers_ends_with_the_time_and_keeps_what_was_done(url: str) -> None:
    trace, _ = await chat(url, said(calls=[DUNE, PONDER, EMMA]), seconds=0.3)
    assert trace.end == "time_limit"
    assert [call.id for call in trace.turns[0].calls] == ["a", "p", "b"]
    assert [result.text for result in trace.turns[0].results] == ["loan_1: Dune"]
    assert Trace.model_validate_json(trace.model_dump_json()) == trace


async def test_a_full_context_ends_like_a_token_limit(url: str) -> None:
    trace, _ = await chat(url, refused(400, "too long", code="context_length_exceeded"))
    assert trace.end == "token_limit"


@pytest.mark.parametrize("answer", [refused(500, "boom"), refused(401, "bad key"), {"choices": []}])
async def test_a_broken_endpoint_is_no_failure_of_the_agent(url: str, answer: dict[str, Any] | Response) -> None:
    trace, _ = await chat(url, said(calls=[DUNE]), answer)
    assert (trace.end, trace.answer) == ("infra_error", "")
    assert trace.error
    assert len(trace.turns) == 1


class Saboteur:
    """Breaks the farm, and then calls a tool."""

    name = "saboteur"

    def __init__(self, farm: Farm, **breaks: bool) -> None:
        self._farm = farm
        self._breaks = breaks

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        for what, value in self._breaks.items():
            setattr(self._farm, what, value)
        return await ScriptedModel([ScriptedCall(tool="borrow", arguments={"book": "Dune"})]).reply(messages, tools)


@pytest.mark.parametrize(("what", "error"), [("closed", "it was closed"), ("broken", "the worker failed")])
async def test_a_broken_farm_is_no_failure_of_the_agent(url: str, farm: Farm, what: str, error: str) -> None:
    trace = await episode(url, Saboteur(farm, **{what: True}))
    assert trace.end == "infra_error"
    assert error in trace.error
    assert (len(trace.turns[0].calls), trace.turns[0].results) == (1, ())


async def test_a_script_plays_with_values_from_results(url: str, farm: Farm) -> None:
    calls = [
        ScriptedCall(tool="borrow", arguments={"book": "Dune"}),
        ScriptedCall(tool="borrow", arguments={"book": "after ${1.loans[0].loan_id}"}),
    ]
    trace = await episode(url, ScriptedModel(calls, "Lent ${2.loans[0].loan_id}."))
    assert (trace.end, trace.answer) == ("finished", "Lent loan_2.")
    assert farm.calls[1] == ("borrow", {"book": "after loan_1"})


async def test_a_script_whose_reference_leads_nowhere_ends_as_an_agents_error(url: str) -> None:
    calls = [ScriptedCall(tool="borrow", arguments={"book": "Dune"}), ScriptedCall(tool="${1.x}", arguments={})]
    broken = ScriptedCall(tool="borrow", arguments={"book": "${1.copies}"})
    trace = await episode(url, ScriptedModel([calls[0], broken]))
    assert trace.end == "agent_error"
    assert "${1.copies}: the result of call 1 has no 'copies'" in trace.error


async def test_an_empty_script_does_nothing_and_finishes(url: str, farm: Farm) -> None:
    trace = await episode(url, ScriptedModel([]))
    assert (trace.end, trace.answer, len(trace.turns), farm.calls) == ("finished", "", 1, [])


async def test_the_same_script_gives_the_same_trace(farm: Farm) -> None:
    traces: list[Trace] = []
    for _ in range(2):
        farm.calls.clear()
        async with farm.serve() as url:
            traces.append(await episode(url, ScriptedModel([ScriptedCall(tool="borrow", arguments={"book": "Dune"})])))
    first, second = ([turn.model_copy(update={"seconds": 0}) for turn in trace.turns] for trace in traces)
    assert first == second


async def test_events_tell_the_episode_as_it_happens(url: str, farm: Farm) -> None:
    told: list[Event] = []
    calls_made: list[int] = []

    def listen(event: Event) -> None:
        told.append(event)
        calls_made.append(len(farm.calls))

    async with connect(url, TOKEN) as toolbox:
        script = ScriptedModel([ScriptedCall(tool="borrow", arguments={"book": "Dune"})], "Done.")
        trace = await play(script, toolbox, TASK, limits=Limits(), on_event=listen)
    assert [type(event) for event in told] == [EpisodeStart, ModelReply, CallAnswered, ModelReply, EpisodeEnd]
    assert calls_made == [0, 0, 1, 1, 1]
    assert told[0] == EpisodeStart(TASK, "scripted", 2)
    assert told[-1] == EpisodeEnd(trace)


@pytest.mark.parametrize("error", [TimeoutError, KeyError])
async def test_a_bug_in_a_model_is_not_hidden(url: str, error: type[Exception]) -> None:
    class Buggy:
        name = "buggy"

        async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
            raise error("bug")

    with pytest.raises(error, match="bug"):
        await episode(url, Buggy())
