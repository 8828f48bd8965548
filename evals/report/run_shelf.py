"""The runs below some folders: evaluations, training and synthesis, each known by its files. Links are not followed."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from evals.runs.folder import HEADER, ROLLOUTS, SUBJECTS

RunKind = Literal["evaluation", "training", "synthesis"]
METRICS = "metrics.jsonl"
EPISODES = "episodes"
ENVIRONMENTS = "environments"
DEEPEST = 4
MOST_FOLDERS = 5000
MOST_ENTRIES = 10_000
"""Entries of a folder that are looked at."""


class FoundRun(NamedTuple):
    """A run on disk. `id` is made of its path, `name` is the path below its shelf."""

    id: str
    kind: RunKind
    path: Path
    name: str
    changed: float
    """When its files changed last, in seconds since 1970."""
    mark: str
    """Another text as soon as its files are others."""


def found_runs(shelves: Sequence[Path]) -> list[FoundRun]:
    """All runs, the one that changed last first. A folder that cannot be read has none."""
    found: dict[str, FoundRun] = {}
    for shelf in shelves:
        for path, kind in _below(shelf.resolve()):
            run = _found(path, kind, shelf.resolve())
            found.setdefault(run.id, run)
    return sorted(found.values(), key=lambda run: (-run.changed, run.name))


def again(run: FoundRun) -> FoundRun:
    """The same run as it is now."""
    changed, mark = _stamp(run.path, run.kind)
    return run._replace(changed=changed, mark=mark)


def _found(path: Path, kind: RunKind, shelf: Path) -> FoundRun:
    changed, mark = _stamp(path, kind)
    name = path.name if path == shelf else path.relative_to(shelf).as_posix()
    return FoundRun(hashlib.sha256(os.fsencode(path)).hexdigest()[:12], kind, path, name, changed, mark)


def _below(shelf: Path) -> Iterator[tuple[Path, RunKind]]:
    waiting = [(shelf, 0)]
    looked = 0
    while waiting and looked < MOST_FOLDERS:
        path, depth = waiting.pop(0)
        looked += 1
        files, folders = _entries(path)
        kind = _kind(files, folders)
        if kind is not None:
            yield path, kind
        elif depth < DEEPEST:
            waiting += [(path / name, depth + 1) for name in sorted(folders) if not name.startswith(".")]


def _kind(files: set[str], folders: set[str]) -> RunKind | None:
    if METRICS in files:
        return "training"
    if HEADER in files and ENVIRONMENTS in folders:
        return "synthesis"
    return "evaluation" if HEADER in files and {SUBJECTS, ROLLOUTS} & files else None


def _entries(path: Path) -> tuple[set[str], set[str]]:
    files, folders = set[str](), set[str]()
    try:
        with os.scandir(path) as entries:
            for _, entry in zip(range(MOST_ENTRIES), entries, strict=False):
                if entry.is_dir(follow_symlinks=False):
                    folders.add(entry.name)
                elif entry.is_file(follow_symlinks=False):
                    files.add(entry.name)
    except OSError:
        return set(), set()
    return files, folders


def _stamp(path: Path, kind: RunKind) -> tuple[float, str]:
    """When what a page shows of a run changed last, and a digest of all such times."""
    watched = {
        "evaluation": [path / HEADER, path / SUBJECTS, path / ROLLOUTS],
        "training": [path / METRICS, path / EPISODES],
        "synthesis": [path / HEADER, path / ENVIRONMENTS, *_environments(path / ENVIRONMENTS)],
    }[kind]
    told: list[str] = []
    changed = 0.0
    for one in watched:
        try:
            found = one.lstat()
        except OSError:
            told.append("-")
            continue
        told.append(f"{found.st_ino} {found.st_size} {found.st_mtime_ns}")
        changed = max(changed, found.st_mtime)
    return changed, hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]


def _environments(path: Path) -> list[Path]:
    """The folders of a synthesis run, and those of its steps back. Each changes when a file is put into it."""
    names = sorted(_entries(path)[1])
    return [folder for name in names for folder in (path / name, path / name / "backs")]
