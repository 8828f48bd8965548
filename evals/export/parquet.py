"""Converts JSON lines to Parquet: `python -m evals.export.parquet ROWS.jsonl ROWS.parquet`.

It needs the extra `envfarm[evals]`. It is a program of its own, so that nothing else imports pyarrow.
"""

import sys
from pathlib import Path
from typing import Any, cast

import pyarrow.json
import pyarrow.parquet

LARGEST_LINE = 64 * 1024 * 1024


def written(rows: Path, file: Path) -> None:
    """Write the rows."""
    reading = cast("Any", pyarrow.json)
    options = reading.ReadOptions(block_size=LARGEST_LINE)
    table = reading.read_json(str(rows), read_options=options)
    cast("Any", pyarrow.parquet).write_table(table, str(file), compression="zstd")


if __name__ == "__main__":
    written(Path(sys.argv[1]), Path(sys.argv[2]))
