"""The process that reads runs for a farm's pages: `farm read-runs`, with its order and its questions on standard input.

It reads what strangers may have written, and computes for seconds: both stay out of the farm's own process. A question
is a line of JSON. An answer is a line of JSON with its length, and then so many bytes: gzipped JSON.
"""

import asyncio
import gzip
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import Any, NamedTuple

import typer
from pydantic import ValidationError

from evals.report.replay_data import as_json
from evals.report.report import Report
from evals.report.run_shelf import ENVIRONMENTS, FoundRun, again, found_runs
from evals.report.training_log import episodes_page, steps_of, training_data
from evals.report.watched_runs import WatchedRuns, page_data
from evals.runs.folder import ROLLOUTS, SUBJECTS, RunFolder
from registry.web.pages.run_questions import MOST_COMPARED, RunAnswer, RunQuestion, RunsOrder
from servers.errors import FarmError, NotFound, RequestError
from servers.limits.parent_death import die_with_parent
from synth.environments.stages import STAGES
from synth.pipeline.folder import SynthesisFolder
from synth.pipeline.progress import Prices
from synth.runner.exchange_texts import ExchangeTexts
from synth.runner.summary import RunSummary, environment_exchanges, one_exchange, summed_up, summed_up_data

app = typer.Typer()
AT_ONCE = 4
LONGEST_QUESTION = 64 * 1024
SOON = 8 * 1024 * 1024
"""Bytes of runs that are read before a list is answered. The figures of the others come into a later one."""
LARGEST = 1024 * 1024 * 1024
"""Bytes of a run that is read for the list. A larger one has its figures there once it was opened."""
MOST_FIGURES = 1000
"""Runs whose figures in the list are kept."""
LEVEL = 5
LONGEST_MESSAGE = 2000
MOST_LISTED = 500
MOST_SEARCHED = 20
"""Runs in which the words of an exchange are looked for, those with an environment of its name first."""
MOST_PACKED = 8
"""Answers for pages that are kept for the next reader."""
UNREADABLE = (OSError, ValueError, RecursionError, LookupError, TypeError)
"""What readers of a stranger's files raise beside our own errors."""
NICE = 10


def _in_thread(work: Callable[[], None]) -> None:
    Thread(target=work, daemon=True).start()


class ListedFigures(NamedTuple):
    """What the list tells of an evaluation, and the mark of the files that it is of."""

    mark: str
    figures: dict[str, Any] | None
    trouble: str = ""


class RunReader:
    """Answers questions about the runs below some folders."""

    def __init__(
        self,
        shelves: tuple[Path, ...],
        *,
        soon: int = SOON,
        largest: int = LARGEST,
        later: Callable[[Callable[[], None]], None] = _in_thread,
    ) -> None:
        self._shelves = shelves
        self._soon, self._largest, self._later = soon, largest, later
        self._evaluations = WatchedRuns()
        self._texts = ExchangeTexts()
        self._known: dict[str, FoundRun] = {}
        self._packed: dict[str, bytes] = {}
        self._figures: dict[str, ListedFigures] = {}
        self._waiting: dict[str, FoundRun] = {}
        self._is_reading = False
        self._lock = Lock()  # protects what is known

    def answer(self, asked: RunQuestion) -> tuple[RunAnswer, bytes]:
        """The answer to a question. What is wrong with it, or with the run, is told in the answer."""
        try:
            body = OF_ALL[asked.kind](self, asked) if asked.kind in OF_ALL else self._of_some(asked)
        except NotFound as error:
            return RunAnswer(id=asked.id, status="missing", message=str(error)[:LONGEST_MESSAGE]), b""
        except FarmError as error:
            return RunAnswer(id=asked.id, status="refused", message=str(error)[:LONGEST_MESSAGE]), b""
        except UNREADABLE as error:
            message = f"this run cannot be read: {type(error).__name__}"
            return RunAnswer(id=asked.id, status="refused", message=message), b""
        if body is None:
            return RunAnswer(id=asked.id, status="same"), b""
        return RunAnswer(id=asked.id, status="told", length=len(body)), body

    def _of_some(self, asked: RunQuestion) -> bytes | None:
        """The answer about the runs that are named."""
        return ANSWERS[asked.kind](self, asked, self._asked_for(asked))

    def page(self, asked: RunQuestion, runs: list[FoundRun]) -> bytes | None:
        """What a page of some evaluations needs. None if it is as the page has it."""
        if other := next((one for one in runs if one.kind != "evaluation"), None):
            raise RequestError(f"{other.name} is no evaluation; the list of runs has its page")
        reports, mark = self._evaluations.reports(runs)
        for run, report, own in zip(runs, reports, mark.split("-"), strict=True):
            self._keep_figures(run, report, own)
        if mark == asked.mark:
            return None
        key = f"{mark} {' '.join(run.id for run in runs)}"
        with self._lock:
            kept = self._packed.get(key)
        if kept is None:
            kept = _packed({"mark": mark, **page_data(runs, reports)})
            with self._lock:
                self._packed[key] = kept
                while len(self._packed) > MOST_PACKED:
                    del self._packed[next(iter(self._packed))]
        return kept

    def rollout(self, asked: RunQuestion, runs: list[FoundRun]) -> bytes:
        return _packed(self._evaluations.rollout(runs[0], asked.name))

    def subject(self, asked: RunQuestion, runs: list[FoundRun]) -> bytes:
        return _packed(self._evaluations.subject(runs[0], asked.name))

    def training(self, _: RunQuestion, runs: list[FoundRun]) -> bytes:
        return _packed({"name": runs[0].name, "path": str(runs[0].path), **training_data(runs[0].path)})

    def episodes(self, asked: RunQuestion, runs: list[FoundRun]) -> bytes:
        told = episodes_page(runs[0].path, int(asked.name), asked.offset)
        return _packed({"name": runs[0].name, **told})

    def synthesis(self, _: RunQuestion, runs: list[FoundRun]) -> bytes:
        path = runs[0].path
        return _packed({"name": runs[0].name, "path": str(path), **summed_up_data(_summary(path))})

    def environment(self, asked: RunQuestion, runs: list[FoundRun]) -> bytes:
        folder = SynthesisFolder(runs[0].path)
        return _packed({"name": runs[0].name, **environment_exchanges(folder, asked.name, STAGES)})

    def exchange(self, asked: RunQuestion, runs: list[FoundRun]) -> bytes:
        folder = SynthesisFolder(runs[0].path)
        return _packed({"name": runs[0].name, **one_exchange(folder, asked.name, asked.offset, STAGES, self._texts)})

    def _asked_for(self, asked: RunQuestion) -> list[FoundRun]:
        if not asked.runs:
            raise NotFound("no run was asked for")
        return [self._run(name) for name in asked.runs[:MOST_COMPARED]]

    def _run(self, name: str) -> FoundRun:
        with self._lock:
            known = self._known.get(name)
        if known is None:
            self._found()
            with self._lock:
                known = self._known.get(name)
        if known is None or not known.path.is_dir():
            raise NotFound("there is no such run; it may have been moved or deleted")
        return again(known)

    def _found(self) -> list[FoundRun]:
        found = found_runs(self._shelves)
        with self._lock:
            self._known = {run.id: run for run in found}
        return found

    def words(self, asked: RunQuestion) -> bytes:
        """What a model was asked and what it answered, in whichever run that has it."""
        runs = [run for run in self._found() if run.kind == "synthesis"]
        runs.sort(key=lambda run: not (run.path / ENVIRONMENTS / asked.environment).is_dir())
        for run in runs[:MOST_SEARCHED]:
            found = self._texts.find(run.path, asked.name, asked.model)
            if found is not None:
                return _packed({"run": run.id, "name": run.name, "texts": found.as_data()})
        return _packed({"run": "", "name": "", "texts": None})

    def every(self, _: RunQuestion) -> bytes:
        soon = [self._soon]
        runs = [self._line(run, soon) for run in self._found()[:MOST_LISTED]]
        return _packed({"runs": runs, "shelves": list(map(str, self._shelves))})

    def _line(self, run: FoundRun, soon: list[int]) -> dict[str, Any]:
        """A run in the list. What cannot be read says why. `soon` holds the bytes that may still be read for it."""
        line: dict[str, Any] = {"id": run.id, "kind": run.kind, "name": run.name, "changed": run.changed, "trouble": ""}
        try:
            return line | LINES[run.kind](self, run, soon)
        except FarmError as error:
            return line | {"trouble": str(error)[:500]}
        except UNREADABLE as error:
            return line | {"trouble": f"it cannot be read: {type(error).__name__}"}

    def evaluation_line(self, run: FoundRun, soon: list[int]) -> dict[str, Any]:
        header = RunFolder(run.path).header()
        size = _size(run.path / ROLLOUTS) + _size(run.path / SUBJECTS)
        with self._lock:
            kept = self._figures.get(run.id)
        if kept is None or kept.mark != run.mark:
            if size <= soon[0]:
                soon[0] -= size
                kept = self._read_figures(run)
            elif size <= self._largest:
                self._read_later(run)
        return {
            "title": header.suite.name,
            "agent": header.suite.agent_name,
            "began": header.began,
            "planned": header.rollouts,
            "figures": kept.figures if kept else None,
            "trouble": kept.trouble if kept else "",
            "comes": size <= self._largest,
        }

    def _read_figures(self, run: FoundRun) -> ListedFigures:
        """The figures of a run in the list. Raises RequestError."""
        report, mark = self._evaluations.of(run.path).report(run)
        return self._keep_figures(run, report, mark)

    def _keep_figures(self, run: FoundRun, report: Report, mark: str) -> ListedFigures:
        told = {
            "played": len(report.rollouts),
            "success": report.all.success,
            "reward": report.all.reward,
            "broken": report.outcomes["infra_error"],
        }
        with self._lock:
            self._figures.pop(run.id, None)
            kept = self._figures[run.id] = ListedFigures(mark, told)
            while len(self._figures) > MOST_FIGURES:
                del self._figures[next(iter(self._figures))]
        return kept

    def _read_later(self, run: FoundRun) -> None:
        """Read a run after this answer, one at a time: a large one takes many seconds."""
        with self._lock:
            self._waiting.setdefault(run.id, run)
            if self._is_reading:
                return
            self._is_reading = True
        self._later(self._read_waiting)

    def _read_waiting(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._is_reading = False
                    return
                run = self._waiting.pop(next(iter(self._waiting)))
            try:
                self._read_figures(again(run))
            except (FarmError, *UNREADABLE) as error:
                with self._lock:
                    self._figures[run.id] = ListedFigures(run.mark, None, str(error)[:500])

    def training_line(self, run: FoundRun, _: list[int]) -> dict[str, Any]:
        steps = steps_of(run.path / "metrics.jsonl")
        return {"steps": steps[-1].step if steps else 0}

    def synthesis_line(self, run: FoundRun, _: list[int]) -> dict[str, Any]:
        summary = _summary(run.path)
        return {"begun": len(summary.cards), "accepted": len(summary.accepted)}


LINES: dict[str, Callable[[RunReader, FoundRun, list[int]], dict[str, Any]]] = {
    "evaluation": RunReader.evaluation_line,
    "training": RunReader.training_line,
    "synthesis": RunReader.synthesis_line,
}
OF_ALL: dict[str, Callable[[RunReader, RunQuestion], bytes]] = {"list": RunReader.every, "words": RunReader.words}
ANSWERS: dict[str, Callable[[RunReader, RunQuestion, list[FoundRun]], bytes | None]] = {
    "data": RunReader.page,
    "rollout": RunReader.rollout,
    "subject": RunReader.subject,
    "training": RunReader.training,
    "episodes": RunReader.episodes,
    "synthesis": RunReader.synthesis,
    "environment": RunReader.environment,
    "exchange": RunReader.exchange,
}


def _packed(told: dict[str, Any]) -> bytes:
    return gzip.compress(as_json(told).encode(), LEVEL, mtime=0)


def _summary(path: Path) -> RunSummary:
    folder = SynthesisFolder(path)
    plan = folder.asked_before()
    prices = Prices(prompt=plan.get("prompt_price", 0.0), completion=plan.get("completion_price", 0.0))
    return summed_up(folder, STAGES, prices)


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


@app.command("read-runs", hidden=True)
def read_runs() -> None:
    """Read runs for the pages of a farm, which starts this with its folders on standard input."""
    asyncio.run(_serve())


async def _serve() -> None:
    """Answer until standard input ends."""
    loop = asyncio.get_running_loop()
    questions = asyncio.StreamReader(limit=LONGEST_QUESTION)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(questions), sys.stdin)
    order = RunsOrder.model_validate_json(await questions.readline())
    die_with_parent(order.parent)
    with suppress(OSError):
        os.nice(NICE)
    reader = RunReader(order.shelves)
    few, lock = asyncio.Semaphore(AT_ONCE), Lock()

    async def one(line: bytes) -> None:
        async with few:
            with suppress(ValidationError, BrokenPipeError):
                head, body = await asyncio.to_thread(reader.answer, RunQuestion.model_validate_json(line))
                await asyncio.to_thread(_write, lock, head.model_dump_json().encode() + b"\n" + body)

    async with asyncio.TaskGroup() as tasks:
        async for line in questions:
            tasks.create_task(one(line))


def _write(lock: Lock, answer: bytes) -> None:
    with lock:
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
