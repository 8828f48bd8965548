"""Calls that are small for a guest, and large for those who read what they did."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from servers.bundle_library import Library
from servers.errors import QueryError
from servers.messages import Launch
from servers.worker.instance import MOST_RESULT_VALUES, Instance
from servers.worker.worker import LARGEST_PAGE, Worker
from tests.bundles import SCHEMA, TOOLS, write_bundle
from tests.told import history_of

NAMES = [f"column_{number:03}_{'x' * 110}" for number in range(100)]
WIDE = f"{SCHEMA}\nCREATE TABLE wide (id INTEGER PRIMARY KEY, {', '.join(f'{name} TEXT' for name in NAMES)});\n"
LARGE = '''

class Result(TypedDict):
    found: list[int]


def widen(db: Database, *, rows: int) -> Result:
    """Insert rows with no values.

    Args:
        rows: How many.
    """
    for _ in range(rows):
        db.run("INSERT INTO wide DEFAULT VALUES")
    return {"found": []}


def many(db: Database, *, count: int) -> Result:
    """Return many values.

    Args:
        count: How many.
    """
    return {"found": [0] * count}


def twice(db: Database, *, deep: bool) -> Result:
    """Return a key twice.

    Args:
        deep: Whether it is not at the top.
    """
    found = {"1": "see 1:00", 1: "or 2:00"}
    return {"found": [found]} if deep else found


def once(db: Database) -> Result:
    """Return a key twice, but not in one object."""
    return {"found": [{"1": "see 1:00"}, {1: "or 2:00"}]}


def told(db: Database, *, text: str) -> Result:
    """Have the guest send a text as the result.

    Args:
        text: What it sends.
    """
    import sys

    here, honest = sys.modules["servers.guest.tool_call"], sys.modules["servers.guest.tool_call"].WRITER

    class Liar:
        @staticmethod
        def text(result):
            here.WRITER = honest
            return text

    here.WRITER = Liar
    return {"found": []}
'''


@pytest.fixture(scope="module")
def wide_shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wide")
    asyncio.run(write_bundle(folder / "wide", tools=TOOLS + LARGE, schema=WIDE, scenarios=()))
    return folder


@pytest_asyncio.fixture(scope="module")
async def worker(wide_shelf: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Worker]:
    async with Worker(Library([wide_shelf]), tmp_path_factory.mktemp("worker")) as worker:
        yield worker


@pytest_asyncio.fixture
async def instance(worker: Worker) -> Instance:
    [ticket] = await worker.launch(Launch(environment="wide"))
    return worker.find(ticket.instance)


async def test_a_page_of_a_history_is_as_long_as_its_json(worker: Worker, instance: Instance) -> None:
    """The names of columns stand beside each value. In a changeset they do not."""
    for _ in range(5):
        assert (await instance.call("widen", {"rows": 30})).kind == "ok"
    assert instance.state.size < LARGEST_PAGE / 10
    page = await worker.history(instance.id)
    assert 1 <= len(json.loads(page)) < 5
    assert len(page) <= LARGEST_PAGE
    seen = [call.seq for call in await history_of(worker, instance.id)]
    while len(seen) < 5:
        seen += [call.seq for call in await history_of(worker, instance.id, after=seen[-1])]
    assert seen == [1, 2, 3, 4, 5]


async def test_a_call_that_changed_too_much_to_be_listed_is_refused_clearly(worker: Worker, instance: Instance) -> None:
    for rows in (1, 400, 1):
        assert (await instance.call("widen", {"rows": rows})).kind == "ok"
    assert [call.seq for call in await history_of(worker, instance.id)] == [1]
    with pytest.raises(QueryError, match=r"^call 2 changed very much.* hold more than 4,000,000 bytes"):
        await worker.history(instance.id, after=1)
    assert [call.seq for call in await history_of(worker, instance.id, after=2)] == [3]
    with pytest.raises(QueryError, match="more than 4,000,000 bytes"):
        await worker.diff(instance.id)


async def test_a_result_of_very_many_values_is_the_tools_fault(worker: Worker, instance: Instance) -> None:
    assert (await instance.call("many", {"count": MOST_RESULT_VALUES - 2})).kind == "ok"
    assert (await instance.call("many", {"count": MOST_RESULT_VALUES})).kind == "failed"
    [_, call] = await history_of(worker, instance.id)
    assert call.detail == "its result holds more than 20,000 values"


@pytest.mark.parametrize("deep", [True, False])
async def test_a_result_with_a_key_twice_is_the_tools_fault(worker: Worker, instance: Instance, deep: bool) -> None:
    assert (await instance.call("twice", {"deep": deep})).kind == "failed"
    [call] = await history_of(worker, instance.id)
    assert call.detail == "its result has the key '1' twice in one object"


async def test_a_result_with_a_key_in_two_objects_is_kept(instance: Instance) -> None:
    assert (await instance.call("once", {})).structured == {"found": [{"1": "see 1:00"}, {"1": "or 2:00"}]}


@pytest.mark.parametrize("number", ["1e999", "-1E+400", f"{'9' * 400}.0"])
async def test_a_number_that_one_reader_takes_as_infinite_is_the_tools_fault(
    worker: Worker, instance: Instance, number: str
) -> None:
    assert (await instance.call("told", {"text": f'{{"found": [{number}]}}'})).kind == "failed"
    [call] = await history_of(worker, instance.id)
    assert call.detail == "its result holds a number that is too large for JSON"


async def test_a_large_number_and_a_text_that_looks_like_a_larger_one_are_kept(instance: Instance) -> None:
    found = await instance.call("told", {"text": '{"found": [1e300, "1e999"]}'})
    assert found.structured == {"found": [1e300, "1e999"]}
