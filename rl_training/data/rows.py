"""Rows of training data: each names a task of the farm and holds its first messages. No answer is in them."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from pydantic import Field, ValidationError

from agent_client.models.chat_messages import chat_tools
from registry.client import FarmClient, every_item
from registry.messages import LARGEST_NUMBER, EnvironmentDetail, ScenarioDetail, ScenarioPart
from rl_training.data.selection import calls_of, kill_score_of, pass_rate_of
from rl_training.errors import RowError
from servers.errors import BundleError
from servers.records import Name, Record
from servers.validation import problems

PAGE = 500
AGENT = "farm"
Row = dict[str, Any]


class AgentView(NamedTuple):
    """What an agent sees of an environment: its instructions, and its tools in the chat completions format."""

    instructions: str
    tools: list[dict[str, Any]]


async def scenarios_of(farm: FarmClient, environments: Sequence[str]) -> list[ScenarioDetail]:
    """All scenarios of some environments, or of all if none is named.

    Raises:
        BundleError: an environment cannot be read.
    """
    found = await farm.environments(limit=1000)
    ids = environments or [card.id for card in found.items]
    if broken := {one: why for one, why in found.broken.items() if not environments or one in environments}:
        raise BundleError("; ".join(broken.values()))
    details: list[ScenarioDetail] = []
    for environment in ids:
        cards = await every_item(partial(_part, farm, environment))
        details += await asyncio.gather(*(farm.scenario(environment, card.id) for card in cards))
    return details


async def _part(farm: FarmClient, environment: str, offset: int) -> ScenarioPart:
    return await farm.scenarios(environment, offset=offset, limit=PAGE)


async def rows(
    farm: FarmClient, details: Sequence[ScenarioDetail], *, split: str, instructions: bool = True
) -> list[Row]:
    """Rows for some scenarios. Instructions and tools come from one instance for each environment and clock."""
    environments = {one: await farm.environment(one) for one in {detail.environment for detail in details}}
    shown: dict[tuple[str, str], AgentView] = {}
    for detail in details:
        clock = _clock(detail, environments)
        if (detail.environment, clock) not in shown:
            shown[detail.environment, clock] = await _shown(farm, detail)
    return [
        _row(number, detail, shown[detail.environment, _clock(detail, environments)], split, instructions, environments)
        for number, detail in enumerate(details)
    ]


def _clock(detail: ScenarioDetail, environments: dict[str, EnvironmentDetail]) -> str:
    return detail.scenario.clock or environments[detail.environment].clock


async def _shown(farm: FarmClient, detail: ScenarioDetail) -> AgentView:
    leasing = farm.leased(detail.environment, detail.scenario.id, ttl_seconds=60)
    async with leasing as live, live.connect() as toolbox:
        return AgentView(toolbox.instructions, chat_tools(toolbox.tools))


def _row(
    number: int,
    detail: ScenarioDetail,
    shown: AgentView,
    split: str,
    instructions: bool,
    environments: dict[str, EnvironmentDetail],
) -> Row:
    scenario = detail.scenario
    system = [{"role": "system", "content": shown.instructions}] if instructions and shown.instructions else []
    return {
        "data_source": detail.environment,
        "agent_name": AGENT,
        "prompt": [*system, {"role": "user", "content": scenario.task}],
        "ability": "tools",
        "reward_model": {"style": "farm", "ground_truth": ""},
        "extra_info": {
            "index": number,
            "split": split,
            "environment": detail.environment,
            "scenario": scenario.id,
            "persona": scenario.persona,
            "seed": 0,
            "environment_digest": environments[detail.environment].digest,
            "scenario_digest": detail.digest,
            "calls": calls_of(scenario),
            "pass_rate": pass_rate_of(scenario),
            "kill_score": kill_score_of(scenario),
        },
        "tools": shown.tools,
    }


class Task(Record):
    """The start of an episode. All episodes of a group have the same."""

    environment: Name
    scenario: Name
    seed: int = Field(default=0, ge=0, le=LARGEST_NUMBER)

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Task":
        """The task in the `extra_info` of a row.

        Raises:
            RowError: there is none.
        """
        extra: dict[str, Any] = row.get("extra_info") or {}
        wanted = {key: extra[key] for key in cls.model_fields if extra.get(key) is not None}
        try:
            return cls.model_validate(wanted)
        except ValidationError as error:
            said = "; ".join(problems(error))
            raise RowError(f"extra_info of a row names no task ({said}); `farm rl prepare` writes rows") from None
