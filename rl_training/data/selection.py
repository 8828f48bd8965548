"""The selection of scenarios for training, and of those held out for validation.

A split by environment measures transfer to unseen tools. A split by scenario does not.
"""

import hashlib
from collections.abc import Sequence
from typing import Literal, NamedTuple, Self

from pydantic import Field, model_validator

from registry.messages import ScenarioDetail
from rl_training.errors import RowError
from servers.records import Record
from servers.scenario.scenario import Scenario


class Band(Record):
    """A range of numbers, both ends included."""

    low: float
    high: float

    @model_validator(mode="after")
    def low_before_high(self) -> Self:
        if self.low > self.high:
            raise ValueError(f"{self.low:g} is more than {self.high:g}")
        return self

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


class ScenarioSelection(Record):
    """Filters and split. A scenario that lacks a filtered property is left out."""

    environments: tuple[str, ...] = ()
    tag: str | None = None
    calls: Band | None = None
    level: Band | None = None
    pass_rate: Band | None = None
    kill_score: float | None = Field(default=None, ge=0, le=1)
    split: Literal["environment", "scenario"] = "environment"
    validation_environments: tuple[str, ...] = ()
    validation_share: float = Field(default=0.1, ge=0, lt=1)
    seed: int = Field(default=0, ge=0)


class Split(NamedTuple):
    """Scenarios for training, scenarios for validation, and the number left out."""

    train: list[ScenarioDetail]
    validation: list[ScenarioDetail]
    left_out: int


def split(details: Sequence[ScenarioDetail], selection: ScenarioSelection) -> Split:
    """Select and split scenarios. The same scenarios and seed give the same split.

    Raises:
        RowError: none is left to train on.
    """
    wanted = [detail for detail in details if _wanted(detail, selection)]
    ids = {detail.environment for detail in wanted}
    if unknown := set(selection.validation_environments) - ids:
        raise RowError(f"no selected scenario is of {', '.join(sorted(unknown))}; there are: {', '.join(sorted(ids))}")
    apart = _apart(wanted, selection)
    train = [detail for detail in wanted if _key(detail, selection) not in apart]
    validation = [detail for detail in wanted if _key(detail, selection) in apart]
    if not train:
        what = "an environment" if selection.split == "environment" else "a scenario"
        raise RowError(
            f"of {len(details)} scenarios {len(wanted)} are selected and none is left to learn from; "
            f"ask for less, or keep {what} less apart (--split, --validation-share)"
        )
    return Split(train, validation, len(details) - len(wanted))


def pass_rate_of(scenario: Scenario) -> float | None:
    """The share of a solver's attempts that passed. None if unknown."""
    return scenario.certificate.difficulty.pass_rate if scenario.certificate else None


def kill_score_of(scenario: Scenario) -> float | None:
    """The share of mutants that the checkpoints fail. None if unknown."""
    return scenario.certificate.kill_score if scenario.certificate else None


def calls_of(scenario: Scenario) -> int | None:
    """The number of calls of the reference solution. None without one."""
    return len(scenario.solution.calls) if scenario.solution else None


def _wanted(detail: ScenarioDetail, selection: ScenarioSelection) -> bool:
    scenario = detail.scenario
    calls, rate, kills = calls_of(scenario), pass_rate_of(scenario), kill_score_of(scenario)
    return (
        (not selection.environments or detail.environment in selection.environments)
        and (selection.tag is None or selection.tag in scenario.tags)
        and (selection.calls is None or (calls is not None and selection.calls.holds(calls)))
        and (selection.level is None or (scenario.level is not None and selection.level.holds(scenario.level)))
        and (selection.pass_rate is None or (rate is not None and selection.pass_rate.holds(rate)))
        and (selection.kill_score is None or (kills is not None and kills >= selection.kill_score))
    )


def _apart(wanted: Sequence[ScenarioDetail], selection: ScenarioSelection) -> set[str]:
    """The keys that are held out: the named ones, or a share in the order of their digests."""
    if selection.validation_environments:
        return set(selection.validation_environments)
    keys = sorted({_key(detail, selection) for detail in wanted}, key=lambda key: _drawn(key, selection.seed))
    return set(keys[: round(len(keys) * selection.validation_share)])


def _key(detail: ScenarioDetail, selection: ScenarioSelection) -> str:
    by_environment = selection.split == "environment" or selection.validation_environments
    return detail.environment if by_environment else f"{detail.environment}/{detail.scenario.id}"


def _drawn(key: str, seed: int) -> str:
    return hashlib.sha256(f"{seed} {key}".encode()).hexdigest()
