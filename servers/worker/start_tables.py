"""The tables of an environment at its start: columns, keys, references and first rows, for people who look at it."""

from collections.abc import Iterator

from servers.guest.sqlite.sql_text import quoted
from servers.messages import StartTable, TableColumn
from servers.state.readonly_query import Reader
from servers.state.rows import cell

LONGEST_CELL = 200
"""Characters of one value in a sample row."""


def start_tables(reader: Reader, most_rows: int) -> list[StartTable]:
    """All tables of a start, each with at most `most_rows` rows, ordered by key."""
    return [_table(reader, name, most_rows) for name in reader.tables()]


def _table(reader: Reader, name: str, most_rows: int) -> StartTable:
    references = _references(reader, name)
    query = "SELECT name, type, pk, \"notnull\" FROM pragma_table_info(?, 'main')"
    columns = tuple(
        TableColumn(
            name=str(column),
            type=str(kind or ""),
            key=bool(key),
            needed=bool(needed) or bool(key),
            references=references.get(str(column)),
        )
        for column, kind, key, needed in reader.connection.execute(query, (name,)).fetchall()
    )
    _, keys = reader.columns(name)
    found = reader.connection.execute(
        f"SELECT * FROM main.{quoted(name)} ORDER BY {', '.join(map(quoted, keys or ['1']))} LIMIT ?", (most_rows,)
    )
    rows = tuple(tuple(_shown(value) for value in row) for row in found)
    total = int(str(reader.connection.execute(f"SELECT count(*) FROM main.{quoted(name)}").get))
    return StartTable(name=name, columns=columns, rows=rows, total=total)


def _references(reader: Reader, table: str) -> dict[str, str]:
    """The referenced column of each column with a foreign key of its own: `member_id` to `members.id`."""
    return {column: f"{other}.{target}" for column, other, target in _foreign_keys(reader, table)}


def _foreign_keys(reader: Reader, table: str) -> Iterator[tuple[str, str, str]]:
    query = 'SELECT "from", "table", "to" FROM pragma_foreign_key_list(?, \'main\')'
    for column, other, target in reader.connection.execute(query, (table,)).fetchall():
        _, keys = reader.columns(str(other))
        yield str(column), str(other), str(target or (keys[0] if keys else "rowid"))


def _shown(value: object) -> object:
    value = cell(value)
    return value[:LONGEST_CELL] if isinstance(value, str) else value
