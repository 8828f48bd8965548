# pyright: basic, reportMissingImports=false
"""Advantages of turns, from the values of states that stand among the rewards (`token_rewards`).

verl loads this module in each of its processes if VERL_USE_EXTERNAL_MODULES names it. It registers advantage estimators
under their names: `algorithm.adv_estimator` chooses one.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from verl.trainer.ppo.core_algos import register_adv_est

from rl_training.episode.tokens import MARK

BRANCHES = "farm_branches"
PROGRESS = "farm_progress"
TurnRows = list[list["SaidTurn"]]


class SaidTurn(NamedTuple):
    """The tokens of one turn, what was earned in them, and the value of the state before it, if that is known."""

    begin: int
    end: int
    earned: float
    before: float | None


@register_adv_est(BRANCHES)
def branch_advantages(
    token_level_rewards: torch.Tensor,
    response_mask: torch.Tensor,
    index: Sequence[Any],
    config: Any = None,
    **_: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The advantages of turns whose states were valued by branches.

    With V(s) the mean of what the branches of a state earned, the turns between two valued states s and s' get
    V(s') - V(s), and those after the last one R - V(s), where R is what the episode earned (VinePPO, arXiv:2410.01679,
    for groups of turns). The first state is that of the task. Its value is the mean over the group
    of what is compared with it, as in GRPO. Without any branch this is GRPO without its division.

    A group of one has nothing that its first turns could be compared with: they get 0.
    """
    rows = said_turns(token_level_rewards, response_mask)
    stretches = [_stretches(row) for row in rows]
    groups: dict[Any, list[float]] = defaultdict(list)
    for row, of in zip(stretches, index, strict=True):
        groups[of] += [one.earned for one in row if one.before is None]
    advantages = torch.zeros_like(token_level_rewards)
    for row, of, tokens in zip(stretches, index, advantages, strict=True):
        for one in row:
            before = one.before
            if before is None:
                before = float(np.mean(groups[of])) if len(groups[of]) > 1 else one.earned
            tokens[one.begin : one.end] = one.earned - before
    advantages = scaled(advantages * response_mask, config)
    return advantages, advantages


@register_adv_est(PROGRESS)
def progress_advantages(
    token_level_rewards: torch.Tensor,
    response_mask: torch.Tensor,
    index: Sequence[Any],
    config: Any = None,
    **_: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The advantages of turns whose states were judged: potential-based shaping (Ng, Harada, Russell 1999).

    The shaped reward of a turn is r + F, with F = gamma * Phi(s') - Phi(s), Phi(s) what the state s is worth, and
    Phi = 0 after the end. The return of turn t is the sum over k of (gamma * lam)^k of the shaped rewards of the turns
    t + k (Schulman and others 2016, arXiv:1506.02438, with Phi as the value). Its advantage is that return minus the
    mean, over the group, of the returns of the turns with the same number, or of the last turn of those that ended
    sooner.

    With `algorithm.lam=1` shaping adds up to -Phi(s), which no action of the turn can change: it moves no optimum.
    With less, a turn gets more of the progress that it made itself, with a bias where Phi is not the value.

    An unknown Phi is that of the turn before. A group of one gets 0: it has nothing to be compared with.
    """
    gamma, lam = (1.0, 1.0) if config is None else (config.get("gamma", 1.0), config.get("lam", 1.0))
    rows = said_turns(token_level_rewards, response_mask)
    returns = [_returns(row, gamma, lam) for row in rows]
    groups: dict[Any, list[list[float]]] = defaultdict(list)
    for row, of in zip(returns, index, strict=True):
        if row:
            groups[of].append(row)
    advantages = torch.zeros_like(token_level_rewards)
    for row, made, of, tokens in zip(rows, returns, index, advantages, strict=True):
        for number, (turn, one) in enumerate(zip(row, made, strict=True)):
            others = [other[min(number, len(other) - 1)] for other in groups[of]]
            tokens[turn.begin : turn.end] = one - float(np.mean(others)) if len(others) > 1 else 0.0
    advantages = scaled(advantages * response_mask, config)
    return advantages, advantages


def _returns(turns: list[SaidTurn], gamma: float, lam: float) -> list[float]:
    """The return of each turn. The potential of the task's own state is the same for a whole group, and taken as 0."""
    worth = [0.0]
    for turn in turns[1:]:
        worth.append(worth[-1] if turn.before is None else turn.before)
    made: list[float] = []
    ahead = 0.0
    for number in reversed(range(len(turns))):
        after = worth[number + 1] if number + 1 < len(turns) else 0.0
        ahead = turns[number].earned + gamma * after - worth[number] + gamma * lam * ahead
        made.append(ahead)
    return made[::-1]


def said_turns(rewards: torch.Tensor, mask: torch.Tensor) -> TurnRows:
    """The turns of each row."""
    return [
        _row(row_rewards, row_mask)
        for row_rewards, row_mask in zip(rewards.double().cpu().numpy(), mask.bool().cpu().numpy(), strict=True)
    ]


def _row(rewards: np.ndarray, mask: np.ndarray) -> list[SaidTurn]:
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    turns: list[SaidTurn] = []
    last = 0
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        marked = begin - last >= MARK and rewards[last] > 0
        before = float(rewards[last]) - 1 if marked else None
        turns.append(SaidTurn(begin, end, float(rewards[begin:end].sum()), before))
        last = end
    return turns


def _stretches(turns: list[SaidTurn]) -> list[SaidTurn]:
    """The turns joined from one known value to the next. What was earned counts the value of the state that follows."""
    joined: list[SaidTurn] = []
    for turn in turns:
        if joined and turn.before is None:
            last = joined[-1]
            joined[-1] = last._replace(end=turn.end, earned=last.earned + turn.earned)
            continue
        if joined:
            joined[-1] = joined[-1]._replace(earned=joined[-1].earned + (turn.before or 0.0))
        joined.append(turn)
    return joined


def scaled(advantages: torch.Tensor, config: Any) -> torch.Tensor:
    """Advantages divided by their root mean square over the tokens that have one.

    GRPO divides by the deviation of each group, which is nothing where all earned the same, and turns differ. With
    `algorithm.norm_adv_by_std_in_grpo=false` they stay as they are.
    """
    if config is not None and not config.get("norm_adv_by_std_in_grpo", True):
        return advantages
    some = advantages[advantages != 0]
    return advantages if some.numel() == 0 else advantages / some.square().mean().sqrt()
