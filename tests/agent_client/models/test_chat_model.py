"""A chat model against an endpoint that gives prepared answers: what it sends, what it reads, when it gives up."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

import pytest
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from agent_client.errors import ConversationTooLong, EndpointDown, EndpointError, EndpointRefused
from agent_client.model import (
    EPISODE_CLOCK,
    CallReply,
    Instructions,
    Message,
    Reply,
    User,
)
from agent_client.models.chat_model import ChatModel
from agent_client.models.endpoint import ATTEMPTS_TO_CHECK, Endpoint, NamedKey, Retries
from agent_client.trace import ToolCall, ToolResult, ToolSpec
from tests.doubles import StubEndpoint, refused, said
from tests.processes import until

TASK = [Instructions("Be kind."), User("Borrow Dune.")]
BORROW = ToolSpec(name="borrow", description="Borrow a book.", arguments={"type": "object"})


class Waits:
    """Sleeps not at all, and remembers for how long it was asked to."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)


async def ask(
    *answers: dict[str, Any] | Response | None,
    messages: Sequence[Message] = TASK,
    tools: Sequence[ToolSpec] = (BORROW,),
    waits: Waits | None = None,
    attempts: int = 6,
    **settings: Any,
) -> tuple[Reply, StubEndpoint]:
    endpoint = StubEndpoint(list(answers))
    async with (
        endpoint.serve() as base_url,
        ChatModel(base_url, "stub-1", retries=Retries(attempts, sleep=waits or Waits()), **settings) as model,
    ):
        return await model.reply(messages, tools), endpoint


async def test_the_endpoint_is_asked_with_rules_task_tools_and_settings() -> None:
    reply, endpoint = await ask(said("Done."), temperature=0.5, max_tokens=100, api_key="key-1")
    assert endpoint.requests == [
        {
            "model": "stub-1",
            "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Borrow Dune."}],
            "temperature": 0.5,
            "max_tokens": 100,
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "borrow",
                        "description": "Borrow a book.",
                        "parameters": {"type": "object"},
                    },
                }
            ],
        }
    ]
    assert endpoint.keys_seen == ["Bearer key-1"]
    assert reply == Reply(text="Done.", tokens_in=10, tokens_out=5)


async def test_without_tools_or_settings_none_are_sent() -> None:
    _, endpoint = await ask(said("Done."), tools=())
    assert set(endpoint.requests[0]) == {"model", "messages"}


async def test_every_call_is_shown_with_its_answer() -> None:
    calls = (ToolCall(id="a", tool="borrow", arguments={"book": "Dune"}), ToolCall.read("b", "öd tool", "{oops"))
    answers = [CallReply(call, ToolResult(text=f"result of {call.id}")) for call in calls]
    _, endpoint = await ask(said("Done."), messages=[*TASK, Reply(thinking="Hm.", calls=calls), *answers])
    assert endpoint.requests[0]["messages"][2:] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "borrow", "arguments": '{"book": "Dune"}'}},
                {"id": "b", "type": "function", "function": {"name": "_d_tool", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "result of a"},
        {"role": "tool", "tool_call_id": "b", "content": "result of b"},
    ]


async def test_calls_are_read_in_order() -> None:
    asked = [
        {"id": "a", "name": "borrow", "arguments": '{"book": "Dune"}'},
        {"id": "b", "name": "list", "arguments": ""},
        {"id": "c", "name": "list", "arguments": None},
        {"id": "d", "name": "borrow", "arguments": {"book": "Emma"}},
    ]
    reply, _ = await ask(said("I look.", calls=asked))
    assert reply.text == "I look."
    assert reply.calls == (
        ToolCall(id="a", tool="borrow", arguments={"book": "Dune"}),
        ToolCall(id="b", tool="list"),
        ToolCall(id="c", tool="list"),
        ToolCall(id="d", tool="borrow", arguments={"book": "Emma"}),
    )


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ('{"book": "Du', "EOF while parsing a string"),
        ("[1]", "not list"),
        ('"{}"', "not str"),
        ('{"book": NaN}', "expected value"),
        ('{"book": 1e999}', "not JSON compliant"),
        ('{"book": "\\ud800"}', "hex escape"),
        ('{"book": ' + "[" * 1000, "recursion limit"),
        ('{"book": ' + "9" * 5000 + "}", "out of range"),
    ],
)
async def test_malformed_arguments_stay_in_the_reply_and_say_why(written: str, why: str) -> None:
    reply, endpoint = await ask(said(calls=[{"id": "a", "name": "borrow", "arguments": written}]))
    (call,) = reply.calls
    assert (call.id, call.tool, call.arguments) == ("a", "borrow", {})
    assert why in call.malformed
    assert f"they were: {written[:10]}" in call.malformed
    assert len(call.malformed) < 700
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (rb"\ud83d", "\ufffd"),
        (rb"\uDE00\ud83d", "\ufffd\ufffd"),
        (rb"\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        (rb"\\ud83d \u00e4", "\\ud83d ä"),
        (b"\xff\xc3\xa4", "\ufffdä"),
    ],
)
async def test_half_a_character_of_a_model_is_its_own_doing(written: bytes, read: str) -> None:
    """No retry makes it whole. As an error of the endpoint, it would spare a policy its zero."""
    reply, endpoint = await ask(Response(b'{"choices": [{"message": {"content": "%b"}}]}' % written), attempts=1)
    assert (reply.text, len(endpoint.requests)) == (read, 1)


async def test_calls_without_ids_of_their_own_are_told_apart_by_turn_and_place() -> None:
    twice = [{"id": "", "name": "borrow", "arguments": "{}"}, {"id": "", "name": "list", "arguments": "{}"}]
    reply, _ = await ask(said(calls=twice), messages=[*TASK, Reply(text="Well."), User("Go on.")])
    assert [call.id for call in reply.calls] == ["call_2_1", "call_2_2"]
    same = [{"id": "x", "name": "borrow", "arguments": "{}"}, {"id": "x", "name": "list", "arguments": "{}"}]
    reply, _ = await ask(said(calls=same))
    assert [call.id for call in reply.calls] == ["call_1_1", "call_1_2"]


@pytest.mark.parametrize(
    "answer",
    [
        said("Done.", reasoning_content="Hm."),
        said("Done.", reasoning="Hm."),
        said("<think>\nHm.\n</think>\n\nDone."),
    ],
)
async def test_thinking_is_kept_apart(answer: dict[str, Any]) -> None:
    reply, _ = await ask(answer)
    assert (reply.text, reply.thinking) == ("Done.", "Hm.")


async def test_a_text_that_only_mentions_thinking_tags_stays_whole() -> None:
    reply, _ = await ask(said("Close it with </think>, please."))
    assert (reply.text, reply.thinking) == ("Close it with </think>, please.", "")


async def test_an_answer_without_usage_counts_no_tokens() -> None:
    reply, _ = await ask({"choices": [{"message": {"content": "Done."}}]})
    assert reply == Reply(text="Done.")


async def test_a_rate_limit_is_waited_for_as_long_as_the_endpoint_asks() -> None:
    waits = Waits()
    reply, _ = await ask(
        refused(429, "slow down", retry_after="7"), refused(429, "slow down"), said("Done."), waits=waits
    )
    assert reply.text == "Done."
    assert waits.asked[0] == 7
    assert 1 <= waits.asked[1] <= 2


@pytest.mark.parametrize(
    "broken",
    [
        refused(500, "boom"),
        refused(503, "overloaded"),
        HTMLResponse("<html>gateway</html>"),
        {"error": "upstream"},
        {"choices": []},
    ],
)
async def test_a_broken_endpoint_is_asked_again_with_growing_waits(broken: dict[str, Any] | Response) -> None:
    waits = Waits()
    reply, _ = await ask(broken, broken, said("Done."), waits=waits)
    assert reply.text == "Done."
    assert 0.5 <= waits.asked[0] <= 1 <= waits.asked[1] <= 2


async def test_an_endpoint_that_stays_broken_is_an_error_with_its_own_words() -> None:
    with pytest.raises(EndpointError, match=r"HTTP 500: .*boom.*3 attempts"):
        await ask(*[refused(500, "boom")] * 3, attempts=3)


async def test_nonsense_to_the_end_is_an_error_of_the_endpoint() -> None:
    nonsense: dict[str, Any] = {"choices": []}
    with pytest.raises(EndpointError, match=r"no chat completion: choices.*2 attempts"):
        await ask(nonsense, nonsense, attempts=2)


async def test_an_endpoint_that_hangs_is_given_up() -> None:
    with pytest.raises(EndpointError, match=r"cannot reach .*(timed out|Timeout)"):
        await ask(None, seconds=0.05, attempts=1)


async def test_where_nothing_listens_one_attempt_is_enough() -> None:
    waits = Waits()
    async with ChatModel("http://127.0.0.2:9/v1", "stub-1", retries=Retries(3, sleep=waits)) as model:
        with pytest.raises(EndpointError, match=r"cannot reach http://127\.0\.0\.2:9/v1"):
            await model.reply(TASK, [])
    assert waits.asked == []


async def test_an_endpoint_that_went_down_is_tried_again_and_then_named() -> None:
    waits = Waits()
    async with AsyncExitStack() as stack:
        async with StubEndpoint([said("Done.")]).serve() as base_url:
            model = await stack.enter_async_context(ChatModel(base_url, "stub-1", retries=Retries(3, sleep=waits)))
            await model.reply(TASK, [])
        with pytest.raises(EndpointError, match=r"cannot reach .*3 attempts"):
            await model.reply(TASK, [])
    assert len(waits.asked) == 2


@pytest.mark.parametrize(
    ("refusal", "hint"),
    [
        (refused(401, "bad key"), "/v1 answered HTTP 401: bad key; the key is wrong$"),
        (refused(403, "not yours"), "may not use this model"),
        (Response("<p>\n  Go away", 402), "/v1 answered HTTP 402: <p> Go away; it wants to be paid first$"),
        (refused(404, "unknown model"), "no such model"),
        (refused(400, "unknown parameter"), "does not take such a request"),
        (refused(429, "pay first", code="insufficient_quota"), "not pass soon"),
        (refused(429, "slow down", retry_after="3600"), "retry in 3600 s"),
    ],
)
async def test_a_refusal_is_final_at_once(refusal: Response, hint: str) -> None:
    waits = Waits()
    with pytest.raises(EndpointError, match=hint):
        await ask(refusal, said("never asked for"), waits=waits, api_key="key-1")
    assert waits.asked == []


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_told_with_the_variable_that_it_comes_from(status: int) -> None:
    with pytest.raises(EndpointRefused, match=r"; no key was given$"):
        await ask(refused(status, "no"))
    with pytest.raises(EndpointRefused, match=r"; no key was given: set SOME_KEY$"):
        await ask(refused(status, "no"), api_key=NamedKey("", "SOME_KEY"))
    with pytest.raises(EndpointRefused, match=r"the key (is wrong|may not use this model) \(SOME_KEY\)$"):
        await ask(refused(status, "no"), api_key=NamedKey("key-1", "SOME_KEY"))


async def test_a_key_that_an_endpoint_repeats_is_not_told() -> None:
    with pytest.raises(EndpointRefused, match=r"bad key Bearer \(the key\); the key is wrong$"):
        await ask(refused(401, "bad key Bearer sk-secretsecret"), api_key="sk-secretsecret")
    with pytest.raises(EndpointRefused, match="none of these"):
        await ask(refused(401, "none of these"))


@pytest.mark.parametrize("status", [301, 302, 303])
async def test_a_redirect_that_loses_the_request_is_told_with_the_address_to_take(status: int) -> None:
    waits = Waits()
    with pytest.raises(EndpointRefused, match=rf"redirects to http://127.*/v2 \(HTTP {status}\).* as the base URL"):
        await ask(RedirectResponse("/v2/chat/completions", status), said("never asked for"), waits=waits)
    assert waits.asked == []


async def test_a_redirect_that_keeps_the_request_is_followed_but_not_in_a_circle() -> None:
    again = RedirectResponse("/v1/chat/completions", 307)
    assert (await ask(again, said("Done.")))[0].text == "Done."
    with pytest.raises(EndpointRefused, match="redirects in a circle"):
        await ask(*[again] * 30)


@pytest.mark.parametrize(
    "refusal",
    [
        refused(400, "too long", code="context_length_exceeded"),
        refused(400, "This model's maximum context length is 4096 tokens."),
    ],
)
async def test_a_full_context_is_the_agents_doing(refusal: Response) -> None:
    with pytest.raises(ConversationTooLong, match="no longer fits"):
        await ask(refusal)


async def test_a_model_is_asked_for_a_token_and_only_a_lasting_refusal_counts() -> None:
    busy = (refused(503, "busy", retry_after="9"), refused(429, "too many"))
    cut: dict[str, Any] = {"choices": [{"finish_reason": "length"}]}
    for answer in (said("."), cut, refused(400, "too few tokens"), *busy):
        endpoint = StubEndpoint([answer])
        async with endpoint.serve() as base_url, ChatModel(base_url, "stub-1") as model:
            await model.check_model()
        assert len(endpoint.requests) == 1
    for status in (301, 401, 402, 403, 404, 405, 501):
        async with StubEndpoint([refused(status, "no")]).serve() as base_url, ChatModel(base_url, "stub-1") as model:
            with pytest.raises(EndpointRefused):
                await model.check_model()


async def checked(*answers: dict[str, Any] | Response | None) -> StubEndpoint:
    endpoint, waits = StubEndpoint(list(answers)), Waits()
    async with endpoint.serve() as url, ChatModel(url, "stub-1", retries=Retries(sleep=waits)) as model:
        await model.check_model()
    assert sum(waits.asked) <= ATTEMPTS_TO_CHECK
    return endpoint


async def test_an_endpoint_that_is_broken_or_none_is_found_by_the_one_token() -> None:
    """Also if it has failed only at first, as a gateway does while a model is loaded."""
    for status in (500, 502, 503):
        with pytest.raises(EndpointDown, match=rf"answered HTTP {status}: boom \({ATTEMPTS_TO_CHECK} attempts\)$"):
            await checked(*[refused(status, "boom")] * ATTEMPTS_TO_CHECK)
    with pytest.raises(EndpointDown, match="it will not pass soon"):
        await checked(refused(429, "pay first", code="insufficient_quota"))
    nonsense: list[dict[str, Any] | Response] = [HTMLResponse("<h1>It works!</h1>"), {"choices": []}, {"hello": 1}]
    for answer in nonsense:
        with pytest.raises(EndpointRefused, match=r"no chat completion: .*3 attempts\); the base URL seems wrong$"):
            await checked(*[answer] * ATTEMPTS_TO_CHECK)
    assert len((await checked(refused(500, "boom"), HTMLResponse("<p>"), said("."))).requests) == 3


async def asked_until_the_time_is_over(messages: Sequence[Message]) -> None:
    """Ask an endpoint that never answers, in an episode whose time is over as soon as the request is there."""
    stub = StubEndpoint([None])
    async with stub.serve() as base_url, ChatModel(base_url, "stub-1") as model:

        async def end() -> None:
            await until(lambda: bool(stub.requests), "the endpoint was asked")
            clock.reschedule(asyncio.get_running_loop().time())

        async with asyncio.timeout(None) as clock:
            EPISODE_CLOCK.set(clock)
            ending = asyncio.create_task(end())
            await model.reply(messages, [])
        await ending


async def test_an_endpoint_that_never_answers_is_to_blame_unless_the_model_has_said_something() -> None:
    with pytest.raises(EndpointDown, match=r"did not answer the first request in .* the time was over"):
        await asyncio.create_task(asked_until_the_time_is_over(TASK))
    with pytest.raises(TimeoutError):
        await asyncio.create_task(asked_until_the_time_is_over([*TASK, Reply(text="Well."), User("Go on.")]))


async def test_a_model_that_takes_long_to_say_a_token_is_not_refused() -> None:
    stub = StubEndpoint([None])
    async with stub.serve() as base_url, Endpoint(base_url) as connection:
        await connection.check_model("stub-1", seconds=0.2)
    assert len(stub.requests) == 1


async def test_many_replies_can_be_asked_for_at_once() -> None:
    endpoint = StubEndpoint([said(str(number)) for number in range(8)])
    async with endpoint.serve() as base_url, ChatModel(base_url, "stub-1") as model:
        replies = await asyncio.gather(*(model.reply(TASK, []) for _ in range(8)))
    assert {reply.text for reply in replies} == {str(number) for number in range(8)}
