# pyright: basic, reportMissingImports=false
"""verl's platform for a machine without an accelerator. To Ray, one of its "GPUs" is only a number."""

from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from types import ModuleType
from typing import Any

import torch
from verl.plugin.platform.platform_base import PlatformBase

NO_MEMORY = 0


class CpuModule(ModuleType):
    """The part of `torch.cuda` that verl uses, for a device without memory of its own."""

    def __init__(self) -> None:
        super().__init__("torch.cpu")

    def is_available(self) -> bool:
        return True

    def device_count(self) -> int:
        return 1

    def current_device(self) -> torch.device:
        return torch.device("cpu")

    def set_device(self, device: Any) -> None:
        pass

    def get_device_name(self, device: Any = None) -> str:
        return "cpu"

    def synchronize(self, device: Any = None) -> None:
        pass

    def current_stream(self, device: Any = None) -> Any:
        return torch.cpu.current_stream()

    def stream(self, stream: Any) -> Any:
        return nullcontext()

    def empty_cache(self) -> None:
        pass

    def ipc_collect(self) -> None:
        pass

    def memory_allocated(self, device: Any = None) -> int:
        return NO_MEMORY

    memory_reserved = max_memory_allocated = max_memory_reserved = memory_allocated

    def mem_get_info(self, device: Any = None) -> tuple[int, int]:
        return NO_MEMORY, NO_MEMORY

    def set_per_process_memory_fraction(self, fraction: float, device: Any = None) -> None:
        pass

    def get_rng_state(self, device: Any = None) -> torch.Tensor:
        return torch.get_rng_state()

    def set_rng_state(self, state: torch.Tensor, device: Any = None) -> None:
        torch.set_rng_state(state)


class CpuPlatform(PlatformBase):
    """Selected by VERL_PLATFORM=cpu only."""

    _module = CpuModule()

    @property
    def device_name(self) -> str:
        return "cpu"

    @property
    def vendor_name(self) -> str:
        return "cpu"

    @property
    def device_module(self) -> ModuleType:
        return self._module

    def is_available(self) -> bool:
        return True

    def is_platform_available(self, use_smi_check: bool = False) -> bool:
        return False

    def current_device(self) -> Any:
        return torch.device("cpu")  # verl expects an index, with which torch would mean an accelerator

    def device_count(self) -> int:
        return 1

    def set_device(self, device_index: int) -> None:
        pass

    def synchronize(self, device_index: int | None = None) -> None:
        pass

    def manual_seed(self, seed: int) -> None:
        torch.manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        torch.manual_seed(seed)

    def set_allocator_settings(self, settings: str) -> None:
        pass

    def empty_cache(self) -> None:
        pass

    def get_device_capability(self, device_index: int = 0) -> tuple[int | None, int | None]:
        return None, None

    def communication_backend_name(self) -> str:
        return "gloo"

    def visible_devices_envvar(self) -> str:
        return "CUDA_VISIBLE_DEVICES"

    @contextmanager
    def nvtx_range(self, msg: str) -> Generator[None]:
        yield

    def profiler_start(self) -> None:
        pass

    def profiler_stop(self) -> None:
        pass

    def ray_resource_name(self) -> str:
        return "GPU"

    def ray_noset_envvars(self) -> list[str]:
        return []

    def is_ipc_supported(self) -> bool:
        return False

    def cudart(self) -> Any:
        return None
