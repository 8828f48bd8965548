"""The rows of AgentWorldModel-1K's files, by environment: schema, rows, code, tasks and verifiers.

A file is JSON or JSON Lines, and what a row is shows in its keys. Nothing is trusted and nothing is run.
"""

import errno
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from servers.errors import BundleError, NotFound
from servers.files.named_file import names_found, opened_in, text_found
from servers.files.trouble import trouble
from servers.limits.json_size import strict_json
from servers.text.json_values import is_list, is_object

LARGEST_LINE = 16 * 1024 * 1024
"""Bytes of one row. A larger one is left out."""
LARGEST_ROWS = 1024 * 1024 * 1024
"""Bytes of all rows of a folder."""
DEEPEST = 100
"""Levels of JSON."""
VERIFIER = "verify_task_completion"


@dataclass
class ForeignServer:
    """All rows of one environment."""

    name: str
    description: str = ""
    code: str = ""
    tables: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    samples: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    groups: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    tasks: list[str] = field(default_factory=list[str])
    verifiers: dict[int, str] = field(default_factory=dict[int, str])


@dataclass
class ForeignRows:
    """The environments of a folder, and the reasons for rows left out."""

    servers: dict[str, ForeignServer] = field(default_factory=dict[str, ForeignServer])
    left_out: list[str] = field(default_factory=list[str])


def rows_in(folder: Path) -> ForeignRows:
    """Read all files of a folder and its folders.

    Raises:
        NotFound: there is no such folder, or no JSON in it.
        BundleError: a file cannot be read.
    """
    if not folder.is_dir():
        raise NotFound(f"{folder}: there is no such folder")
    try:
        names = names_found(folder, "", (".json", ".jsonl"), deep=True)
    except OSError as error:
        raise BundleError(f"{folder}: cannot be read: {trouble(error)}") from None
    if not names:
        raise NotFound(f"{folder}: has no .json or .jsonl file; give the folder of AgentWorldModel-1K's files")
    rows = ForeignRows()
    size = 0
    for name in names:
        for place, text in _lines(folder, name):
            if text is None:
                rows.left_out.append(f"{place}: longer than {LARGEST_LINE // 1024 // 1024} MiB")
                continue
            size += len(text)
            if size > LARGEST_ROWS:
                raise BundleError(f"{folder}: its rows are larger than {LARGEST_ROWS // 1024 // 1024} MiB together")
            try:
                row: Any = strict_json(text, deepest=DEEPEST)
            except ValueError as error:
                rows.left_out.append(f"{place}: is not JSON: {error}")
                continue
            problem = _put(row, rows.servers)
            if problem:
                rows.left_out.append(f"{place}: {problem}")
    return rows


def _lines(folder: Path, name: str) -> Iterator[tuple[str, str | None]]:
    """The places and texts of a file's rows. A row that is too long has no text."""
    path = folder / name
    try:
        if path.suffix == ".json":
            yield str(path), text_found(folder, name, largest=LARGEST_LINE)
            return
        with opened_in(folder, name) as file:
            for number, line in enumerate(_rows_of(file), start=1):
                if line is None or line.strip():
                    yield f"{path}: line {number}", None if line is None else line.decode()
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno == errno.EFBIG:
            yield str(path), None
            return
        raise BundleError(f"{path}: cannot be read: {trouble(error)}") from None


def _rows_of(file: BinaryIO) -> Iterator[bytes | None]:
    """The lines of a file. Of one that is too long, the rest is passed over."""
    while line := file.readline(LARGEST_LINE + 1):
        is_whole = len(line) <= LARGEST_LINE
        yield line if is_whole else None
        while not is_whole and line and not line.endswith(b"\n"):
            line = file.readline(LARGEST_LINE)


def _put(row: Any, servers: dict[str, ForeignServer]) -> str | None:
    """Put a row to its environment. Returns what is wrong with it."""
    if not is_object(row):
        return "is not an object"
    name = row.get("scenario") or row.get("name")
    if not isinstance(name, str) or not name.strip():
        return "scenario: is missing or empty"
    server = servers.setdefault(name, ForeignServer(name))
    if isinstance(row.get("full_code"), str):
        server.code = server.code or row["full_code"]
    elif is_object(row.get("db_schema")):
        server.tables = server.tables or _objects(row["db_schema"].get("tables"))
    elif is_object(row.get("sample_data")):
        server.samples = server.samples or _objects(row["sample_data"].get("tables"))
    elif is_object(row.get("api_spec")):
        server.groups = server.groups or _objects(row["api_spec"].get("api_groups"))
    elif is_list(row.get("tasks")):
        server.tasks = server.tasks or [str(task) for task in row["tasks"]]
    elif is_object(row.get("verification")):
        return _put_verifier(row, server)
    elif isinstance(row.get("description"), str):
        server.description = row["description"]
    else:
        return "is none of: code, schema, rows, specification, tasks, verifier, description"
    return None


def _put_verifier(row: dict[str, Any], server: ForeignServer) -> str | None:
    number, code = row.get("task_idx"), row["verification"].get("code")
    if not isinstance(number, int) or not isinstance(code, str):
        return "verification: has no task_idx or no code"
    if f"def {VERIFIER}" not in code:
        return f"verification: has no {VERIFIER}: only code that decides by itself is a checkpoint"
    server.verifiers.setdefault(number, code)
    return None


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if is_object(one)] if is_list(value) else []
