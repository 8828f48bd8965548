"""Looking into an instance through the privileged door, and taking it back."""

import sqlite3
from pathlib import Path

import pytest

from servers.errors import Conflict, NotFound, RequestError
from tests.registry.farms import Farm

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


async def test_the_tables_are_listed_with_their_columns_and_sizes(farm: Farm) -> None:
    tables = (await farm.client.state(await farm.launched())).items
    assert [(table.name, table.total) for table in tables] == [("log", 0), ("parts", 2), ("things", 3)]
    assert tables[2].columns == ("id", "name", "cents", "made_at")


async def test_the_rows_of_a_table_come_in_pages(farm: Farm) -> None:
    instance = await farm.launched()
    page = await farm.client.table(instance, "things", offset=1, limit=1)
    assert (page.total, page.offset, page.limit) == (3, 1, 1)
    assert [row[:3] for row in page.rows] == [("t2", "bell", 200)]
    with pytest.raises(NotFound, match="there is no table 'ghosts'; there are: log, parts, things"):
        await farm.client.table(instance, "ghosts")
    for hidden in ("_farm_calls", "sqlite_schema"):
        with pytest.raises(NotFound):
            await farm.client.table(instance, hidden)


async def test_the_diff_shows_what_the_calls_have_changed_since_the_start(farm: Farm) -> None:
    instance = await farm.launched()
    await farm.call(instance, "price", id="t2", cents=250)
    changes = {change.table: change for change in (await farm.client.diff(instance)).items}
    assert set(changes) == {"log", "things"}
    assert changes["things"].key == {"id": "t2"}
    assert (changes["things"].before, changes["things"].after) == ({"cents": 200}, {"cents": 250})


async def test_the_history_shows_every_call_with_the_rows_that_it_changed(farm: Farm) -> None:
    instance = await farm.launched()
    await farm.call(instance, "price", id="t2", cents=250)
    await farm.worker.find(instance).call("price", {"id": "t9", "cents": 1})
    await farm.call(instance, "find", text="bell")
    calls = await farm.client.history(instance)
    assert [(call.seq, call.tool, call.outcome) for call in calls.items] == [
        (1, "price", "ok"),
        (2, "price", "refused"),
        (3, "find", "ok"),
    ]
    assert calls.items[0].arguments == {"id": "t2", "cents": 250}
    assert {change.table for change in calls.items[0].changes} == {"log", "things"}
    assert calls.items[1].text == "there is no thing 't9'"
    assert calls.items[2].changes == ()
    page = await farm.client.history(instance, offset=1, limit=1)
    assert ([call.seq for call in page.items], page.total) == ([2], 3)


async def test_a_query_sees_the_state_and_its_start(farm: Farm) -> None:
    instance = await farm.launched()
    await farm.call(instance, "price", id="t2", cents=250)
    sql = "SELECT a.cents AS was, b.cents AS now FROM start.things a JOIN main.things b USING (id) WHERE id = 't2'"
    found = await farm.client.query(instance, sql)
    assert (found.columns, found.rows, found.more) == (("was", "now"), ((200, 250),), False)
    few = await farm.client.query(instance, "SELECT id FROM things ORDER BY id", limit=2)
    assert (few.rows, few.more) == ((("t1",), ("t2",)), True)


IMMODEST = [
    "UPDATE things SET cents = 0",
    "DELETE FROM things",
    "DROP TABLE things",
    "ATTACH '/etc/passwd' AS other",
    "PRAGMA journal_mode = DELETE",
    "SELECT 1; SELECT 2",
    "SELECT load_extension('x')",
    "SELECT * FROM _farm_calls",
    "SELECT readfile('/etc/passwd')",
    "this is no SQL",
    "SELECT zeroblob(1000000000)",
    "SELECT CAST(x'ff' AS TEXT)",
    "SELECT 1\x00",
    "SELECT count(*) FROM dbstat",
    "EXPLAIN SELECT 1",
    ENDLESS,
]


async def test_a_query_that_is_not_a_modest_select_is_refused_and_changes_nothing(farm: Farm) -> None:
    instance = await farm.launched()
    for sql in IMMODEST:
        with pytest.raises(RequestError):
            await farm.client.query(instance, sql)
    assert (await farm.client.diff(instance)).items == ()


async def test_a_snapshot_is_a_database_without_the_farm_s_own_tables(farm: Farm, tmp_path: Path) -> None:
    instance = await farm.launched()
    await farm.call(instance, "price", id="t2", cents=250)
    path = tmp_path / "snapshot.db"
    path.write_bytes(await farm.client.snapshot(instance))
    connection = sqlite3.connect(path)
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    assert tables == {"things", "parts", "log"}
    assert connection.execute("SELECT cents FROM things WHERE id = 't2'").fetchone() == (250,)
    connection.close()


async def test_going_back_to_a_call_undoes_the_later_ones(farm: Farm) -> None:
    instance = await farm.launched()
    await farm.call(instance, "price", id="t2", cents=250)
    await farm.call(instance, "price", id="t2", cents=300)
    await farm.client.rewind(instance, 1)
    assert (await farm.client.query(instance, "SELECT cents FROM things WHERE id = 't2'")).rows == ((250,),)
    assert (await farm.client.history(instance)).total == 1
    with pytest.raises(Conflict, match="there is no call 2 to go back to; the history has 1"):
        await farm.client.rewind(instance, 2)
