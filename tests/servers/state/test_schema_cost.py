"""Which rules the worker evaluates on its event loop: those whose cost is bounded before a row is written."""

import pytest

from servers.bundle_library import OWN_LIBRARY
from servers.guest.sqlite.connection import connect
from servers.guest.sqlite.tables import tables_of
from servers.state.schema_cost import LARGEST_SCHEMA, LONGEST_PATTERN, MOST_COST, is_cheap
from tests.library import of_each_environment


def cheap(schema: str) -> bool:
    connection = connect()
    connection.execute(schema).fetchall()
    image = connection.serialize("main")
    connection.close()
    return is_cheap(image, tables_of(image))


def with_check(rule: str) -> str:
    return f"CREATE TABLE notes (id INTEGER PRIMARY KEY, p TEXT, q TEXT, CHECK ({rule}))"


@pytest.mark.parametrize(
    "rule",
    [
        "p LIKE '%_@_%._%' AND p NOT LIKE '% %'",
        "p GLOB '[0-9][0-9]'",
        "p LIKE 'a\\_%' ESCAPE '\\'",
        "date(p) = p AND strftime('%H:%M', q) = q",
        "trim(p) <> '' AND length(p) < 200 AND coalesce(q, '') = upper(q)",
        "p IN ('open', 'closed') AND iif(q IS NULL, 1, substr(q, 3) = '00')",
    ],
)
def test_rules_that_read_a_value_a_few_times_are_cheap(rule: str) -> None:
    assert cheap(with_check(rule))


@pytest.mark.parametrize(
    "rule",
    [
        "p NOT LIKE q",
        "like(q, p)",
        "p NOT GLOB q",
        "p LIKE '%' || q",
        f"p NOT LIKE '%{LONGEST_PATTERN * 'a'}'",
        "p NOT LIKE 'aaaaaaaaaaaa' || 'aaaaaaaaaaaa'",
        "strftime(q, p) <> ''",
        "trim(p, q) <> ''",
        "\"rtrim\"(p, q) <> ''",
        "instr(p, q) = 0",
        "replace(p, 'a', q) <> ''",
        "printf(p, q) <> ''",
        "hex(p) <> ''",
        "json_valid(p)",
        "p -> q IS NULL",
    ],
)
@pytest.mark.parametrize(
    "schema",
    [
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, p TEXT, q TEXT, CHECK ({rule}))",
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, p TEXT, q TEXT, g AS ({rule}) STORED)",
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, p TEXT, q TEXT, g AS ({rule}) VIRTUAL CHECK (g))",
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, p TEXT, q TEXT); CREATE INDEX i ON notes ({rule})",
    ],
)
def test_rules_whose_cost_depends_on_the_data_are_left_to_a_guest(schema: str, rule: str) -> None:
    assert not cheap(schema.format(rule=rule))


def test_a_rule_of_a_partial_index_is_one_too() -> None:
    table = "CREATE TABLE notes (id INTEGER PRIMARY KEY, p TEXT, q TEXT); "
    assert cheap(table + "CREATE INDEX i ON notes (p) WHERE length(q) > 3")
    assert not cheap(table + "CREATE INDEX i ON notes (p) WHERE instr(p, q) > 3")


def test_many_cheap_rules_together_are_not_cheap() -> None:
    """SQLite does not look at the time within a row."""
    few = " AND ".join(["p LIKE '%_@_%._%'"] * 10)
    assert cheap(with_check(few))
    columns = ", ".join(f"CHECK (length(p) > {number})" for number in range(MOST_COST // 2))
    assert not cheap(f"CREATE TABLE notes (id INTEGER PRIMARY KEY, p TEXT, {columns})")
    columns = ", ".join(f"CHECK (p < q COLLATE NOCASE OR id = {number})" for number in range(MOST_COST // 2))
    assert not cheap(f"CREATE TABLE notes (id INTEGER PRIMARY KEY, p TEXT, q TEXT, {columns})")


def test_a_rule_that_only_an_update_or_a_delete_evaluates_is_one_too() -> None:
    """An insert computes each generated column once, a delete each as often as it is referred to."""
    nested = ", ".join(f"g{level} INTEGER AS (g{level - 1} + g{level - 1})" for level in range(1, 17))
    table = f"CREATE TABLE notes (id INTEGER PRIMARY KEY, g0 INTEGER, {nested})"
    assert cheap(table)
    assert not cheap(f"{table}; CREATE INDEX i ON notes (g16)")


def test_a_schema_that_takes_long_to_parse_is_not_cheap() -> None:
    table = "CREATE TABLE notes (id INTEGER PRIMARY KEY, p TEXT, q TEXT); "
    short, long = (f"CREATE VIEW one AS SELECT 1 AS x /* {'x' * length} */" for length in (99, LARGEST_SCHEMA))
    assert cheap(table + short)
    assert not cheap(table + long)


@of_each_environment()
def test_the_librarys_rules_are_cheap(name: str) -> None:
    assert cheap((OWN_LIBRARY / name / "schema.sql").read_text())
