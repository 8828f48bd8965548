"""Writes scores down."""

import json
from typing import Any


def save_score_as_json(name: str, rows: list[Any], folder: str) -> None:
    """A file with a row in each line."""
    with open(f"{folder}/{name}", "w") as file:  # noqa: PTH123 - guests have no pathlib
        file.write("".join(f"{json.dumps(row)}\n" for row in rows))
