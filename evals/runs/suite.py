"""A suite: which scenarios are played, by which agent, how often, and within which limits. Written in TOML."""

import hashlib
import json
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from agent_client.play import Limits
from servers.errors import BundleError, RequestError
from servers.files.trouble import trouble
from servers.limits.json_size import refuse_odd_numbers
from servers.records import EndpointUrl, Record
from servers.scenario.scenario import Solution
from servers.validation import MOST, place_of, reason_of

ToolFormat = Literal["function_calling", "hermes", "json"]


class ScenarioChoice(Record):
    """A selection of scenarios: those that pass every filter, and optionally a sample of them."""

    environments: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    search: str = ""
    min_calls: int | None = Field(default=None, ge=0)
    max_calls: int | None = Field(default=None, ge=0)
    sample: int | None = Field(default=None, ge=1)
    seed: int = 0


class ScriptedAgent(Record):
    """An agent that needs no model: the reference solution, nothing, or the reference without its last change."""

    kind: Literal["gold", "idle", "sabotaged"]


class SolutionAgent(Record):
    """An agent that makes given calls and gives a given answer, whatever the task."""

    kind: Literal["solution"]
    solution: Solution


class ChatAgent(Record):
    """A model behind an OpenAI-compatible endpoint. Without `base_url`, the command's endpoint is used."""

    kind: Literal["chat"]
    model: str = Field(min_length=1)
    base_url: EndpointUrl | None = None
    temperature: float | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=1)
    tools: ToolFormat = "function_calling"
    return_thinking: bool = False
    seconds: float = Field(default=300.0, gt=0)


class SimulatedUser(Record):
    """The model that plays the user of scenarios with a persona. Without it, the agent reads the task itself."""

    model: str = Field(min_length=1)
    base_url: EndpointUrl | None = None
    temperature: float | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=1)
    seconds: float = Field(default=300.0, gt=0)


class SuitePlan(Record):
    """How often each scenario is played, and how.

    Attempt i has the seed `seed + i`. `retries` is how often a broken rollout is repeated.
    """

    attempts: int = Field(default=1, ge=1, le=1000)
    seed: int = Field(default=0, ge=0)
    concurrency: int = Field(default=8, ge=1, le=4096)
    retries: int = Field(default=2, ge=0, le=20)


Agent = Annotated[ScriptedAgent | SolutionAgent | ChatAgent, Field(discriminator="kind")]


class Suite(Record):
    """What `farm eval` plays."""

    name: str = Field(min_length=1)
    agent: Agent
    scenarios: ScenarioChoice = ScenarioChoice()
    user: SimulatedUser | None = None
    run: SuitePlan = SuitePlan()
    limits: Limits = Limits()

    @property
    def digest(self) -> str:
        """A digest of everything that the suite's results depend on."""
        return _digest(self.model_dump(mode="json", exclude={"run": {"concurrency", "retries"}} | _WHERE))

    @property
    def agent_digest(self) -> str:
        """A digest of the agent: model, settings, limits, and the simulated user."""
        return _digest(self.model_dump(mode="json", include={"agent", "user", "limits"}, exclude=_WHERE))

    @property
    def agent_name(self) -> str:
        return self.agent.model if isinstance(self.agent, ChatAgent) else self.agent.kind


_WHERE: dict[str, Any] = {"agent": {"base_url"}, "user": {"base_url"}}
"""Fields that do not identify an agent: the same model at another address is the same agent."""


def read_suite(path: Path) -> Suite:
    """Read a suite.

    Raises:
        RequestError: the file is missing, or a key is not valid. The message names the key.
    """
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{path}: cannot be read: {trouble(error)}") from None
    except tomllib.TOMLDecodeError as error:
        raise RequestError(f"{path}: not TOML: {error}") from None
    text = json.dumps(written, default=str)
    try:
        refuse_odd_numbers(f"{path}", text)
        return Suite.model_validate_json(text)
    except BundleError as error:
        raise RequestError(str(error)) from None
    except ValidationError as error:
        raise RequestError("; ".join(f"{path}: {problem}" for problem in _problems(error))) from None


def _problems(error: ValidationError) -> list[str]:
    found: list[str] = []
    for problem in error.errors(include_url=False)[:MOST]:
        place = [str(part) for part in problem["loc"]]
        kind = place.pop(1) if place[0] == "agent" and len(place) > 1 else ""
        said = reason_of(problem)
        if problem["type"] == "extra_forbidden":
            said += f"; there are: {', '.join(_keys(place[:-1], kind))}"
        found.append(f"{place_of(place)}: {said}")
    return found


def _keys(place: list[str], kind: str) -> list[str]:
    """The keys of the table at a place. `kind` is the agent's."""
    agents: dict[str, type[BaseModel]] = {"chat": ChatAgent, "solution": SolutionAgent}
    agent = agents.get(kind, ScriptedAgent)
    tables: dict[str, type[BaseModel]] = {
        "scenarios": ScenarioChoice,
        "agent": agent,
        "user": SimulatedUser,
        "run": SuitePlan,
        "limits": Limits,
    }
    return list((tables[place[0]] if place else Suite).model_fields)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
