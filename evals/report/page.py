"""The report as one self-contained HTML file: no server, no network, no other file."""

import html
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evals.report.comparison import RunComparison
from evals.report.replay_data import as_json, openable, packed
from evals.report.report import Report
from evals.report.report_data import comparison_data, report_data
from evals.runs.causes import MEANINGS
from evals.runs.folder import RunFolder
from evals.runs.records import Subject
from evals.runs.summary import RolloutSummary
from registry.web.assets import asset_text, report_parts

PARTS = Path(__file__).parent / "page_parts"
MOST_OPENABLE = 2000
HOLE = re.compile(r"\{\{(?:title|style|script|data)\}\}")


def page(reports: Sequence[Report], comparisons: Sequence[RunComparison], *, most_openable: int = MOST_OPENABLE) -> str:
    """The page of some runs. Of each run, `most_openable` rollouts can be opened, failures first."""
    data = {
        "runs": [_run(told, most_openable) for told in reports],
        "comparisons": [comparison_data(one) for one in comparisons],
        "meanings": MEANINGS,
    }
    return drawn(" · ".join(told.header.suite.name for told in reports), data)


def drawn(title: str, data: Any) -> str:
    """A page of this data, with today's layout."""
    script = f"{report_parts()}\n{_part('alone.js')}"
    filled = {
        "{{title}}": _escaped(title),
        "{{style}}": asset_text("look.css") + asset_text("parts.css"),
        "{{script}}": script,
        "{{data}}": in_script(data),
    }
    return HOLE.sub(lambda hole: filled[hole[0]], _part("page.html"))  # at once: what is filled in may look like a hole


def in_script(data: Any) -> str:
    """JSON for a script element. Only "</" and "<!--" could end that early; \\u003c is the same JSON."""
    return as_json(data).replace("<", "\\u003c")


def run_data(told: Report) -> dict[str, Any]:
    """A run on a page: its figures, and a row for each rollout."""
    return {**report_data(told), "rollouts": [_row(one) for one in told.rollouts]}


def _run(told: Report, most_openable: int) -> dict[str, Any]:
    opened = _opened(told, most_openable)
    return {
        **run_data(told),
        "opened": opened,
        "subjects": {name: packed(subject_data(told.subjects[name])) for name in _names(told, opened)},
    }


def _row(one: RolloutSummary) -> list[Any]:
    """A row of the list of rollouts. The page's script knows the columns by position."""
    numbers = [one.turns, one.calls, one.errors, one.tokens_in, one.tokens_out, round(one.seconds, 2), one.retried]
    return [one.key, one.outcome, one.reward, one.success, one.cause, *numbers]


def _opened(told: Report, most: int) -> dict[str, str]:
    """The rollouts that can be opened, packed, by key."""
    folder = RunFolder(Path(told.path))
    first = sorted(told.rollouts, key=lambda one: (one.success is True, one.attempt))[:most]
    return {one.key: packed(openable(folder.rollout_at(one.offset, one.length).rollout)) for one in first}


def _names(told: Report, opened: dict[str, str]) -> list[str]:
    return sorted({key.rpartition("#")[0] for key in opened} & told.subjects.keys())


def subject_data(subject: Subject) -> dict[str, Any]:
    """A scenario on a page, with its reference solution."""
    scenario = subject.detail.scenario
    return {
        "title": scenario.title,
        "task": scenario.task,
        "persona": scenario.persona,
        "tags": scenario.tags,
        "instructions": subject.reference.trace.instructions if subject.reference and subject.reference.trace else "",
        "checkpoints": [one.model_dump(mode="json") for one in scenario.judged_by],
        "reference": openable(subject.reference) if subject.reference else None,
    }


def _part(name: str) -> str:
    return (PARTS / name).read_text(encoding="utf-8")


def _escaped(text: str) -> str:
    return html.escape(text)
