"""Scenarios, certificates and proofs over a real Ray cluster on this machine. Needs the extra [scale]."""

import json
import os
import signal
from pathlib import Path

import pytest

from servers.errors import FarmError
from synth.run.together import together
from synth.spread.hands import hands
from tests.bundles import SOUND_SCENARIO, write_bundle
from tests.processes import farm, started, until, watching_for_orphans
from tests.synth.jobs import Doubling, Locked

pytest.importorskip("ray", exc_type=ImportError)
pytestmark = [pytest.mark.ray, pytest.mark.slow]
OVER_RAY = ("--jobs", "2", "--engine", "ray")


async def test_the_same_bytes_come_over_ray_and_nothing_is_left_running(tmp_path: Path) -> None:
    make = ("synth", "scenarios", "library_loans", "--backward", "--n", "5", "--out")
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
    async with hands(Doubling(tmp_path / "once", deaths=1), 2, engine="ray") as double:
        assert await together(double(number) for number in (12, 13, 11)) == [24, 26, 22]
        with pytest.raises(FarmError, match="14 is too many"):
            await double(14)
    async with hands(Doubling(tmp_path / "often", deaths=9), 1, engine="ray") as double:
        with pytest.raises(FarmError, match="processes of the Ray cluster died in the middle of the same work"):
            await double(13)
    async with hands(Locked(), 1, engine="ray") as do:
        with pytest.raises(FarmError, match="the door is locked"):
            await do(1)


async def test_ctrl_c_lets_the_cluster_go(tmp_path: Path) -> None:
    out = tmp_path / "out"
    make = ("synth", "scenarios", "library_loans", "--backward", "--n", "64", "--out", out, *OVER_RAY)
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
