# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false
"""An agent loop that only generates, turn after turn: the cost of verl's own worker without a farm."""

from typing import Any
from uuid import uuid4

from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopMetrics, AgentLoopOutput


class BareLoop(AgentLoopBase):
    """Generates `turns` turns and earns 1. No prompt is rendered."""

    def __init__(self, *args: Any, turns: int, tools: object = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.turns = turns

    async def run(self, sampling_params: dict[str, Any], **row: Any) -> AgentLoopOutput:
        said, request = list[int](), uuid4().hex
        for _ in range(self.turns):
            turn = await self.server_manager.generate(request, prompt_ids=[0], sampling_params=sampling_params)
            said += turn.token_ids
        return AgentLoopOutput(
            prompt_ids=[0],
            response_ids=said,
            response_mask=[1] * len(said),
            reward_score=1.0,
            metrics=AgentLoopMetrics(),
        )
