"""The cost of a schema's rules: CHECKs, generated columns, indexes over expressions.

SQLite evaluates them for each written row, and checks the time only between rows. So the cost of one row is bounded in
advance, by the number of instructions that SQLite compiles for writing it. A schema with other rules is sound too, but
only guests write its rows.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

import apsw

from servers.guest.sqlite.connection import distrust
from servers.guest.sqlite.image import Image
from servers.guest.sqlite.shared_pages import opened
from servers.guest.sqlite.tables import Statement, Table, writing_statements

CHEAP_FUNCTIONS = frozenset(
    {
        "abs",
        "current_date",
        "current_time",
        "current_timestamp",
        "date",
        "datetime",
        "julianday",
        "length",
        "lower",
        "ltrim(1)",
        "max",
        "min",
        "octet_length",
        "round",
        "rtrim(1)",
        "sign",
        "substr",
        "substring",
        "time",
        "trim(1)",
        "typeof",
        "unicode",
        "unixepoch",
        "upper",
    }
)
"""Functions that read their values once. `trim` with a set of characters reads the value once for each of them."""
PATTERN_FUNCTIONS = frozenset({"glob", "like", "strftime"})
"""Functions that may read a value once for each character of their first argument.

They are cheap if that is in the schema.
"""
LONGEST_PATTERN = 16
MOST_COST = 1000
"""Instructions that write one row. A pattern counts once for each of its characters."""
LARGEST_COMPILED = 2 * MOST_COST
"""Instructions up to which SQLite compiles a program here. It allocates them in powers of two."""
LARGEST_SCHEMA = 64 * 1024
"""Characters of a schema that is parsed here each time rows are opened, which takes milliseconds."""
CALLS = frozenset({"Function", "PureFunc"})


class _Instruction(NamedTuple):
    """One line of EXPLAIN."""

    address: int
    operation: str
    p1: int
    p2: int
    p3: int
    p4: object
    p5: int
    comment: object


def is_cheap(image: Image, tables: Mapping[str, Table]) -> bool:
    """True if opening rows and writing one are cheap. Statements are compiled, and nothing is evaluated."""
    connection, _ = opened(image)
    try:
        distrust(connection)
        connection.limit(apsw.SQLITE_LIMIT_VDBE_OP, LARGEST_COMPILED)
        if connection.execute("SELECT total(length(sql)) FROM sqlite_schema").get > LARGEST_SCHEMA:
            return False
        statements = [one for table in tables.values() for one in writing_statements(table)]
        return all(_cost(_compiled(connection, one)) <= MOST_COST for one in statements)
    except apsw.Error:
        return False
    finally:
        connection.close(True)


def _compiled(connection: apsw.Connection, statement: Statement) -> list[_Instruction]:
    listed = connection.execute(f"EXPLAIN {statement.sql}", (None,) * statement.values, can_cache=False)
    return [_Instruction(*line) for line in listed]


def _cost(program: list[_Instruction]) -> float:
    """The most times that a row's values are read."""
    texts = {line.p2: str(line.p4) for line in program if line.operation == "String8"}
    return len(program) + sum(_cost_of_call(line, texts) for line in program if line.operation in CALLS)


def _cost_of_call(call: _Instruction, texts: dict[int, str]) -> float:
    """The cost of a function call.

    Its arguments begin in register p2. The first bit of p1 says that the first is constant.
    """
    signature = str(call.p4)
    name = re.sub(r"\(.*", "", signature)
    if name in CHEAP_FUNCTIONS or signature in CHEAP_FUNCTIONS:
        return 1
    pattern = texts.get(call.p2) if call.p1 & 1 and name in PATTERN_FUNCTIONS else None
    return len(pattern) if pattern is not None and len(pattern) <= LONGEST_PATTERN else float("inf")
