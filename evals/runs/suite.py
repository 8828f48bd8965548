"""A suite: which scenarios are played, by which agent, how often, and within which limits. Written in TOML."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, ValidationError, model_validator

from agent_client.rules import LimitsOf
from agent_client.trace import Limits
from servers.errors import BundleError, RequestError
from servers.files.toml_file import TomlError, toml_named
from servers.files.trouble import trouble
from servers.limits.json_size import refuse_odd_numbers
from servers.perturb.perturbation import PerturbLine
from servers.records import OPENAI, AnswerFormat, EndpointUrl, Record
from servers.scenario.scenario import Solution
from servers.text.json_values import is_object
from servers.text.wording import suggestion
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
    min_level: int | None = Field(default=None, ge=1, le=5)
    max_level: int | None = Field(default=None, ge=1, le=5)
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


class HumanAgent(Record):
    """The person at the terminal of `farm play --me`."""

    kind: Literal["human"]


class CommandAgent(Record):
    """A program that plays by itself: a text for the shell, or the words of a command.

    With `walls` it reads its own folder, those of the system and of `read`, and writes into its own folder alone.
    """

    kind: Literal["command"]
    command: Annotated[str, Field(min_length=1)] | Annotated[tuple[str, ...], Field(min_length=1)]
    name: str = ""
    walls: bool = False
    read: tuple[str, ...] = (".",)
    processes: int = Field(default=256, ge=1)
    memory: int = Field(default=8192, ge=64, description="MiB of all of its processes together.")

    @property
    def called(self) -> str:
        """Its name, by default its first word."""
        words = self.command.split() if isinstance(self.command, str) else self.command
        return self.name or Path([*words, "command"][0]).name


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


Agent = Annotated[ScriptedAgent | SolutionAgent | ChatAgent | HumanAgent | CommandAgent, Field(discriminator="kind")]


class Suite(Record):
    """What `farm eval` plays."""

    name: str = Field(min_length=1)
    agent: Agent
    scenarios: ScenarioChoice = ScenarioChoice()
    user: SimulatedUser | None = None
    run: SuitePlan = SuitePlan()
    limits: Limits = Limits()
    answers: AnswerFormat = "text"
    """With "json" each task ends with the keys of the JSON object in which it is to be answered."""
    perturb: PerturbLine = ""
    """How the tools differ from those of the environments, in one line."""
    limits_of: LimitsOf = "official"
    """The rules for tasks of public benchmarks, which replace `limits.turns` there."""

    @model_validator(mode="before")
    @classmethod
    def _know_commands(cls, written: Any) -> Any:
        """`agent = {command = "…"}` needs no kind."""
        agent = written.get("agent") if is_object(written) else None
        if is_object(agent) and "command" in agent and "kind" not in agent:
            return {**written, "agent": {**agent, "kind": "command"}}
        return written

    @model_validator(mode="after")
    def _command_is_bounded_by_time(self) -> Self:
        """Refuse what the farm cannot do for a program that plays by itself."""
        if isinstance(self.agent, CommandAgent):
            counted = [name for name in ("turns", "tokens") if getattr(self.limits, name) != getattr(Limits(), name)]
            if counted:
                raise ValueError(f"limits.{counted[0]}: a command is bounded by limits.seconds alone; leave it out")
            if self.user is not None:
                raise ValueError("user: a command is told the task itself, and speaks with nobody; leave it out")
        return self

    @property
    def digest(self) -> str:
        """A digest of everything that the suite's results depend on."""
        return self._digest_of(exclude={"run": {"concurrency", "retries"}} | _WHERE)

    @property
    def agent_digest(self) -> str:
        """A digest of the agent: model, settings, limits, how it answers, and the simulated user."""
        return self._digest_of(include={"agent", "user", "limits", "limits_of", "answers"}, exclude=_WHERE)

    def _digest_of(self, *, exclude: dict[str, Any], include: set[str] | None = None) -> str:
        """A digest of some fields. Prose and official limits, the defaults, are left out of it."""
        written = self.model_dump(mode="json", include=include, exclude=exclude)
        return _digest({name: value for name, value in written.items() if (name, value) not in _USUAL})

    @property
    def agent_name(self) -> str:
        match self.agent:
            case ChatAgent(model=model):
                return model
            case CommandAgent():
                return self.agent.called
            case _:
                return self.agent.kind


_USUAL = (("answers", "text"), ("limits_of", "official"), ("perturb", ""))
_WHERE: dict[str, Any] = {"agent": {"base_url"}, "user": {"base_url"}}
"""Fields that do not identify an agent: the same model at another address is the same agent."""


@dataclass(frozen=True)
class ModelEndpoint:
    """The endpoint of models whose suite names none, and the keys."""

    base_url: str = OPENAI
    api_key: str = ""
    user_api_key: str = ""


@dataclass(frozen=True)
class SuiteOrder:
    """What `farm eval` is to play, where, and into which folder."""

    suite: Suite
    run: Path
    endpoint: ModelEndpoint
    farm: str | None
    token: str
    library: tuple[Path, ...]
    workers: int
    prompt_price: float
    completion_price: float
    as_json: bool


def read_suite(
    path: Path,
    *,
    agent: Mapping[str, Any] | None = None,
    answers: AnswerFormat | None = None,
    perturb: str | None = None,
) -> Suite:
    """Read a suite. What is given takes the place of the suite's own.

    Raises:
        RequestError: the file is missing, or a key is not valid. The message names the key.
    """
    try:
        written = toml_named(path)
    except FileNotFoundError as error:
        suites = sorted(one.name for one in path.parent.glob("*.toml"))
        hint = f"; {suggestion(path.name, suites, lister=f'ls {path.parent}')}" if suites else ""
        raise RequestError(f"{path}: cannot be read: {trouble(error)}{hint}") from None
    except OSError as error:
        raise RequestError(f"{path}: cannot be read: {trouble(error)}") from None
    except TomlError as error:
        raise RequestError(f"{path}: not TOML: {error}") from None
    given = {
        name: value
        for name, value in (("agent", agent), ("answers", answers), ("perturb", perturb))
        if value is not None
    }
    text = json.dumps({**written, **given}, default=str)
    try:
        refuse_odd_numbers(f"{path}", text)
        suite = Suite.model_validate_json(text)
    except BundleError as error:
        raise RequestError(str(error)) from None
    except ValidationError as error:
        raise RequestError("; ".join(f"{path}: {problem}" for problem in _problems(error))) from None
    if isinstance(suite.agent, HumanAgent):
        raise RequestError(f"{path}: agent.kind: a person plays one scenario: `farm play BUNDLE --scenario ID --me`")
    return suite


def _problems(error: ValidationError) -> list[str]:
    found: list[str] = []
    for problem in error.errors(include_url=False)[:MOST]:
        place = [str(part) for part in problem["loc"]]
        kind = place.pop(1) if place[:1] == ["agent"] and len(place) > 1 else ""
        said = reason_of(problem)
        if problem["type"] == "extra_forbidden":
            said += f"; there are: {', '.join(_keys(place[:-1], kind))}"
        found.append(f"{place_of(place)}: {said}" if place else said)
    return found


def _keys(place: list[str], kind: str) -> list[str]:
    """The keys of the table at a place. `kind` is the agent's."""
    agents: dict[str, type[BaseModel]] = {"chat": ChatAgent, "solution": SolutionAgent, "command": CommandAgent}
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
