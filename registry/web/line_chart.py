"""A chart of figures over steps, as numbers for a template."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

LARGE, SMALL = (1000, 300), (360, 150)
"""Width and height of a chart alone, and of one among others, whose texts are as large."""
LEFT, RIGHT, TOP, BOTTOM = 54, 12, 10, 26
MILLIARD = 1e9
MOST_POINTS = 600
TICKS = 4


class ChartLine(NamedTuple):
    """One series: its points in the picture, its newest value."""

    name: str
    points: str
    marks: list[tuple[float, float, str]]
    last: str


class LineChart(NamedTuple):
    """A picture of `width` by `height`, with ticks at both axes: place and text."""

    width: int
    height: int
    lines: list[ChartLine]
    values: list[tuple[float, str]]
    steps: list[tuple[float, str]]
    left: int
    right: int
    bottom: int


def line_chart(
    series: Mapping[str, Sequence[tuple[float, float | None]]], size: tuple[int, int] = LARGE
) -> LineChart | None:
    """The chart of some series with one scale. None if they have no points that can be drawn."""
    kept = {name: _thinned(points) for name, points in series.items()}
    points = [point for one in kept.values() for point in one]
    if not points:
        return None
    width, height = size
    low, high = _range([value for _, value in points])
    first, last = min(step for step, _ in points), max(step for step, _ in points)

    def x(step: float) -> float:
        return round(LEFT + (width - LEFT - RIGHT) * ((step - first) / (last - first) if last > first else 0.5), 1)

    def y(value: float) -> float:
        return round(TOP + (height - TOP - BOTTOM) * (1 - (value - low) / (high - low)), 1)

    ticks = [low + (high - low) * at / TICKS for at in range(TICKS + 1)]
    return LineChart(
        width=width,
        height=height,
        lines=[
            ChartLine(
                name=name,
                points=" ".join(f"{x(step)},{y(value)}" for step, value in one),
                marks=[(x(step), y(value), f"step {step:g}: {_figure(value, 4)}") for step, value in one]
                if len(one) < 80
                else [],
                last=_figure(one[-1][1], 4),
            )
            for name, one in kept.items()
            if one
        ],
        values=[(y(value), _figure(value, 3)) for value in ticks],
        steps=[(x(step), f"{step:g}") for step in sorted({first, round((first + last) / 2), last})],
        left=LEFT,
        right=width - RIGHT,
        bottom=height - BOTTOM,
    )


def _figure(value: float, digits: int) -> str:
    """A number with so many digits. A whole number below a thousand millions has all of its own."""
    return f"{value:,.0f}" if 10**digits <= abs(value) < MILLIARD else f"{value:.{digits}g}"


def _range(values: Sequence[float]) -> tuple[float, float]:
    """The least and the greatest of the scale. A share has all of 0 to 1."""
    low, high = min(values), max(values)
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    return (low, high) if high > low else (low - 1, high + 1)


def _thinned(points: Sequence[tuple[float, float | None]]) -> list[tuple[float, float]]:
    """Finite points, so few that a page holds them. The last one stays."""
    finite = [(step, value) for step, value in points if value is not None and math.isfinite(value)]
    if len(finite) <= MOST_POINTS:
        return finite
    every = -(-len(finite) // MOST_POINTS)
    return [*finite[::every], finite[-1]]
