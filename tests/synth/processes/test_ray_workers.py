"""Scenarios, certificates and proofs over a real Ray cluster on this machine. Needs the extra [scale]."""

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import pytest

from servers.bundle_library import OWN_LIBRARY
from servers.errors import FarmError
from synth.pipeline.asker import gather_all
from synth.processes.process_pool import PoolSettings, process_pool
from synth.prove.proof import load_proof
from tests.bundles import SOUND_SCENARIO, write_bundle
from tests.processes import farm, free_ports, offspring, processes, started, until, watching_for_orphans
from tests.synth.jobs import Doubling, Locked

pytest.importorskip("ray", exc_type=ImportError)
pytestmark = [pytest.mark.ray, pytest.mark.slow]
OVER_RAY = ("--jobs", "2", "--engine", "ray")
LITTLE = ("--num-cpus", "1", "--object-store-memory", "80000000", "--disable-usage-stats", "--block")


@asynccontextmanager
async def node(*arguments: str, home: Path, hidden: Path | None = None) -> AsyncGenerator[int]:
    """A node of a cluster, and its process id. It sees an empty folder in place of `hidden`."""
    hiding = ("unshare", "-rm", "sh", "-c", f'mount -t tmpfs none {hidden} && exec "$@"', "sh") if hidden else ()
    command = (sys.executable, "-m", "ray.scripts.scripts", "start", *arguments, *LITTLE)
    process = await asyncio.create_subprocess_exec(
        *hiding,
        *command,
        env={**os.environ, "HOME": str(home), "RAY_AUTH_MODE": "disabled"},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield process.pid
    finally:
        kill_all(process.pid)
        await process.wait()


def kill_all(pid: int) -> None:
    """kill -9 of a process and all that it has started."""
    for one in [*offspring(pid), processes().get(pid)]:
        if one is not None:
            with suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGKILL)


def runs(pid: int, what: str) -> bool:
    """Whether a process of this name runs below another."""
    return any(what in one.command for one in offspring(pid))


async def test_the_same_bytes_come_over_ray_and_nothing_is_left_running(tmp_path: Path) -> None:
    make = ("synth", "backward", "library_loans", "--n", "5", "--out")
    with watching_for_orphans() as left:
        done = await farm(*make, "there", *OVER_RAY, home=tmp_path)
        assert (done.code, done.err) == (0, "")
        assert left() == []
    await farm(*make, "here", "--jobs", "1", home=tmp_path)
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()


async def test_certificates_and_proofs_come_out_the_same_over_ray(tmp_path: Path) -> None:
    written: list[str] = []
    for number, engine in enumerate(((), OVER_RAY)):
        home = tmp_path / str(number)
        shops = [await write_bundle(home / name, scenarios=[SOUND_SCENARIO]) for name in ("first", "second")]
        proved = await farm("prove", *shops, "--calls", "60", "--write", *engine, home=home)
        certified = await farm("certify", *shops, "--write", *engine, home=home)
        assert (proved.err, certified.err) == ("", "")
        kept = [json.loads((shop / "proof.json").read_text()) for shop in shops]
        lines = [(shop / "scenarios.jsonl").read_text() for shop in shops]
        written.append(json.dumps([proved.code, certified.code, kept, lines], sort_keys=True))
    assert written[0] == written[1]


async def test_a_process_of_the_cluster_that_dies_is_replaced_once(tmp_path: Path) -> None:
    (tmp_path / "once").mkdir()
    (tmp_path / "often").mkdir()
    async with process_pool(Doubling(tmp_path / "once", deaths=1), PoolSettings(2, "ray")) as double:
        assert await gather_all(double(number) for number in (12, 13, 11)) == [24, 26, 22]
        with pytest.raises(FarmError, match="14 is too many"):
            await double(14)
    async with process_pool(Doubling(tmp_path / "often", deaths=9), PoolSettings(1, "ray")) as double:
        with pytest.raises(FarmError, match="processes of the Ray cluster died in the middle of the same work"):
            await double(13)
    async with process_pool(Locked(), PoolSettings(1, "ray")) as do:
        with pytest.raises(FarmError, match="the door is locked"):
            await do(1)


async def test_a_node_without_the_bundle_and_one_that_is_killed_change_nothing(tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    shutil.copytree(OWN_LIBRARY / "parcel_room", shelf / "parcel_room")
    (shelf / "parcel_room/proof.json").unlink()
    address = f"127.0.0.1:{free_ports(1)}"
    port, there = address.rpartition(":")[2], ("--address", address)
    over = ("--jobs", "3", "--engine", "ray")
    make = ("synth", "backward", shelf / "parcel_room", "--n", "16", "--out")
    here = await farm(*make, "here", "--jobs", "1", home=tmp_path)
    assert here.code == 0
    async with AsyncExitStack() as stack:
        head = await stack.enter_async_context(node("--head", "--port", port, home=tmp_path))
        await until(lambda: runs(head, "RuntimeEnvAgent") or runs(head, "runtime_env"), "the head is up")
        blind = await stack.enter_async_context(node(*there, home=tmp_path, hidden=shelf))
        mortal = await stack.enter_async_context(node(*there, home=tmp_path))
        await until(lambda: runs(blind, "raylet") and runs(mortal, "raylet"), "both others are up")
        one = await started(
            *make, "there", *over, home=tmp_path, cold=True, RAY_ADDRESS=address, RAY_AUTH_MODE="disabled"
        )
        await until(lambda: runs(mortal, "ray::RayWorker"), "there is work for it")
        kill_all(mortal)
        made = await one.ended()
        assert (made.code, made.err) == (0, "")
        proved = await farm(
            "prove", shelf / "parcel_room", "--calls", "200", "--write", *over,
            home=tmp_path, RAY_ADDRESS=address, RAY_AUTH_MODE="disabled",
        )  # fmt: skip
        assert (proved.code, proved.err) == (0, "")
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()
    assert load_proof(shelf / "parcel_room") is not None


async def test_ctrl_c_lets_the_cluster_go(tmp_path: Path) -> None:
    out = tmp_path / "out"
    make = ("synth", "backward", "library_loans", "--n", "64", "--out", out, *OVER_RAY)
    with watching_for_orphans() as left:
        one = await started(*make, home=tmp_path, launcher=("/usr/bin/env", "setsid"))
        await until(out.exists, "a scenario is there")
        os.killpg(one.pid, signal.SIGINT)
        done = await one.ended()
        assert (done.code, done.err) == (130, "")
        await until(lambda: not left(), "nothing is left running")
    assert all(json.loads(line)["certificate"] for line in out.read_text().splitlines())


async def test_a_cluster_that_is_not_there_is_said(tmp_path: Path) -> None:
    done = await farm("certify", "library_loans", *OVER_RAY, home=tmp_path, RAY_ADDRESS="127.0.0.1:1")
    assert (done.code, done.out.strip()) == (1, "")
    assert done.err.startswith("farm: --engine ray: no cluster at 127.0.0.1:1: ")
    assert len(done.err.splitlines()) == 1
