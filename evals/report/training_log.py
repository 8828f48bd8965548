"""The log of a training run: a line of figures for each step, and the episodes of a step."""

import json
import os
import re
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from evals.report.run_shelf import EPISODES, METRICS
from servers.errors import NotFound, RequestError
from servers.files.private_files import regular
from servers.files.trouble import trouble
from servers.text.json_values import is_object

LARGEST_LOG = 256 * 1024 * 1024
"""Bytes of a log, or of the episodes of one step."""
MOST_STEPS = 20_000
MOST_EPISODES = 400
"""Episodes of a step that are shown."""
EPISODES_A_PAGE = 20
MOST_SERIES = 300
LONGEST_TEXT = 20_000
STEP = re.compile(r"(\d{1,9})\.jsonl")
HELD_OUT = re.compile(r"val-core/(.+)/reward/mean@\d+")
TRAINED = "critic/rewards/mean"


class StepFigures(NamedTuple):
    """The figures that were logged at one step."""

    step: int
    figures: dict[str, float]


class TrainingSeries(NamedTuple):
    """One figure over the steps: pairs of step and value."""

    name: str
    points: list[tuple[int, float]]


def steps_of(metrics: Path) -> list[StepFigures]:
    """The lines of a trainer's log. A last line that was cut short is left out.

    Raises:
        RequestError: it cannot be read, or is no log.
    """
    return [_step(line, f"{metrics}: line {number}") for number, line in _lines(metrics, MOST_STEPS)]


def training_data(folder: Path) -> dict[str, Any]:
    """What a page shows of a training run: the reward on held-out scenarios and in training, and all other figures."""
    found: dict[str, list[tuple[int, float]]] = {}
    steps = steps_of(folder / METRICS)
    for one in steps:
        for name, value in one.figures.items():
            if name in found or len(found) < MOST_SERIES:
                found.setdefault(name, []).append((one.step, value))
    held_out = [TrainingSeries(match[1], found[name]) for name in sorted(found) if (match := HELD_OUT.fullmatch(name))]
    return {
        "steps": steps[-1].step if steps else 0,
        "held_out": [one._asdict() for one in held_out],
        "trained": found.get(TRAINED, []),
        "series": [TrainingSeries(name, found[name])._asdict() for name in sorted(found)],
        "episodes": episode_steps(folder),
    }


def episode_steps(folder: Path) -> list[int]:
    """The steps whose episodes were kept."""
    try:
        names = [one.name for one in (folder / EPISODES).iterdir()]
    except OSError:
        return []
    return sorted(int(found[1]) for name in names if (found := STEP.fullmatch(name)))


def episodes_of(folder: Path, step: int) -> list[dict[str, Any]]:
    """The episodes of a step: what was asked, what the model wrote and was answered, and its score.

    Raises:
        NotFound: none of this step were kept.
        RequestError: they cannot be read.
    """
    if step not in episode_steps(folder):
        raise NotFound(f"{folder.name} keeps no episodes of step {step}")
    path = folder / EPISODES / f"{step}.jsonl"
    found: list[dict[str, Any]] = []
    for number, told in _lines(path, MOST_EPISODES):
        score = told.get("score")
        if not isinstance(score, int | float):
            raise RequestError(f"{path}: line {number}: an episode has a score")
        texts = {name: str(told.get(name, ""))[:LONGEST_TEXT] for name in ("input", "output")}
        found.append({**texts, "score": float(score)})
    return found


def episodes_page(folder: Path, step: int, offset: int) -> dict[str, Any]:
    """Some episodes of a step, the worst first, and what is told of all. Raises as `episodes_of` does."""
    found = sorted(episodes_of(folder, step), key=itemgetter("score"))
    return {
        "episodes": found[offset : offset + EPISODES_A_PAGE],
        "offset": offset,
        "step": EPISODES_A_PAGE,
        "total": len(found),
        "mean": fmean(one["score"] for one in found) if found else None,
        "steps": episode_steps(folder),
    }


def _step(told: dict[str, Any], where: str) -> StepFigures:
    step, data = told.get("step"), told.get("data")
    if not isinstance(step, int) or not is_object(data):
        raise RequestError(f"{where}: no step of a training run: it has no `step` or no `data`")
    figures = {name: float(value) for name, value in data.items() if isinstance(value, int | float)}
    return StepFigures(step, figures)


def _lines(path: Path, most: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """The numbered lines of a file of JSON objects. The last counts only if it is whole."""
    try:
        with os.fdopen(regular(path, os.O_RDONLY), "rb") as file:
            text = file.read(LARGEST_LOG + 1)
    except FileNotFoundError:
        raise NotFound(f"{path} is not there") from None
    except (OSError, ValueError) as error:
        raise RequestError(f"{path}: cannot be read: {trouble(error)}") from None
    if len(text) > LARGEST_LOG:
        raise RequestError(f"{path}: has more than {LARGEST_LOG // 1024**2} MiB, which no page shows")
    whole, _, _ = text.rpartition(b"\n")
    for number, line in enumerate(whole.split(b"\n")[:most] if whole else [], start=1):
        try:
            told: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise RequestError(f"{path}: line {number}: no JSON: {error}") from None
        if not is_object(told):
            raise RequestError(f"{path}: line {number}: no JSON object")
        yield number, told
