"""Metrics of an episode beside its reward: numbers under the same names in every row, and the verdicts.

`acc` is not among them: verl counts an episode without a result as `acc` 0, and a broken farm is not a zero.
"""

import json
from typing import NamedTuple, get_args

from agent_client.trace import End, Trace
from registry.messages import Score
from rl_training.episode.attempt import Attempt
from rl_training.episode.branches import Branches
from rl_training.episode.progress import Progress
from servers.messages import Verdict

Measures = dict[str, float | str]

COUNTS = ("generated_tokens", "turns", "calls", "refused_calls", "user_tokens")
DROPPED = ("episodes_dropped", "tokens_dropped")
"""Of the group of an episode, for the sake of it (`group_race`)."""
SECONDS = ("launch_seconds", "generate_seconds", "tool_seconds", "score_seconds", "user_seconds", "episode_seconds")


class ForkCounts(NamedTuple):
    """What became of an episode's forks: branches, the tokens that they generated, and states that were judged."""

    branches: int = 0
    branches_lost: int = 0
    forks_failed: int = 0
    branch_tokens: int = 0
    states_judged: int = 0
    states_unjudged: int = 0

    @classmethod
    def of(cls, forks: Branches | Progress | None) -> "ForkCounts":
        if isinstance(forks, Branches):
            played = sum(len(fork.branches) for fork in forks.forks)
            return cls(played, forks.lost, forks.failed, forks.tokens)
        return NO_FORKS if forks is None else cls(states_judged=len(forks.values), states_unjudged=forks.lost)


NO_FORKS = ForkCounts()


def measures(
    done: Attempt, *, generate_seconds: float, generated_tokens: int, attempts: int, counts: ForkCounts = NO_FORKS
) -> Measures:
    """The metrics of an episode with a result."""
    results = [result for turn in done.trace.turns for result in turn.results]
    return {
        **_judged(done.score),
        **_ended(done.trace),
        "generated_tokens": float(generated_tokens),
        **{name: float(count) for name, count in counts._asdict().items()},
        "turns": float(len(done.trace.turns)),
        "calls": float(done.trace.calls),
        "refused_calls": float(sum(result.is_error for result in results)),
        "user_tokens": float(done.trace.user_tokens),
        "launch_seconds": done.launch_seconds,
        "generate_seconds": generate_seconds,
        "tool_seconds": done.tool_seconds,
        "score_seconds": done.score_seconds,
        "user_seconds": done.user_seconds,
        "episode_seconds": done.seconds,
        "retried": float(attempts > 1),
        **dict.fromkeys(DROPPED, 0.0),
        "lost": 0.0,
    }


def measures_of_lost(*, attempts: int) -> Measures:
    """The metrics of an episode without a result, under the same names."""
    ends = {f"ended_{end}": float(end == "infra_error") for end in get_args(End)}
    names = ("success", "goals_held", "guards_held", *COUNTS, *ForkCounts._fields, *SECONDS, *DROPPED)
    nothing = dict.fromkeys(names, 0.0)
    return {**nothing, **ends, "verdicts": "{}", "retried": float(attempts > 1), "lost": 1.0}


def _judged(score: Score) -> Measures:
    return {
        "success": float(score.success is True),
        "goals_held": _share([one for one in score.verdicts if one.role == "goal"]),
        "guards_held": _share([one for one in score.verdicts if one.role == "guard"]),
        "verdicts": json.dumps({one.checkpoint: one.holds for one in score.verdicts}),
    }


def _ended(trace: Trace) -> Measures:
    return {f"ended_{end}": float(end == trace.end) for end in get_args(End)}


def _share(verdicts: list[Verdict]) -> float:
    """The share of verdicts that hold. 1 if there are none."""
    return sum(one.holds for one in verdicts) / len(verdicts) if verdicts else 1.0
