"""Converts a Hugging Face data set to JSON Lines: `python -m synth.dataset_process NAME SPLIT ROWS.jsonl`.

NAME is a data set on the hub, or a folder that the package saved. Needs the extra `envfarm[datasets]`. It is a program
of its own, so that nothing else imports `datasets`. That package runs no code of a data set.
"""

# pyright: reportMissingImports=false, reportMissingTypeStubs=false

import json
import sys
from pathlib import Path
from typing import Any, cast

import datasets


def written(name: str, split: str, rows: Path) -> None:
    """Write the rows. Exits with the reason if there is no such data set or split."""
    package = cast("Any", datasets)
    package.disable_progress_bars()
    try:
        there: Any = package.load_from_disk(name) if Path(name).is_dir() else package.load_dataset(name)
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
    if isinstance(there, package.DatasetDict):
        if split not in there:
            sys.exit(f"there is no split {split!r}; there are: {', '.join(there)}")
        there = there[split]
    with rows.open("w", encoding="utf-8") as file:
        for row in there:
            file.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")


if __name__ == "__main__":
    written(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
