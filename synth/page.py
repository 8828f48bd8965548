"""HTML pages for people: one self-contained file each."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jinja2

from registry.web.assets import STATIC
from servers.text.terminal import clean

MOST_BARS = 12


class Bar(NamedTuple):
    """One bar of a histogram. `share` is its length in percent of the longest."""

    label: str
    height: int
    share: float


class Histogram(NamedTuple):
    """The distribution of a number."""

    name: str
    least: str
    median: str
    most: str
    bars: list[Bar]


def page(template: Path, **values: Any) -> str:
    """A page from a template of this folder, with the common style. Text of models is escaped and cleaned."""
    folders = [template.parent, Path(__file__).parent, STATIC]
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders), autoescape=True, undefined=jinja2.StrictUndefined
    )
    return clean(templates.get_template(template.name).render(**values))


def histogram(name: str, values: Sequence[int]) -> Histogram:
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
    return Histogram(name, str(ordered[0]), str(ordered[len(ordered) // 2]), str(ordered[-1]), bars)
