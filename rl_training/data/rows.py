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
from servers.records import AnswerFormat, Name, Record
from servers.scenario.answer_shape import task_asking
from servers.scenario.checkpoints.official import CONTAMINATED
from servers.validation import problems

PAGE = 500
AGENT = "farm"
DatasetRow = dict[str, Any]


class AgentView(NamedTuple):
    """What an agent sees of an environment: its instructions, and its tools in the chat completions format."""

    instructions: str
    tools: list[dict[str, Any]]


async def scenarios_of(farm: FarmClient, environments: Sequence[str]) -> list[ScenarioDetail]:
    """All scenarios of some environments, or of all if none is named.

    Raises:
        BundleError: an environment cannot be read.
        RowError: a scenario is of a public benchmark.
    """
    found = await farm.environments(limit=1000)
    ids = environments or [card.id for card in found.items]
    if broken := {one: why for one, why in found.broken.items() if not environments or one in environments}:
        raise BundleError("; ".join(broken.values()))
    details: list[ScenarioDetail] = []
    for environment in ids:
        cards = await every_item(partial(_part, farm, environment))
        details += await asyncio.gather(*(farm.scenario(environment, card.id) for card in cards))
    for detail in details:
        if detail.scenario.is_of_benchmark:
            raise RowError(f"{detail.environment} {CONTAMINATED}")
    return details


async def _part(farm: FarmClient, environment: str, offset: int) -> ScenarioPart:
    return await farm.scenarios(environment, offset=offset, limit=PAGE)


async def rows(
    farm: FarmClient,
    details: Sequence[ScenarioDetail],
    *,
    split: str,
    instructions: bool = True,
    answers: AnswerFormat = "text",
) -> list[DatasetRow]:
    """Rows for some scenarios. Instructions and tools come from one instance for each environment and clock."""
    environments = {one: await farm.environment(one) for one in {detail.environment for detail in details}}
    shown: dict[tuple[str, str, str], AgentView] = {}
    made: list[DatasetRow] = []
    for number, detail in enumerate(details):
        clock = _clock(detail, environments)
        second = detail.scenario.second.environment if detail.scenario.second else ""
        seen = (detail.environment, clock, second)
        if seen not in shown:
            shown[seen] = await _shown(farm, detail)
        view = shown[seen]
        task = task_asking(detail.scenario, clock, answers)
        row = _row(number, detail, split, environments[detail.environment].digest)
        made.append({**row, "prompt": _prompt(view.instructions if instructions else "", task), "tools": view.tools})
    return made


def _clock(detail: ScenarioDetail, environments: dict[str, EnvironmentDetail]) -> str:
    return detail.scenario.clock or environments[detail.environment].clock


async def _shown(farm: FarmClient, detail: ScenarioDetail) -> AgentView:
    leasing = farm.leased(detail.environment, detail.scenario.id, ttl_seconds=60)
    async with leasing as live, live.connect() as toolbox:
        return AgentView(toolbox.instructions, chat_tools(toolbox.tools))


def _prompt(instructions: str, task: str) -> list[dict[str, str]]:
    system = [{"role": "system", "content": instructions}] if instructions else []
    return [*system, {"role": "user", "content": task}]


def _row(number: int, detail: ScenarioDetail, split: str, environment_digest: str) -> DatasetRow:
    scenario = detail.scenario
    return {
        "data_source": detail.environment,
        "agent_name": AGENT,
        "ability": "tools",
        "reward_model": {"style": "farm", "ground_truth": ""},
        "extra_info": {
            "index": number,
            "split": split,
            "environment": detail.environment,
            "scenario": scenario.id,
            "persona": scenario.persona,
            "seed": 0,
            "environment_digest": environment_digest,
            "scenario_digest": detail.digest,
            "calls": calls_of(scenario),
            "level": scenario.level,
            "pass_rate": pass_rate_of(scenario),
            "kill_score": kill_score_of(scenario),
        },
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
