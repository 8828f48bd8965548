# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false
"""What verl is given of an episode: its tokens, their rewards, and its measures."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

import torch
from verl.experimental.agent_loop.agent_loop import AgentLoopMetrics, AgentLoopOutput

from rl_training.episode.attempt import Attempt
from rl_training.episode.branches import Fork, PlayedBranch
from rl_training.episode.group_race import KeptEpisode
from rl_training.episode.measures import NO_FORKS, ForkCounts, measures, measures_of_lost
from rl_training.episode.token_model import TokenModel
from rl_training.episode.tokens import token_rewards

NO_VALUES: Mapping[int, float] = {}


class CreditedOutput(AgentLoopOutput):
    """An output whose rewards stand on more tokens than the last, with `reward_score` as their sum.

    verl's V1 worker gives all outputs of an episode the `reward_score` of the last one, but a branch earned its own.
    Trainers before V1 see `reward_score` alone.
    """

    token_rewards: list[float]

    def as_dict(self) -> dict[str, Any]:
        """What verl stores of it."""
        stored = super().as_dict()
        stored["rm_scores"] = torch.tensor(stored.pop("token_rewards"), dtype=torch.float32)
        return stored


def episode_output(
    done: Attempt,
    model: TokenModel,
    *,
    attempts: int,
    values: Mapping[int, float] = NO_VALUES,
    counts: ForkCounts = NO_FORKS,
    level: int | None = None,
    environment: str | None = None,
) -> AgentLoopOutput:
    """An episode with a result. With its `environment`, it is among those of which the figures of a step are made."""
    model.tokens.drop_unanswered()
    tokens, reward = model.tokens, done.score.reward or 0.0
    told = measures(
        done, generate_seconds=model.generate_seconds, generated_tokens=tokens.said, attempts=attempts, counts=counts
    )
    played = {} if environment is None else {"environment": environment, "level": level, "reward": reward}
    return CreditedOutput(
        prompt_ids=tokens.prompt_ids,
        response_ids=tokens.response_ids,
        response_mask=tokens.mask,
        response_logprobs=tokens.logprobs,
        reward_score=reward,
        token_rewards=token_rewards(tokens.mask, reward, values),
        num_turns=1 + len(done.trace.turns) + done.trace.calls,
        metrics=AgentLoopMetrics(
            generate_sequences=model.generate_seconds,
            tool_calls=done.tool_seconds,
            compute_score=done.score_seconds,
            num_preempted=model.preempted,
        ),
        extra_fields={
            **model.steps,
            "turn_scores": [],
            "tool_rewards": [],
            "reward_extra_info": told,
            "played": played,
        },
    )


def branch_output(fork: Fork, branch: PlayedBranch, main: Attempt) -> AgentLoopOutput:
    """A branch as a row. It is compared with all others that went on from its state, the episode among them."""
    others = [one.earned for one in fork.branches if one is not branch]
    value = fmean([*others, main.score.reward or 0.0])
    branch.model.tokens.keep_only_from(fork.at)
    return episode_output(branch.done, branch.model, attempts=1, values={fork.at: value})


def with_dropped(
    kept: KeptEpisode[AgentLoopOutput | list[AgentLoopOutput]],
) -> AgentLoopOutput | list[AgentLoopOutput]:
    """The outputs of an episode that is kept, with how many of its group were dropped for it among its measures."""
    output = kept.result
    last = output[-1] if isinstance(output, list) else output
    last.extra_fields["reward_extra_info"] |= {
        "episodes_dropped": float(kept.dropped),
        "tokens_dropped": float(kept.dropped_tokens),
    }
    return output


def lost_output(prompt_ids: list[int], filler: int, *, attempts: int, with_logprobs: bool) -> AgentLoopOutput:
    """A row that trains nothing, for an episode without a result."""
    return AgentLoopOutput(
        prompt_ids=prompt_ids or [filler],
        response_ids=[filler],
        response_mask=[0],
        response_logprobs=[0.0] if with_logprobs else None,
        reward_score=0.0,
        num_turns=0,
        metrics=AgentLoopMetrics(),
        extra_fields={
            "turn_scores": [],
            "tool_rewards": [],
            "reward_extra_info": measures_of_lost(attempts=attempts),
        },
    )
