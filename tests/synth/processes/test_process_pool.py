"""Work is spread over processes, and comes to the same whatever becomes of them."""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from servers.errors import BundleError, FarmError
from servers.scenario.scenario import Scenario
from synth.backward.job import Stretch, Walking
from synth.backward.usage_counts import UsageCounts
from synth.pipeline.asker import gather_all
from synth.play.pinned_bundle import PinnedBundle
from synth.processes.job import WorkerFault
from synth.processes.process_pool import PoolSettings, process_pool
from synth.prove.proof import write_proof
from synth.prove.prover import ProofJob, prove
from synth.scenarios.certify_job import CertifyOrder, Examining, Searching
from tests.bundles import SOUND_SCENARIO, write_bundle
from tests.processes import farm, until, watching_for_orphans
from tests.synth.jobs import Doubling, Endless, Locked


def count(folder: Path, pattern: str = "*") -> int:
    """How many files there are."""
    return len(list(folder.glob(pattern)))


@pytest.mark.parametrize("many", [1, 3])
async def test_everything_is_done_however_many_there_are(tmp_path: Path, many: int) -> None:
    async with process_pool(Doubling(tmp_path), PoolSettings(many)) as double:
        assert await gather_all(double(number) for number in range(9)) == list(range(0, 18, 2))
        with pytest.raises(FarmError, match="14 is too many"):
            await double(14)
        assert await double(21) == 42


async def test_what_a_process_died_of_is_done_again_by_another(tmp_path: Path) -> None:
    async with process_pool(Doubling(tmp_path, deaths=1), PoolSettings(2)) as double:
        assert await gather_all(double(number) for number in (12, 13, 11, 10)) == [24, 26, 22, 20]
    assert count(tmp_path) == 1


async def test_what_every_process_dies_of_is_an_error_and_the_rest_is_done(tmp_path: Path) -> None:
    with watching_for_orphans() as left:
        async with process_pool(Doubling(tmp_path, deaths=9), PoolSettings(2)) as double:
            with pytest.raises(FarmError, match="2 processes ended in the middle of the same work"):
                await gather_all(double(number) for number in (13, 1))
            assert await gather_all(double(number) for number in (2, 3)) == [4, 6]
        assert [one for one in left() if "spawn_main" in one.command] == []
    assert count(tmp_path) == 2


async def test_whoever_is_busy_lets_go_and_closes_what_is_open(tmp_path: Path) -> None:
    async def work() -> None:
        async with process_pool(Endless(tmp_path), PoolSettings(2)) as wait:
            await gather_all(wait(name) for name in ("one", "two"))

    working = asyncio.create_task(work())
    await until(lambda: count(tmp_path, "asked-*") == 2, "both are asked")
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert count(tmp_path, "closed-*") == 2


async def test_whoever_cannot_begin_says_why() -> None:
    async with process_pool(Locked(), PoolSettings(2)) as do:
        with pytest.raises(FarmError, match="the door is locked"):
            await do(1)


JOBS: list[tuple[Callable[[PinnedBundle], Any], Callable[[PinnedBundle], Any]]] = [
    (lambda _: ProofJob(calls=5, seed=0), lambda bundle: bundle),
    (lambda _: Examining(), lambda bundle: CertifyOrder(bundle, Scenario.model_validate(SOUND_SCENARIO))),
    (lambda _: Searching(budget=1), lambda bundle: CertifyOrder(bundle, Scenario.model_validate(SOUND_SCENARIO))),
    (lambda bundle: Walking(bundle, seed=1), lambda _: Stretch(0, UsageCounts())),
]


@pytest.mark.parametrize(("job", "order"), JOBS, ids=["prove", "certify", "hack", "backward"])
@pytest.mark.parametrize(("change", "workers"), [("missing", 2), ("other", 1)])
async def test_who_reads_another_bundle_than_was_meant_finds_nothing_about_it(
    tmp_path: Path,
    job: Callable[[PinnedBundle], Any],
    order: Callable[[PinnedBundle], Any],
    change: str,
    workers: int,
) -> None:
    folder = await write_bundle(tmp_path / "shop", scenarios=[SOUND_SCENARIO])
    bundle = PinnedBundle.of(folder)
    if change == "missing":
        shutil.move(folder, tmp_path / "away")
    else:
        (folder / "policy.md").write_text("Another.")
    with pytest.raises(WorkerFault, match=r"shop(: cannot be read|/policy\.md: is not what it was)"):
        async with process_pool(job(bundle), PoolSettings(workers)) as do:
            await do(order(bundle))


async def test_a_verdict_is_not_written_beside_other_files(tmp_path: Path) -> None:
    folder = await write_bundle(tmp_path / "shop", scenarios=())
    proof = await prove(folder, calls=5)
    (folder / "policy.md").write_text("Another.")
    with pytest.raises(BundleError, match="changed while it was proved"):
        write_proof(folder, proof)
    assert not (folder / "proof.json").exists()


@pytest.mark.parametrize("jobs", ["1", "2"])
async def test_a_bundle_that_cannot_be_read_gets_no_proof(tmp_path: Path, jobs: str) -> None:
    shops = [await write_bundle(tmp_path / name, scenarios=()) for name in ("first", "second")]
    (shops[1] / "tools.py").unlink()
    done = await farm("prove", *shops, "--calls", "5", "--write", "--jobs", jobs, home=tmp_path)
    assert (done.code, done.out) == (1, "")
    assert done.err == f"farm: {shops[1] / 'tools.py'}: the file is missing\n"
    assert not (shops[1] / "proof.json").exists()
