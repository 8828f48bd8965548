"""Demonstrations for a warm start: solutions, played as an agent would play them."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from agent_client.model import Reply
from agent_client.models.chat_messages import chat_messages, chat_tools
from agent_client.play import Limits, conversation
from agent_client.trace import Trace
from agent_client.wire import shared_http
from evals.demo import gold_model
from evals.rollout import for_each, rollout
from registry.client import FarmClient
from registry.messages import ScenarioDetail
from rl_training.errors import RowError
from servers.errors import InfraError
from servers.records import Record
from servers.scenario.scenario import Solution

AT_ONCE = 16
LIMITS = Limits(turns=200)


class Showing(NamedTuple):
    """A scenario, and the solution to play: its reference, or another one."""

    detail: ScenarioDetail
    solution: Solution


class Demonstration(Record):
    """One conversation with its tools in the chat completions format, and its reward."""

    environment: str
    scenario: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    reward: float

    @property
    def texts(self) -> list[str]:
        """Every text in it, to train a tokenizer."""
        return [json.dumps(self.tools), *(json.dumps(message) for message in self.messages)]


async def demonstrations(
    farm: FarmClient, scenarios: Sequence[ScenarioDetail], *, instructions: bool = True
) -> list[Demonstration]:
    """Play reference solutions.

    Raises:
        RowError: one of them does not earn 1.
    """
    shown = await played(farm, [Showing(one, one.scenario.reference()) for one in scenarios], instructions=instructions)
    for one in shown:
        if one.reward < 1:
            raise RowError(f"the reference solution of {one.environment}/{one.scenario} does not solve it")
    return shown


async def played(farm: FarmClient, showings: Sequence[Showing], *, instructions: bool = True) -> list[Demonstration]:
    """Play solutions, right or wrong, and score them."""
    async with shared_http(AT_ONCE) as http:

        async def one(showing: Showing) -> Demonstration:
            detail = showing.detail
            run = await rollout(farm, detail, gold_model(showing.solution), limits=LIMITS, http_client=http)
            if run.trace is None or run.reward is None:
                raise InfraError(f"{detail.environment}/{detail.scenario.id} could not be judged: {run.error}")
            return _demonstration(detail, run.trace, run.reward, instructions)

        return await for_each(showings, one, at_once=AT_ONCE)


def _demonstration(detail: ScenarioDetail, trace: Trace, reward: float, instructions: bool) -> Demonstration:
    messages = conversation(trace.instructions if instructions else "", trace.task, trace.turns)
    if not isinstance(messages[-1], Reply):
        messages = (*messages, Reply(text=trace.answer))
    return Demonstration(
        environment=detail.environment,
        scenario=detail.scenario.id,
        messages=chat_messages(messages),
        tools=chat_tools(trace.tools),
        reward=reward,
    )
