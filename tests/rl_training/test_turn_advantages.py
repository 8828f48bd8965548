# pyright: basic, reportMissingImports=false
"""The advantages of turns, from rewards among which the values of states stand."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from omegaconf import OmegaConf
from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage, get_adv_estimator_fn

from rl_training.episode.tokens import token_rewards
from rl_training.verl import turn_advantages

pytestmark = pytest.mark.rl
RAW = OmegaConf.create({"norm_adv_by_std_in_grpo": False})
LENGTH = 16
TALK = [1, 1, 0, 0, 0, 1, 0, 0, 1, 1]
"""Three turns: two tokens, one, and two. What the model reads between them takes three tokens, and two."""
SECOND, THIRD = 5, 8
"""Where the second turn begins, and the third."""


def advantages(
    *rows: tuple[Sequence[int], float, Mapping[int, float]],
    groups: str,
    config: Any = RAW,
    estimator: str = turn_advantages.BRANCHES,
) -> Any:
    """What the registered estimator gives for rows, each a mask, a reward and the values of states."""
    rewards, masks = torch.zeros(len(rows), LENGTH), torch.zeros(len(rows), LENGTH)
    for at, (mask, earned, values) in enumerate(rows):
        masks[at, : len(mask)] = torch.tensor(mask, dtype=torch.float32)
        if any(mask):
            rewards[at, : len(mask)] = torch.tensor(token_rewards(mask, earned, values))
    index = np.array(list(groups), dtype=object)
    made, returns = get_adv_estimator_fn(estimator)(
        token_level_rewards=rewards, response_mask=masks, index=index, config=config
    )
    assert torch.equal(made, returns)
    assert torch.all(made[masks == 0] == 0), "what the model read is not learnt from"
    return made


def by_turn(row: torch.Tensor) -> list[float]:
    """The advantage of each of the three turns."""
    for begin, end in ((0, 2), (SECOND, SECOND + 1), (THIRD, THIRD + 2)):
        assert len(set(row[begin:end].tolist())) == 1
    return [round(row[at].item(), 6) for at in (0, SECOND, THIRD)]


def test_a_turn_gets_the_change_of_value_that_it_made() -> None:
    made = advantages((TALK, 1.0, {SECOND: 0.25, THIRD: 0.75}), (TALK, 0.0, {}), groups="aa")
    assert by_turn(made[0]) == [0.125, 0.5, 0.25], "the first is compared with the group, whose mean is 0.125"
    assert by_turn(made[1]) == [-0.125] * 3


def test_turns_between_two_known_states_share_their_change() -> None:
    made = advantages((TALK, 1.0, {THIRD: 0.5}), (TALK, 0.5, {SECOND: 0.0}), groups="aa")
    assert by_turn(made[0]) == [0.25, 0.25, 0.5]
    assert by_turn(made[1]) == [-0.25, 0.5, 0.5], "a value of 0 is known, and is not the same as none"


def test_without_branches_it_is_grpo_without_its_division() -> None:
    rewards = [1.0, 0.0, 0.5, 0.0, 1.0]
    made = advantages(*[(TALK, earned, {}) for earned in rewards], groups="aaabb")
    masks = torch.tensor([TALK] * 5, dtype=torch.float32)
    scores = torch.zeros(5, len(TALK))
    scores[:, -1] = torch.tensor(rewards)
    theirs, _ = compute_grpo_outcome_advantage(scores, masks, np.array(list("aaabb")), norm_adv_by_std_in_grpo=False)
    assert torch.allclose(made[:, : len(TALK)], theirs)


def test_a_branch_is_compared_with_what_else_came_of_its_state_and_not_with_the_group() -> None:
    branch = [0, 0, 0, 0, 0, 1, 0, 0, 1, 1]
    made = advantages((TALK, 1.0, {SECOND: 0.5}), (branch, 1.0, {SECOND: 0.5}), (TALK, 0.0, {}), groups="aaa")
    assert made[1, SECOND].item() == pytest.approx(0.5)
    assert by_turn(made[0])[0] == 0.25, "the mean of the group is that of 0.5 and 0"


def test_a_single_branch_gives_its_state_a_value_and_gets_no_credit_beyond_what_it_changed() -> None:
    branch = [0, 0, 0, 0, 0, 1, 0, 0, 1, 1]
    made = advantages((TALK, 0.0, {SECOND: 1.0}), (branch, 1.0, {SECOND: 1.0}), groups="aa")
    assert by_turn(made[0]) == [0.0, -1.0, -1.0], "of one episode, the first turn is compared with nothing"
    assert made[1].tolist() == [0.0] * LENGTH, "it earned just the value, which is its own"


def test_a_group_of_one_says_nothing_about_its_first_turns() -> None:
    made = advantages((TALK, 1.0, {SECOND: 0.25}), (TALK, 1.0, {}), groups="ab")
    assert by_turn(made[0]) == [0.0, 0.75, 0.75]
    assert by_turn(made[1]) == [0.0, 0.0, 0.0]


def test_turns_of_one_token_and_rows_without_any_are_read() -> None:
    ends_at_once = [1, 0, 0, 1]
    made = advantages((ends_at_once, 0.0, {3: 1.0}), ([0], 0.0, {}), (ends_at_once, 0.0, {}), groups="aaa")
    assert [made[0, 0].item(), made[0, 3].item()] == [0.5, -1.0]
    assert made[2, 0].item() == -0.5, "the row of padding is not in the mean"


def test_advantages_have_the_size_of_one_in_the_mean_however_little_a_group_differs() -> None:
    grpo = OmegaConf.create({"norm_adv_by_std_in_grpo": True})
    made = advantages((TALK, 1.0, {SECOND: 1.0}), (TALK, 1.0, {SECOND: 0.99}), groups="aa", config=grpo)
    assert made[made != 0].square().mean().item() == pytest.approx(1.0)
    same = advantages((TALK, 1.0, {}), (TALK, 1.0, {}), groups="aa", config=grpo)
    assert torch.all(same == 0)


def test_the_rewards_of_an_episode_add_up_to_what_it_earned() -> None:
    rewards = token_rewards(TALK, 0.5, {SECOND: 1.0, THIRD: 0.0, len(TALK): 0.7})
    assert rewards == [0.0, 0.0, 2.0, -2.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.5], "a value after the last turn is of no use"


def shaped(*rows: tuple[Sequence[int], float, Mapping[int, float]], lam: float = 1.0, groups: str = "aa") -> Any:
    config = OmegaConf.create({"norm_adv_by_std_in_grpo": False, "gamma": 1.0, "lam": lam})
    return advantages(*rows, groups=groups, config=config, estimator=turn_advantages.PROGRESS)


def test_without_progress_the_shaped_advantages_are_those_of_grpo() -> None:
    made = shaped((TALK, 1.0, {}), (TALK, 0.0, {}))
    assert [by_turn(one) for one in made] == [[0.5] * 3, [-0.5] * 3]


def test_shaping_adds_nothing_that_an_action_of_the_turn_can_change() -> None:
    """With lam = 1, what the turn did later shows in the reward alone: here both earn the same from the same state."""
    made = shaped((TALK, 1.0, {SECOND: 0.5, THIRD: 0.9}), (TALK, 1.0, {SECOND: 0.5, THIRD: 0.1}))
    assert [by_turn(one)[:2] for one in made] == [[0.0, 0.0], [0.0, 0.0]]
    assert by_turn(made[0])[2] == -0.4, "from the better state less was left to earn"


def test_with_less_than_one_a_turn_gets_the_progress_that_it_made() -> None:
    made = shaped((TALK, 1.0, {SECOND: 0.5, THIRD: 0.5}), (TALK, 1.0, {SECOND: 0.0, THIRD: 0.0}), lam=0.0)
    assert [by_turn(one) for one in made] == [[0.25, 0.0, -0.25], [-0.25, 0.0, 0.25]]


def test_an_unknown_state_is_worth_what_the_one_before_was() -> None:
    known = shaped((TALK, 1.0, {SECOND: 0.5, THIRD: 0.5}), (TALK, 0.0, {SECOND: 0.0, THIRD: 0.0}))
    assert torch.equal(shaped((TALK, 1.0, {SECOND: 0.5}), (TALK, 0.0, {})), known)


def test_a_turn_that_others_never_had_is_compared_with_their_last() -> None:
    short = [1, 1]
    made = shaped((TALK, 0.0, {SECOND: 0.25, THIRD: 0.5}), (short, 1.0, {}))
    assert by_turn(made[0]) == [-0.5, -0.625, -0.75]
    assert made[1, 0].item() == 0.5
    assert torch.all(shaped((TALK, 1.0, {SECOND: 0.25}), (TALK, 1.0, {}), groups="ab") == 0)
