"""The figures of a training step, from its episodes: rewards by level and environment, pass@k, ends, costs."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple, get_args

from agent_client.trace import End
from evals.report.statistics import pass_at

FARM_SECONDS = ("launch_seconds", "tool_seconds", "score_seconds")
MEANS = ("turns", "calls", "refused_calls", "goals_held", "guards_held", "generated_tokens")
SUMS = ("branches", "branches_lost", "forks_failed", "branch_tokens", "states_unjudged", "retried", "episodes_dropped")
SECONDS = (*FARM_SECONDS, "generate_seconds", "user_seconds", "episode_seconds")


class PlayedEpisode(NamedTuple):
    """One episode of a step: its group, its task, what it earned, and its measures."""

    group: str
    environment: str
    level: int | None
    reward: float
    measures: Mapping[str, Any]

    @property
    def success(self) -> bool:
        return self.measures["success"] == 1.0

    @property
    def farm_seconds(self) -> float:
        return sum(self.measures[name] for name in FARM_SECONDS)


def step_figures(episodes: Sequence[PlayedEpisode], *, asked: int | None, seconds: float | None) -> dict[str, float]:
    """The figures of a step.

    `asked` is the number of episodes that were to be played. Those that are missing broke twice, and their rewards are
    in no mean. `seconds` is how long the step took. `farm/share_of_step` is the farm's part of it: launch, tools and
    score of the episode that took longest, on which the step waited.
    """
    if not episodes:
        return {}
    measures = [one.measures for one in episodes]
    figures = {
        "farm/episodes": float(len(episodes)),
        "farm/reward": fmean(one.reward for one in episodes),
        **_rewards("farm/reward/environment", ((one.environment, one.reward) for one in episodes)),
        **_rewards("farm/reward/level", ((str(one.level), one.reward) for one in episodes if one.level is not None)),
        **_passes(episodes),
        **{f"farm/ended/{end}": fmean(one[f"ended_{end}"] for one in measures) for end in get_args(End)},
        **{f"farm/{name}": fmean(one[name] for one in measures) for name in MEANS},
        **{f"farm/{name}": float(sum(one[name] for one in measures)) for name in SUMS},
        **{f"farm/seconds/{name.removesuffix('_seconds')}": fmean(one[name] for one in measures) for name in SECONDS},
        "farm/tokens": float(
            sum(one["generated_tokens"] + one["branch_tokens"] + one["tokens_dropped"] for one in measures)
        ),
    }
    if asked:
        figures["farm/lost"] = 1 - len(episodes) / asked
    if seconds:
        last = max(episodes, key=lambda one: one.measures["episode_seconds"])
        figures["farm/share_of_step"] = last.farm_seconds / seconds
    return figures


def _rewards(name: str, earned: Iterable[tuple[str, float]]) -> dict[str, float]:
    found: dict[str, list[float]] = defaultdict(list)
    for of, reward in earned:
        found[of].append(reward)
    return {f"{name}/{of}": fmean(found[of]) for of in sorted(found)}


def _passes(episodes: Sequence[PlayedEpisode]) -> dict[str, float]:
    """pass@k for k = 1, 2, 4 and so on, over the groups that are large enough."""
    groups: dict[str, list[bool]] = defaultdict(list)
    for one in episodes:
        groups[one.group].append(one.success)
    most = max(len(group) for group in groups.values())
    return {
        f"farm/pass@{k}": fmean(pass_at(k, len(group), sum(group)) for group in groups.values() if len(group) >= k)
        for k in (2**power for power in range(most.bit_length()))
    }
