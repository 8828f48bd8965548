"""Tables as a diagram: a box for each with its columns, and a line for each foreign key.

Tables that refer to none stand left. Each other table stands right of those that it refers to. The look is the style
sheet's, since the pages allow no style in their text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from servers.messages import StartTable

LINE = 19
HEAD = 30
CHARACTER = 7.0
"""The width of a character at the size of the diagram."""
LEAST_WIDTH, MOST_WIDTH = 130, 250
GAP_ACROSS, GAP_DOWN = 64, 20
MOST_COLUMNS = 14
"""Columns of a table that are drawn. The others are counted."""
MOST_TABLES = 60
LONGEST_NAME = 26
DEEPEST = 6
TALLEST = 760
"""The height of a column of tables beyond which it becomes two."""


class DrawnColumn(NamedTuple):
    """A line in a box."""

    name: str
    note: str
    y: int
    is_key: bool
    is_reference: bool


@dataclass(frozen=True)
class DrawnTable:
    """A box."""

    name: str
    rows: str
    x: int
    y: int
    width: int
    height: int
    columns: tuple[DrawnColumn, ...]


class Diagram(NamedTuple):
    """Boxes, and the paths between them."""

    width: int
    height: int
    tables: list[DrawnTable]
    paths: list[str]
    left_out: int


def diagram(tables: Sequence[StartTable]) -> Diagram:
    """Place tables and draw their references."""
    shown = list(tables[:MOST_TABLES])
    drawn: dict[str, DrawnTable] = {}
    x = height = 0
    for stack in _stacks(shown):
        width = max(_width(table) for table in stack)
        y = 0
        for table in stack:
            drawn[table.name.lower()] = box = _box(table, x, y, width)
            y += box.height + GAP_DOWN
        x += width + GAP_ACROSS
        height = max(height, y - GAP_DOWN)
    paths = [path for table in shown for path in _paths(table, drawn)]
    return Diagram(max(x - GAP_ACROSS, 0), height, list(drawn.values()), paths, len(tables) - len(shown))


def _stacks(tables: list[StartTable]) -> list[list[StartTable]]:
    """The columns of the diagram, from left to right. High ones are split."""
    levels: dict[int, list[StartTable]] = {}
    known = {table.name.lower(): table for table in tables}
    for table in tables:
        levels.setdefault(_level(table, known, ()), []).append(table)
    stacks: list[list[StartTable]] = []
    places: dict[str, float] = {}
    for level in sorted(levels):
        stack, tall = list[StartTable](), 0
        for table in sorted(levels[level], key=lambda one: (_middle(one, places), one.name)):
            size = _height(table) + GAP_DOWN
            if stack and tall + size > TALLEST:
                stacks.append(stack)
                stack, tall = [], 0
            places[table.name.lower()] = tall + size / 2
            stack.append(table)
            tall += size
        stacks.append(stack)
    return stacks


def _level(table: StartTable, known: dict[str, StartTable], before: tuple[str, ...]) -> int:
    """How many tables lie between a table and one that refers to none. A circle ends where it begins."""
    name = table.name.lower()
    if len(before) >= DEEPEST:
        return 0
    others = {other for other in _targets(table) if other != name and other not in before and other in known}
    return 1 + max((_level(known[other], known, (*before, name)) for other in sorted(others)), default=-1)


def _targets(table: StartTable) -> list[str]:
    return [column.references.rpartition(".")[0].lower() for column in table.columns if column.references]


def _middle(table: StartTable, places: dict[str, float]) -> float:
    """The middle height of what a table refers to, so that lines cross less."""
    found = [places[other] for other in _targets(table) if other in places]
    return sum(found) / len(found) if found else 0.0


def _box(table: StartTable, x: int, y: int, width: int) -> DrawnTable:
    shown = table.columns[:MOST_COLUMNS]
    columns = [
        DrawnColumn(
            _cut(column.name),
            column.type.lower()[:10],
            y + HEAD + LINE * at + 14,
            column.key,
            column.references is not None,
        )
        for at, column in enumerate(shown)
    ]
    if len(table.columns) > len(shown):
        more = f"and {len(table.columns) - len(shown)} more"
        columns.append(DrawnColumn(more, "", y + HEAD + LINE * len(shown) + 14, is_key=False, is_reference=False))
    return DrawnTable(_cut(table.name), f"{table.total:,}", x, y, width, _height(table), tuple(columns))


def _height(table: StartTable) -> int:
    return HEAD + LINE * min(len(table.columns), MOST_COLUMNS + 1) + 8


def _width(table: StartTable) -> int:
    widest = max([len(table.name) + 7, *(len(one.name) + len(one.type[:10]) + 5 for one in table.columns)])
    return max(LEAST_WIDTH, min(MOST_WIDTH, int(widest * CHARACTER) + 24))


def _paths(table: StartTable, drawn: dict[str, DrawnTable]) -> list[str]:
    box = drawn[table.name.lower()]
    paths: list[str] = []
    for at, column in enumerate(table.columns[:MOST_COLUMNS]):
        other = drawn.get((column.references or "").rpartition(".")[0].lower())
        if other is None:
            continue
        from_y, to_y = box.y + HEAD + LINE * at + 10, other.y + HEAD // 2
        if other.x + other.width <= box.x:
            from_x, to_x, bend = box.x, other.x + other.width, -1
            end_bend = 1
        elif box.x + box.width <= other.x:
            from_x, to_x, bend, end_bend = box.x + box.width, other.x, 1, -1
        else:
            from_x, to_x, bend, end_bend = box.x + box.width, other.x + other.width, 1, 1
        reach = max(24, min(60, abs(to_x - from_x) // 2))
        curve = f"C{from_x + bend * reach},{from_y} {to_x + end_bend * reach},{to_y} {to_x},{to_y}"
        paths.append(f"M{from_x},{from_y} {curve}")
    return paths


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
