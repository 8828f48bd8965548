"""The rewards of an episode's tokens, with the values of states between its turns.

A trainer hands an advantage estimator nothing but rewards, masks and groups. So a known value stands among the rewards,
where the model reads the state: 1 + value on the first token between two turns, and the same taken away on the second.
The model said neither of them, so no trainer learns from them, and the sum of all rewards is what the episode earned.
"""

from collections.abc import Mapping, Sequence

MARK = 2
"""The tokens that a value takes."""


def token_rewards(mask: Sequence[int], earned: float, values: Mapping[int, float]) -> list[float]:
    """The reward of each token. `values` are known before the turns that begin at these places.

    What was earned stands on the last token, as verl has it. A value whose turn was never said is left out.
    """
    rewards = [0.0] * len(mask)
    rewards[-1] += earned
    for at, value in values.items():
        if at >= len(mask):
            continue
        first = at
        while first > 0 and not mask[first - 1]:
            first -= 1
        rewards[first] += 1 + value
        rewards[first + 1] -= 1 + value
    return rewards
