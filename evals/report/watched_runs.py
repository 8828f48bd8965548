"""Runs that are looked at again and again, while they grow: each is read once, and then only what is new of it."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from evals.report.comparison import comparisons
from evals.report.page import run_data, subject_data
from evals.report.replay_data import openable
from evals.report.report import Report, report_of
from evals.report.report_data import comparison_data
from evals.report.run_shelf import FoundRun
from evals.runs.causes import MEANINGS
from evals.runs.folder import ROLLOUTS, RunFolder
from evals.runs.records import Subject
from evals.runs.summary import Summaries
from servers.errors import NotFound, RequestError

MOST_ROLLOUTS = 50_000
MOST_KEPT = 12
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
        self._subjects: dict[str, Subject] = {}
        self._places: dict[str, tuple[int, int]] = {}
        self._told: Report | None = None
        self._reading: Summaries | None = None
        self._next = 0.0

    def subject(self, name: str) -> Subject:
        """A scenario of the report that was read last, whole. Raises LookupError."""
        with self._lock:
            place = self._places[name]
        return RunFolder(self._path).subject_at(*place)

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
            self._read_subjects(folder)
            reading = Summaries(folder, self._subjects)
        self._reading, self._inode = reading, inode
        return report_of(folder, header, self._subjects, reading.read())

    def _read_subjects(self, folder: RunFolder) -> None:
        """The scenarios, without what is large and not needed for figures. They do not change while a run grows."""
        self._subjects, self._places = {}, {}
        for offset, length, subject in folder.placed_subjects():
            self._subjects[subject.name] = _without_traces(subject)
            self._places[subject.name] = (offset, length)


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
        watched = self.of(run.path)
        watched.report(run)
        try:
            return subject_data(watched.subject(name))
        except LookupError:
            raise NotFound(f"{run.name} has no scenario {name[:200]!r}") from None


def page_data(runs: Sequence[FoundRun], reports: Sequence[Report]) -> dict[str, Any]:
    """What a page of some runs needs. Those of the same scenarios are compared."""
    return {
        "runs": [{**run_data(report), "id": run.id} for run, report in zip(runs, reports, strict=True)],
        "comparisons": list(map(comparison_data, comparisons(reports))),
        "meanings": MEANINGS,
    }


def _without_traces(subject: Subject) -> Subject:
    """A scenario for figures: those of 1,618 take 730 MB with traces and certificates, and 70 MB without."""
    detail, reference = subject.detail, subject.reference
    certificate = detail.scenario.certificate
    if certificate is not None:
        certificate = certificate.model_copy(update={"survivors": (), "company": {}, "paraphrases": None})
    scenario = detail.scenario.model_copy(update={"certificate": certificate})
    return subject.model_copy(
        update={
            "detail": detail.model_copy(update={"scenario": scenario}),
            "reference": reference and reference.model_copy(update={"trace": None, "score": None}),
        }
    )


def _file(path: Path) -> tuple[int, int]:
    """The inode and the size of the file of rollouts. 0 if it is not there."""
    try:
        found = (path / ROLLOUTS).lstat()
    except OSError:
        return 0, 0
    return found.st_ino, found.st_size
