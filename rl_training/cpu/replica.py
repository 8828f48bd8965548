# pyright: basic, reportMissingImports=false
"""The rollout engine `hf_cpu`: one Ray actor for each rank of the trainer, which generates with a small model."""

from typing import Any

import ray
import torch
from transformers import AutoModelForCausalLM
from verl.utils.config import omega_conf_to_dataclass
from verl.workers.rollout.replica import RolloutReplica, TokenOutput

from rl_training.cpu.generation import Generation, GenerationRequest


def name_of(replica_rank: int) -> str:
    """The name of a server's actor."""
    return f"hf_cpu_server_{replica_rank}"


class CpuServer:
    """Generates with the latest weights."""

    def __init__(self, model_config: Any, seed: int) -> None:
        config = omega_conf_to_dataclass(model_config)
        torch.set_num_threads(2)
        model = AutoModelForCausalLM.from_config(config.hf_config, dtype=torch.float32, attn_implementation="sdpa")
        self.generation = Generation(model, end=config.tokenizer.eos_token_id, seed=seed)

    async def ready(self) -> str:
        return ray.util.get_node_ip_address()

    async def generate(
        self, request_id: str, *, prompt_ids: list[int], sampling_params: dict[str, Any], **_: Any
    ) -> TokenOutput:
        if sampling_params.get("top_k", -1) != -1 or sampling_params.get("top_p", 1.0) != 1.0:
            raise ValueError("hf_cpu samples by temperature alone; set rollout.top_k=-1 and rollout.top_p=1.0")
        request = GenerationRequest(
            list(prompt_ids), sampling_params["max_tokens"], float(sampling_params["temperature"])
        )
        answer = await self.generation.answer(request)
        return TokenOutput(
            token_ids=answer.token_ids,
            log_probs=answer.logprobs if sampling_params.get("logprobs") else None,
            stop_reason="aborted" if answer.aborted else "completed",
            extra_fields={"global_steps": answer.version},
        )

    async def set_weights(self, weights: dict[str, torch.Tensor], step: int | None) -> None:
        async with self.generation.weights:
            missing, unexpected = self.generation.model.load_state_dict(weights, strict=False)
            self.generation.version = step
        tied = {"lm_head.weight"} if self.generation.model.config.tie_word_embeddings else set()
        if unexpected or set(missing) - tied:
            raise ValueError(f"the weights are of another model: missing {missing}, unexpected {unexpected}")

    async def wake_up(self, tags: list[str] | None = None) -> None: ...

    async def sleep(self) -> None: ...

    async def abort_all_requests(self, reject_request: bool = False) -> None:
        await self.generation.pause()

    async def resume_generation(self) -> None:
        self.generation.resume()

    async def clear_kv_cache(self) -> None: ...

    async def release_kv_cache(self) -> None: ...

    async def resume_kv_cache(self) -> None: ...

    async def start_profile(self, **_: Any) -> None: ...

    async def stop_profile(self) -> None: ...


class CpuReplica(RolloutReplica):
    """Starts the server of one replica."""

    async def launch_servers(self) -> None:
        server = (
            ray.remote(CpuServer)
            .options(name=name_of(self.replica_rank), max_concurrency=self.max_concurrency, num_cpus=0)
            .remote(self.model_config, self.config.seed + self.replica_rank)
        )
        self.servers = [server]
        self._server_handle = server
        self._server_address = f"{await server.ready.remote()}:{self.replica_rank}"
