"""Queries that are not ours: one SELECT over the environment's rows, now and at the start, and nothing else."""

import asyncio
from contextlib import ExitStack, closing
from typing import Any

import apsw
import pytest

from servers.errors import BrokenQuery, NotFound, QueryError, RequestError, StateError
from servers.guest.sqlite.sql_text import sql_literal
from servers.state import sort_files
from servers.state.readonly_query import Reader, ReadingStopped
from servers.state.sort_files import MOST_SORTED, MOST_SORTED_AT_ONCE
from servers.worker.instance import Instance
from servers.worker.worker import Worker
from tests.processes import until
from tests.told import diff_of

TEMPORARY = (
    apsw.SQLITE_OPEN_TEMP_DB
    | apsw.SQLITE_OPEN_READWRITE
    | apsw.SQLITE_OPEN_CREATE
    | apsw.SQLITE_OPEN_EXCLUSIVE
    | apsw.SQLITE_OPEN_DELETEONCLOSE
)
ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)"


NESTED_VIEWS = "CREATE VIEW v0 AS SELECT id AS x FROM log;" + "".join(
    f"CREATE VIEW v{level} AS SELECT (SELECT max(x) FROM v{level - 1}) + (SELECT min(x) FROM v{level - 1}) AS x;"
    for level in range(1, 13)
)
NESTED_COLUMNS = ", ".join(f"g{level} INTEGER AS (g{level - 1} + g{level - 1})" for level in range(1, 20))


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT x FROM v12", "it comes to more than 10,000 columns, functions and SELECTs"),
        ("SELECT g19 FROM log", "it comes to more than 50,000 instructions of SQLite"),
    ],
)
def test_what_a_schema_makes_too_large_is_not_compiled(sql: str, why: str) -> None:
    """A start from before such schemas were refused, which is read in this process: SQLite asks for no time then."""
    with closing(apsw.Connection(":memory:")) as connection:
        connection.execute(f"CREATE TABLE log (id INTEGER PRIMARY KEY, g0 INTEGER, {NESTED_COLUMNS}); {NESTED_VIEWS}")
        image = connection.serialize("main")
    with closing(Reader(image, image)) as reader:
        with pytest.raises(BrokenQuery, match=why):
            reader.select(sql)
        assert reader.select("SELECT x FROM v0").rows == []


async def test_a_query_of_too_many_names_is_refused_and_the_next_is_answered(
    instance: Instance, worker: Worker
) -> None:
    for name in ("id", "abs(1)"):
        united = " UNION ALL ".join([f"SELECT {', '.join([name] * 120)} FROM things"] * 100)
        with pytest.raises(QueryError, match="more than 10,000 columns, functions and SELECTs"):
            await worker.query(instance.id, united)
    assert (await worker.query(instance.id, "SELECT 1")).rows == ((1,),)


async def test_a_query_sees_the_rows_now_and_at_the_start(instance: Instance, worker: Worker) -> None:
    await instance.call("price", {"id": "t2", "cents": 250})
    joined = "main.things AS now JOIN start.things AS was USING (id) WHERE was.cents <> now.cents"
    found = await worker.query(instance.id, f"SELECT was.name, was.cents AS before, now.cents AS after FROM {joined}")
    assert found.columns == ("name", "before", "after")
    assert found.rows == (("bell", 200, 250),)
    assert not found.more


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT 1, 2.5, 'text', NULL, x'0102'", ((1, 2.5, "text", None, "<2 bytes>"),)),
        ("SELECT id FROM main.things WHERE id > 't2';", (("t3",),)),
        (f"{ENDLESS} SELECT n FROM c LIMIT 3", ((1,), (2,), (3,))),
        ("VALUES (1), (2)", ((1,), (2,))),
        ("SELECT 1 WHERE 0", ()),
        ("SELECT json_extract('{\"a\": 3}', '$.a'), date('2026-03-16', '+1 day')", ((3, "2026-03-17"),)),
    ],
)
async def test_what_may_be_asked(
    instance: Instance, worker: Worker, sql: str, rows: tuple[tuple[Any, ...], ...]
) -> None:
    assert (await worker.query(instance.id, sql)).rows == rows


REFUSED = {
    "UPDATE things SET cents = 0": "only a SELECT",
    "DELETE FROM things RETURNING id": "only a SELECT",
    "INSERT INTO log (what) VALUES ('x')": "only a SELECT",
    "REPLACE INTO log (id, what) VALUES (1, 'x')": "only a SELECT",
    "DELETE FROM start.things": "only a SELECT",
    "CREATE TABLE t (a)": "only a SELECT",
    "CREATE TEMP TABLE t (a)": "only a SELECT",
    "CREATE VIEW v AS SELECT 1": "only a SELECT",
    "DROP TABLE things": "only a SELECT",
    "ALTER TABLE things ADD COLUMN x": "only a SELECT",
    "ATTACH '/etc/passwd' AS p": "only a SELECT",
    "ATTACH ':memory:' AS p": "only a SELECT",
    "DETACH start": "only a SELECT",
    "PRAGMA user_version": "only a SELECT",
    "PRAGMA writable_schema = ON": "only a SELECT",
    "SELECT * FROM pragma_table_info('things')": "",
    "SELECT * FROM pragma_database_list": "",
    "VACUUM": "",
    "VACUUM INTO '/tmp/stolen.db'": "",
    "BEGIN": "only a SELECT",
    "COMMIT": "only a SELECT",
    "SAVEPOINT s": "only a SELECT",
    "ANALYZE": "only a SELECT",
    "REINDEX": "",
    "SELECT * FROM _farm_calls": "does not run: no such table: _farm_calls",
    "SELECT load_extension('evil')": "",
    "SELECT random()": "",
    "SELECT hex(randomblob(4))": "",
    "EXPLAIN SELECT 1": "EXPLAIN shows SQLite's program",
    "/* x */ explain query plan SELECT id FROM things": "EXPLAIN shows SQLite's program",
    "SELECT 1; SELECT 2": "one SELECT at a time",
    "SELECT 1; DROP TABLE things": "only a SELECT",
    "SELECT id FROM things; SELECT id FROM parts": "one SELECT at a time",
    "SELEC 1": "does not run: near",
    "SELECT * FROM nowhere": "does not run: no such table: nowhere",
    "SELECT ?": "does not run: ",
    "SELECT :answer": "does not run: ",
    "SELECT 1\0": "does not run: ",
    "SELECT '\ud800'": "does not run: ",
    "SELECT zeroblob(2000000)": "does not run: ",
    "SELECT group_concat(hex(zeroblob(400000))) FROM things, things, things": "does not run: ",
    f"SELECT '{'x' * 2_000_000}'": "does not run: ",
    "SELECT " + "(" * 5000 + "1" + ")" * 5000: "does not run: ",
    "SELECT abs(-9223372036854775808)": "does not run: integer overflow",
    "": "does not run: ",
    "-- nothing": "does not run: ",
}


@pytest.mark.parametrize("sql", REFUSED, ids=lambda sql: sql[:40].encode("ascii", "replace").decode())
async def test_everything_else_is_refused_and_changes_nothing(instance: Instance, worker: Worker, sql: str) -> None:
    with pytest.raises(RequestError) as refusal:
        await worker.query(instance.id, sql)
    assert REFUSED[sql] in str(refusal.value)
    assert await diff_of(worker, instance.id) == []
    assert len((await worker.query(instance.id, "SELECT * FROM things")).rows) == 3


@pytest.mark.parametrize(
    "sql",
    [
        f"{ENDLESS} SELECT count(*) FROM c",
        f"{ENDLESS} SELECT n FROM c WHERE n < 0",
        f"{ENDLESS} SELECT n FROM c ORDER BY n",
    ],
)
async def test_a_query_that_loops_is_stopped(instance: Instance, worker: Worker, sql: str) -> None:
    with pytest.raises(RequestError, match="the query took more than 50 million steps; narrow it down"):
        await worker.query(instance.id, sql)


@pytest.mark.slow
async def test_a_query_of_few_long_steps_is_stopped(instance: Instance, worker: Worker) -> None:
    """Each step looks for a long text in a longer one; a million of such steps would take hours."""
    long = "replace(hex(zeroblob({})), '0', 'a')"
    counting = f"{ENDLESS} SELECT sum(instr({long.format(32_000)} || n, {long.format(16_000)} || 'b')) FROM c LIMIT 9"
    with pytest.raises(RequestError, match="the query took more than 5 s of processor time; narrow it down"):
        await worker.query(instance.id, counting)


@pytest.mark.parametrize(
    ("sql", "largest"),
    [
        ("SELECT instr(hex(zeroblob({})), 'a')", 65_536),
        ("SELECT replace(hex(zeroblob({})), 'a', 'b')", 65_536),
        ("SELECT hex(zeroblob({})) LIKE '%a%b'", 65_536),
        ("SELECT hex(zeroblob({})) GLOB '*a*b'", 65_536),
        ("SELECT trim(hex(zeroblob({})), 'ab')", 8_192),
        ("SELECT json_patch('{{}}', json_quote(hex(zeroblob({}))))", 8_190),
        ("SELECT '1' LIKE hex(zeroblob({}))", 2_000),
        ("SELECT length(hex(zeroblob({})))", 1_000_000),
    ],
)
async def test_no_single_step_takes_long(instance: Instance, worker: Worker, sql: str, largest: int) -> None:
    """A query is only stopped between two steps: values are short where one takes the product of their lengths."""
    assert len((await worker.query(instance.id, sql.format(largest // 2 - 9))).rows) == 1
    with pytest.raises(RequestError, match=r"too big|too complex"):
        await worker.query(instance.id, sql.format(largest // 2 + 9))
    assert len((await worker.query(instance.id, "SELECT hex(zeroblob(400000))")).rows) == 1


@pytest.mark.parametrize(
    "sql",
    [
        ENDLESS + " SELECT hex(zeroblob(400000)), n FROM c ORDER BY -n",
        f"WITH m AS MATERIALIZED ({ENDLESS} SELECT n, hex(zeroblob(400000)) || n AS h FROM c LIMIT 900)"
        " SELECT count(*) FROM m AS a, m AS b WHERE a.h = b.h",
    ],
    ids=["sorted", "materialized"],
)
async def test_a_query_writes_so_much_into_temporary_files_and_no_more(
    instance: Instance, worker: Worker, sql: str
) -> None:
    with pytest.raises(QueryError, match="sorts more than 67,108,864 bytes"):
        await worker.query(instance.id, sql)
    sorted_ = f"WITH c AS ({ENDLESS} SELECT n FROM c LIMIT 100000) SELECT n FROM c ORDER BY -n LIMIT 1"
    assert (await worker.query(instance.id, sorted_)).rows == ((100000,),)


async def test_all_queries_together_write_so_much_into_temporary_files_and_no_more(
    instance: Instance, worker: Worker
) -> None:
    large = f"{ENDLESS[:-1]} LIMIT 100) SELECT hex(zeroblob(290000)) FROM c ORDER BY -n"
    with ExitStack() as opened:
        for _ in range(MOST_SORTED_AT_ONCE // MOST_SORTED):
            sort_files.begin()
            file = apsw.VFSFile(sort_files.VFS_NAME, None, [TEMPORARY, 0])
            opened.callback(file.xClose)
            file.xWrite(b"x", MOST_SORTED - 1)
        with pytest.raises(StateError, match="the queries that run now sort more than"):
            await worker.query(instance.id, large, limit=1)
    assert len((await worker.query(instance.id, large, limit=1)).rows) == 1


async def test_queries_see_the_time_of_the_instance(instance: Instance, worker: Worker) -> None:
    now = instance.now()
    seen = await worker.query(instance.id, "SELECT CURRENT_TIMESTAMP, datetime('now'), date(), strftime('%Y', 'now')")
    assert seen.rows == ((now, now, now[:10], now[:4]),)


async def test_rows_are_bounded_and_it_is_told_that_there_are_more(instance: Instance, worker: Worker) -> None:
    endless = await worker.query(instance.id, f"{ENDLESS} SELECT n FROM c", limit=5)
    assert (endless.rows, endless.more) == (((1,), (2,), (3,), (4,), (5,)), True)
    exactly = await worker.query(instance.id, "SELECT id FROM things", limit=3)
    assert (len(exactly.rows), exactly.more) == (3, False)
    default = await worker.query(instance.id, f"{ENDLESS} SELECT n FROM c")
    assert (len(default.rows), default.more) == (1000, True)


async def test_many_large_values_are_too_much_together(instance: Instance, worker: Worker) -> None:
    sql = f"{ENDLESS} SELECT hex(zeroblob(400000)) FROM c LIMIT 1000"
    with pytest.raises(RequestError, match="the rows are larger than 4 MB together; ask for less"):
        await worker.query(instance.id, sql)
    assert len((await worker.query(instance.id, sql.replace("1000", "4"))).rows) == 4


async def test_many_numbers_are_too_much_together_too(instance: Instance, worker: Worker) -> None:
    columns = ", ".join(["n"] * 1000)
    with pytest.raises(RequestError, match="the rows are larger than 4 MB together; ask for less"):
        await worker.query(instance.id, f"{ENDLESS} SELECT {columns} FROM c LIMIT 1000")


async def test_a_query_to_an_instance_that_is_not_there_is_not_found(worker: Worker) -> None:
    with pytest.raises(NotFound):
        await worker.query("abcdefgh", "SELECT 1")


LONG = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


async def test_a_query_that_nobody_waits_for_is_stopped(instance: Instance, worker: Worker) -> None:
    """It would go on to its bound. However often its caller is cancelled, its rows are closed after it has ended."""
    asking = asyncio.create_task(worker.query(instance.id, LONG))
    await until(lambda: worker.threads.running == 1, "it runs")
    for _ in range(3):
        asking.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert worker.threads.running == 0
    assert (await worker.query(instance.id, "SELECT 1")).rows == ((1,),)


@pytest.mark.parametrize("sql", ["SELECT 1", LONG, "SELECT count(plain_text(value)) FROM json_each(:answer)"])
async def test_what_is_read_by_a_reader_that_was_stopped_is_no_finding(instance: Instance, sql: str) -> None:
    with closing(Reader(await instance.image(), instance.start.image)) as reader:
        reader.stop()
        with pytest.raises(ReadingStopped):
            reader.select(sql, answer="[1, 2, 3]")
        with pytest.raises(apsw.InterruptError):
            reader.connection.execute(LONG).fetchall()


@pytest.mark.parametrize("value", ['it\'s "so"', "", 7, -1.5, True, None, b"\x00'"])
def test_a_literal_is_read_as_the_value_that_it_was_made_of(value: str | float | bytes | None) -> None:
    with closing(apsw.Connection(":memory:")) as connection:
        assert connection.execute(f"SELECT {sql_literal(value)}").fetchall() == [(value,)]
