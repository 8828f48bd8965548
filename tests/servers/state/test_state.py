"""The state of an instance: going back, forking, closing, and what is told about it."""

import asyncio
import tracemalloc
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from servers.bundle_library import Library
from servers.errors import CapacityError, Conflict, NotFound, StateError
from servers.guest.sqlite.tables import tables_of
from servers.messages import Launch, Page
from servers.state.readonly_query import Reader
from servers.state.row_diff import changeset_as_json
from servers.state.rows import RowChange
from servers.worker.instance import Instance
from servers.worker.settings import WorkerSettings
from servers.worker.worker import Worker
from tests.told import DIFF, diff_of, history_of

Call = tuple[str, dict[str, Any]]

NOTHING: dict[str, Any] = {}
IDS = st.sampled_from(["t1", "t2", "t3", "t9"])
CALLS: st.SearchStrategy[list[Call]] = st.lists(
    st.one_of(
        st.tuples(st.just("price"), st.fixed_dictionaries({"id": IDS, "cents": st.sampled_from([-1, 0, 100, 200])})),
        st.tuples(st.just("make"), st.fixed_dictionaries({"name": st.sampled_from(["bell", "drum", "easel"])})),
        st.tuples(st.just("scrap"), st.fixed_dictionaries({"id": IDS})),
        st.tuples(st.just("find"), st.just(NOTHING)),
    ),
    max_size=12,
)
AS_LONG_AS_IT_TAKES = settings(
    deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


async def launched(worker: Worker, **order: Any) -> Instance:
    [ticket] = await worker.launch(Launch(environment="shop", **order))
    return worker.find(ticket.instance)


async def made(instance: Instance, calls: list[Call]) -> list[str]:
    return [(await instance.call(tool, arguments)).text for tool, arguments in calls]


async def content(worker: Worker, instance: Instance) -> dict[str, tuple[tuple[Any, ...], ...]]:
    """Every row of an instance, by table."""
    tables = await worker.tables(instance.id)
    return {table.name: (await worker.table(instance.id, table.name, Page())).rows for table in tables}


@AS_LONG_AS_IT_TAKES
@given(calls=CALLS, data=st.data())
async def test_going_back_to_call_k_is_the_state_after_k_calls(
    worker: Worker, calls: list[Call], data: st.DataObject
) -> None:
    instance, other = await launched(worker), await launched(worker)
    texts = await made(instance, calls)
    back = data.draw(st.integers(0, len(calls)))
    await worker.rewind(instance.id, back)
    await made(other, calls[:back])
    assert await content(worker, instance) == await content(worker, other)
    assert await diff_of(worker, instance.id) == await diff_of(worker, other.id)
    assert [call.seq for call in await history_of(worker, instance.id)] == list(range(1, back + 1))
    assert await made(instance, calls[back:]) == texts[back:]
    await made(other, calls[back:])
    assert await content(worker, instance) == await content(worker, other)


@AS_LONG_AS_IT_TAKES
@given(calls=CALLS)
async def test_the_diff_is_what_the_calls_changed_and_composes(worker: Worker, calls: list[Call]) -> None:
    instance = await launched(worker)
    rows = await content(worker, instance)
    await made(instance, calls)
    for call in await history_of(worker, instance.id):
        for change in call.changes:
            rows = {**rows, change.table: applied(rows[change.table], change)}
            assert call.outcome == "ok"
    assert rows == await content(worker, instance)
    whole = await launched(worker)
    rows = await content(worker, whole)
    for change in await diff_of(worker, instance.id):
        rows = {**rows, change.table: applied(rows[change.table], change)}
    assert rows == await content(worker, instance)


GONE = "it was closed, or never launched"
COLUMNS = {"things": ["id", "name", "cents", "made_at"], "parts": ["id", "thing_id", "note"], "log": ["id", "what"]}


def applied(rows: tuple[tuple[Any, ...], ...], change: RowChange) -> tuple[tuple[Any, ...], ...]:
    """The rows of a table after a change, by key."""
    columns = COLUMNS[change.table]
    found = {row[0]: dict(zip(columns, row, strict=True)) for row in rows}
    key = change.key["id"]
    if change.operation == "insert":
        assert key not in found
        found[key] = change.after
    else:
        assert change.before.items() <= found[key].items()
        found[key] |= change.after
        if change.operation == "delete":
            del found[key]
    return tuple(tuple(found[key][name] for name in columns) for key in sorted(found))


async def test_a_row_that_is_changed_back_is_no_difference(instance: Instance, worker: Worker) -> None:
    await made(instance, [("price", {"id": "t2", "cents": 1}), ("price", {"id": "t2", "cents": 200})])
    assert [row.table for row in await diff_of(worker, instance.id)] == ["log", "log"]


async def test_a_difference_names_key_and_columns_before_and_after(instance: Instance, worker: Worker) -> None:
    await made(instance, [("price", {"id": "t3", "cents": 1}), ("scrap", {"id": "t2"})])
    log, part, gone, changed = await diff_of(worker, instance.id)
    assert (log.operation, log.key) == ("insert", {"id": 1})
    assert (part.operation, part.before) == ("delete", {"id": 2, "thing_id": "t2", "note": "clapper"})
    assert (gone.operation, gone.key, gone.after) == ("delete", {"id": "t2"}, {})
    assert (changed.operation, changed.before, changed.after) == ("update", {"cents": 300}, {"cents": 1})


async def test_reset_is_the_start_and_url_and_token_stay(instance: Instance, worker: Worker) -> None:
    ticket, start = worker.ticket(instance.id), await content(worker, instance)
    texts = await made(instance, [("make", {"name": "drum"}), ("scrap", {"id": "t2"})])
    await worker.reset(instance.id)
    assert await content(worker, instance) == start
    assert await history_of(worker, instance.id) == []
    assert worker.ticket(instance.id) == ticket
    assert (await worker.standing(instance.id)).calls == 0
    assert await made(instance, [("make", {"name": "drum"}), ("scrap", {"id": "t2"})]) == texts


@pytest.mark.parametrize("seq", [-1, 3, 1000])
async def test_there_is_no_going_back_to_a_call_that_was_not_made(instance: Instance, worker: Worker, seq: int) -> None:
    await made(instance, [("find", {}), ("make", {"name": "drum"})])
    with pytest.raises(Conflict, match=f"there is no call {seq} to go back to; the history has 2"):
        await worker.rewind(instance.id, seq)
    assert len(await history_of(worker, instance.id)) == 2


async def test_forks_stand_where_the_instance_stood_and_go_their_own_ways(instance: Instance, worker: Worker) -> None:
    await made(instance, [("make", {"name": "drum"})])
    before = await content(worker, instance)
    forks = [worker.find(ticket.instance) for ticket in await worker.fork(instance.id, 3)]
    assert len({fork.id for fork in (instance, *forks)}) == 4
    assert len({worker.token_of(fork.id) for fork in (instance, *forks)}) == 4
    for fork in forks:
        assert await content(worker, fork) == before
        assert await history_of(worker, fork.id) == await history_of(worker, instance.id)
    first, second, third = forks
    await made(first, [("price", {"id": "t2", "cents": 1})])
    await worker.rewind(second.id, 0)
    assert await content(worker, third) == await content(worker, instance) == before
    assert (await worker.standing(second.id)).calls == 0
    same: list[Call] = [("make", {"name": "easel"}), ("find", {})]
    assert await made(third, same) == await made(instance, same)
    await worker.close(instance.id)
    assert [call.seq for call in await history_of(worker, first.id)] == [1, 2]


async def test_closing_deletes_the_files_and_the_instance_is_gone(instance: Instance, worker: Worker) -> None:
    await made(instance, [("make", {"name": "drum"})])
    assert [path.name for path in (worker.folder / "instances").glob(f"{instance.id}.history")] != []
    await worker.close(instance.id)
    assert list((worker.folder / "instances").glob(f"{instance.id}*")) == []
    assert not worker.has(instance.id)
    with pytest.raises(NotFound, match=GONE):
        worker.find(instance.id)
    for gone in (worker.close, worker.diff, worker.reset, worker.standing):
        with pytest.raises(NotFound, match=GONE):
            await gone(instance.id)


async def test_nobody_opens_an_instance_again_while_it_is_being_closed(instance: Instance, worker: Worker) -> None:
    await instance.turn.acquire()
    closing = asyncio.create_task(worker.close(instance.id))
    await asyncio.sleep(0)
    with pytest.raises(NotFound):
        worker.find(instance.id)
    instance.turn.release()
    await closing
    assert list((worker.folder / "instances").glob(f"{instance.id}*")) == []


async def test_an_instance_that_never_was_is_not_found(worker: Worker) -> None:
    for name in ("abcdefgh", "../secret", "", "a/b"):
        with pytest.raises(NotFound, match=GONE):
            worker.find(name)


async def test_there_is_room_for_so_many_and_no_more(library: Library, worker: Worker) -> None:
    async with Worker(library, worker.folder / "small", WorkerSettings(most_instances=3)) as small:
        [first, *_] = await small.launch(Launch(environment="shop", count=2))
        with pytest.raises(
            CapacityError, match=r"no room for 2 more instances \(2 live, at most 3\); close some .* --capacity"
        ):
            await small.launch(Launch(environment="shop", count=2))
        with pytest.raises(CapacityError):
            await small.fork(first.instance, 2)
        await small.close(first.instance)
        await small.launch(Launch(environment="shop", count=2))
        assert small.live == 3


async def test_a_snapshot_is_a_database_of_the_environments_rows_alone(instance: Instance, worker: Worker) -> None:
    await made(instance, [("make", {"name": "drum"})])
    snapshot = apsw.Connection(":memory:")
    snapshot.deserialize("main", (await worker.snapshot(instance.id))[:])
    assert snapshot.execute("SELECT count(*) FROM things").get == 4
    names = [name for (name,) in snapshot.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
    assert names == ["log", "parts", "things"]
    assert snapshot.execute("PRAGMA integrity_check").get == "ok"


async def test_tables_are_paged_by_key(instance: Instance, worker: Worker) -> None:
    assert [(table.name, table.total, table.rows) for table in await worker.tables(instance.id)] == [
        ("log", 0, ()),
        ("parts", 2, ()),
        ("things", 3, ()),
    ]
    table = await worker.table(instance.id, "things", Page(offset=1, limit=1))
    assert table.columns == ("id", "name", "cents", "made_at")
    assert table.rows == (("t2", "bell", 200, "2026-03-16 09:00:00"),)
    assert table.total == 3
    assert (await worker.table(instance.id, "things", Page(offset=3))).rows == ()


@pytest.mark.parametrize("name", ["thing", "_farm_calls", "sqlite_schema", 'things"; DROP TABLE things', ""])
async def test_what_is_no_table_of_the_environment_is_not_found(instance: Instance, worker: Worker, name: str) -> None:
    with pytest.raises(NotFound, match=r"^there is no table .*; there are: log, parts, things$"):
        await worker.table(instance.id, name, Page())


async def test_the_history_is_paged(instance: Instance, worker: Worker) -> None:
    await made(instance, [("find", {})] * 5)
    assert [call.seq for call in await history_of(worker, instance.id, after=2, limit=2)] == [3, 4]
    assert await history_of(worker, instance.id, after=5) == []


async def test_a_standing_tells_where_an_instance_comes_from(worker: Worker) -> None:
    instance = await launched(worker, scenario="dearer", seed=7)
    await made(instance, [("find", {})])
    standing = await worker.standing(instance.id)
    assert standing.model_dump(exclude={"instance", "digest"}) == {
        "environment": "shop",
        "scenario": "dearer",
        "seed": 7,
        "calls": 1,
        "now": "2026-03-16 09:01:00",
    }
    assert standing.digest == worker.library.environment("shop").digest


async def test_values_of_every_kind_compare() -> None:
    start, final = (image(row) for row in ("(1, NULL, 'a', x'00', 1.5)", "(1, 0, NULL, x'0000', 1.5)"))
    reader = Reader(final, start)
    [change] = reader.changes()
    reader.close()
    assert (change.before, change.after) == (
        {"a": None, "b": "a", "c": "<1 bytes>"},
        {"a": 0, "b": None, "c": "<2 bytes>"},
    )


@pytest.mark.parametrize(("before", "after"), [("x'01'", "x'02'"), ("'Ada'", "'ADA'"), ("1", "'1'")])
async def test_rows_are_compared_to_the_byte(before: str, after: str) -> None:
    reader = Reader(image(f"(1, 1, 1, {after}, 1)"), image(f"(1, 1, 1, {before}, 1)"))
    [change] = reader.changes()
    reader.close()
    assert (change.operation, change.columns()) == ("update", {"c"})


async def test_rows_that_are_told_are_made_one_after_another_and_let_go_of() -> None:
    """Many at once take memory, and the interpreter from the event loop for as long as they are made and freed."""
    many = ", ".join(f"({number}, 1, 2, 'three', 4)" for number in range(2, 3000))
    start, final = image("(1, 1, 1, 1, 1)"), image(f"(1, 1, 1, 1, 1), {many}")
    reader = Reader(final, start)
    tracemalloc.start()
    try:
        told = reader.changes_as_json()
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        reader.close()
    assert DIFF.validate_json(told)[-1].after == {"id": 2999, "a": 1, "b": 2, "c": "three", "d": 4}
    assert most < 5 * len(told)


async def test_the_rows_of_a_history_are_made_one_after_another_and_let_go_of() -> None:
    start = image("(1, 1, 1, 1, 1)")
    changes = changes_of(20_000)
    tracemalloc.start()
    try:
        told = changeset_as_json(changes, tables_of(start))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert DIFF.validate_json(told)[0].after == {"id": 10_000, "a": 1, "b": 2, "c": "three", "d": 4}
    assert most < 5 * len(told)


def changes_of(rows: int) -> bytes:
    """A changeset that inserts so many rows."""
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", image("(1, 1, 1, 1, 1)"))
    session = apsw.Session(connection, "main")
    session.attach()
    each = [(number,) for number in range(2, rows + 2)]
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO t VALUES (?, 1, 2, 'three', 4)", each)
    connection.execute("COMMIT")
    return session.changeset()


def image(row: str) -> bytes:
    connection = apsw.Connection(":memory:")
    connection.execute(
        f"CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c COLLATE NOCASE, d); INSERT INTO t VALUES {row}"
    ).fetchall()
    return connection.serialize("main")


@contextmanager
def memory_of_sqlite(left: int) -> Generator[None]:
    """SQLite may take so many bytes more in this process, and no more."""
    before = apsw.hard_heap_limit(-1)
    apsw.hard_heap_limit(apsw.memory_used() + left)
    try:
        yield
    finally:
        apsw.hard_heap_limit(before)


async def test_changes_for_which_sqlite_has_no_memory_left_are_a_fault_of_the_farm_and_nothing_is_lost(
    worker: Worker,
) -> None:
    instance = await launched(worker)
    await made(instance, [("make", {"name": letter * 20_000}) for letter in "abc"])
    state = instance.state
    with memory_of_sqlite(left=20_000):
        with pytest.raises(StateError, match="changes cannot be put together: NoMemError"):
            state.changes_since_start()
        state.keep(state.calls()[-1]._replace(seq=4))  # more than is kept in memory
    assert len(state.calls()) == 4
