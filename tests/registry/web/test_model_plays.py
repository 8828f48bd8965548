"""A model plays at a page: to its answer, until a person takes over, and where its endpoint says no."""

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest
import pytest_asyncio

from agent_client.toolbox import connect
from servers.scenario.scenario import Solution
from tests.doubles import StubEndpoint, refused, said
from tests.frameworks.scripted_endpoint import ScriptedEndpoint
from tests.processes import until
from tests.registry.web.browsers import Visitor, in_one_task

pytestmark = pytest.mark.asyncio(loop_scope="module")
PLAYED = Solution.model_validate(
    {"calls": [{"tool": "price", "arguments": {"id": "t2", "cents": 250}}], "answer": "The bell costs 2.50 <b>now</b>."}
)
KEY = "sk-a-key-that-nobody-sees"
CALL = {"id": "a", "name": "price", "arguments": '{"id": "t2", "cents": 250}'}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def visitor(shelf: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Visitor]:
    async with in_one_task(shelf, tmp_path_factory.mktemp("state")) as visitor:
        yield visitor


async def begun(visitor: Visitor, url: str) -> str:
    """The address of an instance which a model behind this endpoint plays."""
    [lease] = await visitor.client.launch("shop", "dearer")
    own = f"/instances/{lease.instance}"
    answer = await visitor.send(f"{own}/model", model="scripted", base_url=url, key=KEY)
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
    async with ScriptedEndpoint(PLAYED).serve() as origin:
        own = await begun(visitor, f"{origin}/v1")
        page = await seen(visitor, own, "scripted answers")
    assert "The bell costs 2.50 &lt;b&gt;now&lt;/b&gt;." in page
    assert "<ins>250</ins>" in page
    assert KEY not in page
    await visitor.send(f"{own}/score", answer="Done.")
    assert '<span class="reward good">1.00</span>' in await visitor.page(own)


async def test_a_person_takes_over_in_the_middle(visitor: Visitor) -> None:
    endpoint = StubEndpoint([said("I look.", calls=[CALL]), None])
    async with endpoint.serve() as url:
        own = await begun(visitor, url)
        again = await visitor.send(f"{own}/model", model="other", base_url=url)
        assert again.status_code == 409
        assert "plays this instance already" in again.text
        await until(lambda: len(endpoint.requests) == 2, "the model is asked again")
        assert "scripted plays" in await visitor.page(own)
        await visitor.send(f"{own}/take-over")
        page = await seen(visitor, own, "A person took over.")
        assert "scripted plays" not in page
        await visitor.send(f"{own}/call", **{"tool": "price", "arg.id": "t2", "arg.cents": "300"})
    calls = (await visitor.client.history(own.rpartition("/")[2])).items
    assert [call.arguments for call in calls] == [{"id": "t2", "cents": 250}, {"id": "t2", "cents": 300}]


async def test_an_endpoint_that_refuses_its_key_is_told_on_the_page(visitor: Visitor) -> None:
    async with StubEndpoint([refused(401, "<i>no such key</i>")]).serve() as url:
        own = await begun(visitor, url)
        page = await seen(visitor, own, "no such key")
    assert "<i>no such key" not in page
    assert KEY not in page


async def test_an_endpoint_that_nobody_answers_is_an_error_and_no_answer(visitor: Visitor) -> None:
    own = await begun(visitor, "http://127.0.0.1:9/v1")
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
