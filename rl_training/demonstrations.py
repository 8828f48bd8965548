"""Conversations to learn from before reinforcement: the reference solutions, as an agent would have played them."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from agent_client.chat_messages import chat_messages, chat_tools
from agent_client.conversation import conversation
from agent_client.model import Reply
from agent_client.play import Limits, play
from agent_client.scripted_model import ScriptedCall, ScriptedModel
from agent_client.toolbox import connect
from agent_client.trace import Trace
from agent_client.wire import shared_http
from registry.client import FarmClient
from registry.wire import ScenarioDetail
from rl_training.errors import RowError
from servers.record import Record

AT_ONCE = 16


class Demonstration(Record):
    """One conversation with the tools that were at hand, in the chat completions format."""

    environment: str
    scenario: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]

    @property
    def texts(self) -> list[str]:
        """Everything that is said in it, for a tokenizer to learn from."""
        return [json.dumps(self.tools), *(json.dumps(message) for message in self.messages)]


async def demonstrations(
    farm: FarmClient, scenarios: Sequence[ScenarioDetail], *, instructions: bool = True
) -> list[Demonstration]:
    """Play reference solutions.

    Raises:
        RowError: one of them does not earn everything.
    """
    room = asyncio.Semaphore(AT_ONCE)  # protects the farm: so many at once
    async with shared_http(AT_ONCE) as http, asyncio.TaskGroup() as group:

        async def one(detail: ScenarioDetail) -> Demonstration:
            async with room:
                [lease] = await farm.launch(detail.environment, detail.scenario.id)
                try:
                    assert lease.mcp_url is not None  # noqa: S101 - it was launched just now
                    assert lease.token is not None  # noqa: S101
                    async with connect(lease.mcp_url, lease.token, http_client=http) as toolbox:
                        trace = await play(_gold(detail), toolbox, detail.scenario.task, limits=Limits(turns=200))
                    score = await farm.score(lease.instance, trace.answer)
                finally:
                    await farm.close(lease.instance)
            if not score.success:
                raise RowError(f"the reference solution of {detail.environment}/{detail.scenario.id} does not solve it")
            return _demonstration(detail, trace, instructions)

        tasks = [group.create_task(one(detail)) for detail in scenarios]
    return [task.result() for task in tasks]


def _gold(detail: ScenarioDetail) -> ScriptedModel:
    solution = detail.scenario.reference()
    calls = [ScriptedCall(tool=call.tool, arguments=call.arguments) for call in solution.calls]
    return ScriptedModel(calls, solution.answer, name="gold")


def _demonstration(detail: ScenarioDetail, trace: Trace, instructions: bool) -> Demonstration:
    messages = conversation(trace.instructions if instructions else "", trace.task, trace.turns)
    if not isinstance(messages[-1], Reply):
        messages = (*messages, Reply(text=trace.answer))
    return Demonstration(
        environment=detail.environment,
        scenario=detail.scenario.id,
        messages=chat_messages(messages),
        tools=chat_tools(trace.tools),
    )
