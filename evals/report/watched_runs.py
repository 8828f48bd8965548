"""Runs that are looked at again and again, while they grow: each is read once, and then only what is new of it."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from evals.report.comparison import compared
from evals.report.page import run_data, subject_data
from evals.report.replay_data import openable
from evals.report.report import Report, report_of
from evals.report.report_data import comparison_data
from evals.report.run_shelf import FoundRun
from evals.runs.causes import MEANINGS
from evals.runs.folder import ROLLOUTS, RunFolder
from evals.runs.summary import Summaries
from servers.errors import NotFound, RequestError

MOST_ROLLOUTS = 50_000
MOST_KEPT = 40
"""Runs whose figures are kept in memory."""
SHARE = 0.1
"""The most of the time that is spent on the figures of a run which grows: between two looks passes ten times a look."""
Told = TypeVar("Told")


class WatchedRun:
    """One evaluation. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()  # protects what was read: one thread reads
        self._mark = ""
        self._inode = 0
        self._told: Report | None = None
        self._reading: Summaries | None = None
        self._next = 0.0

    @property
    def is_read(self) -> bool:
        return self._told is not None

    def report(self, found: FoundRun, *, clock: Callable[[], float] = time.monotonic) -> tuple[Report, str]:
        """The figures, and the mark of the files that they are of. Raises RequestError if it cannot be read."""
        with self._lock:
            if self._told is None or (found.mark != self._mark and clock() >= self._next):
                began = clock()
                self._told = self._read()
                self._mark = found.mark
                self._next = clock() + (clock() - began) / SHARE
            return self._told, self._mark

    def _read(self) -> Report:
        folder = RunFolder(self._path)
        header = folder.header()
        if header.rollouts > MOST_ROLLOUTS:
            raise RequestError(
                f"{self._path}: a run of {header.rollouts:,} rollouts is not shown in a browser;"
                f" `farm report {self._path}` reports it"
            )
        inode, size = _file(self._path)
        reading = self._reading
        if reading is None or self._told is None or header != self._told.header or inode != self._inode:
            reading = None
        if reading is None or size < reading.end:  # the file is another
            reading = Summaries(folder, folder.subjects())
        self._reading, self._inode = reading, inode
        return report_of(folder, header, folder.subjects(), reading.read())


class WatchedRuns:
    """The evaluations that are looked at."""

    def __init__(self) -> None:
        self._runs: dict[Path, WatchedRun] = {}
        self._lock = Lock()  # protects the choice of what is kept

    def of(self, path: Path) -> WatchedRun:
        with self._lock:
            run = self._runs.pop(path, None) or WatchedRun(path)
            self._runs[path] = run
            while len(self._runs) > MOST_KEPT:
                del self._runs[next(iter(self._runs))]
            return run

    def reports(self, runs: Sequence[FoundRun]) -> tuple[list[Report], str]:
        """The figures of some runs, and the mark of all."""
        told = [self.of(run.path).report(run) for run in runs]
        return [report for report, _ in told], "-".join(mark for _, mark in told)

    def rollout(self, run: FoundRun, key: str) -> dict[str, Any]:
        """One rollout, turn by turn. Raises NotFound."""
        report, _ = self.of(run.path).report(run)
        for one in report.rollouts:
            if one.key == key:
                return openable(RunFolder(run.path).rollout_at(one.offset, one.length).rollout)
        raise NotFound(f"{run.name} has no rollout {key[:200]!r}")

    def subject(self, run: FoundRun, name: str) -> dict[str, Any]:
        """A scenario of a run with its reference solution. Raises NotFound."""
        report, _ = self.of(run.path).report(run)
        if name not in report.subjects:
            raise NotFound(f"{run.name} has no scenario {name[:200]!r}")
        return subject_data(report.subjects[name])


def page_data(runs: Sequence[FoundRun], reports: Sequence[Report]) -> dict[str, Any]:
    """What a page of some runs needs. The others are compared with the first."""
    return {
        "runs": [{**run_data(report), "id": run.id} for run, report in zip(runs, reports, strict=True)],
        "comparisons": [comparison_data(compared(reports[0], other)) for other in reports[1:]],
        "meanings": MEANINGS,
    }


def _file(path: Path) -> tuple[int, int]:
    """The inode and the size of the file of rollouts. 0 if it is not there."""
    try:
        found = (path / ROLLOUTS).lstat()
    except OSError:
        return 0, 0
    return found.st_ino, found.st_size
