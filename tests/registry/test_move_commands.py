"""`farm move` and `farm drain --move`, as a user runs them."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from registry.client import TOKEN_FILE, URL_FILE
from servers.bundle_library import Library
from servers.worker.settings import WorkerSettings
from tests import processes
from tests.processes import Done
from tests.registry.farms import TOKEN, Farm
from tests.registry.moving import TwoWorkers, two_workers


@pytest_asyncio.fixture
async def both(farm: Farm, library: Library, tmp_path: Path) -> AsyncGenerator[TwoWorkers]:
    (tmp_path / URL_FILE).write_text(farm.url)
    (tmp_path / TOKEN_FILE).write_text(TOKEN)
    async with two_workers(farm, library, tmp_path / "second") as both:
        yield both


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


async def said(home: Path, *arguments: str) -> Done:
    return await processes.farm(*arguments, "--state", str(home), home=home)


async def test_an_instance_is_moved_and_its_new_address_is_told(both: TwoWorkers, home: Path) -> None:
    instance = await both.farm.launched("dearer")
    done = await said(home, "move", instance)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{instance} is on second now, at http://localhost:")
    assert done.out.endswith("--json shows its token.\n")
    done = await said(home, "move", instance, "--to", "local", "--json")
    told = json.loads(done.out)
    lease = await both.farm.client.lease(instance)
    assert (told["worker"], told["mcp_url"], told["token"]) == ("local", lease.mcp_url, lease.token)
    for wrong, reason in (
        (("move", instance, "--to", "local"), "is on local already"),
        (("move", instance, "--to", "secnod"), "did you mean 'second'"),
        (("move", "0123456789abcdef"), "there is no instance"),
        (("move", "../x"), "not the id of an instance"),
    ):
        done = await said(home, *wrong)
        assert (done.code, done.out) == (2, ""), wrong
        assert done.err.startswith("farm: ")
        assert reason in done.err, done
    assert (await both.farm.client.lease(instance)).worker == "local"


async def test_a_drained_worker_is_emptied_as_far_as_others_have_room(both: TwoWorkers, home: Path) -> None:
    second = both.doors["second"].worker
    instances = [await both.farm.launched("dearer") for _ in range(3)]
    both.farm.registry.fleet.seats["second"].capacity = 3
    second.settings = WorkerSettings(most_instances=2)
    done = await said(home, "drain", "local", "--move")
    assert (done.code, second.live) == (1, 2)
    assert "local gets no more instances." in done.out
    assert "2 instances moved. Their agents need the new leases." in done.out
    [stays] = both.farm.worker.ids()
    assert f"{stays} stays: no room for 1 more" in done.err
    second.settings = WorkerSettings()
    done = await said(home, "drain", "local", "--move")
    assert (done.code, done.err) == (0, "")
    assert "1 instance moved." in done.out
    assert (both.farm.worker.live, second.live) == (0, 3)
    assert {(await both.farm.client.lease(one)).worker for one in instances} == {"second"}
    done = await said(home, "drain", "local", "--move", "--undo")
    assert done.code == 2
    assert "give one of them" in done.err
