"""A perturbed instance has other tools and the same rows: names map back, and no two tools share one."""

import shutil
from collections.abc import AsyncGenerator
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import pytest_asyncio

from registry.messages import LaunchRequest
from servers.bundle.environment import load
from servers.bundle.files import PACKAGED
from servers.bundle_library import Library
from servers.errors import Conflict, RequestError
from servers.messages import Launch
from servers.perturb.perturbation import perturbation_of
from servers.perturb.tool_view import TRANSIENT, view_of
from servers.worker.instance import Instance
from servers.worker.worker import Worker
from tests.bundles import write_bundle

EVERY = "names,arguments,descriptions,order,fields,shape"


@pytest_asyncio.fixture
async def shop(tmp_path: Path) -> AsyncGenerator[Worker]:
    """A worker with two small environments."""
    for name in ("shop", "store"):
        await write_bundle(tmp_path / "shelf" / name)
    async with Worker(Library([tmp_path / "shelf"]), tmp_path / "state") as worker:
        yield worker


async def launched(worker: Worker, perturb: str, seed: int = 0) -> Instance:
    [ticket] = await worker.launch(Launch(environment="shop", perturb=perturb, seed=seed))
    return await worker.opened(ticket.instance)


@pytest.mark.parametrize("folder", sorted(path.parent.name for path in PACKAGED.glob("*/environment.json")))
@pytest.mark.parametrize("seed", range(3))
def test_every_environment_gets_new_names_that_differ_and_lead_back(folder: str, seed: int) -> None:
    tools = load(PACKAGED / folder).description.tools
    view = view_of(tools, perturbation_of(f"{EVERY},seed={seed}"))
    assert len({tool.name for tool in view.listed}) == len(tools)
    assert not {tool.name for tool in view.listed} & {tool.name for tool in tools}
    for tool in tools:
        given = {name: number for number, name in enumerate(tool.properties)}
        name, arguments = view.seen_call(tool.name, given)
        assert arguments.keys() == view.tools[name].properties.keys()
        assert len(arguments) == len(given)
        assert view.own_call(name, arguments) == (tool.name, given)
        assert view.tools[name].description != tool.description


async def test_a_call_by_its_new_name_does_the_same_and_the_old_name_is_unknown(shop: Worker) -> None:
    plain, other = await launched(shop, ""), await launched(shop, EVERY)
    await plain.call("price", {"id": "t1", "cents": 5})
    assert other.view is not None
    name, arguments = other.view.seen_call("price", {"id": "t1", "cents": 5})
    assert name != "price"
    refused = await other.call("price", {"id": "t1", "cents": 7})
    assert refused.kind == "invalid"
    assert name in refused.text
    assert (await other.call(name, arguments)).kind == "ok"
    cents = "SELECT id, cents FROM things ORDER BY id"
    assert (await shop.query(other.id, cents)).rows == (await shop.query(plain.id, cents)).rows


async def test_an_argument_by_its_old_name_is_refused(tmp_path: Path) -> None:
    async with Worker(Library([PACKAGED]), tmp_path) as worker:
        [ticket] = await worker.launch(Launch(environment="hotel_bookings", perturb="arguments"))
        instance = await worker.opened(ticket.instance)
        assert (await instance.call("find_guests", {"text": "Okafor"})).kind == "invalid"
        found = await instance.call("find_guests", {"words": "Okafor"})
        assert found.structured is not None
        assert found.structured["guests"][0]["guest_id"] == "gst_okafor"
        missing = await instance.call("show_booking", {"booking_ref": "bkg_0"})
        assert missing.kind == "refused"


async def test_results_are_as_the_listed_schema_says(shop: Worker) -> None:
    instance = await launched(shop, "fields,shape")
    found = await instance.call("find", {})
    assert found.structured is not None
    assert found.structured["ok"] is True
    assert [thing["id"] for thing in found.structured["data"]["things"]] == ["t1", "t2", "t3"]
    [tool] = [tool for tool in instance.listed_tools() if tool.name == "find"]
    jsonschema_rs.validate(tool.result, found.structured)


async def test_a_transient_fault_changes_nothing_and_the_next_call_passes(shop: Worker) -> None:
    texts: list[list[str]] = []
    for _ in range(2):
        instance = await launched(shop, "faults=0.5", seed=3)
        told = [await instance.call("make", {"name": f"thing {number}"}) for number in range(20)]
        failed = [outcome.text == TRANSIENT for outcome in told]
        assert 0 < sum(failed) <= 10
        assert not any(one and other for one, other in pairwise(failed))
        count = await shop.query(instance.id, "SELECT count(*) FROM things")
        assert count.rows == ((3 + 20 - sum(failed),),)
        texts.append([outcome.text for outcome in told])
    assert texts[0] == texts[1]


async def test_a_tool_of_another_environment_with_a_name_that_is_taken_is_not_lent(shop: Worker) -> None:
    with pytest.raises(RequestError, match="tools=2: the other environments of this farm lend 0 tools"):
        await launched(shop, "names,tools=2")


async def test_tools_of_other_environments_are_listed_and_change_nothing(tmp_path: Path) -> None:
    async with Worker(Library([PACKAGED]), tmp_path) as worker:
        [ticket] = await worker.launch(Launch(environment="parcel_room", perturb="tools=8,seed=1"))
        instance = await worker.opened(ticket.instance)
        assert instance.view is not None
        own = {tool.name for tool in instance.environment.description.tools}
        listed = {tool.name: tool for tool in instance.listed_tools()}
        assert len(listed) == len(own) + 8
        assert listed.keys() - own == instance.view.foreign
        simple = [tool for name, tool in listed.items() if name not in own and not tool.required]
        for tool in simple:
            outcome = await instance.call(tool.name, {})
            assert outcome.kind == "refused"
            assert "not open to you" in outcome.text
        assert instance.state.changes_since_start() == b""


async def test_two_tools_of_one_name_are_refused_and_nothing_is_launched(shop: Worker) -> None:
    with pytest.raises(RequestError, match="find and make would both be named 'look'"):
        await launched(shop, "find=look,make=look")
    with pytest.raises(RequestError, match="find and make would both be named 'make'"):
        await launched(shop, "find=make")
    with pytest.raises(RequestError, match="no tool 'fly'"):
        await launched(shop, "fly=walk")
    assert shop.live == 0


async def test_an_instance_is_perturbed_alike_after_a_restart_and_as_a_fork(tmp_path: Path) -> None:
    library = Library([PACKAGED])
    order = Launch(environment="parcel_room", perturb="names,order,tools=3")
    async with Worker(library, tmp_path) as worker:
        [ticket] = await worker.launch(order)
        [fork] = await worker.fork(ticket.instance, 1)
        listed = (await worker.opened(ticket.instance)).listed_tools()
        assert (await worker.opened(fork.instance)).listed_tools() == listed
    async with Worker(Library([PACKAGED]), tmp_path) as worker:
        assert (await worker.opened(ticket.instance)).listed_tools() == listed


async def test_an_instance_whose_foreign_tool_is_gone_says_so(tmp_path: Path) -> None:
    for name in ("hotel_bookings", "parcel_room"):
        shutil.copytree(PACKAGED / name, tmp_path / "shelf" / name)
    async with Worker(Library([tmp_path / "shelf"]), tmp_path / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="parcel_room", perturb="tools=2"))
    shutil.rmtree(tmp_path / "shelf" / "hotel_bookings")
    async with Worker(Library([tmp_path / "shelf"]), tmp_path / "state") as worker:
        with pytest.raises(Conflict, match="is gone; launch a new one"):
            await worker.opened(ticket.instance)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("name", "no knob 'name'; there are names, "),
        ("names,names", "names is there twice"),
        ("names=1", "names is on or left out"),
        ("faults", "faults takes a number"),
        ("faults=0.9", "faults"),
        ("faults=nan", "faults"),
        ("tools=-1", "tools"),
        ("seed=x", "seed"),
        ("x" * 5000, "longer than 4000"),
    ],
)
def test_a_line_that_says_nothing_is_refused(line: str, problem: str) -> None:
    with pytest.raises(RequestError, match=problem):
        perturbation_of(line)


def test_a_line_has_one_form() -> None:
    line = str(perturbation_of(" seed=3, faults=0.10,order , b=c,names "))
    assert line == "names,order,faults=0.1,b=c,seed=3"
    assert str(perturbation_of(line)) == line
    assert str(perturbation_of("seed=3")) == ""


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("", True),
        (" seed=3, faults=0.10,order , b=c,names ", True),
        ("names,,order,", True),
        ("\x9a", False),
        ("name", False),
        ("faults", False),
        ("b=c", True),
        ("names order", False),
        ("x" * 5000, False),
    ],
)
def test_the_schema_of_the_api_tells_the_form_of_a_line(line: str, is_one: bool) -> None:
    """Whatever the schema refuses is refused."""
    schema = LaunchRequest.model_json_schema()["properties"]["perturb"]
    assert jsonschema_rs.is_valid(schema, line) is is_one
    if not is_one:
        with pytest.raises(RequestError):
            perturbation_of(line)


async def test_instructions_and_refusals_speak_of_the_new_names(tmp_path: Path) -> None:
    async with Worker(Library([PACKAGED]), tmp_path) as worker:
        [ticket] = await worker.launch(Launch(environment="hotel_bookings", perturb="names"))
        instance = await worker.opened(ticket.instance)
        own = {tool.name for tool in instance.environment.description.tools}
        told: list[Any] = [instance.instructions, *(tool.description for tool in instance.listed_tools())]
        words = {word.strip("`.,;:\"'()") for text in told for word in text.split()}
        assert not words & own
