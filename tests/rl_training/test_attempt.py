# pyright: basic
"""What one attempt at an episode makes of a farm that breaks. It needs no trainer."""

from pathlib import Path

import pytest

from agent_client.play import Limits
from rl_training.data.rows import Task
from rl_training.episode.attempt import attempt
from rl_training.episode.farm_connection import Farm, FarmConnection
from servers.errors import InfraError
from tests.breaking import Breaker, farm_with_slow_checkpoint
from tests.processes import LONG

TASK = Task(environment="shop", scenario="dearer")


@pytest.mark.parametrize("kills", [1, 2])
async def test_an_episode_that_could_not_be_judged_has_no_result(tmp_path: Path, kills: int) -> None:
    """An agent loop masks what has none, or raises: it never sees a reward of 0."""
    async with farm_with_slow_checkpoint(tmp_path) as (address, farm):
        async with FarmConnection(Farm(address.url, address.token)) as link:
            model = Breaker(kills)
            playing = attempt(link, TASK, "The bell.", model, Limits(seconds=LONG))  # pyright: ignore
            if kills == 1:
                assert (await playing).score.reward == 1.0
            else:
                with pytest.raises(InfraError, match="it could not be judged"):
                    await playing
            assert model.killing is not None
            await model.killing
        assert (await farm.leases(status="live")).total == 0
