# pyright: basic, reportMissingImports=false
"""The trainer's side of the rollout engine `hf_cpu`: it sends new weights to its server."""

from collections.abc import Generator
from typing import Any

import ray
import torch
from verl.workers.rollout.base import BaseRollout

from rl_training.cpu.replica import name_of


class CpuAdapter(BaseRollout):
    """Lives in a training worker. Each such worker has a server of its own."""

    def __init__(self, config: Any, model_config: Any, device_mesh: Any, replica_rank: int = -1) -> None:
        super().__init__(config, model_config, device_mesh)
        self._rank = torch.distributed.get_rank() if replica_rank == -1 else replica_rank
        self._server: Any = None

    async def resume(self, tags: list[str]) -> None: ...

    async def release(self) -> None: ...

    async def update_weights(
        self,
        weights: Generator[tuple[str, torch.Tensor]],
        global_steps: int | None = None,
        wire_format: str = "named_tensors",
        **_: Any,
    ) -> None:
        if wire_format != "named_tensors":
            raise ValueError(f"hf_cpu takes whole tensors, not {wire_format!r}")
        if self._server is None:
            self._server = ray.get_actor(name_of(self._rank))
        whole = {name: tensor.detach().float().cpu().clone() for name, tensor in weights}
        await self._server.set_weights.remote(whole, global_steps)
