"""What `tools.py` may use: the Database handle of one call, and ToolError to refuse a request.

This file runs inside guests, beside code that a model wrote. It imports nothing of ours.
"""

import hashlib
from typing import Any

import apsw

Value = str | int | float | bytes | None
"""What a SQLite column holds, and what a statement takes as a parameter."""


class ToolError(Exception):
    """A refusal. The agent reads the text, so it says what is wrong and what could be done instead.

    What the tool wrote before it raised is rolled back.
    """


class Database:
    """The rows of one instance, as one call sees them.

    Statements take their parameters by name: `db.one("SELECT * FROM books WHERE id = :id", id=book_id)`.
    The clock and the ids come from the instance, so the same calls give the same rows.
    """

    def __init__(self, connection: apsw.Connection, *, now: str, id_seed: str) -> None:
        self._open: apsw.Connection | None = connection
        self._now = now
        self._id_seed = id_seed
        self._ids = 0

    @property
    def _connection(self) -> apsw.Connection:
        if self._open is None:
            raise RuntimeError("the call that this database belongs to has ended")
        return self._open

    def close(self) -> None:
        """End the call: whoever still has this handle reads and writes nothing more."""
        self._open = None

    def all(self, sql: str, **params: Value) -> list[dict[str, Any]]:
        """The rows of a query, in its order, as column name → value. Ask for an order when it matters."""
        changes = self._connection.total_changes()
        cursor = self._executed(sql, params)
        names: list[str] = []
        rows: list[dict[str, Any]] = []
        for row in cursor:
            names = names or [column[0] for column in cursor.description]
            rows.append(dict(zip(names, row, strict=True)))
        if self._connection.total_changes() != changes:
            raise RuntimeError("all() and one() only read; use run() to write")
        return rows

    def one(self, sql: str, **params: Value) -> dict[str, Any] | None:
        """The first row of a query, or None when there is none."""
        rows = self.all(sql, **params)
        return rows[0] if rows else None

    def run(self, sql: str, **params: Value) -> int:
        """Execute an INSERT, UPDATE or DELETE; how many rows it touched itself (triggers not counted)."""
        before = self._connection.total_changes()
        self._executed(sql, params).fetchall()
        return self._connection.changes() if self._connection.total_changes() > before else 0

    def _executed(self, sql: str, params: dict[str, Value]) -> apsw.Cursor:
        try:
            return self._connection.execute(sql, params)
        except OverflowError:
            raise ToolError("a number is too large: at most 9223372036854775807 can be kept or looked for") from None

    def now(self) -> str:
        """The instance's time, `YYYY-MM-DD HH:MM:SS`, the same as SQLite's CURRENT_TIMESTAMP here."""
        return self._now

    def new_id(self, prefix: str) -> str:
        """A fresh id such as `loan_3f9a1c07`: never used before in this instance, the same in every replay."""
        self._ids += 1
        digest = hashlib.blake2b(f"{self._id_seed}/{self._ids}".encode(), digest_size=4).hexdigest()
        return f"{prefix}_{digest}"
