"""Limits on the values of a query, by the SQL functions that it calls.

A query can only be stopped between two steps. Most functions take linear time. Some take the product of two lengths, so
that one step with two megabytes would take hours: these get smaller values.
"""

from collections.abc import Iterable

from servers.guest.sqlite.connection import LARGEST_VALUE
from servers.guest.sqlite.plain_text import PLAIN_TEXT

LARGEST_SEARCHED = 65_536
"""Bytes of a value in a query that searches texts."""
LARGEST_OTHER = 8_192
"""Bytes of a value in a query with any other function, such as `trim` and `json_patch`."""
LONGEST_PATTERN = 2_000
"""Bytes of a pattern of LIKE or GLOB."""

LINEAR = frozenset(
    {
        PLAIN_TEXT,
        "->",
        "->>",
        "abs",
        "avg",
        "ceil",
        "ceiling",
        "char",
        "coalesce",
        "concat",
        "concat_ws",
        "count",
        "cume_dist",
        "current_date",
        "current_time",
        "current_timestamp",
        "date",
        "datetime",
        "dense_rank",
        "exp",
        "first_value",
        "floor",
        "format",
        "group_concat",
        "hex",
        "if",
        "ifnull",
        "iif",
        "json",
        "json_array",
        "json_array_length",
        "json_extract",
        "json_group_array",
        "json_group_object",
        "json_object",
        "json_quote",
        "json_type",
        "json_valid",
        "julianday",
        "lag",
        "last_value",
        "lead",
        "length",
        "ln",
        "log",
        "log10",
        "log2",
        "lower",
        "max",
        "min",
        "mod",
        "nth_value",
        "ntile",
        "nullif",
        "octet_length",
        "percent_rank",
        "pow",
        "power",
        "printf",
        "quote",
        "rank",
        "round",
        "row_number",
        "sign",
        "sqrt",
        "strftime",
        "string_agg",
        "substr",
        "substring",
        "sum",
        "time",
        "timediff",
        "total",
        "trunc",
        "typeof",
        "unhex",
        "unicode",
        "unixepoch",
        "upper",
        "zeroblob",
    }
)
SEARCHING = frozenset({"instr", "replace", "like", "glob"})


def largest_value(functions: Iterable[str]) -> int:
    """The byte limit for a query with these functions. The full size if all are in `LINEAR`."""
    others = set(functions) - LINEAR
    if not others:
        return LARGEST_VALUE
    return LARGEST_SEARCHED if others <= SEARCHING else LARGEST_OTHER
