# pyright: basic, reportMissingImports=false
"""Episodes that are forked at chosen turns: their branches, the values that these give, and what breaks."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from rl_training.errors import RolloutLost
from tests.rl_training.rig import LikeV1, Rig, ScriptedServer, Turn, hang, rig
from tests.rl_training.test_failures import settled
from tests.rl_training.texts import DEARER, LOOK

pytestmark = pytest.mark.rl
ROW = {"environment": "shop", "scenario": "dearer", "split": "train"}
Script = list[Turn]


class Forking(ScriptedServer):
    """Says `script` to the first that asks, which is the episode, and the others to its branches in their order."""

    def __init__(self, script: Script, *branches: Script) -> None:
        super().__init__(script)
        self.scripts = [script, *branches]

    def turns_of(self, request_id: str) -> Sequence[Turn]:
        ids = list(dict.fromkeys(one.request_id for one in self.asked))
        return self.scripts[ids.index(request_id)]


def forked(branches: int, *after: int, **more: Any) -> dict[str, Any]:
    return {"worker": LikeV1, "branching": {"branches": branches, "after": after or (1,), **more}}


async def outputs(at: Rig) -> list[Any]:
    """What the only row became: its branches, and last the episode."""
    rows: Any = await at.rollouts(ROW, session_id=[0])
    return rows[0]


def told(output: Any, *names: str) -> list[Any]:
    return [output.extra_fields["reward_extra_info"][name] for name in names]


def valued(output: Any) -> list[float]:
    """The values of states that stand among an output's rewards, in their order."""
    rewards = zip(output.token_rewards, output.response_mask, strict=True)
    return [reward - 1 for reward, said in rewards if reward > 0 and not said]


def learnt(at: Rig, output: Any) -> str:
    said = zip(output.response_ids, output.response_mask, strict=True)
    return at.text([token for token, kept in said if kept])


async def test_a_state_is_worth_what_its_branches_earn_in_the_mean(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    server = Forking([LOOK, DEARER, "Done."], [DEARER, "Done."], ["Done."])
    async with rig(tiny, shelf, tmp_path, server, **forked(2)) as at:
        *branches, main = await outputs(at)
        assert [one.reward_score for one in (*branches, main)] == [1.0, 0.0, 1.0]
        assert valued(main) == [0.5]
        assert sum(main.token_rewards) == 1.0
        assert [valued(one) for one in branches] == [[0.5], [1.0]], "the others from the same state, the episode too"
        assert told(main, "branches", "branches_lost", "forks_failed") == [2.0, 0.0, 0.0]
        assert (await at.live(), await at.launched()) == (0, 3)


async def test_a_branch_goes_on_from_the_state_and_learns_its_own_words(
    tiny: Path, shelf: Path, tmp_path: Path
) -> None:
    server = Forking([DEARER, LOOK, "Done."], [LOOK, "Fine."])
    async with rig(tiny, shelf, tmp_path, server, **forked(1)) as at:
        branch, main = await outputs(at)
        assert learnt(at, main) == f"{DEARER}<|im_end|>{LOOK}<|im_end|>Done.<|im_end|>"
        assert learnt(at, branch) == f"{LOOK}<|im_end|>Fine.<|im_end|>"
        shared = branch.response_mask.index(1)
        assert branch.response_ids[:shared] == main.response_ids[:shared]
        assert '"cents": 250' in at.text(branch.response_ids[shared:]), "the fork has what was done before"
        assert branch.response_logprobs[:shared] == [0.0] * shared
        assert branch.response_logprobs[shared] == -1.0, "the first token that the server said to it"
        lengths = {len(one) for one in (branch.response_ids, branch.response_mask, branch.token_rewards)}
        assert lengths == {len(branch.response_logprobs)}
        assert told(main, "generated_tokens", "branch_tokens") == [sum(main.response_mask), sum(branch.response_mask)]
        asked = [one.prompt_ids for one in at.server.asked if one.request_id != at.server.asked[0].request_id]
        assert asked[0] == main.prompt_ids + main.response_ids[:shared]


async def test_an_episode_is_forked_after_each_chosen_turn(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    server = Forking([LOOK, DEARER, "Done."], ["No."], ["Yes."])
    async with rig(tiny, shelf, tmp_path, server, **forked(1, 1, 2, 7)) as at:
        *branches, main = await outputs(at)
        assert (valued(main), [one.reward_score for one in branches]) == ([0.0, 1.0], [0.0, 1.0])
        assert [learnt(at, one) for one in branches] == ["No.<|im_end|>", "Yes.<|im_end|>"]
        assert sum(main.token_rewards) == 1.0


async def test_branches_that_are_not_learnt_from_still_give_values(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    server = Forking([LOOK, DEARER, "Done."], ["Done."])
    async with rig(tiny, shelf, tmp_path, server, **forked(1, learn=False)) as at:
        [main] = await outputs(at)
        assert (valued(main), main.reward_score) == ([0.0], 1.0)
        assert told(main, "branch_tokens") == [len(at.tokenizer.encode("Done.")) + 1]


async def test_what_verl_stores_of_a_branch_is_its_own_reward(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    """verl's V1 worker overwrites `reward_score` of all outputs but the last."""
    server = Forking([LOOK, DEARER, "Done."], ["Done."])
    async with rig(tiny, shelf, tmp_path, server, **forked(1)) as at:
        branch, main = await outputs(at)
        branch.reward_score = main.reward_score
        stored = branch.as_dict()
        assert stored["rm_scores"].sum().item() == 0.0
        assert stored["rm_scores"].dtype == torch.float32
        assert set(stored) == set(main.as_dict())


async def test_without_room_for_forks_the_episode_goes_on_and_says_so(
    tiny: Path, shelf: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = Forking([LOOK, DEARER, "Done."])
    async with rig(tiny, shelf, tmp_path, server, room=2, **forked(2)) as at:
        [main] = await outputs(at)
        assert (valued(main), main.reward_score) == ([], 1.0)
        assert told(main, "branches", "forks_failed", "retried") == [0.0, 1.0, 0.0]
        assert "goes on unbranched: it could not be forked after turn 1: no room for 2 more" in caplog.text


async def test_an_instance_that_is_gone_cannot_be_forked_and_the_episode_is_played_again(
    tiny: Path, shelf: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ended: list[Callable[[], Coroutine[Any, Any, None]]] = []

    async def silent() -> str:
        if ended:
            await ended.pop()()
        return ""

    server = Forking([silent, "Done."], [silent, DEARER, "Done."], ["Done."])
    async with rig(tiny, shelf, tmp_path, server, **forked(1)) as at:
        ended.append(at.end_live_ones)
        branch, main = await outputs(at)
        assert "goes on unbranched" in caplog.text
        assert (told(main, "retried", "forks_failed", "branches"), valued(main)) == ([1.0, 0.0, 1.0], [0.0])
        assert (branch.reward_score, main.reward_score) == (0.0, 1.0)
        assert await at.live() == 0


async def test_the_share_of_a_branch_that_breaks_is_left_out(
    tiny: Path, shelf: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken() -> str:
        raise ZeroDivisionError("the server broke")

    server = Forking([LOOK, DEARER, "Done."], [broken], [DEARER, "Done."])
    async with rig(tiny, shelf, tmp_path, server, **forked(2)) as at:
        branch, main = await outputs(at)
        assert valued(main) == [1.0], "the mean of the one that is left, and no 0"
        assert (learnt(at, branch), valued(branch)) == (f"{DEARER}<|im_end|>Done.<|im_end|>", [1.0])
        assert told(main, "branches", "branches_lost", "retried") == [1.0, 1.0, 0.0]
        assert "its share is left out: the server broke" in caplog.text
        assert (await at.live(), await at.launched()) == (0, 3)


async def test_a_state_whose_branches_all_break_has_no_value(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    async def broken() -> str:
        raise ZeroDivisionError

    async with rig(tiny, shelf, tmp_path, Forking([LOOK, DEARER, "Done."], [broken]), **forked(1)) as at:
        [main] = await outputs(at)
        assert (valued(main), main.reward_score) == ([], 1.0)
        assert told(main, "branches", "branches_lost") == [0.0, 1.0]


async def test_a_branch_whose_instance_is_closed_is_lost_and_the_episode_is_not(
    tiny: Path, shelf: Path, tmp_path: Path
) -> None:
    ready = asyncio.Event()

    async def closed() -> str:
        mine = (await at.farm.leases(status="live")).items[0]
        await at.farm.close(mine.instance)
        ready.set()
        return LOOK

    async def when_closed() -> str:
        await ready.wait()
        return DEARER

    server = Forking([LOOK, when_closed, "Done."], [closed, "Done."])
    async with rig(tiny, shelf, tmp_path, server, **forked(1)) as at:
        [main] = await outputs(at)
        assert (main.reward_score, valued(main)) == (1.0, [])
        assert told(main, "branches_lost", "retried") == [1.0, 0.0]


async def test_a_model_that_ends_its_turns_at_once_is_forked_too(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    server = Forking(["", ""], [""], [DEARER, "Done."])
    async with rig(tiny, shelf, tmp_path, server, **forked(2)) as at:
        silent, talks, main = await outputs(at)
        assert [one.reward_score for one in (silent, talks, main)] == [0.0, 1.0, 0.0]
        assert valued(main) == [0.5]
        assert (sum(main.response_mask), sum(silent.response_mask)) == (2, 1)
        assert told(main, "ended_agent_error") == [1.0]


async def test_an_episode_that_ends_before_its_chosen_turn_is_a_plain_one(
    tiny: Path, shelf: Path, tmp_path: Path
) -> None:
    async with rig(tiny, shelf, tmp_path, Forking(["Done."]), **forked(2)) as at:
        [main] = await outputs(at)
        assert (main.token_rewards[-1], valued(main), told(main, "branches")) == (0.0, [], [0.0])


async def test_held_out_rows_are_never_forked(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    async with rig(tiny, shelf, tmp_path, Forking([LOOK, DEARER, "Done."]), **forked(2)) as at:
        await at.rollouts({**ROW, "split": "validation"}, session_id=[0])
        assert await at.launched() == 1


async def test_an_episode_that_is_given_up_gives_the_leases_of_its_branches_back(
    tiny: Path, shelf: Path, tmp_path: Path
) -> None:
    asked = asyncio.Event()

    async def ponder() -> str:
        asked.set()
        return await hang()

    async with rig(tiny, shelf, tmp_path, Forking([LOOK, hang], [ponder], [ponder]), **forked(2)) as at:
        run = asyncio.create_task(outputs(at))
        await asked.wait()
        assert await at.live() == 3
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        await settled(at)
        assert await at.live() == 0


async def test_branches_of_an_episode_that_is_lost_end_with_it(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    async def harm() -> str:
        await at.end_live_ones()
        return DEARER

    server = Forking([LOOK, harm], [hang], [LOOK, harm], [hang])
    async with rig(tiny, shelf, tmp_path, server, **forked(1)) as at:
        with pytest.raises(RolloutLost):
            await outputs(at)
        assert (await at.live(), await at.launched()) == (0, 4)
