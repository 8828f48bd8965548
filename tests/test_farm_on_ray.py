"""`farm up --engine ray`: what it refuses, and a farm on a cluster of this machine, which needs the extra [scale]."""

import asyncio
import os
import signal
from importlib.util import find_spec
from pathlib import Path

import pytest

from registry.client import FarmClient
from registry.farm import Options, running
from servers.errors import InfraError, RequestError
from servers.worker.settings import WorkerSettings
from tests.processes import LONG, farm, farm_up, offspring, until, watching_for_orphans
from tests.test_up import called


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"engine": "ray", "workers": 3}, "leave --workers and --replica out"),
        ({"cores_each": 4}, "are for --engine ray"),
        ({"engine": "ray", "address": "10.0.0.1:6379"}, r"workers there cannot reach 127\.0\.0\.1; give --host 0"),
    ],
)
async def test_what_does_not_go_together_is_refused(tmp_path: Path, options: dict[str, object], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        async with running(Options(library=(), state=tmp_path / "state", port=0, **options)):  # pyright: ignore[reportArgumentType]
            pass


async def test_an_address_of_a_cluster_is_for_ray_alone_and_its_variable_is_anybodys(tmp_path: Path) -> None:
    up = ("up", "--port", "0", "--no-web", "--log-level", "error", "--state", tmp_path / "state")
    done = await farm(*up, "--address", "10.0.0.1:6379", home=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err == "farm: --address and --cores-per-worker are for --engine ray\n"
    async with farm_up(tmp_path / "state", "--port", "0", home=tmp_path, RAY_ADDRESS="10.0.0.1:6379") as running_farm:
        assert running_farm.url


async def test_without_ray_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "ray.py").write_text("""raise ModuleNotFoundError("No module named 'ray'")\n""")  # found first
    done = await farm("up", "--engine", "ray", "--port", "0", "--no-web", "--log-level", "error", home=tmp_path)
    assert (done.code, done.out) == (1, "")
    assert done.err == "farm: --engine ray: No module named 'ray'; pip install 'envfarm[scale]'\n"


def actors() -> list[int]:
    """The processes of workers' actors."""
    return [one.pid for one in offspring(os.getpid()) if "ray::RayNodeWorker" in one.command]


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra [scale]")
async def test_a_farm_on_a_cluster_of_its_own_plays_and_leaves_nothing_behind(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    options = Options(
        library=(shelf,),
        state=tmp_path / "state",
        port=0,
        engine="ray",
        worker=WorkerSettings(walls_required=False),
    )
    with watching_for_orphans() as left:
        async with running(options) as address, FarmClient(address.url, address.token) as client:
            assert address.cluster
            async with asyncio.timeout(LONG):
                while not (await client.workers()).items:  # noqa: ASYNC110 - it joins from another process
                    await asyncio.sleep(0.1)
            [lease] = await client.launch("shop")
            assert "anvil" in await called(lease, "find")
            [actor] = actors()
            os.kill(actor, signal.SIGKILL)
            await until(lambda: actor not in actors(), "it is dead")
            await until(lambda: actors() != [], "Ray starts it again")
        await until(lambda: not left(), "nothing is left running")


async def test_a_cluster_that_is_not_there_is_said(tmp_path: Path) -> None:
    pytest.importorskip("ray", exc_type=ImportError)
    options = Options(library=(), state=tmp_path / "state", port=0, engine="ray", address="127.0.0.1:1")
    with pytest.raises(InfraError, match=r"--engine ray: no cluster at 127\.0\.0\.1:1: "):
        async with running(options):
            pass
