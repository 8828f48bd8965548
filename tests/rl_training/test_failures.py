# pyright: basic, reportMissingImports=false
"""What becomes of an episode, its row and its lease when the farm, the model's server or the trainer breaks."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from verl.workers.rollout.replica import TokenOutput

from registry.client import FarmClient
from registry.farm import private
from registry.messages import Lease
from rl_training.data.rows import Task
from rl_training.episode.instance_batches import Launches
from rl_training.errors import RolloutLost
from servers.errors import NotFound
from tests.rl_training.rig import LikeV1, Rig, ScriptedServer, hang, rig
from tests.rl_training.texts import DEARER, LOOK

pytestmark = pytest.mark.rl
ROW = {"environment": "shop", "scenario": "dearer"}


class Harm:
    """A turn that does something to the farm before it is said, so many times."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.do: Callable[[], Awaitable[None]] | None = None

    async def __call__(self) -> str:
        self.times -= 1
        if self.times >= 0 and self.do is not None:
            await self.do()
        return DEARER


async def test_an_episode_that_the_farm_broke_is_played_again_on_a_fresh_instance(
    tiny: Path, shelf: Path, tmp_path: Path
) -> None:
    harm = Harm(1)
    async with rig(tiny, shelf, tmp_path, ScriptedServer([harm, "Done."])) as at:
        harm.do = at.end_live_ones
        out = await at.rollouts()
        assert out.batch["rm_scores"].sum().item() == 1.0
        assert (out.non_tensor_batch["retried"][0], out.non_tensor_batch["lost"][0]) == (1.0, 0.0)
        assert (await at.live(), await at.launched()) == (0, 2)
        assert out.batch["response_mask"].sum().item() == sum(
            len(at.tokenizer.encode(turn)) + 1 for turn in (DEARER, "Done.")
        ), "nothing of the first attempt is left"


async def test_an_episode_that_the_farm_breaks_twice_raises(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    harm = Harm(2)
    async with rig(tiny, shelf, tmp_path, ScriptedServer([harm, "Done."])) as at:
        harm.do = at.end_live_ones
        with pytest.raises(RolloutLost, match=r"lost after 2 attempts: .*it was closed, or its lease is over"):
            await at.rollouts()
        assert (await at.live(), await at.launched()) == (0, 2)


async def test_or_it_is_a_row_that_teaches_nothing_beside_the_others(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    harm = Harm(2)
    async with rig(tiny, shelf, tmp_path, ScriptedServer([harm, "Done."]), on_infra_failure="mask") as at:
        harm.do = at.end_live_ones
        lost = await at.rollouts()
        kept = await at.rollouts()
        assert lost.batch["response_mask"].sum().item() == 0
        assert lost.batch["rm_scores"].sum().item() == 0.0
        assert (lost.non_tensor_batch["lost"][0], kept.non_tensor_batch["lost"][0]) == (1.0, 0.0)
        assert lost.meta_info["reward_extra_keys"] != []
        assert set(lost.meta_info["reward_extra_keys"]) == set(kept.meta_info["reward_extra_keys"])
        assert lost.batch["responses"].shape == kept.batch["responses"].shape
        assert await at.live() == 0


async def test_v1_is_given_no_row_so_that_the_group_is_judged_without_it(
    tiny: Path, shelf: Path, tmp_path: Path
) -> None:
    harm = Harm(2)
    server = ScriptedServer([harm, "Done."])
    async with rig(tiny, shelf, tmp_path, server, worker=LikeV1, on_infra_failure="mask") as at:
        harm.do = at.end_live_ones
        assert await at.rollouts(ROW, session_id=[0]) == [[]]
        [kept] = await at.rollouts(ROW, session_id=[1])
        assert kept.reward_score == 1.0


async def test_a_farm_that_is_gone_is_no_zero(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    async with rig(tiny, shelf, tmp_path, ScriptedServer(["Done."]), farm_url="http://127.0.0.1:9") as at:
        with pytest.raises(RolloutLost, match=r"no farm answers at http://127.0.0.1:9"):
            await at.rollouts()
        assert at.server.asked == []


async def test_a_server_that_gives_no_token_in_time_is_no_zero(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    async with rig(tiny, shelf, tmp_path, ScriptedServer([hang]), seconds=0.3) as at:
        with pytest.raises(RolloutLost, match=r"gave no token: not finished after 0.3 s"):
            await at.rollouts()
        assert await at.live() == 0


class LaterWeights(ScriptedServer):
    """A server whose tokens are of the weights that it has at their end."""

    version = 1

    async def generate(self, *args: Any, **more: Any) -> TokenOutput:
        said = await super().generate(*args, **more)
        both = dict.fromkeys(("global_steps", "min_global_steps", "max_global_steps"), self.version)
        return said.model_copy(update={"extra_fields": both})


async def test_an_episode_whose_instance_expired_while_it_waited_for_new_weights_is_played_again_by_these(
    tiny: Path, shelf: Path, tmp_path: Path
) -> None:
    async def goes_on_in_the_next_step() -> str:
        if server.version == 1:
            server.version = 2
            await at.end_live_ones()
        return DEARER

    server = LaterWeights([LOOK, goes_on_in_the_next_step, "Done."])
    async with rig(tiny, shelf, tmp_path, server) as at:
        out = await at.rollouts()
        told = {name: out.non_tensor_batch[name][0] for name in ("retried", "min_global_steps", "max_global_steps")}
        assert told == {"retried": 1.0, "min_global_steps": 2, "max_global_steps": 2}, "no token is of the older ones"
        assert out.batch["rm_scores"].sum().item() == 1.0
        assert (await at.live(), await at.launched()) == (0, 2)


@pytest.mark.parametrize("before", [[], [DEARER]], ids=["at once", "between two turns"])
async def test_a_server_that_dies_is_told_and_the_lease_given_back(
    tiny: Path, shelf: Path, tmp_path: Path, before: list[str]
) -> None:
    async def broken() -> str:
        raise ZeroDivisionError

    async with rig(tiny, shelf, tmp_path, ScriptedServer([*before, broken])) as at:
        with pytest.raises(ZeroDivisionError):
            await at.rollouts()
        assert (await at.live(), await at.launched()) == (0, 1)


async def test_a_rollout_that_is_given_up_gives_its_leases_back(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def ponder() -> str:
        asked.set()
        return await hang()

    async with rig(tiny, shelf, tmp_path, ScriptedServer([ponder])) as at:
        run = asyncio.create_task(at.rollouts(ROW, ROW))
        await asked.wait()
        assert await at.live() == 2
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        await settled(at)
        assert await at.live() == 0


async def settled(at: Rig) -> None:
    """Wait for the episodes that verl left behind when it was cancelled."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    mine = [task for task in others if "run_agent_loop" in repr(task) or "_close" in repr(task)]
    if mine:
        await asyncio.wait(mine)


async def test_a_lease_lives_as_long_as_its_episode(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    ends: list[bool] = []

    async def slow() -> str:
        async with asyncio.timeout(60):
            [before] = (await at.farm.leases(status="live")).items
            while (await at.farm.lease(before.instance)).expires_at == before.expires_at:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        ends.append(True)
        return DEARER

    async with rig(tiny, shelf, tmp_path, ScriptedServer([slow, "Done."]), ttl_seconds=10) as at:
        out = await at.rollouts()
        assert (ends, out.batch["rm_scores"].sum().item()) == ([True], 1.0)


class Counting(FarmClient):
    """Counts requests to launch."""

    requests = 0

    async def launch(self, *args: object, **more: object) -> list[Lease]:
        self.requests += 1
        return await super().launch(*args, **more)  # type: ignore[arg-type]


async def test_those_who_want_the_same_at_once_share_a_request(shelf: Path) -> None:
    async with private((shelf,)) as address, Counting(address.url, address.token) as farm:
        launches = Launches(farm, ttl_seconds=60)
        same, other = Task(environment="shop", scenario="dearer"), Task(environment="shop", scenario="dearer", seed=1)
        launched = await asyncio.gather(*(launches.take(task) for task in [same, other, same, same]))
        leases = [one.lease for one in launched]
        assert [lease.seed for lease in leases] == [0, 1, 0, 0]
        assert len({lease.instance for lease in leases}) == 4
        assert farm.requests == 2


async def test_what_is_launched_for_somebody_who_left_is_closed(shelf: Path) -> None:
    async with private((shelf,)) as address, FarmClient(address.url, address.token) as farm:
        launches = Launches(farm, ttl_seconds=60)
        task = Task(environment="shop", scenario="dearer")
        stays, leaves = asyncio.create_task(launches.take(task)), asyncio.create_task(launches.take(task))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        leaves.cancel()
        lease = (await stays).lease
        await launches.settle()
        assert leaves.cancelled()
        assert [one.instance for one in (await farm.leases(status="live")).items] == [lease.instance]
        assert (await farm.leases()).total == 2


async def test_each_who_waits_hears_why_nothing_was_launched(shelf: Path) -> None:
    async with private((shelf,)) as address, FarmClient(address.url, address.token) as farm:
        launches = Launches(farm, ttl_seconds=60)
        task = Task(environment="shop", scenario="nothing")
        outcomes = await asyncio.gather(launches.take(task), launches.take(task), return_exceptions=True)
        assert [type(one) for one in outcomes] == [NotFound, NotFound]
        assert outcomes[0] is not outcomes[1]
