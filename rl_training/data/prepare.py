"""Training and validation data from a farm: a row for each selected scenario, packed into Parquet files."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from registry.client import FarmClient
from rl_training.data.rows import DatasetRow, rows, scenarios_of
from rl_training.data.selection import ScenarioSelection, split
from rl_training.errors import RowError, TrainingError
from servers.records import AnswerFormat


class Packed(BaseModel):
    """The counts of one packed file."""

    model_config = ConfigDict(frozen=True)

    rows: int
    too_long: int
    longest_prompt: int


class Prepared(NamedTuple):
    """The counts of both files, and the number of scenarios that were not selected."""

    train: Packed
    validation: Packed
    left_out: int


class Measure(NamedTuple):
    """A tokenizer, and the most tokens of a prompt."""

    tokenizer: str = ""
    longest: int | None = None


class Collected(NamedTuple):
    """Rows before packing, and the number of scenarios that were not selected."""

    train: list[DatasetRow]
    validation: list[DatasetRow]
    left_out: int


async def collected(
    farm: FarmClient, selection: ScenarioSelection, *, instructions: bool = True, answers: AnswerFormat = "text"
) -> Collected:
    """Rows for the selected scenarios of a farm. Raises RowError if none is left to train on."""
    found = split(await scenarios_of(farm, selection.environments), selection)
    train = await rows(farm, found.train, split="train", instructions=instructions, answers=answers)
    validation = await rows(farm, found.validation, split="validation", instructions=instructions, answers=answers)
    return Collected(train, validation, found.left_out)


def write_data(folder: Path, data: Collected, measure: Measure) -> Prepared:
    """Write train.parquet and validation.parquet into a folder.

    Raises:
        RowError: no prompt is short enough.
        TrainingError: the packer is not installed, or failed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    train = packed_into(folder / "train.parquet", data.train, measure)
    validation = packed_into(folder / "validation.parquet", data.validation, measure)
    if not train.rows:
        raise RowError(f"every prompt is longer than {measure.longest} tokens, its tools among them; allow more")
    return Prepared(train, validation, data.left_out)


def packed_into(out: Path, made: Sequence[DatasetRow], measure: Measure) -> Packed:
    """Pack rows in a process of its own: its libraries are large, and not installed everywhere."""
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "rows.jsonl"
        source.write_text("".join(json.dumps(row) + "\n" for row in made), encoding="utf-8")
        command = [sys.executable, "-m", "rl_training.data.parquet", str(source), str(out), measure.tokenizer]
        if measure.longest is not None:
            command.append(str(measure.longest))
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return Packed.model_validate_json(done.stdout.splitlines()[-1])
    except (ValidationError, IndexError):
        said = done.stderr.strip().splitlines()
        raise TrainingError(
            f"rows could not be packed: {said[-1] if said else 'nothing was said'}; "
            "is the extra `rl` installed (docs/how-to/training.md)?"
        ) from None
