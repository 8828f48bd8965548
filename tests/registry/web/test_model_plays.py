"""A model plays at a page: to its answer, until a person takes over, and where its endpoint says no."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from fastapi import FastAPI
from fastapi.responses import JSONResponse

from agent_client.toolbox import connect
from servers.scenario.scenario import Solution
from tests.doubles import serving
from tests.frameworks.scripted_endpoint import ScriptedEndpoint
from tests.registry.web.browsers import Visitor, in_one_task

pytestmark = pytest.mark.asyncio(loop_scope="module")
PLAYED = Solution.model_validate(
    {"calls": [{"tool": "price", "arguments": {"id": "t2", "cents": 250}}], "answer": "The bell costs 2.50 <b>now</b>."}
)
KEY = "sk-a-key-that-nobody-sees"
CALL = {"id": "a", "type": "function", "function": {"name": "price", "arguments": '{"id": "t2", "cents": 250}'}}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def visitor(shelf: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Visitor]:
    async with in_one_task(shelf, tmp_path_factory.mktemp("state")) as visitor:
        yield visitor


async def begun(visitor: Visitor, url: str) -> str:
    """The address of an instance which a model behind this endpoint plays."""
    [lease] = await visitor.client.launch("shop", "dearer")
    own = f"/instances/{lease.instance}"
    answer = await visitor.send(f"{own}/model", model="scripted", base_url=f"{url}/v1", key=KEY)
    assert answer.status_code == 303, answer.text
    return own


async def pages(visitor: Visitor, own: str) -> AsyncGenerator[str]:
    """The page as it is, and again whenever its stream says that something has changed."""
    async with visitor.http.stream("GET", f"{own}/events?mark=") as stream:
        yield await visitor.page(own)
        async for line in stream.aiter_lines():
            if line == "event: changed":
                yield await visitor.page(own)


async def seen(visitor: Visitor, own: str, text: str) -> str:
    """The first page that has a text."""
    async with aclosing(pages(visitor, own)) as shown:
        async for page in shown:
            if text in page:
                return page
    raise AssertionError(f"the stream ended before {text!r}")


async def test_a_model_plays_to_its_answer_and_is_watched(visitor: Visitor) -> None:
    endpoint = ScriptedEndpoint(PLAYED)
    async with endpoint.serve() as url:
        own = await begun(visitor, url)
        page = await seen(visitor, own, "scripted answers")
    assert "The bell costs 2.50 &lt;b&gt;now&lt;/b&gt;." in page
    assert "<ins>250</ins>" in page
    assert KEY not in page
    await visitor.send(f"{own}/score", answer="Done.")
    assert '<span class="reward good">1.00</span>' in await visitor.page(own)


async def test_a_person_takes_over_in_the_middle(visitor: Visitor) -> None:
    asked_again, asks = asyncio.Event(), 0

    async def chat() -> Any:
        nonlocal asks
        asks += 1
        if asks > 1:
            asked_again.set()
            await asyncio.Event().wait()  # it thinks until somebody has enough
        message = {"role": "assistant", "content": "I look.", "tool_calls": [CALL]}
        return {
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }

    app = FastAPI()
    app.add_api_route("/v1/chat/completions", chat, methods=["POST"], response_model=None)
    async with serving(app) as url:
        own = await begun(visitor, url)
        again = await visitor.send(f"{own}/model", model="other", base_url=f"{url}/v1")
        assert again.status_code == 409
        assert "plays this instance already" in again.text
        await asked_again.wait()
        assert "scripted plays" in await visitor.page(own)
        await visitor.send(f"{own}/take-over")
        page = await seen(visitor, own, "A person took over.")
        assert "scripted plays" not in page
        await visitor.send(f"{own}/call", **{"tool": "price", "arg.id": "t2", "arg.cents": "300"})
    calls = (await visitor.client.history(own.rpartition("/")[2])).items
    assert [call.arguments for call in calls] == [{"id": "t2", "cents": 250}, {"id": "t2", "cents": 300}]


async def test_an_endpoint_that_refuses_its_key_is_told_on_the_page(visitor: Visitor) -> None:
    app = FastAPI()
    refused = JSONResponse({"error": {"message": "<i>no such key</i>"}}, status_code=401)
    app.add_api_route("/v1/chat/completions", lambda: refused, methods=["POST"], response_model=None)
    async with serving(app) as url:
        own = await begun(visitor, url)
        page = await seen(visitor, own, "no such key")
    assert "<i>no such key" not in page
    assert KEY not in page


async def test_an_endpoint_that_nobody_answers_is_an_error_and_no_answer(visitor: Visitor) -> None:
    own = await begun(visitor, "http://127.0.0.1:9")
    page = await seen(visitor, own, "cannot reach")
    assert "scripted answers" not in page
    model = page.partition('id="model"')[2].partition('id="timeline"')[0]
    assert "Take as the answer" not in model
    assert re.search(r'<p class="error-text[^>]*>[^<]*cannot reach', model)


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ({"model": "", "base_url": "http://127.0.0.1:1/v1"}, "model"),
        ({"model": "m", "base_url": "file:///etc/passwd"}, "base_url"),
        ({"model": "m", "base_url": "http://user:secret@127.0.0.1/v1"}, "base_url"),
    ],
)
async def test_a_wrong_model_or_endpoint_is_told(form: dict[str, str], told: str, visitor: Visitor) -> None:
    [lease] = await visitor.client.launch("shop", "dearer")
    answer = await visitor.send(f"/instances/{lease.instance}/model", **form)
    assert (answer.status_code, told in answer.text) == (422, True)
    assert "secret" not in answer.text
    async with connect(*lease.address()) as toolbox:  # the instance is as it was
        await toolbox.call("find", {})
