# pyright: basic, reportMissingImports=false
"""The watched replay buffer with a shorter polling interval: verl's 2 s are half of so small a step."""

from typing import Any

from rl_training.verl.watched_buffer import WatchedAsyncBuffer, WatchedBuffer


class QuickBuffer(WatchedBuffer):
    """Named to verl as `trainer.v1.sampler.custom_sampler`."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, poll_interval=0.2)


class QuickAsyncBuffer(WatchedAsyncBuffer):
    """The same for the asynchronous trainers."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, poll_interval=0.2)
