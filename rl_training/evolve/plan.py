"""The plan of `farm evolve` (TOML): the agent, the environments, what is held out, what is made, how it is trained."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from agent_client.trace import Limits
from evals.runs.suite import CommandAgent, SimulatedUser, Suite, SuitePlan
from rl_training.config import read_config
from rl_training.errors import TrainingError
from servers.errors import RequestError
from servers.perturb.perturbation import PerturbLine
from servers.records import AnswerFormat, Name, Record
from servers.text.json_values import is_list, is_object
from servers.validation import problems

CommandWords = Annotated[str, Field(min_length=1)] | Annotated[tuple[str, ...], Field(min_length=1)]
"""A text for the shell, or the words of a command."""
MOST_ROUNDS = 1000
MOST_MADE = 10_000


class EvaluationSettings(Record):
    """How the agent is evaluated in each round.

    `serve` is what stands before the evaluation's own command: a program that serves the model, runs the words behind
    it with OPENAI_BASE_URL set, and ends with them. `perturb` are the perturbations that the same scenarios are also
    played under.
    """

    attempts: int = Field(default=2, ge=1, le=1000)
    concurrency: int = Field(default=8, ge=1, le=4096)
    serve: tuple[str, ...] = ()
    perturb: tuple[PerturbLine, ...] = ()


class HeldOutSettings(Record):
    """What is never trained on: a share of the scenarios of each environment, and some that are made for it."""

    share: float = Field(default=0.25, gt=0, lt=1)
    make: int = Field(default=0, ge=0, le=MOST_MADE)


class WeaknessTest(Record):
    """When a spot is weak.

    `alpha` is the probability that any spot is called weak if none is. `least` is the number of scenarios that a spot
    must have. `most` is the number of weak spots that scenarios are made for in one round.
    """

    alpha: float = Field(default=0.05, gt=0, lt=1)
    least: int = Field(default=4, ge=2)
    most: int = Field(default=4, ge=1)


class MakingSettings(Record):
    """The scenarios made in each round: how many, and whether where the agent is weak or evenly.

    `command` makes more of them in another way, for each environment with a weak spot.
    """

    scenarios: int = Field(default=40, ge=1, le=MOST_MADE)
    where: Literal["weak", "even"] = "weak"
    command: CommandWords | None = None


class TrainingCommand(Record):
    """The command of a training, and the pattern of the path at which it leaves the new model.

    Of several matches the last counts, numbers in it compared as numbers. Without a pattern the agent stays the same in
    name, as behind an endpoint that serves the newest weights.
    """

    command: CommandWords
    model: str = ""


class EvolutionPlan(Record):
    """One evolution."""

    extends: str | None = None
    name: str = Field(default="evolution", min_length=1)
    rounds: int = Field(default=4, ge=1, le=MOST_ROUNDS)
    seed: int = Field(default=0, ge=0, le=9999)
    model: str = ""
    library: tuple[str, ...] = ()
    environments: tuple[Name, ...] = Field(min_length=1)
    agent: dict[str, Any]
    user: SimulatedUser | None = None
    limits: Limits = Limits()
    answers: AnswerFormat = "text"
    evaluation: EvaluationSettings = EvaluationSettings()
    held_out: HeldOutSettings = HeldOutSettings()
    weak: WeaknessTest = WeaknessTest()
    make: MakingSettings = MakingSettings()
    train: TrainingCommand

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if len(set(self.environments)) < len(self.environments):
            raise ValueError("environments: one is named twice")
        if self.train.model and not self.names_model:
            raise ValueError("train.model: the agent is not named by {model}, so a new model would never be played")
        if not self.train.model and self.names_model and not self.model:
            raise ValueError("model: say which one {model} stands for")
        if self.names_model and not self.model:
            raise ValueError("model: say with which one the first round begins")
        self.suite(self.model, "")
        return self

    @property
    def names_model(self) -> bool:
        """True if a part of the agent is the model of the round."""
        return "{model}" in json.dumps([self.agent, self.evaluation.serve])

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that the rounds depend on. More rounds, or other concurrency, are the same evolution."""
        return self.model_dump(mode="json", exclude={"rounds": True, "evaluation": {"concurrency"}, "extends": True})

    def suite(self, model: str, perturb: str) -> Suite:
        """The suite of a round's evaluation. Raises ValueError if the agent is none."""
        agent = {key: with_values(value, {"model": model}) for key, value in self.agent.items()}
        if "command" in agent and "kind" not in agent:
            agent["kind"] = "command"
        told: dict[str, Any] = {
            "name": f"{self.name}{f', {perturb}' if perturb else ''}",
            "agent": agent,
            "scenarios": {"environments": self.environments},
            "user": self.user,
            "run": SuitePlan(attempts=self.evaluation.attempts, concurrency=self.evaluation.concurrency),
            "limits": self.limits,
            "answers": self.answers,
            "perturb": perturb,
        }
        try:
            suite = Suite.model_validate_json(json.dumps(told, default=lambda one: one.model_dump(mode="json")))
        except ValidationError as error:
            raise ValueError("; ".join(problems(error))) from None
        if suite.agent.kind == "human":
            raise ValueError("agent.kind: a person plays by `farm play --me`")
        if isinstance(suite.agent, CommandAgent) and self.evaluation.serve:
            raise ValueError("evaluation.serve: the agent is a command, which asks for its model by itself")
        return suite


def load_plan(path: Path) -> EvolutionPlan:
    """Read a plan, and the one that it extends. Raises RequestError, which names the key."""
    try:
        plan = read_config(path, EvolutionPlan)
    except TrainingError as error:
        raise RequestError(str(error)) from None
    for folder in plan.library:
        if not Path(folder).is_dir():
            raise RequestError(f"{path}: library: {folder}: no such folder")
    return plan


def with_values(written: Any, values: Mapping[str, str]) -> Any:
    """A value with the names in braces that are known replaced, at any depth."""
    if isinstance(written, str):
        for name, value in values.items():
            written = written.replace(f"{{{name}}}", value)
        return written
    if is_list(written):
        return [with_values(one, values) for one in written]
    if is_object(written):
        return {key: with_values(one, values) for key, one in written.items()}
    return written


def as_toml(suite: Suite) -> str:
    """A suite as `farm eval` reads it."""
    told = suite.model_dump(mode="json", exclude_defaults=True) | {"agent": suite.agent.model_dump(mode="json")}
    return "".join(f"{key} = {_toml(value)}\n" for key, value in told.items() if value is not None)


def _toml(value: Any) -> str:
    if is_object(value):
        return "{" + ", ".join(f"{json.dumps(k)} = {_toml(one)}" for k, one in value.items() if one is not None) + "}"
    if is_list(value):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)
