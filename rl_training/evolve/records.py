"""What an evolution has on disk: one file, `rounds.json`, written whole after each step."""

from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from rl_training.evolve.weak_spots import WeakSpot
from servers.errors import RequestError
from servers.files.atomic_write import write_whole
from servers.files.named_file import text_named
from servers.files.trouble import trouble
from servers.records import Record
from servers.validation import first_problem

ROUNDS = "rounds.json"


class RoundFigure(Record):
    """The success rate of a round on held-out scenarios, of one environment or of all, under a perturbation or none."""

    environment: str = ""
    perturb: str = ""
    scenarios: int
    attempts: int
    success: float
    low: float | None
    high: float | None
    reward: float


class MadeScenarios(Record):
    """The scenarios made for a spot in one environment. `dropped` were there before.

    `trouble` says why there are few.
    """

    spot: str
    environment: str
    asked: int
    made: int
    dropped: int = 0
    trouble: str = ""


class RoundRecord(Record):
    """One round. What is None or empty is not done yet.

    `figures` are of the held-out scenarios of the curve, and `spots` of the others, on which weakness is looked for.
    """

    number: int
    model: str
    figures: tuple[RoundFigure, ...] = ()
    broken: int = 0
    spots: tuple[WeakSpot, ...] | None = None
    made: tuple[MadeScenarios, ...] | None = None
    training_scenarios: int = 0
    next_model: str | None = None

    @property
    def weak(self) -> list[WeakSpot]:
        """The weak spots, the surest first."""
        return [one for one in self.spots or () if one.is_weak]

    def figure(self, environment: str = "", perturb: str = "") -> RoundFigure | None:
        """One of the figures."""
        return next((one for one in self.figures if (one.environment, one.perturb) == (environment, perturb)), None)


class EvolutionRecord(Record):
    """All rounds so far, and what they depend on."""

    name: str
    plan: dict[str, Any]
    rounds: tuple[RoundRecord, ...] = ()

    @classmethod
    def read(cls, run: Path) -> Self | None:
        """The record of a folder. None if the folder has none. Raises RequestError if it cannot be read."""
        path = run / ROUNDS
        try:
            return cls.model_validate_json(text_named(path))
        except FileNotFoundError:
            return None
        except ValidationError as error:
            raise RequestError(f"{path}: no record of an evolution: {first_problem(error)}") from None
        except (OSError, UnicodeDecodeError) as error:
            raise RequestError(f"{path}: cannot be read: {trouble(error)}") from None

    def write(self, run: Path) -> None:
        """Write it whole."""
        write_whole(run / ROUNDS, self.model_dump_json(indent=1) + "\n")

    def with_round(self, one: RoundRecord) -> Self:
        """The record with a round in its place."""
        return self.model_copy(update={"rounds": (*self.rounds[: one.number], one, *self.rounds[one.number + 1 :])})
