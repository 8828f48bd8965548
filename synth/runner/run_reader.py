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
from threading import Lock
from typing import Any

import typer
from pydantic import ValidationError

from evals.report.replay_data import as_json
from evals.report.run_shelf import FoundRun, again, found_runs
from evals.report.training_log import episodes_of, steps_of, training_data
from evals.report.watched_runs import WatchedRuns, page_data
from evals.runs.folder import RunFolder
from registry.web.pages.run_questions import MOST_COMPARED, RunAnswer, RunQuestion, RunsOrder
from servers.doors.worker_process import die_with_parent
from servers.errors import FarmError, NotFound, RequestError
from synth.environments.stages import STAGES
from synth.pipeline.folder import SynthesisFolder
from synth.pipeline.progress import Prices
from synth.runner.summary import RunSummary, environment_exchanges, summed_up, summed_up_data

app = typer.Typer()
AT_ONCE = 4
LONGEST_QUESTION = 64 * 1024
SMALL = 32 * 1024 * 1024
"""Bytes of rollouts that are read for the list. Larger runs have their figures there once they were opened."""
LEVEL = 5
LONGEST_MESSAGE = 2000
MOST_LISTED = 500
MOST_PACKED = 8
"""Answers for pages that are kept for the next reader."""
UNREADABLE = (OSError, ValueError, RecursionError, LookupError, TypeError)
"""What readers of a stranger's files raise beside our own errors."""
NICE = 10


class RunReader:
    """Answers questions about the runs below some folders."""

    def __init__(self, shelves: tuple[Path, ...]) -> None:
        self._shelves = shelves
        self._evaluations = WatchedRuns()
        self._known: dict[str, FoundRun] = {}
        self._packed: dict[str, bytes] = {}
        self._lock = Lock()  # protects what is known

    def answer(self, asked: RunQuestion) -> tuple[RunAnswer, bytes]:
        """The answer to a question. What is wrong with it, or with the run, is told in the answer."""
        try:
            body = self._list() if asked.kind == "list" else ANSWERS[asked.kind](self, asked, self._asked_for(asked))
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

    def page(self, asked: RunQuestion, runs: list[FoundRun]) -> bytes | None:
        """What a page of some evaluations needs. None if it is as the page has it."""
        if other := next((one for one in runs if one.kind != "evaluation"), None):
            raise RequestError(f"{other.name} is no evaluation; the list of runs has its page")
        reports, mark = self._evaluations.reports(runs)
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
        return _packed({"name": runs[0].name, "episodes": episodes_of(runs[0].path, int(asked.name))})

    def synthesis(self, _: RunQuestion, runs: list[FoundRun]) -> bytes:
        path = runs[0].path
        return _packed({"name": runs[0].name, "path": str(path), **summed_up_data(_summary(path))})

    def environment(self, asked: RunQuestion, runs: list[FoundRun]) -> bytes:
        folder = SynthesisFolder(runs[0].path)
        return _packed({"name": runs[0].name, **environment_exchanges(folder, asked.name, STAGES)})

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
        if known is None:
            raise NotFound("there is no such run; it may have been moved or deleted")
        return again(known)

    def _found(self) -> list[FoundRun]:
        found = found_runs(self._shelves)
        with self._lock:
            self._known = {run.id: run for run in found}
        return found

    def _list(self) -> bytes:
        runs = [self._line(run) for run in self._found()[:MOST_LISTED]]
        return _packed({"runs": runs, "shelves": list(map(str, self._shelves))})

    def _line(self, run: FoundRun) -> dict[str, Any]:
        """A run in the list. What cannot be read says why."""
        line: dict[str, Any] = {"id": run.id, "kind": run.kind, "name": run.name, "changed": run.changed, "trouble": ""}
        try:
            return line | LINES[run.kind](self, run)
        except FarmError as error:
            return line | {"trouble": str(error)[:500]}
        except UNREADABLE as error:
            return line | {"trouble": f"it cannot be read: {type(error).__name__}"}

    def evaluation_line(self, run: FoundRun) -> dict[str, Any]:
        header = RunFolder(run.path).header()
        told: dict[str, Any] = {
            "title": header.suite.name,
            "agent": header.suite.agent_name,
            "began": header.began,
            "planned": header.rollouts,
            "figures": None,
        }
        watched = self._evaluations.of(run.path)
        if watched.is_read or _size(run.path / "rollouts.jsonl") <= SMALL:
            report, _ = watched.report(run)
            told["figures"] = {
                "played": len(report.rollouts),
                "success": report.all.success,
                "reward": report.all.reward,
                "broken": report.outcomes["infra_error"],
            }
        return told

    def training_line(self, run: FoundRun) -> dict[str, Any]:
        steps = steps_of(run.path / "metrics.jsonl")
        return {"steps": steps[-1].step if steps else 0}

    def synthesis_line(self, run: FoundRun) -> dict[str, Any]:
        summary = _summary(run.path)
        return {"begun": len(summary.cards), "accepted": len(summary.accepted)}


LINES: dict[str, Callable[[RunReader, FoundRun], dict[str, Any]]] = {
    "evaluation": RunReader.evaluation_line,
    "training": RunReader.training_line,
    "synthesis": RunReader.synthesis_line,
}
ANSWERS: dict[str, Callable[[RunReader, RunQuestion, list[FoundRun]], bytes | None]] = {
    "data": RunReader.page,
    "rollout": RunReader.rollout,
    "subject": RunReader.subject,
    "training": RunReader.training,
    "episodes": RunReader.episodes,
    "synthesis": RunReader.synthesis,
    "environment": RunReader.environment,
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
