"""A call's changeset applied to a state file by statements that are prepared once, not for each call.

SQLite's own `sqlite3changeset_apply` prepares its statements anew every time; for the few rows of a call that is nine
tenths of its work. What is not an ordinary change of an ordinary table, or does not fit, is left to it.
"""

from typing import cast

import apsw

from servers.reading import HIDDEN_PREFIX, quoted

Columns = tuple[tuple[str, bool], ...]
"""The columns of a table, quoted, and whether each is of its primary key."""
Places = tuple[int, ...]
MOST_STATEMENTS = 200


class Applying:
    """Applies changesets to one connection, which has neither triggers nor foreign keys switched on."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._columns: dict[str, Columns | None] = {}
        self._statements: dict[tuple[str, Places, Places], str] = {}

    def apply(self, changes: bytes) -> bool:
        """Apply a changeset within a transaction. On False, and on an error, that has to be rolled back."""
        for change in apsw.Changeset.iter(changes):
            name = change.name
            columns = self._columns[name] if name in self._columns else self._columns_of(name)
            if columns is None or change.column_count != len(columns):
                return False
            if any((place in change.pk_columns) != is_key for place, (_, is_key) in enumerate(columns)):
                return False
            old, new = change.old or (), change.new or ()
            known = tuple(place for place, value in enumerate(old) if value is not apsw.no_change)
            given = tuple(place for place, value in enumerate(new) if value is not apsw.no_change)
            sql = self._statements.get((name, known, given)) or self._statement(name, columns, known, given)
            values = [new[place] for place in given] + [old[place] for place in known]
            self._connection.execute(sql, cast("list[apsw.SQLiteValue]", values)).fetchall()
            if self._connection.changes() != 1:
                return False
        return True

    def _columns_of(self, table: str) -> Columns | None:
        """A table's columns, if it is one that tools write and has ordinary ones only."""
        found = self._connection.execute("SELECT name, pk, hidden FROM pragma_table_xinfo(?)", (table,)).fetchall()
        ordinary = found and is_environment_table(table) and not any(hidden for _, _, hidden in found)
        self._columns[table] = tuple((quoted(str(name)), bool(key)) for name, key, _ in found) if ordinary else None
        return self._columns[table]

    def _statement(self, table: str, columns: Columns, known: Places, given: Places) -> str:
        where = " AND ".join(f"{columns[place][0]} IS ?" for place in known)
        if not known:
            sql = f"INSERT INTO main.{quoted(table)} VALUES ({', '.join('?' for _ in columns)})"
        elif not given:
            sql = f"DELETE FROM main.{quoted(table)} WHERE {where}"
        else:
            to = ", ".join(f"{columns[place][0]} = ?" for place in given)
            sql = f"UPDATE main.{quoted(table)} SET {to} WHERE {where}"
        if len(self._statements) >= MOST_STATEMENTS:
            self._statements.clear()
        self._statements[table, known, given] = sql
        return sql


def is_environment_table(name: str) -> bool:
    """Whether a table is one that tools may write."""
    return not name.startswith((HIDDEN_PREFIX, "sqlite_"))
