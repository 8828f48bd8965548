"""The page of an evolution: its curve, its rounds, and where the agent was weak in each. One self-contained file."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import jinja2

from registry.web.assets import STATIC
from rl_training.evolve.records import EvolutionRecord, RoundFigure
from servers.text.terminal import clean

TEMPLATE = Path(__file__).with_name("curve.html")
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 720, 300, 46, 34, 12, 16
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
COLOURS = ("--accent", "--part", "--broken", "--bad", "--soft")


class CurvePoint(NamedTuple):
    """A point of a line, with the heights of its bounds."""

    x: float
    y: float
    low: float
    high: float
    title: str


class CurveLine(NamedTuple):
    """A line of the curve."""

    name: str
    colour: str
    points: list[CurvePoint]

    @property
    def path(self) -> str:
        return " ".join(f"{one.x:.1f},{one.y:.1f}" for one in self.points)


def page_of(record: EvolutionRecord) -> str:
    """The page. Text of others is escaped and cleaned."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader([TEMPLATE.parent, STATIC]), autoescape=True, undefined=jinja2.StrictUndefined
    )
    rounds = [one for one in record.rounds if one.figures]
    perturbs = list(dict.fromkeys(figure.perturb for one in rounds for figure in one.figures))
    environments = list(dict.fromkeys(figure.environment for one in rounds for figure in one.figures))
    last = max(1, len(rounds) - 1)
    lines = [
        _line(perturb or "held-out scenarios", at, [(one.number, one.figure("", perturb)) for one in rounds], last)
        for at, perturb in enumerate(perturbs)
    ]
    text = templates.get_template(TEMPLATE.name).render(
        record=record,
        rounds=rounds,
        lines=lines,
        environments=[name for name in environments if name],
        ticks=[(f"{tick:.0%}", _height(tick)) for tick in TICKS],
        numbers=[(one.number, _across(one.number, last)) for one in rounds],
        size=(WIDTH, HEIGHT),
        plot=(LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM),
    )
    return clean(text)


def _line(name: str, at: int, figures: Sequence[tuple[int, RoundFigure | None]], last: int) -> CurveLine:
    points = [
        CurvePoint(
            _across(number, last),
            _height(one.success),
            _height(one.success if one.low is None else one.low),
            _height(one.success if one.high is None else one.high),
            f"round {number}: {one.success:.1%}",
        )
        for number, one in figures
        if one is not None
    ]
    return CurveLine(name, COLOURS[at % len(COLOURS)], points)


def _across(number: int, last: int) -> float:
    return LEFT + 14 + (WIDTH - LEFT - RIGHT - 28) * number / last


def _height(share: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * share
