# pyright: basic, reportMissingImports=false
"""Episodes whose states are judged between their turns: what is judged, and what breaks."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.rl_training.rig import LikeV1, Rig, ScriptedServer, Turn, hang, rig
from tests.rl_training.test_branches import told, valued
from tests.rl_training.test_failures import settled
from tests.rl_training.texts import DEARER, LOOK

pytestmark = pytest.mark.rl
ROW = {"environment": "shop", "scenario": "dearer", "split": "train"}
ON: dict[str, Any] = {"worker": LikeV1, "progress": True}
REFUSED = DEARER.replace("t2", "t9")
CHEAPER = DEARER.replace("250", "1")


async def output(at: Rig) -> Any:
    rows: Any = await at.rollouts(ROW, session_id=[0])
    return rows[0]


async def test_each_state_is_worth_what_its_verdicts_give(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    async with rig(tiny, shelf, tmp_path, ScriptedServer([LOOK, DEARER, "Done."]), **ON) as at:
        made = await output(at)
        assert valued(made) == [0.0, 1.0]
        assert (made.reward_score, sum(made.token_rewards)) == (1.0, 1.0), "what it earns is that of its end"
        assert told(made, "states_judged", "states_unjudged") == [2.0, 0.0]
        assert (await at.live(), await at.launched()) == (0, 3)


async def test_what_is_undone_was_no_progress(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    async with rig(tiny, shelf, tmp_path, ScriptedServer([DEARER, CHEAPER, "Done."]), **ON) as at:
        made = await output(at)
        assert (valued(made), made.reward_score) == ([1.0, 0.0], 0.0)


async def test_a_state_that_no_call_changed_is_not_judged_again(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    async with rig(tiny, shelf, tmp_path, ScriptedServer([DEARER, REFUSED, "Done."]), **ON) as at:
        made = await output(at)
        assert (valued(made), await at.launched()) == ([1.0, 1.0], 2)


async def test_it_is_off_by_default_and_for_what_is_held_out(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    async with rig(tiny, shelf, tmp_path, ScriptedServer([DEARER, "Done."]), worker=LikeV1) as at:
        made = await output(at)
        assert (valued(made), await at.launched()) == ([], 1)
    (tmp_path / "on").mkdir()
    async with rig(tiny, shelf, tmp_path / "on", ScriptedServer([DEARER, "Done."]), **ON) as at:
        await at.rollouts({**ROW, "split": "validation"}, session_id=[0])
        assert await at.launched() == 1


async def test_without_room_for_a_copy_the_progress_is_unknown(
    tiny: Path, shelf: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with rig(tiny, shelf, tmp_path, ScriptedServer([DEARER, "Done."]), room=1, **ON) as at:
        made = await output(at)
        assert (valued(made), made.reward_score, told(made, "states_unjudged")) == ([], 1.0, [1.0])
        assert "the progress of a turn is unknown: no room for 1 more" in caplog.text


async def test_an_episode_that_is_given_up_leaves_no_copy_behind(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def ponder() -> str:
        asked.set()
        return await hang()

    script: list[Turn] = [DEARER, ponder]
    async with rig(tiny, shelf, tmp_path, ScriptedServer(script), **ON) as at:
        run = asyncio.create_task(output(at))
        await asked.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        await settled(at)
        assert (await at.live(), await at.launched()) == (0, 2)
