"""The writer behind an endpoint, over real sockets: what it sends, what it makes of answers, and of trouble."""

import asyncio
import gzip
import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from fastapi import Request
from fastapi.responses import HTMLResponse, Response

from agent_client.models.endpoint import Endpoint, Retries
from servers.errors import RequestError
from servers.records import Record
from synth.llm.cache import Cache
from synth.llm.endpoint import EndpointWriter
from synth.llm.exchange import Recorder
from synth.llm.recording import RecordingWriter
from synth.llm.writer import (
    BadAnswer,
    PromptTooLong,
    Sampling,
    WriterAnswer,
    WriterMessage,
    WriterRefused,
    WriterUnreachable,
)
from tests.doubles import StubEndpoint, refused, said

QUESTION = (WriterMessage(role="system", content="Be brief."), WriterMessage(role="user", content="Which books?"))


class Books(Record):
    titles: tuple[str, ...]


SCHEMA = Books.model_json_schema()
DUNE = '{"titles": ["Dune"]}'


class Waits:
    """Sleeps not at all, and remembers for how long it was asked to."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)


async def ask(
    *answers: dict[str, Any] | Response | None,
    times: int = 1,
    waits: Waits | None = None,
    seconds: float = 300.0,
    attempts: int = 6,
    **settings: Any,
) -> tuple[list[WriterAnswer], StubEndpoint]:
    """Ask the same so many times, one after another."""
    endpoint = StubEndpoint(list(answers))
    async with AsyncExitStack() as stack:
        base_url = await stack.enter_async_context(endpoint.serve())
        retries = Retries(attempts, sleep=waits or Waits())
        connection = Endpoint(base_url, api_key="key-1", seconds=seconds, retries=retries)
        writer = await stack.enter_async_context(EndpointWriter(connection, "stub-1", **settings))
        return [await writer.ask(QUESTION, SCHEMA, label="loans/schema") for _ in range(times)], endpoint


async def test_the_endpoint_is_asked_for_a_value_of_the_schema() -> None:
    [answer], endpoint = await ask(said(DUNE), sampling=Sampling(temperature=0.5, max_tokens=100))
    [request] = endpoint.requests
    assert answer.value == {"titles": ["Dune"]}
    assert (answer.model, answer.prompt_tokens, answer.completion_tokens, answer.cached) == ("stub", 10, 5, False)
    assert request["response_format"]["json_schema"] == {"name": "answer", "schema": SCHEMA, "strict": True}
    assert request["messages"][0]["content"].startswith("Be brief.\n\nAnswer with one JSON value")
    assert json.dumps(SCHEMA) in request["messages"][0]["content"]
    assert request["messages"][1:] == [{"role": "user", "content": "Which books?"}]
    assert (request["temperature"], request["max_tokens"], request["model"]) == (0.5, 100, "stub-1")
    assert endpoint.keys_seen == ["Bearer key-1"]


@pytest.mark.parametrize("status", [400, 422, 501])
async def test_an_endpoint_without_structured_outputs_is_asked_without_from_then_on(status: int) -> None:
    no = refused(status, "response_format is not supported")
    answers, endpoint = await ask(no, said(DUNE), said(DUNE), times=2, attempts=1)
    assert [answer.value for answer in answers] == [{"titles": ["Dune"]}] * 2
    assert ["response_format" in request for request in endpoint.requests] == [True, False, False]


@pytest.mark.parametrize(
    "text",
    [
        f"Here you are:\n\n{DUNE}\n\nI hope that this helps!",
        f"```json\n{DUNE}\n```",
        f"First I tried ```json\n{{}}\n``` but better:\n```\n{DUNE}\n```",
        f"<think>\nPerhaps {{'titles': 1}}? No.\n</think>\n{DUNE}",
        f"Perhaps {{}}? Hm.\n</think>\n\n{DUNE}",
        '{"titles": ["Dune",],}',
        "{'titles': ['Dune']}",
        '{"titles": ["Dune"] /* all */}',
        f"I looked at [the shelf], and: {DUNE}",
    ],
)
async def test_an_answer_is_found_in_what_a_model_says_around_it(text: str) -> None:
    [answer], _ = await ask(said(text))
    assert answer.value == {"titles": ["Dune"]}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (said(""), "the answer is empty"),
        (said(None), "the answer is empty"),
        (said("<think>\nHm.\n</think>\n"), "the answer is empty after the thoughts"),
        (said("<think>\nHm, {"), "stops while thinking"),
        (said("I would rather not."), "there is no JSON in the answer"),
        (said('{"titles": ["Dune", "Em'), "stops in the middle"),
        (said('{"titles": "Dune"}'), 'titles: "Dune" is not of type "array"'),
        (said('{"titles": [], "more": 1}'), "more"),
        (said("[" * 100_000), "nested too deeply"),
        (said("[{" * 900 + "}]" * 900 + ","), "JSON"),
        (said(None, refusal="I cannot."), "the model refused: I cannot."),
    ],
)
async def test_an_answer_that_cannot_be_used_says_why(answer: dict[str, Any], why: str) -> None:
    with pytest.raises(BadAnswer) as bad:
        await ask(answer)
    assert why in bad.value.why
    assert bad.value.spent is not None
    assert bad.value.spent.completion_tokens == 5


@pytest.mark.parametrize("text", [DUNE, '{"titles": ["Dune"', ""])
async def test_an_answer_that_was_cut_off_at_the_token_limit_is_not_mended(text: str) -> None:
    answer = said(text)
    answer["choices"][0]["finish_reason"] = "length"
    with pytest.raises(BadAnswer, match="cut off at the token limit") as bad:
        await ask(answer)
    assert bad.value.text == text


async def test_a_rate_limit_is_waited_out_as_long_as_the_endpoint_asks() -> None:
    waits = Waits()
    [answer], endpoint = await ask(refused(429, "slow down", retry_after="7"), said(DUNE), waits=waits)
    assert answer.value == {"titles": ["Dune"]}
    assert waits.asked == [7]
    assert len(endpoint.requests) == 2


async def test_a_broken_endpoint_is_tried_again_ever_more_slowly_and_then_given_up() -> None:
    waits = Waits()
    with pytest.raises(WriterUnreachable, match=r"loans/schema: .* HTTP 500: .*oops \(3 attempts\)"):
        await ask(refused(500, "oops"), refused(500, "oops"), refused(500, "oops"), attempts=3, waits=waits)
    [first, second] = waits.asked
    assert 0.5 <= first <= 1 <= second <= 2


@pytest.mark.parametrize(
    "nonsense",
    [HTMLResponse("<h1>It works!</h1>"), {"choices": []}, {"error": "no"}],
    ids=["html", "no choices", "an error"],
)
async def test_an_endpoint_that_answers_nonsense_is_named(nonsense: dict[str, Any] | Response) -> None:
    with pytest.raises(WriterUnreachable, match="answered no chat completion"):
        await ask(nonsense, nonsense, attempts=2)


async def test_an_endpoint_that_is_down_is_named() -> None:
    async with AsyncExitStack() as stack:
        connection = Endpoint("http://127.0.0.1:9/v1", retries=Retries(2, sleep=Waits()))
        writer = await stack.enter_async_context(EndpointWriter(connection, "stub-1"))
        with pytest.raises(WriterUnreachable, match=r"cannot reach http://127\.0\.0\.1:9/v1"):
            await writer.ask(QUESTION, SCHEMA, label="loans/schema")


async def test_an_endpoint_that_is_too_slow_is_asked_again() -> None:
    [answer], endpoint = await ask(None, said(DUNE), seconds=0.05)
    assert answer.value == {"titles": ["Dune"]}
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize(("status", "hint"), [(401, "the key is wrong"), (404, "no such model")])
async def test_a_wrong_key_or_model_is_refused_at_once(status: int, hint: str) -> None:
    with pytest.raises(WriterRefused, match=hint):
        await ask(refused(status, "no"))


async def test_a_prompt_that_no_longer_fits_is_told_apart() -> None:
    with pytest.raises(PromptTooLong):
        await ask(refused(400, "maximum context length is 8192 tokens", code="context_length_exceeded"))


async def test_no_more_requests_than_allowed_are_under_way() -> None:
    crowd = Crowd()
    async with AsyncExitStack() as stack:
        base_url = await stack.enter_async_context(crowd.serve())
        connection = Endpoint(base_url, retries=Retries(sleep=Waits()))
        writer = await stack.enter_async_context(EndpointWriter(connection, "stub-1", at_once=2))
        async with asyncio.TaskGroup() as group:
            for number in range(6):
                asked = (WriterMessage(role="user", content=str(number)),)
                group.create_task(writer.ask(asked, SCHEMA, label="a/b"))
    assert crowd.most == 2


class Crowd(StubEndpoint):
    """An endpoint that counts how many it serves at once, and answers when a second one has come."""

    def __init__(self) -> None:
        super().__init__([])
        self.here = self.most = 0
        self.second = asyncio.Event()

    async def _complete(self, request: Request) -> Response:
        self.here += 1
        self.most = max(self.most, self.here)
        if self.here > 1:
            self.second.set()
        await self.second.wait()
        self.here -= 1
        return Response(json.dumps(said(DUNE)), media_type="application/json")


async def test_what_was_answered_once_costs_nothing_again(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    answers, endpoint = await ask(said(DUNE), times=2, cache=cache)
    assert [answer.cached for answer in answers] == [False, True]
    assert answers[0].value == answers[1].value
    later, elsewhere = await ask(cache=Cache(tmp_path))
    assert later[0].cached
    assert (len(endpoint.requests), len(elsewhere.requests)) == (1, 0)


@pytest.mark.parametrize("other", [{"sampling": Sampling(temperature=1)}, {"sampling": Sampling(seed=2)}], ids=str)
async def test_another_way_of_sampling_is_another_question(other: dict[str, Any], tmp_path: Path) -> None:
    await ask(said(DUNE), cache=Cache(tmp_path))
    _, endpoint = await ask(said(DUNE), cache=Cache(tmp_path), **other)
    assert len(endpoint.requests) == 1


def kept_in(folder: Path) -> list[Path]:
    return list(folder.glob("*/*.json"))


def cut_short(folder: Path) -> None:
    [file] = kept_in(folder)
    file.write_text(file.read_text()[:-40])


async def test_a_damaged_file_of_the_cache_is_asked_for_again(tmp_path: Path) -> None:
    await ask(said(DUNE), cache=Cache(tmp_path))
    cut_short(tmp_path)
    [answer], endpoint = await ask(said(DUNE), cache=Cache(tmp_path))
    assert (answer.cached, len(endpoint.requests)) == (False, 1)
    assert Cache(tmp_path).find({}) is None


async def test_an_empty_answer_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(BadAnswer):
        await ask(said(""), cache=Cache(tmp_path))
    assert kept_in(tmp_path) == []


async def test_a_record_of_the_exchanges_can_be_replayed(tmp_path: Path) -> None:
    [answer], _ = await ask(said(DUNE), recorder=Recorder(tmp_path / "deep" / "r.jsonl"))
    await ask(said(DUNE), recorder=Recorder(tmp_path / "deep" / "r.jsonl"))
    assert len((tmp_path / "deep" / "r.jsonl").read_text().splitlines()) == 1
    again = await RecordingWriter(tmp_path / "deep" / "r.jsonl").ask(QUESTION, SCHEMA, label="loans/schema")
    assert again == answer.model_copy(update={"cached": True})


async def test_a_recording_may_be_compressed(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl.gz"
    [answer], _ = await ask(said(DUNE), recorder=Recorder(path))
    await ask(said(DUNE), recorder=Recorder(path))
    assert len(gzip.decompress(path.read_bytes()).splitlines()) == 1
    again = await RecordingWriter(path).ask(QUESTION, SCHEMA, label="loans/schema")
    assert again == answer.model_copy(update={"cached": True})
    whole = path.read_bytes()
    for harm in (whole[:-9], b"{}\n", whole[:12] + b"\xff" * 9 + whole[21:]):
        path.write_bytes(harm)
        with pytest.raises(RequestError, match="and is not whole gzip"):
            RecordingWriter(path)


async def test_an_optional_key_is_not_asked_for_strictly() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
    endpoint = StubEndpoint([said('{"a": "b"}')])
    async with AsyncExitStack() as stack:
        base_url = await stack.enter_async_context(endpoint.serve())
        writer = await stack.enter_async_context(EndpointWriter(Endpoint(base_url), "stub-1"))
        await writer.ask(QUESTION, schema, label="a/b")
    assert endpoint.requests[0]["response_format"]["json_schema"]["strict"] is False
