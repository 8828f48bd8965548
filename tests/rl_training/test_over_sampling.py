# pyright: basic, reportMissingImports=false
"""Groups that begin more episodes than they keep, through verl's own worker."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.rl_training.rig import LikeV1, ScriptedServer, Turn, hang, rig
from tests.rl_training.test_failures import settled
from tests.rl_training.texts import DEARER, LOOK

pytestmark = pytest.mark.rl
ROW = {"environment": "shop", "scenario": "dearer", "split": "train"}


class OneHangs(ScriptedServer):
    """The first that asks never hears the end of its second turn."""

    def turns_of(self, request_id: str) -> Sequence[Turn]:
        return [LOOK, hang] if request_id == self.asked[0].request_id else self.script


async def test_a_group_does_not_wait_for_its_slowest_episode_whose_instance_is_closed(
    tiny: Path, shelf: Path, tmp_path: Path
) -> None:
    server = OneHangs([LOOK, DEARER, "Done."])
    async with rig(tiny, shelf, tmp_path, server, worker=LikeV1, over_sampling={"extra": 1}) as at:
        outputs: Any = await at.rollouts(ROW, ROW, uid=["a", "a"], session_id=[0, 1])
        [kept] = [one for one in outputs if one != []]
        assert kept.reward_score == 1.0
        told = kept.extra_fields["reward_extra_info"]
        assert told["episodes_dropped"] == 1
        assert told["tokens_dropped"] == len(at.tokenizer.encode(LOOK)) + 1
        await settled(at)
        assert (await at.live(), await at.launched()) == (0, 2)


async def test_what_is_validated_is_kept_whole(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    held_out = {**ROW, "split": "validation"}
    server = ScriptedServer([DEARER, "Done."])
    async with rig(tiny, shelf, tmp_path, server, worker=LikeV1, over_sampling={"extra": 1}) as at:
        outputs: Any = await at.rollouts(held_out, held_out, uid=["a", "a"], session_id=[0, 1])
        assert [one.reward_score for one in outputs] == [1.0, 1.0]
        assert outputs[0].extra_fields["reward_extra_info"]["episodes_dropped"] == 0
