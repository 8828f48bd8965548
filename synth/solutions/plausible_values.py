"""Another value that somebody could have meant: of an argument, or of a column."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from servers.guest.sqlite.plain_text import plain_text
from servers.guest.sqlite.sql_text import quoted
from servers.state.readonly_query import Reader
from servers.text.json_values import is_list, is_object
from synth.play.value_sources import DATE
from synth.play.values import day_in, later
from synth.solutions.value_texts import DATETIME

TIME = re.compile(r"\d\d:\d\d")
MOST_ROWS = 400
OTHER_WORD = "otherwise"


class RowSample:
    """The rows of a state, for drawing from. Tables with more than 400 rows are known by their first ones."""

    def __init__(self, reader: Reader) -> None:
        self.columns: dict[str, list[str]] = {}
        self.keys: dict[str, list[str]] = {}
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.parents: dict[str, dict[str, str]] = {}
        for table in reader.tables():
            columns, keys = reader.columns(table)
            self.columns[table], self.keys[table] = columns, keys
            order = ", ".join(map(quoted, keys))
            sql = f"SELECT * FROM main.{quoted(table)} ORDER BY {order} LIMIT {MOST_ROWS}"
            found = reader.connection.execute(sql).fetchall()
            self.rows[table] = [dict(zip(columns, row, strict=True)) for row in found]
            foreign = reader.connection.execute(
                'SELECT "from", "table" FROM pragma_foreign_key_list(?)', (table,)
            ).fetchall()
            self.parents[table] = {str(column): str(parent) for column, parent in foreign}
        self._by_key = {
            (table, row[keys[0]]): row
            for table, keys in self.keys.items()
            if len(keys) == 1
            for row in self.rows[table]
        }
        self.tables_of: dict[Any, list[str]] = {}
        for table, value in self._by_key:
            self.tables_of.setdefault(value, []).append(table)

    def row(self, table: str, key: Any) -> dict[str, Any] | None:
        """The row with a key."""
        return self._by_key.get((table, key))

    def alike(self, table: str, key: Any, most: int) -> list[Any]:
        """The keys of other rows, those that have most in common with one first."""
        [name] = self.keys[table]
        model = self.row(table, key) or {}
        others = [row for row in self.rows[table] if row[name] != key]
        others.sort(key=lambda row: -sum(row[column] == value for column, value in model.items()))
        return [row[name] for row in others[:most]]

    def others(self, table: str, column: str, value: Any) -> list[Any]:
        """Other values of a column, the commonest first."""
        parent = self.parents[table].get(column)
        if parent in self.keys and len(self.keys[parent]) == 1 and self.row(parent, value) is not None:
            return self.alike(parent, value, 3)
        counts: dict[Any, int] = {}
        for row in self.rows[table]:
            if row[column] is not None and row[column] != value and type(row[column]) is type(value):
                counts[row[column]] = counts.get(row[column], 0) + 1
        return sorted(counts, key=lambda other: (-counts[other], str(other)))[:3]


def other_arguments(schema: dict[str, Any], value: Any, rows: RowSample, neighbours: Sequence[Any] = ()) -> list[Any]:
    """Near misses for an argument, two or three where there are as many.

    `neighbours` are what stands in its place in other rows.
    """
    choices = enum_of(schema)
    if isinstance(value, bool):
        return [not value]
    if choices:
        return [choice for choice in choices if choice != value and choice is not None][:2]
    if is_list(value):
        return _other_lists(value, rows)
    if is_object(value):
        return [{**value, name: other} for name, one in value.items() for other in other_arguments({}, one, rows)[:1]]
    if isinstance(value, str) and rows.tables_of.get(value):
        return rows.alike(rows.tables_of[value][0], value, 2)
    return near_misses(value, neighbours)


def near_misses(value: Any, neighbours: Sequence[Any] = ()) -> list[Any]:
    """Other values that one could take for this one: a time at another hour, a code with two signs swapped."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return _distinct(value, [value + 1, _swapped_digits(value), value - 1])[:2]
    if isinstance(value, float):
        return [value + 1, value - 1]
    return _other_texts(value, neighbours) if isinstance(value, str) and value else []


def _other_texts(value: str, neighbours: Sequence[Any]) -> list[Any]:
    if DATE.fullmatch(value) or DATETIME.fullmatch(value):
        return list(moved(value))
    if TIME.fullmatch(value):
        return [_another_hour(value), f"{value[:3]}{(int(value[3:]) + 15) % 60:02d}"]
    return _distinct(value, [*neighbours[:1], *_other_words(value), *neighbours[1:]])[:2]


def _other_lists(value: list[Any], rows: RowSample) -> list[Any]:
    shorter = [value[:-1]] if len(value) > 1 else []
    changed = [[other, *value[1:]] for other in other_arguments({}, value[0], rows)[:1]] if value else []
    return [*shorter, *changed]


def _distinct(value: Any, others: Iterable[Any]) -> list[Any]:
    """Those that are other values, also where only writing is compared."""
    return [other for other in dict.fromkeys(others) if plain_text(other) != plain_text(value)]


def _swapped_digits(value: int) -> int:
    """A number with the first two digits swapped that differ and may change places."""
    text = str(value)
    for at in range(len(text) - 1):
        if text[at] != text[at + 1] and text[at : at + 2].isdigit() and (at > 0 or text[1] != "0"):
            return int(text[:at] + text[at + 1] + text[at] + text[at + 2 :])
    return value


def _other_words(value: str) -> Iterator[str]:
    """Words with one of them changed; a code or a name with two signs swapped."""
    parts = value.split(" ")
    at = max(range(len(parts)), key=lambda index: len(parts[index]))
    if len(parts) > 2:
        yield " ".join([*parts[:at], OTHER_WORD, *parts[at + 1 :]])
        yield " ".join(parts[:-1])
        return
    for sign in range(len(value) - 2, -1, -1):
        first, second = value[sign], value[sign + 1]
        if first != second and first.isalnum() and second.isalnum() and first.isdigit() == second.isdigit():
            yield value[:sign] + second + first + value[sign + 2 :]
            break
    yield " ".join([*parts[:at], OTHER_WORD, *parts[at + 1 :]])


def _another_hour(time: str) -> str:
    hour = int(time[:2])
    return f"{hour + 2 if hour < 20 else hour - 2:02d}{time[2:]}"


def moved(value: str) -> Iterator[str]:
    """A date or a time, a day later and a day before; a time also at another hour of the same day."""
    day = day_in(value)
    if day is None:
        return
    if DATETIME.fullmatch(value):
        yield value[:11] + _another_hour(value[11:])
    yield later(day, 1).isoformat() + value[10:]
    yield later(day, -1).isoformat() + value[10:]


def enum_of(schema: dict[str, Any]) -> list[Any]:
    """The values that a schema lets an argument have, if it lists them."""
    parts: list[dict[str, Any]] = [schema, *schema.get("anyOf", [])]
    return [value for part in parts for value in part.get("enum", [])]
