"""The configuration of `farm rl train` (TOML): the farm, how episodes are played, and verl's own settings."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from pydantic import Field, ValidationError, model_validator

from rl_training.data.curriculum import Curriculum
from rl_training.episode.branches import Branching
from rl_training.episode.group_race import OverSampling
from rl_training.episode.progress import ProgressShaping
from rl_training.episode.simulated_user import UserModel
from rl_training.errors import TrainingError
from servers.errors import RequestError
from servers.files.toml_file import TomlError, toml_named
from servers.files.trouble import trouble
from servers.perturb.perturbation import PerturbLine
from servers.records import Record
from servers.text.json_values import is_list, is_object
from servers.validation import problems

CONFIGS = Path(__file__).parent / "configs"
Config = TypeVar("Config", bound=Record)


class FarmSettings(Record):
    """A running farm (`url`, with its token in FARM_TOKEN), or one to start beside the trainer."""

    url: str | None = None
    library: tuple[str, ...] = ()
    workers: int = Field(default=1, ge=1)

    @model_validator(mode="after")
    def either_or(self) -> Self:
        if self.url is not None and self.library:
            raise ValueError("give url (a farm that runs) or library (a farm to start), not both")
        return self


class PartialEpisodes(Record):
    """Episodes that may go on in later steps, with later weights.

    `ahead` is how many batches are begun before the first step. The tokens of a group may be of `versions` versions of
    the weights. A group that would be of more is waited for, or dropped.
    """

    ahead: float = Field(default=1.0, ge=0)
    versions: int = Field(default=3, ge=1)
    too_old: Literal["wait", "drop"] = "wait"


class Episodes(Record):
    """How an episode is played.

    `turns`, `turn_tokens` and `seconds` bound it. The tokens of all turns are bounded by response_length.
    `longest_result` is the number of characters of a tool's result that the model reads. `ttl_seconds` is how long a
    lease lives without a heartbeat. With `on_infra_failure` of `raise`, verl's V1 trainer leaves an episode out whose
    farm broke twice. `mask` is for trainers where one raise would end the whole batch. `retry_seconds` is the pause
    before the second attempt, in which a farm may restart.
    """

    turns: int = Field(default=40, ge=1)
    turn_tokens: int = Field(default=4096, ge=1)
    seconds: float = Field(default=1800.0, gt=0)
    longest_result: int = Field(default=20_000, ge=2)
    ttl_seconds: int = Field(default=120, ge=10)
    perturb: PerturbLine = ""
    on_infra_failure: Literal["raise", "mask"] = "raise"
    retry_seconds: float = Field(default=3.0, ge=0)


class TrainConfig(Record):
    """One training.

    `verl` is passed on unchanged, and `platform` names the hardware. Without `curriculum`, rows are drawn uniformly.
    With `branching` or `progress`, the estimator of advantages is the farm's own. With `over_sampling`, groups begin
    more episodes than they keep. With `partial_episodes`, a step does not wait for the episodes that are under way.

    Without a `user`, scenarios with a persona give the policy the task itself.
    """

    extends: str | None = None
    platform: Literal["gpu", "cpu"] = "gpu"
    farm: FarmSettings = FarmSettings()
    episodes: Episodes = Episodes()
    curriculum: Curriculum | None = None
    branching: Branching | None = None
    progress: ProgressShaping | None = None
    over_sampling: OverSampling | None = None
    partial_episodes: PartialEpisodes | None = None
    user: UserModel | None = None
    verl: dict[str, Any] = {}

    @model_validator(mode="after")
    def one_estimator(self) -> Self:
        if self.branching is not None and self.progress is not None:
            raise ValueError("give branching or progress: each needs an estimator of advantages of its own")
        return self


def config_path(name: str, kind: Literal["grpo", "sft"]) -> Path:
    """A configuration by its path, or by the name of an own one. Raises RequestError if there is none."""
    own = CONFIGS / f"{name}.toml"
    if own.is_file():
        return own
    if not Path(name).is_file():
        there = ", ".join(sorted(path.stem for path in CONFIGS.glob("*.toml") if _is_of(path, kind)))
        raise RequestError(f"no config {name!r}: give a TOML file, or one of: {there}")
    return Path(name)


def _is_of(path: Path, kind: Literal["grpo", "sft"]) -> bool:
    return path.stem.startswith("sft_") == (kind == "sft")


def load_config(path: Path) -> TrainConfig:
    """Read the configuration of a training. Raises like `read_config`."""
    return read_config(path, TrainConfig)


def read_config(path: Path, form: type[Config]) -> Config:
    """Read a configuration and the one that it extends.

    Raises:
        TrainingError: it cannot be read. The message names file and field.
    """
    settings = _merged(path, seen=())
    try:
        return form.model_validate(settings)
    except ValidationError as error:
        raise TrainingError(f"{path}: {'; '.join(problems(error))}") from None


def overrides(settings: dict[str, Any]) -> list[str]:
    """verl's settings as command-line overrides."""
    return [f"++{name}={_written(value)}" for name, value in _flat(settings, "")]


def _merged(path: Path, *, seen: tuple[Path, ...]) -> dict[str, Any]:
    if path in seen:
        raise TrainingError(f"{path}: it extends itself")
    try:
        settings = toml_named(path)
    except OSError as error:
        raise RequestError(f"{path}: cannot be read: {trouble(error)}") from None
    except TomlError as error:
        raise TrainingError(f"{path}: is no TOML: {error}") from None
    base = settings.get("extends")
    if not isinstance(base, str):
        return settings
    return _over(_merged((path.parent / base).resolve(), seen=(*seen, path)), settings)


def _over(base: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in more.items():
        below = merged.get(key)
        merged[key] = _over(below, value) if is_object(value) and is_object(below) else value
    return merged


def _flat(settings: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in settings.items():
        if is_object(value):
            yield from _flat(value, f"{prefix}{key}.")  # pyright: ignore[reportUnknownArgumentType]
        else:
            yield f"{prefix}{key}", value


def _written(value: Any) -> str:
    """A value in Hydra's grammar. It resembles JSON, except that "null" is a word there."""
    if value == "null":
        return "null"
    if is_list(value):
        return "[" + ",".join(_written(one) for one in value) + "]"  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return json.dumps(value)
