# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false
"""verl's own agent loop worker in this process, with a farm that is real and a model's server that is a script."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from hydra import compose, initialize_config_module
from omegaconf import OmegaConf
from tensordict import TensorDict
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
from verl.protocol import DataProto
from verl.workers.rollout.replica import TokenOutput

from registry.client import Address, FarmClient
from registry.farm import Options, running
from rl_training.episode.farm_connection import close_links
from servers.worker.settings import MOST_INSTANCES, WorkerSettings
from tests.rl_training.texts import TASK

PROMPT_LENGTH, RESPONSE_LENGTH = 256, 256
SECONDS = 60.0
"""Bounds every episode here. It measures nothing."""
Turn = str | Callable[[], Any]
"""What the model says, or something that happens instead."""


async def hang() -> str:
    """A server that never answers."""
    await asyncio.Event().wait()
    raise AssertionError("it has answered")


@dataclass
class Asked:
    """One request to the model's server."""

    request_id: str
    prompt_ids: list[int]
    sampling: dict[str, Any]


class ScriptedServer:
    """Says the same turns in every episode, a token's log probability telling its place; keeps what it was asked."""

    def __init__(self, script: Sequence[Turn], *, ends_turns: bool = True) -> None:
        self.script = script  # no dataclass: hydra would take one for a config
        self.ends_turns = ends_turns
        self.tokenizer: Any = None
        self.asked: list[Asked] = []

    def turns_of(self, request_id: str) -> Sequence[Turn]:
        """What is said to one episode."""
        return self.script

    async def generate(
        self, request_id: str, *, prompt_ids: list[int], sampling_params: Mapping[str, Any], **_: Any
    ) -> TokenOutput:
        number = sum(one.request_id == request_id for one in self.asked)
        self.asked.append(Asked(request_id, list(prompt_ids), dict(sampling_params)))
        turn = self.turns_of(request_id)[number]
        if not isinstance(turn, str):
            turn = await turn()
        token_ids = self.tokenizer.encode(turn)
        if self.ends_turns:
            token_ids = [*token_ids, self.tokenizer.eos_token_id]
        token_ids = token_ids[: sampling_params["max_tokens"]]
        logprobs = [-(number + 1) - at / 1000 for at in range(len(token_ids))]
        steps = {"global_steps": number, "min_global_steps": number, "max_global_steps": number}
        return TokenOutput(token_ids=token_ids, log_probs=logprobs, num_preempted=1, extra_fields=steps)


class LikeV1(AgentLoopWorker):
    """Gives what the agent loop gave, which verl's V1 worker puts into its queue row by row."""

    async def _agent_loop_postprocess(self, output: Any, validate: bool, **kwargs: Any) -> Any:
        return output

    def _postprocess(self, inputs: Any, **kwargs: Any) -> Any:
        return inputs


@dataclass(frozen=True)
class Rig:
    """A worker, its farm, and its server."""

    worker: AgentLoopWorker
    farm: FarmClient
    address: Address
    server: ScriptedServer

    @property
    def tokenizer(self) -> Any:
        return self.worker.tokenizer

    async def rollouts(self, *extras: Mapping[str, Any], **columns: Any) -> DataProto:
        """What verl's worker makes of some rows."""
        return await self.worker.generate_sequences(rows(*extras, **columns))

    async def end_live_ones(self) -> None:
        """Close every instance under whoever plays it."""
        for lease in (await self.farm.leases(status="live")).items:
            await self.farm.close(lease.instance)

    async def live(self) -> int:
        return (await self.farm.leases(status="live")).total

    async def launched(self) -> int:
        return (await self.farm.leases()).total

    def text(self, token_ids: Any) -> str:
        return self.tokenizer.decode([int(one) for one in token_ids])


def rows(*extras: Mapping[str, Any], task: str = TASK, **more: Sequence[Any]) -> DataProto:
    """Rows of training data as verl's dataset gives them, with more columns if wanted."""
    extras = extras or ({"environment": "shop", "scenario": "dearer"},)
    columns: dict[str, list[Any]] = {
        "raw_prompt": [[{"role": "user", "content": task}] for _ in extras],
        "extra_info": [dict(extra) for extra in extras],
        "agent_name": ["farm" for _ in extras],
        "index": list(range(len(extras))),
        **{name: list(values) for name, values in more.items()},
    }
    arrays = {}
    for name, values in columns.items():
        arrays[name] = np.empty(len(values), dtype=object)
        arrays[name][:] = values
    batch = TensorDict({"dummy": torch.zeros(len(extras), 1)}, batch_size=len(extras))
    return DataProto(batch=batch, non_tensor_batch=arrays, meta_info={"global_steps": 1})


def config(model: Path, loops: Path, *overrides: str) -> Any:
    """The trainer's config, as the command line would give it."""
    with initialize_config_module("verl.trainer.config", version_base=None):
        return compose(
            "ppo_trainer",
            [
                f"actor_rollout_ref.model.path={model}",
                "actor_rollout_ref.rollout.name=hf_cpu",
                f"actor_rollout_ref.rollout.agent.agent_loop_config_path={loops}",
                f"actor_rollout_ref.rollout.prompt_length={PROMPT_LENGTH}",
                f"actor_rollout_ref.rollout.response_length={RESPONSE_LENGTH}",
                *overrides,
            ],
        )


@asynccontextmanager
async def rig(
    model: Path,
    shelf: Path,
    folder: Path,
    server: ScriptedServer,
    *,
    worker: type[AgentLoopWorker] = AgentLoopWorker,
    room: int = MOST_INSTANCES,
    **options: Any,
) -> AsyncGenerator[Rig]:
    """A rig with an agent loop that has some options, and a farm with room for so many instances."""
    settings = Options(library=(shelf,), state=folder / "state", port=0, worker=WorkerSettings(most_instances=room))
    async with running(settings) as address, FarmClient(address.url, address.token) as farm:
        loop = {
            "name": "farm",
            "_target_": "rl_training.agent_loop.FarmAgentLoop",
            "farm_url": address.url,
            "farm_token": address.token,
            "seconds": SECONDS,
            "retry_seconds": 0.0,
            **options,
        }
        loops = folder / "agent_loops.yaml"
        OmegaConf.save([loop], loops)
        works = worker(config(model, loops), server)
        server.tokenizer = works.tokenizer
        try:
            yield Rig(works, farm, address, server)
        finally:
            await close_links()
