"""Cards of bundles for lists: quick to read, and hardly checked. `farm check` finds faults."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from servers.bundle.files import MISSING, SERVED_FILES, BundleFolder, opened
from servers.errors import BundleError
from servers.limits.json_size import refuse_many_values
from servers.text.json_values import is_list, is_object


class Card(NamedTuple):
    """A bundle in a list. `problem` says why it cannot be read, and is None if it can."""

    id: str
    title: str = ""
    description: str = ""
    version: str = ""
    tools: int = 0
    scenarios: int = 0
    problem: str | None = None
    benchmark: str | None = None
    """The public benchmark that it is."""


def bundles_in(folders: Iterable[Path]) -> dict[str, Path]:
    """The bundles in some folders, by id. The first folder with an id wins. Nothing is read."""
    found: dict[str, Path] = {}
    for folder in folders:
        for path in folder.glob("*/environment.json"):
            found.setdefault(path.parent.name, path.parent)
    return dict(sorted(found.items()))


def hidden_in(folders: Sequence[Path]) -> list[str]:
    """A line for each bundle that is hidden by one with the same id in an earlier folder."""
    used = bundles_in(folders)
    return [
        f"{name}: {used[name]} is used, and hides {path}; give one of them another id to have both"
        for folder in folders
        for name, path in bundles_in([folder]).items()
        if used[name].resolve() != path.resolve()
    ]


def card_of(folder: Path) -> Card:
    """The card of a bundle."""
    try:
        with opened(folder) as files:
            return _read(files)
    except BundleError as error:
        return Card(folder.name, problem=str(error).splitlines()[0])


def _read(files: BundleFolder) -> Card:
    path = files.path / "environment.json"
    text = files.text(path.name)
    refuse_many_values(f"{path}", text)
    try:
        told: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{path}: the whole: is not JSON: {error}") from None
    if not is_object(told):
        raise BundleError(f"{path}: the whole: is not an object")
    for name in ("id", "title", "description", "version"):
        if not isinstance(told.get(name), str):
            raise BundleError(f"{path}: {name}: is not a text")
    if not is_list(told.get("tools")):
        raise BundleError(f"{path}: tools: is not a list")
    missing = [name for name, stamp in zip(SERVED_FILES, files.stamps(SERVED_FILES), strict=True) if stamp is None]
    if missing:
        raise BundleError(f"{files.path / missing[0]}: {MISSING}")
    scenarios = sum(1 for line in files.text("scenarios.jsonl").splitlines() if line.strip())
    return Card(
        files.path.name,
        told["title"],
        told["description"],
        told["version"],
        len(told["tools"]),
        scenarios,
        benchmark=_benchmark(told.get("benchmark")),
    )


def _benchmark(told: object) -> str | None:
    name = told.get("name") if is_object(told) else None
    return name if isinstance(name, str) else None
