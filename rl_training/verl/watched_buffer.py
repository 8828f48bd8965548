# pyright: basic, reportMissingImports=false
"""verl's replay buffer, which also gives the figures of a step to the trainer's loggers (`step_figures`).

It is named to verl as `trainer.v1.sampler.custom_sampler`. verl hands the options of its own buffer (`filter_groups`,
`sync_refill_failed_groups`) to no other, so a config with one of these keeps verl's.
"""

import time
from typing import Any

import transfer_queue
from verl.trainer.ppo.v1.replay_buffer import ReplayBuffer, ReplayBufferAsync

from rl_training.verl.step_figures import PlayedEpisode, step_figures


def episodes_of(batch: Any) -> list[PlayedEpisode]:
    """The episodes of a batch, without their branches."""
    if not batch.keys:
        return []
    stored = transfer_queue.kv_batch_get(
        keys=batch.keys, partition_id=batch.partition_id, select_fields=["extra_fields"]
    )
    told = [getattr(one, "data", one) for one in list(stored["extra_fields"])]
    return [
        PlayedEpisode(key.split("_")[0], measures=one["reward_extra_info"], **one["played"])
        for key, one in zip(batch.keys, told, strict=True)
        if one.get("played")
    ]


class WatchedBuffer(ReplayBuffer):
    """For the synchronous trainer. `sampler_kwargs.rollout_n` is the number of episodes of a group."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._rollout_n: int | None = (settings["sampler_kwargs"] or {}).get("rollout_n")
        self._before: float | None = None

    def sample(self, global_steps: int, partition_id: str, batch_size: int) -> Any:
        batch, figures = super().sample(global_steps=global_steps, partition_id=partition_id, batch_size=batch_size)
        if partition_id == "train":
            figures |= self._figures(batch, batch_size)
        return batch, figures

    def _figures(self, batch: Any, groups: int) -> dict[str, float]:
        now = time.monotonic()
        seconds = None if self._before is None else now - self._before
        self._before = now
        asked = None if self._rollout_n is None else groups * self._rollout_n
        return step_figures(episodes_of(batch), asked=asked, seconds=seconds)


class WatchedAsyncBuffer(WatchedBuffer, ReplayBufferAsync):
    """For the asynchronous trainers."""
