"""Bundles that are not sound: every finding names its file and its field, and all are found at once."""

import json
import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from servers.authoring.check import findings
from servers.bundle.environment import load, table_names
from servers.bundle_library import OWN_LIBRARY, Library
from servers.errors import BundleError, NotFound
from servers.guest.sqlite.compiled_schema import MOST_NAMES
from servers.guest.sqlite.connection import LONGEST_NAME, MOST_COLUMNS
from servers.guest.sqlite.start_image import MOST_OTHERS, MOST_TABLES
from servers.messages import Launch
from servers.sandbox.guest_pool import Guests
from servers.scenario.scenario_file import load_scenarios
from servers.worker.worker import Worker
from tests.bundles import SOUND_SCENARIO, with_description, write, write_bundle
from tests.library import of_each_environment

GOAL: dict[str, Any] = SOUND_SCENARIO["checkpoints"][0]


@pytest.fixture
def shop(shelf: Path, tmp_path: Path) -> Path:
    """A sound bundle to break."""
    return Path(shutil.copytree(shelf / "shop", tmp_path / "shop"))


def with_scenarios(folder: Path, *changes: dict[str, Any]) -> None:
    lines = (json.dumps({**SOUND_SCENARIO, **change}) for change in changes)
    (folder / "scenarios.jsonl").write_text("\n".join(lines))


def with_tool(folder: Path, number: int, **fields: Any) -> None:
    description = json.loads((folder / "environment.json").read_text())
    description["tools"][number] |= fields
    with_description(folder, tools=description["tools"])


def appended(folder: Path, name: str, text: str) -> None:
    with (folder / name).open("a") as file:
        file.write(text)


def replaced(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new))


Findings = Callable[[Path], Awaitable[list[str]]]


@pytest_asyncio.fixture(scope="module")
async def all_findings() -> AsyncGenerator[Findings]:
    async with Guests() as guests:

        async def found(folder: Path) -> list[str]:
            return await findings(folder, guests)

        yield found


@of_each_environment()
async def test_the_bundles_of_the_farm_are_sound(name: str, all_findings: Findings) -> None:
    assert await all_findings(OWN_LIBRARY / name) == []


async def test_a_sound_bundle_has_no_findings(shop: Path, all_findings: Findings) -> None:
    assert await all_findings(shop) == []
    environment = load(shop)
    assert list(environment.tools) == ["find", "make", "price", "scrap"]
    assert environment.instructions == "A shop of things.\n\n# Rules\n\nA thing has a price.\n"
    assert list(load_scenarios(environment)) == ["dearer"]


Break = Callable[[Path], object]
BROKEN: dict[str, tuple[Break, str]] = {
    "no environment.json": (lambda f: (f / "environment.json").unlink(), "environment.json: the file is missing"),
    "no policy": (lambda f: (f / "policy.md").unlink(), "policy.md: the file is missing"),
    "no schema": (lambda f: (f / "schema.sql").unlink(), "schema.sql: the file is missing"),
    "no seed": (lambda f: (f / "seed.sql").unlink(), "seed.sql: the file is missing"),
    "no tools": (lambda f: (f / "tools.py").unlink(), "tools.py: the file is missing"),
    "a folder for a file": (
        lambda f: ((f / "policy.md").unlink(), (f / "policy.md").mkdir()),
        "policy.md: cannot be read",
    ),
    "not UTF-8": (
        lambda f: (f / "policy.md").write_bytes(b"caf\xe9"),
        "policy.md: cannot be read: not UTF-8",
    ),
    "too large": (
        lambda f: (f / "seed.sql").write_bytes(b" " * (64 * 1024 * 1024 + 1)),
        "seed.sql: larger than 64 MiB, the most of seed.sql and seed/ together; no option raises it, so leave rows out",
    ),
    "not JSON": (lambda f: (f / "environment.json").write_text("{"), "environment.json: not JSON: "),
    "a key twice": (
        lambda f: (f / "environment.json").write_text('{"id": "shop", "id": "store"}'),
        "environment.json: an object has the key 'id' twice",
    ),
    "not an object": (lambda f: (f / "environment.json").write_text("[]"), "environment.json: the whole: "),
    "an unknown key": (lambda f: with_description(f, port=80), "environment.json: port: no such key"),
    "an unknown key deep down": (
        lambda f: with_tool(f, 0, cost=1),
        "environment.json: tools.0.cost: no such key",
    ),
    "a version of another kind": (lambda f: with_description(f, version="one"), "environment.json: version: "),
    "a clock of another kind": (lambda f: with_description(f, clock="noon"), "environment.json: clock: "),
    "an id that is not the folder's name": (
        lambda f: with_description(f, id="store"),
        "environment.json: id: 'store' is not the folder's name 'shop'",
    ),
    "an id that leads away": (lambda f: with_description(f, id="../shop"), "environment.json: id: "),
    "two tools of one name": (
        lambda f: with_tool(f, 0, name="make"),
        "environment.json: tools: two tools named make",
    ),
    "arguments that are no schema": (
        lambda f: with_tool(f, 0, arguments={"type": "object", "properties": 3}),
        "environment.json: tools.find.arguments: not a JSON Schema: ",
    ),
    "arguments that refer to elsewhere": (
        lambda f: with_tool(f, 0, arguments={"type": "object", "$ref": "file:///etc/passwd"}),
        "environment.json: tools.find.arguments: '$ref' is not among the keywords that may be used: ",
    ),
    "arguments of no object": (
        lambda f: with_tool(f, 0, arguments={"type": "array"}),
        "environment.json: tools.find.arguments: must be a schema of an object",
    ),
    "a NUL in the source": (
        lambda f: (f / "tools.py").write_text("x = 1\0"),
        "tools.py: holds a NUL character",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_what_is_wrong_with_an_environment_is_named_by_file_and_field(
    shop: Path, name: str, all_findings: Findings
) -> None:
    break_it, finding = BROKEN[name]
    break_it(shop)
    with pytest.raises(BundleError) as refusal:
        load(shop)
    assert str(refusal.value).startswith(str(shop))
    assert finding in str(refusal.value)
    assert str(refusal.value) in await all_findings(shop)


BROKEN_TOOLS: dict[str, tuple[Break, str]] = {
    "a tool without a function": (
        lambda f: with_tool(f, 0, name="search"),
        "environment.json: tools.search: has no function in tools.py; `farm derive",
    ),
    "a function without a tool": (
        lambda f: appended(f, "tools.py", "\n\ndef more(db): ...\n"),
        "tools.py: more: is not among the tools of environment.json; `farm derive",
    ),
    "an argument of the function alone": (
        lambda f: replaced(f, "tools.py", "*, text: str", "*, words: str, text: str"),
        "tools.py: find: argument 'words' is not in environment.json",
    ),
    "an argument of the schema alone": (
        lambda f: replaced(f, "tools.py", '*, text: str = ""', ""),
        "environment.json: tools.find.arguments.text: not an argument of the function",
    ),
    "arguments by position": (
        lambda f: replaced(f, "tools.py", "db: Database, *, id: str, cents: int", "db: Database, id: str, cents: int"),
        "tools.py: price: takes `db` first and its arguments by keyword: def price(db: Database, *, ...)",
    ),
    "an async tool": (
        lambda f: replaced(f, "tools.py", "def scrap", "async def scrap"),
        "tools.py: scrap: tools are plain functions, not async",
    ),
    "a syntax error": (lambda f: (f / "tools.py").write_text("x = 1\ndef (:"), "tools.py: line 2: not Python: "),
}


@pytest.mark.parametrize("name", BROKEN_TOOLS)
async def test_tools_that_are_not_those_of_the_code_are_found_and_not_launched(
    shop: Path, name: str, all_findings: Findings
) -> None:
    break_it, finding = BROKEN_TOOLS[name]
    break_it(shop)
    assert any(finding in found and found.startswith(str(shop)) for found in await all_findings(shop))
    async with Worker(Library([shop.parent]), shop.parent / "state") as worker:
        with pytest.raises(BundleError) as refusal:
            await worker.launch(Launch(environment="shop"))
    assert finding in str(refusal.value)


def goal(**fields: Any) -> dict[str, Any]:
    return {**GOAL, **fields}


def solution(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"calls": list(calls), "answer": "Done."}


FOOTPRINT = {"id": "rest", "role": "guard", "question": "?", "kind": "footprint"}
BROKEN_SCENARIOS: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown key": ({"hint": "x"}, "line 2: hint: no such key"),
    "an id that leads away": ({"id": "../x"}, "line 2: id: must match"),
    "no checkpoints": ({"checkpoints": []}, "line 2: checkpoints: "),
    "no goal": ({"checkpoints": [goal(role="guard")]}, "line 2: checkpoints: no goal among the checkpoints"),
    "two checkpoints of one name": ({"checkpoints": [goal(), goal()]}, "checkpoints: two checkpoints named priced"),
    "an unknown kind": ({"checkpoints": [goal(kind="oracle")]}, "line 2: checkpoints.0: "),
    "a weight below zero": ({"checkpoints": [goal(weight=-1)]}, "line 2: checkpoints.0.sql.weight: "),
    "a footprint as a goal": (
        {"checkpoints": [goal(), {**FOOTPRINT, "role": "goal", "allow": []}]},
        "line 2: checkpoints.1.footprint.role: ",
    ),
    "a table that is not there": (
        {"checkpoints": [goal(), {**FOOTPRINT, "allow": [{"table": "orders", "operation": "insert"}]}]},
        "line 2: scenario 'dearer': checkpoints.rest: no table named 'orders'",
    ),
    "a tool that is not there": (
        {"solution": solution({"tool": "sell"})},
        "line 2: scenario 'dearer': solution.calls.1: no tool named 'sell'",
    ),
    "an argument that is not there": (
        {"solution": solution({"tool": "find"}, {"tool": "price", "arguments": {"id": "t1", "euros": 1}})},
        "line 2: scenario 'dearer': solution.calls.2: price has no argument 'euros'",
    ),
    "a Python checkpoint that is not Python": (
        {"checkpoints": [{**GOAL, "kind": "python", "python": "def"} | {"sql": None}]},
        "line 2: checkpoints.0.python.sql: no such key",
    ),
}


@pytest.mark.parametrize("name", BROKEN_SCENARIOS)
async def test_what_is_wrong_with_a_scenario_is_named_by_line_and_field(
    shop: Path, name: str, all_findings: Findings
) -> None:
    change, finding = BROKEN_SCENARIOS[name]
    with_scenarios(shop, {"id": "sound"}, change)
    environment = load(shop)
    with pytest.raises(BundleError) as refusal:
        load_scenarios(environment)
    assert str(refusal.value).startswith(str(shop / "scenarios.jsonl"))
    assert finding in str(refusal.value)
    assert str(refusal.value) in await all_findings(shop)


ODD_NUMBERS = ["NaN", "-Infinity", "1e999", "-1e999", str(2**63), str(-(2**63) - 1), "9" * 4200, "9" * 400 + ".5"]


@pytest.mark.parametrize("number", ODD_NUMBERS)
async def test_a_number_that_not_every_reader_takes_is_named_by_file_and_field(
    shop: Path, number: str, all_findings: Findings
) -> None:
    with_scenarios(shop, {"id": "sound"}, {"checkpoints": [goal(expect={"op": ">=", "value": "here"})]})
    described = json.loads((shop / "environment.json").read_text())
    described["tools"][0]["arguments"]["properties"]["text"]["default"] = "here"
    texts = {
        "scenarios.jsonl": ((shop / "scenarios.jsonl").read_text(), "line 2: checkpoints.0.expect.value"),
        "environment.json": (json.dumps(described), "tools.0.arguments.properties.text.default"),
        "rules.json": ('[{"id": "one", "text": "NaN 1e999", "item": "here", "holder": "tool"}]', "0.item"),
        "examples.json": ('[{"tool": "price", "arguments": {"cents": "here"}}]', "0.arguments.cents"),
        "phrases.json": ('{"tools": {"price": ["here"]}}', "tools.price.0"),
        "paraphrases.json": ('{"tells": "here"}', "tells"),
    }
    for name, (text, place) in texts.items():
        before = (shop / name).read_text() if (shop / name).exists() else None
        (shop / name).write_text(text.replace('"here"', number))
        told = f"{shop / name}: {place}: {number[:40]}"
        assert [one for one in await all_findings(shop) if one.startswith(told)], name
        (shop / name).unlink()
        if before is not None:
            (shop / name).write_text(before)


@pytest.mark.parametrize("number", [str(2**63 - 1), str(-(2**63)), "1e308", "0.1234567890123456789", '"NaN"', "1E+100"])
def test_a_number_of_64_bits_is_taken(shop: Path, number: str) -> None:
    with_scenarios(shop, {"checkpoints": [goal(expect={"op": ">=", "value": "here"})]})
    text = (shop / "scenarios.jsonl").read_text()
    (shop / "scenarios.jsonl").write_text(text.replace('"here"', number))
    assert load_scenarios(load(shop)).keys() == {"dearer"}


async def test_a_scenario_id_is_used_once(shop: Path, all_findings: Findings) -> None:
    with_scenarios(shop, {}, {"id": "other"}, {})
    [finding] = await all_findings(shop)
    assert finding.endswith("line 3: scenario 'dearer': id: used by an earlier line too")


async def test_python_in_a_checkpoint_is_parsed_and_not_run(shop: Path, all_findings: Findings) -> None:
    broken = {"id": "read", "role": "goal", "question": "?", "kind": "python", "python": "def check(:"}
    with_scenarios(shop, {"checkpoints": [broken]})
    [finding] = await all_findings(shop)
    assert "scenario 'dearer': checkpoints.read: line 1: not Python: invalid syntax" in finding


async def test_scenarios_that_are_missing_keep_nobody_from_serving_the_environment(shop: Path) -> None:
    (shop / "scenarios.jsonl").unlink()
    environment = load(shop)
    with pytest.raises(BundleError, match=r"scenarios\.jsonl: the file is missing"):
        load_scenarios(environment)


def columns(count: int) -> str:
    return ", ".join(f"c{number} TEXT" for number in range(count))


def doubled(levels: int) -> str:
    """Generated columns, each of which reads the one before twice."""
    return ", ".join(f"g{level} INTEGER AS (g{level - 1} + g{level - 1})" for level in range(1, levels + 1))


def nested_views(levels: int) -> str:
    """Views, each of which reads the one before twice."""
    return "".join(
        f"CREATE VIEW v{level} AS SELECT (SELECT max(x) FROM v{level - 1}) + (SELECT min(x) FROM v{level - 1}) AS x;"
        for level in range(1, levels + 1)
    )


SCRIPTS: dict[str, tuple[str, str, str]] = {
    "a table without a key": ("schema.sql", "CREATE TABLE t (a TEXT);", "t: needs an INTEGER PRIMARY KEY"),
    "a text key with rowids": ("schema.sql", "CREATE TABLE t (a TEXT PRIMARY KEY);", "t: needs an INTEGER PRIMARY"),
    "a key of two columns with rowids": (
        "schema.sql",
        "CREATE TABLE t (a INTEGER, b INTEGER, PRIMARY KEY (a, b));",
        "t: needs an INTEGER PRIMARY KEY",
    ),
    "an integer key that is not the rowid, and may be NULL": (
        "schema.sql",
        "CREATE TABLE t (a INTEGER PRIMARY KEY DESC, b TEXT);",
        "t: needs an INTEGER PRIMARY KEY without DESC",
    ),
    "an INT key": ("schema.sql", "CREATE TABLE t (a INT PRIMARY KEY, b TEXT);", "t: needs an INTEGER PRIMARY KEY"),
    "a seed with text that is not UTF-8": (
        "seed.sql",
        "INSERT INTO log VALUES (1, 'fine'), (2, CAST(x'ff41' AS TEXT));",
        "row 2 of log holds a text that is not UTF-8",
    ),
    "a seed with half of a character": (
        "seed.sql",
        "INSERT INTO log VALUES (1, CAST(x'eda080' AS TEXT));",
        "row 1 of log holds a text that is not UTF-8",
    ),
    "a seed with an infinite number": (
        "seed.sql",
        "INSERT INTO parts VALUES (9, 't1', 'x'); UPDATE things SET cents = 9e999 WHERE id = 't3';",
        "row 3 of things holds a number that is not finite",
    ),
    "a seed with a value that no call could write": (
        "seed.sql",
        "INSERT INTO log VALUES (1, printf('%.*c', 999999, 'a') || 'aa');",
        "string or blob too big",
    ),
    "a seed with a row that no call could write": (
        "seed.sql",
        "INSERT INTO parts VALUES (9, 't1', printf('%.*c', 1000000, 'a'));",
        "string or blob too big",
    ),
    "a key to no table": (
        "schema.sql",
        "CREATE TABLE t (a INTEGER PRIMARY KEY, b REFERENCES nowhere (id));",
        "t: REFERENCES nowhere: there is no such table",
    ),
    "a key to a column that is not unique": (
        "schema.sql",
        "CREATE TABLE t (a INTEGER PRIMARY KEY, b REFERENCES parts (note));",
        "foreign key mismatch",
    ),
    "autoincrement": (
        "schema.sql",
        "CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT);",
        "AUTOINCREMENT: take ids from db.new_id()",
    ),
    "a name of the farm's": ("schema.sql", "CREATE TABLE _farm_x (a INTEGER PRIMARY KEY);", "_farm_x: a table's name"),
    "capitals": ("schema.sql", "CREATE TABLE Orders (a INTEGER PRIMARY KEY);", "Orders: a table's name is lower case"),
    "a virtual table": ("schema.sql", "CREATE VIRTUAL TABLE v USING fts5 (a);", "not authorized"),
    "rows in the schema": ("schema.sql", "PRAGMA user_version = 3;", "not authorized"),
    "a file attached": ("schema.sql", "ATTACH '/tmp/x.db' AS x;", "not authorized"),
    "schema that is not SQL": ("schema.sql", "CREATE TABEL t (a);", 'near "TABEL": syntax error'),
    "seed that is not SQL": ("seed.sql", "INSERT INTO nowhere VALUES (1);", "no such table: nowhere"),
    "seed that breaks a check": (
        "seed.sql",
        "INSERT INTO things (id, name, cents) VALUES ('t9', 'x', -1);",
        "CHECK constraint failed: cents >= 0 (in: INSERT INTO things",
    ),
    "seed that points nowhere": (
        "seed.sql",
        "INSERT INTO parts (thing_id) VALUES ('t9');",
        "of parts points to a row of things that is not there: thing_id = 't9'",
    ),
    "seed that creates": ("seed.sql", "CREATE TABLE t (a INTEGER PRIMARY KEY);", "not authorized"),
    "seed that rolls back": ("seed.sql", "ROLLBACK;", "not authorized"),
    "too many tables": (
        "schema.sql",
        "".join(f"CREATE TABLE t{number} (a INTEGER PRIMARY KEY);\n" for number in range(MOST_TABLES)),
        f"creates {MOST_TABLES + 3} tables; an environment has at most 500",
    ),
    "too many views": (
        "schema.sql",
        "".join(f"CREATE VIEW v{number} AS SELECT 1;\n" for number in range(MOST_OTHERS + 1)),
        "views, indexes and triggers; an environment has at most 500",
    ),
    "too many columns": (
        "schema.sql",
        f"CREATE TABLE wide (id INTEGER PRIMARY KEY, {columns(MOST_COLUMNS)});",
        "wide: has 501 columns; a table has at most 500",
    ),
    "a long name of a column": (
        "schema.sql",
        f"CREATE TABLE wide (id INTEGER PRIMARY KEY, {'c' * (LONGEST_NAME + 1)} TEXT);",
        f"wide: {'c' * 40}…: the name of a column has at most 128 characters",
    ),
    "a long name of a generated column": (
        "schema.sql",
        f"CREATE TABLE wide (id INTEGER PRIMARY KEY, {'g' * 100_000} AS (id + 1));",
        f"wide: {'g' * 40}…: the name of a column has at most 128 characters",
    ),
    "a long name of a view": (
        "schema.sql",
        f"CREATE VIEW {'v' * (LONGEST_NAME + 1)} AS SELECT 1;",
        "…: a name has at most 128 characters",
    ),
    "more columns than SQLite itself reads": (
        "schema.sql",
        f"CREATE TABLE wide (id INTEGER PRIMARY KEY, {columns(2 * MOST_COLUMNS)});",
        "too many columns on wide",
    ),
    "generated columns of generated columns": (
        "schema.sql",
        f"CREATE TABLE nest (id INTEGER PRIMARY KEY, g0 INTEGER, {doubled(18)});",
        "nest: SQLite makes more than 20,000 instructions of writing or reading one row",
    ),
    "an index over such columns": (
        "schema.sql",
        f"CREATE TABLE nest (id INTEGER PRIMARY KEY, g0 INTEGER, {doubled(18)}); CREATE INDEX i ON nest (g18);",
        "nest: SQLite makes more than 20,000 instructions of writing or reading one row",
    ),
    "views of views": (
        "schema.sql",
        f"CREATE VIEW v0 AS SELECT 1 AS x; {nested_views(20)}",
        f"the view comes to more than {MOST_NAMES:,} columns and SELECTs",
    ),
    "a view of nothing": (
        "schema.sql",
        "CREATE VIEW broken AS SELECT * FROM nowhere;",
        "broken: the view cannot be read: no such table: main.nowhere",
    ),
    "a foreign key to a generated column": (
        "schema.sql",
        "CREATE TABLE up (id INTEGER PRIMARY KEY, g AS (id + 1) STORED UNIQUE);"
        "CREATE TABLE down (id INTEGER PRIMARY KEY, up INTEGER REFERENCES up (g));",
        "a FOREIGN KEY names a column that is not there, or a generated one",
    ),
    "a table whose name is no plain word": (
        "schema.sql",
        'CREATE TABLE "t\x85\u202e" (a INTEGER PRIMARY KEY);',
        "a table's name",
    ),
    "seed by chance": ("seed.sql", "INSERT INTO log (what) VALUES (random());", "not authorized"),
}


@pytest.mark.parametrize("name", SCRIPTS)
async def test_sql_that_does_not_run_or_does_not_repeat_is_found(shop: Path, name: str, all_findings: Findings) -> None:
    script, text, finding = SCRIPTS[name]
    appended(shop, script, text)
    [found] = await all_findings(shop)
    assert found.startswith(f"{shop}: {script}: ")
    assert finding in found


async def test_a_row_that_points_nowhere_is_named_by_its_key(shop: Path, all_findings: Findings) -> None:
    appended(
        shop,
        "schema.sql",
        "CREATE TABLE shelves (aisle TEXT, place INTEGER, PRIMARY KEY (aisle, place)) WITHOUT ROWID;"
        "CREATE TABLE boxes (id TEXT PRIMARY KEY, aisle TEXT, place INTEGER,"
        " FOREIGN KEY (aisle, place) REFERENCES shelves) WITHOUT ROWID;",
    )
    boxes = "('b1', 'a', 1), ('b2', 'a', 2), ('b3', 'c', 1), ('b4', NULL, 1)"
    appended(shop, "seed.sql", f"INSERT INTO shelves VALUES ('a', 1); INSERT INTO boxes VALUES {boxes};")
    [found] = await all_findings(shop)
    nowhere = (
        "the row id = 'b2' of boxes points to a row of shelves that is not there: aisle = 'a', place = 2; 1 more does"
    )
    assert found.endswith(f"seed.sql: {nowhere}")


async def test_rows_and_a_schema_that_are_too_large_or_no_text_are_named_with_their_limit(
    shop: Path, all_findings: Findings
) -> None:
    schema, seed = (shop / "schema.sql").read_bytes(), (shop / "seed.sql").read_text()
    many = "INSERT INTO parts (thing_id, note) VALUES ('t1', CAST(zeroblob(999000) AS TEXT));\n"
    (shop / "seed.sql").write_text(seed + many * 66)
    assert await all_findings(shop) == []
    (shop / "seed.sql").write_text(seed + many * 68)
    [found] = await all_findings(shop)
    assert found.startswith(f"{shop}: schema.sql, seed.sql and setup: the rows take 6")
    assert found.endswith(
        " bytes with their indexes; a start has at most 67,108,864. No option raises it: leave rows out, or an index"
    )
    (shop / "seed.sql").write_text(seed)
    for name in (b'"t\xff"', b"t (a\xff"):
        (shop / "schema.sql").write_bytes(schema + b"CREATE TABLE " + name)
        [found] = await all_findings(shop)
        assert found.startswith(f"{shop / 'schema.sql'}: ")
        assert "UTF-8" in found


@pytest.mark.parametrize(
    ("setup", "finding"),
    [
        ("UPDATE thing SET cents = 1", "setup: no such table: thing"),
        ("DELETE FROM things WHERE id = 't1'", "setup: the anvil stays where it is (in: DELETE FROM things"),
        ("DROP TABLE things", "setup: not authorized"),
        ("INSERT INTO log VALUES (1, CAST(x'ff' AS TEXT))", "setup: row 1 of log holds a text that is not UTF-8"),
        ("PRAGMA foreign_keys = OFF", "setup: not authorized"),
    ],
)
async def test_a_setup_that_does_not_run_is_found_with_its_scenario(
    shop: Path, setup: str, finding: str, all_findings: Findings
) -> None:
    with_scenarios(shop, {}, {"id": "broken", "setup": setup})
    [found] = await all_findings(shop)
    assert found.startswith(f"{shop / 'scenarios.jsonl'}: scenario 'broken': {finding}")


async def test_all_findings_are_told_and_not_only_the_first(shop: Path, all_findings: Findings) -> None:
    with_description(shop, id="store")
    with_tool(shop, 0, description="Look for things.")
    with_tool(shop, 1, writes=False)
    appended(shop, "tools.py", "\n\ndef more(db): ...\n")
    appended(shop, "seed.sql", "INSERT INTO nowhere VALUES (1);")
    with_scenarios(shop, {"solution": solution({"tool": "sell"})}, {"id": "second", "surprise": 1})
    told = "\n".join(await all_findings(shop))
    for part in (
        "id: 'store' is not the folder's name",
        "tools.find.description: is not what tools.py says",
        "tools.make.writes: is not what tools.py says",
        "more: is not among the tools",
        "more: has no docstring",
        "seed.sql: no such table: nowhere",
        "line 1: scenario 'dearer': solution.calls.1: no tool named 'sell'",
        "line 2: surprise: no such key",
    ):
        assert part in told


async def test_missing_files_are_all_told(tmp_path: Path, all_findings: Findings) -> None:
    (tmp_path / "empty").mkdir()
    found = await all_findings(tmp_path / "empty")
    assert [finding.split("/")[-1].split(":")[0] for finding in found] == [
        "environment.json",
        "policy.md",
        "schema.sql",
        "seed.sql",
        "tools.py",
        "scenarios.jsonl",
    ]


@pytest.mark.parametrize(
    ("line", "finding"),
    [
        ("import nothing_of_that_name", "ModuleNotFoundError"),
        ("1 / 0", "tools.py, line 5: ZeroDivisionError: division by zero"),
        ("raise SystemExit", "SystemExit"),
        ("import os; os._exit(3)", "the process ended while it was loaded"),
    ],
)
async def test_tools_that_cannot_be_loaded_are_a_finding(
    shop: Path, line: str, finding: str, all_findings: Findings
) -> None:
    replaced(shop, "tools.py", "\n\ndef find", f"\n{line}\n\ndef find")
    *_, found = await all_findings(shop)  # the gate has said something before
    assert found.startswith(f"{shop}: tools.py")
    assert finding in found


def test_a_library_reads_a_bundle_again_when_it_has_changed(shop: Path) -> None:
    library = Library([shop.parent])
    before = library.environment("shop")
    assert library.environment("shop") is before
    appended(shop, "policy.md", "\nAnd a name.\n")
    after = library.environment("shop")
    assert after.policy.endswith("And a name.\n")
    assert after.digest != before.digest


@pytest.mark.parametrize("name", ["unknown", "../shop", "shop/../shop", "", ".", "a b"])
def test_what_is_no_environment_is_refused_with_those_that_are(shop: Path, name: str) -> None:
    with pytest.raises(NotFound, match=r"^no environment .* in the library; (there are: shop|did you mean 'shop'\?)$"):
        Library([shop.parent]).environment(name)


@pytest.mark.parametrize("name", ["unknown", "../dearer"])
def test_what_is_no_scenario_is_refused_with_those_that_are(shop: Path, name: str) -> None:
    with pytest.raises(NotFound, match=r"^shop has no scenario .*; (there are: dearer|did you mean 'dearer'\?)$"):
        Library([shop.parent]).scenario("shop", name)


async def test_the_first_folder_of_a_library_wins(shop: Path, tmp_path: Path) -> None:
    other = await write_bundle(tmp_path / "other" / "shop", policy="Mine.")
    write(tmp_path / "other" / "not_a_bundle", {"readme": ""})
    library = Library([other.parent, shop.parent])
    assert library.environment("shop").policy == "Mine."
    assert library.ids() == ["shop"]


def test_the_tables_of_a_schema_are_found_wherever_its_statements_begin() -> None:
    schema = """
        CREATE TABLE a(i INTEGER PRIMARY KEY);create table B(i INTEGER PRIMARY KEY); CREATE
        TABLE IF NOT EXISTS "c ""d"(i INTEGER PRIMARY KEY);
        CREATE TABLE main.e(i INTEGER PRIMARY KEY);CREATE TABLE[f g](i INTEGER PRIMARY KEY);
        CREATE TABLE `h`(i INTEGER PRIMARY KEY);CREATE INDEX j ON a(i);
    """
    assert table_names(schema) == {"a", "b", 'c "d', "e", "f g", "h"}
