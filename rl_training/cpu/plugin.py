# pyright: basic, reportMissingImports=false
"""Adds the platform `cpu` and the rollout engine `hf_cpu` to verl 0.9.1.

verl loads this module in each of its processes if VERL_USE_EXTERNAL_MODULES names it. It replaces three names of verl
that have no extension point. Two of them (with Ray, and without it in SFT) join the backends of CPU and device into one
string, which torch refuses if both are the CPU. The third pins memory, for which a CPU has no device.
"""

from typing import Any

from torch import distributed as processes
from torch.distributed.fsdp import CPUOffloadPolicy
from verl.plugin.platform.platform_manager import PlatformRegistry
from verl.utils import distributed, fsdp_utils
from verl.workers.rollout import base
from verl.workers.rollout.replica import RolloutReplicaRegistry

from rl_training.cpu import replica  # as a module: a worker may be reading it just now, and come here through it
from rl_training.cpu.platform import CpuPlatform

PLATFORM = "cpu"
ENGINE = "hf_cpu"

_join = distributed.initialize_global_process_group_ray


def _join_by_gloo(timeout_second: int | None = None, backend: str | None = None) -> None:
    _join(timeout_second=timeout_second, backend=backend or "cpu:gloo")


def _join_by_gloo_without_ray(timeout_second: int = 36000) -> tuple[int, int, int]:
    _join(timeout_second=timeout_second, backend="cpu:gloo")
    return processes.get_node_local_rank(), processes.get_rank(), processes.get_world_size()


def _without_pinning(pin_memory: bool = False) -> CPUOffloadPolicy:
    return CPUOffloadPolicy(pin_memory=False)


def _replica_class() -> Any:
    return replica.CpuReplica


PlatformRegistry.register(PLATFORM)(CpuPlatform)
RolloutReplicaRegistry.register(ENGINE, _replica_class)
base._ROLLOUT_REGISTRY[ENGINE, "async"] = "rl_training.cpu.adapter.CpuAdapter"
distributed.initialize_global_process_group_ray = _join_by_gloo
distributed.initialize_global_process_group = _join_by_gloo_without_ray
fsdp_utils.CPUOffloadPolicy = _without_pinning
