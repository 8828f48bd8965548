"""What is used of verl 0.9.1, for type checks where it is not installed. A test compares it with the real one."""

from typing import Any

from pydantic import BaseModel

from rl_training.episode.rendering import Builder
from rl_training.episode.token_model import Server
from rl_training.episode.tool_call_parser import Tokenizer

class AgentLoopMetrics(BaseModel):
    generate_sequences: float = 0.0
    tool_calls: float = 0.0
    compute_score: float = 0.0
    num_preempted: int = -1

class AgentLoopOutput(BaseModel):
    prompt_ids: list[int]
    response_ids: list[int]
    response_mask: list[int]
    response_logprobs: list[float] | None = None
    reward_score: float | None = None
    num_turns: int = 0
    metrics: AgentLoopMetrics
    extra_fields: dict[str, Any] = {}
    def as_dict(self) -> dict[str, Any]: ...

class AgentLoopBase:
    config: Any
    rollout_config: Any
    server_manager: Server
    tokenizer: Tokenizer
    continuous_token_builder: Builder
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class AgentLoopWorker:
    tokenizer: Any
    def __init__(self, config: Any, llm_client: Any) -> None: ...
    async def generate_sequences(self, batch: Any) -> Any: ...
