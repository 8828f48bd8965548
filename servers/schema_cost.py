"""Whether the rules of a schema are known to cost little: CHECKs, generated columns, indexes over expressions.

SQLite evaluates them for each row that is written. Rules that call only the functions listed here take time in
proportion to the row. A schema with any other rule is sound too, but only guests write its rows.
"""

import re

import apsw

from servers.guest.lean import connect, distrust

CHEAP_FUNCTIONS = frozenset(
    {
        "abs",
        "coalesce",
        "current_date",
        "current_time",
        "current_timestamp",
        "date",
        "datetime",
        "glob",
        "ifnull",
        "iif",
        "julianday",
        "length",
        "like",
        "lower",
        "ltrim",
        "max",
        "min",
        "nullif",
        "octet_length",
        "round",
        "rtrim",
        "sign",
        "strftime",
        "substr",
        "substring",
        "time",
        "trim",
        "typeof",
        "unicode",
        "unixepoch",
        "upper",
    }
)
TRIM = re.compile(r"\b[lr]?trim\b(?!\s*\(\s*\w+\s*\))", re.IGNORECASE)
"""A trim of anything but one column: with characters to trim it takes their number times the length."""


def is_cheap(image: bytes) -> bool:
    """Whether all rules of an image's tables and indexes cost little.

    The CREATEs are run again in an empty database whose authorizer hears of each function. Nothing is evaluated.
    """
    used: set[str] = set()
    source, empty = connect(), connect()
    try:
        source.deserialize("main", image)
        distrust(source)
        distrust(empty)

        def hear(action: int, _first: str | None, second: str | None, _in: str | None, _by: str | None) -> int:
            if action == apsw.SQLITE_FUNCTION:
                used.add((second or "").lower())
            return apsw.SQLITE_OK

        empty.authorizer = hear
        created = source.execute(
            "SELECT sql FROM sqlite_schema WHERE type IN ('table', 'index') AND sql IS NOT NULL ORDER BY type DESC"
        ).fetchall()
        for (sql,) in created:
            empty.execute(str(sql)).fetchall()
        texts = " ".join(str(sql) for (sql,) in created)
    except apsw.Error:
        return False
    finally:
        source.close(True)
        empty.close(True)
    return used <= CHEAP_FUNCTIONS and not TRIM.search(texts)
