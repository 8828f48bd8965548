"""The report of a run: one HTML file that needs nothing else."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment as Templates
from jinja2 import FileSystemLoader, StrictUndefined

from synth.run.folder import RunFolder
from synth.run.summary import Summary
from synth.whole import write_whole

MOST_REASONS = 40
MOST_BARS = 12


class Bar(NamedTuple):
    """One bar of a histogram; `share` is its length in percent of the longest."""

    label: str
    height: int
    share: float


class Histogram(NamedTuple):
    """How a number is spread over the accepted environments."""

    name: str
    least: int
    median: int
    most: int
    bars: list[Bar]


def write_report(folder: RunFolder, summary: Summary) -> Path:
    """Write it anew; gives its path."""
    path = folder.path / "report.html"
    write_whole(path, page(summary, folder.path.resolve().name))
    return path


def page(summary: Summary, name: str) -> str:
    """The page. What comes from models is escaped."""
    templates = Templates(loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined)
    return templates.get_template("report.html").render(
        name=name,
        summary=summary,
        begun=len(summary.cards),
        reasons=summary.reasons.most_common(MOST_REASONS),
        more_reasons=max(0, len(summary.reasons) - MOST_REASONS),
        histograms=[histogram(*item) for item in summary.distributions.items()],
    )


def histogram(name: str, values: list[int]) -> Histogram:
    """Bars over ranges of equal width."""
    ordered = sorted(values)
    width = max(1, -(-(ordered[-1] - ordered[0] + 1) // MOST_BARS))
    counts = Counter((value - ordered[0]) // width for value in ordered)
    longest = max(counts.values())
    bars: list[Bar] = []
    for step in range(max(counts) + 1):
        low = ordered[0] + step * width
        label = str(low) if width == 1 else f"{low}–{low + width - 1}"
        bars.append(Bar(label, counts[step], 100 * counts[step] / longest))
    return Histogram(name, ordered[0], ordered[len(ordered) // 2], ordered[-1], bars)
