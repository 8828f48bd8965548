"""Growing a database: a program makes many rows from few.

Whole sets of linked rows are copied with new keys and values.

A copy of a set keeps the rules that look at linked rows only. A table whose copies the database refuses stays as it is,
and copies of other tables keep referencing its first rows.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from servers.guest.sqlite.sql_text import quoted, sql_literal
from servers.records import Record
from servers.sandbox.guest_pool import Guests
from synth.environments.drafts.start_images import image_of
from synth.environments.drafts.table_shapes import ImageShape, TableShape, shape_of

REFUSED_IN = re.compile(r'INSERT INTO "(\w+)"')
MOST_COPIES = 200


class Values(Record):
    """Further believable values for a column that tells rows apart."""

    table: str
    column: str
    values: tuple[str, ...]


async def grown(
    guests: Guests, *, schema: str, seed: str, clock: str, fixed: Sequence[str], values: Sequence[Values], rows: int
) -> str:
    """The seed with about `rows` rows, as far as the schema allows."""
    image, _ = await image_of(guests, schema=schema, seed=seed, clock=clock)
    shape = shape_of(image)
    still = set(fixed)
    while True:
        growing = [table for table in shape.parents_first() if table.name not in still]
        each = sum(len(shape.rows[table.name]) for table in growing)
        if not each:
            return seed
        copies = min(max(rows - sum(map(len, shape.rows.values())), 0) // each, MOST_COPIES)
        more = "\n".join(_copies(shape, growing, values, copies))
        _, wrong = await image_of(guests, schema=schema, seed=f"{seed}\n{more}\n", clock=clock)
        if not wrong:
            return f"{seed}\n{more}\n"
        named = REFUSED_IN.search(wrong)
        still.add(named.group(1) if named and named.group(1) not in still else growing[-1].name)


def _copies(shape: ImageShape, growing: Sequence[TableShape], values: Sequence[Values], copies: int) -> Iterator[str]:
    pools = {(one.table, one.column): one.values for one in values}
    names = frozenset(table.name for table in growing)
    for number in range(2, copies + 2):
        for table in growing:
            for at, row in enumerate(shape.rows[table.name]):
                fresh = _copy(table, row, number, at, names, pools, shape)
                listed = ", ".join(quoted(name) for name in fresh)
                texts = ", ".join(map(sql_literal, fresh.values()))
                yield f"INSERT INTO {quoted(table.name)} ({listed}) VALUES ({texts});"


def _copy(
    table: TableShape,
    row: dict[str, Any],
    number: int,
    at: int,
    growing: frozenset[str],
    pools: dict[tuple[str, str], tuple[str, ...]],
    shape: ImageShape,
) -> dict[str, Any]:
    """A row of copy `number`: new keys and unique values, and links within the same copy."""
    linked = {column: link.parent for link in table.links for column in link.columns}
    unique = {column for columns in (*table.unique, table.key) for column in columns}
    fresh: dict[str, Any] = {}
    for column in table.columns:
        value = row[column.name]
        pool = pools.get((table.name, column.name))
        if value is None or (column.name in linked and linked[column.name] not in growing):
            fresh[column.name] = value
        elif column.name in linked:
            fresh[column.name] = _renewed(value, number, _highest(shape, linked[column.name]))
        elif pool:
            again = ((number - 2) * len(shape.rows[table.name]) + at) // len(pool)
            chosen = pool[((number - 2) * len(shape.rows[table.name]) + at) % len(pool)]
            fresh[column.name] = chosen if not again else f"{chosen} {_roman(again + 1)}"
        elif column.name in unique and not column.choices:
            fresh[column.name] = _renewed(value, number, _highest(shape, table.name))
        else:
            fresh[column.name] = value
    return fresh


def _highest(shape: ImageShape, table: str) -> int:
    """The highest whole number in the keys and unique columns of a table, as an offset between copies."""
    found = [value for row in shape.rows[table] for value in row.values() if isinstance(value, int)]
    return max([*found, 0])


def _renewed(value: Any, number: int, step: int) -> Any:
    if isinstance(value, int):
        return value + (number - 1) * step
    name, at, place = str(value).partition("@")
    if at:
        return f"{name}.{number}@{place}"
    return value if re.fullmatch(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?", name) else f"{value}_{number}"


def _roman(number: int) -> str:
    """A small number as people count namesakes."""
    text = ""
    for size, letters in (
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ):
        text += letters * (number // size)
        number %= size
    return text
