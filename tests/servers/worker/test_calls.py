"""One tool call after another: what each comes to, and that only an answered `ok` changes anything."""

import asyncio
import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from servers.bundle_library import Library
from servers.errors import GuestError
from servers.messages import Launch
from servers.worker.instance import CallOutcome, Instance
from servers.worker.settings import WorkerSettings
from servers.worker.worker import Worker
from tests.bundles import write_bundle
from tests.processes import LONG, until
from tests.told import diff_of, history_of

SAYS_A_LETTER = '''
def say(db: Database) -> dict:
    """Say a letter."""
    return {"said": "é"}
'''
SOON = 0.5
"""The deadline of calls that hang."""


@pytest_asyncio.fixture(scope="module")
async def odd_worker(odd_shelf: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Worker]:
    async with Worker(Library([odd_shelf]), tmp_path_factory.mktemp("odd")) as worker:
        yield worker


@pytest_asyncio.fixture
async def odd(odd_worker: Worker) -> Instance:
    return await launched(odd_worker)


@pytest_asyncio.fixture(scope="module")
async def hasty_worker(odd_shelf: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Worker]:
    async with Worker(
        Library([odd_shelf]), tmp_path_factory.mktemp("hasty"), WorkerSettings(call_seconds=SOON)
    ) as worker:
        yield worker


@pytest_asyncio.fixture
async def hasty(hasty_worker: Worker) -> Instance:
    """An instance whose calls end soon, whatever they do."""
    return await launched(hasty_worker)


async def launched(worker: Worker, **order: Any) -> Instance:
    [ticket] = await worker.launch(Launch(environment=worker.library.ids()[0], **order))
    return worker.find(ticket.instance)


def nested(depth: int) -> list[Any]:
    deep: list[Any] = []
    for _ in range(depth):
        deep = [deep]
    return deep


async def rows(instance: Instance, worker: Worker) -> list[tuple[Any, ...]]:
    found = await worker.query(instance.id, "SELECT id, name, cents FROM things ORDER BY id")
    return list(found.rows)


ORDINARY = {"sql": "SELECT 1 AS one"}
FIRST_ROWS = [("t1", "anvil", 100), ("t2", "bell", 200), ("t3", "candle", 300)]


async def assert_nothing_changed(instance: Instance, worker: Worker) -> None:
    """The rows are as they were, for us and for the next call."""
    assert await rows(instance, worker) == FIRST_ROWS
    assert await diff_of(worker, instance.id) == []
    seen = await instance.call("ask", {"sql": "SELECT id, name, cents FROM things ORDER BY id"})
    assert seen.structured == {"rows": [dict(zip(("id", "name", "cents"), row, strict=True)) for row in FIRST_ROWS]}


async def test_a_call_answers_with_its_result_and_keeps_what_it_changed(instance: Instance, worker: Worker) -> None:
    made = await instance.call("make", {"name": "drum", "cents": 400})
    assert made.kind == "ok"
    assert not made.is_error
    assert made.structured is not None
    assert made.text == f'{{"id": "{made.structured["id"]}", "now": "2026-03-16 09:00:00"}}'
    found = await instance.call("find", {"text": "drum"})
    assert found.structured == {
        "things": [
            {"id": made.structured["id"], "name": "drum", "cents": 400, "made_at": "2026-03-16 09:00:00"},
        ]
    }
    [first, second] = await history_of(worker, instance.id)
    assert (first.seq, first.tool, first.arguments, first.outcome) == (1, "make", {"name": "drum", "cents": 400}, "ok")
    assert first.text == made.text
    assert [(change.table, change.operation, change.after["cents"]) for change in first.changes] == [
        ("things", "insert", 400)
    ]
    assert first.micros > 0
    assert (second.seq, second.changes) == (2, ())


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-7"])
async def test_no_comment_changes_how_tools_are_read(tmp_path: Path, encoding: str) -> None:
    """The gate reads UTF-8. What runs is the same text, whatever encoding its first line names."""
    shop = await write_bundle(tmp_path / "shelf" / "shop", tools=SAYS_A_LETTER, scenarios=())
    (shop / "tools.py").write_text(f"# -*- coding: {encoding} -*-\n{(shop / 'tools.py').read_text()}")
    async with Worker(Library([tmp_path / "shelf"]), tmp_path / "state") as worker:
        outcome = await (await launched(worker)).call("say", {})
    assert outcome.structured == {"said": "é"}


async def test_rows_that_triggers_wrote_belong_to_the_call(instance: Instance, worker: Worker) -> None:
    await instance.call("price", {"id": "t2", "cents": 250})
    [call] = await history_of(worker, instance.id)
    assert [(change.table, change.operation, change.after) for change in call.changes] == [
        ("log", "insert", {"id": 1, "what": "t2 200 -> 250"}),
        ("things", "update", {"cents": 250}),
    ]


async def test_a_refusal_says_the_tools_words_and_changes_nothing(instance: Instance, worker: Worker) -> None:
    outcome = await instance.call("price", {"id": "t9", "cents": 1})
    assert (outcome.kind, outcome.text) == ("refused", "there is no thing 't9'")
    assert outcome.is_error
    assert outcome.structured is None
    assert await diff_of(worker, instance.id) == []


async def test_a_refusal_after_writing_rolls_back(odd: Instance, odd_worker: Worker) -> None:
    outcome = await odd.call("refuse", {"text": "not today"})
    assert (outcome.kind, outcome.text) == ("refused", "not today")
    await assert_nothing_changed(odd, odd_worker)


async def test_a_constraint_that_fires_is_a_refusal(instance: Instance, worker: Worker) -> None:
    below = await instance.call("price", {"id": "t2", "cents": -1})
    assert (below.kind, below.text) == (
        "refused",
        "this would break a rule of the database: CHECK constraint failed: cents >= 0",
    )
    twice = await instance.call("make", {"name": "bell"})
    assert (twice.kind, twice.text) == (
        "refused",
        "this would break a rule of the database: UNIQUE constraint failed: things.name",
    )
    assert await diff_of(worker, instance.id) == []


async def test_a_trigger_refuses_in_its_own_words_and_rolls_back(instance: Instance, worker: Worker) -> None:
    outcome = await instance.call("scrap", {"id": "t1"})
    assert (outcome.kind, outcome.text) == ("refused", "the anvil stays where it is")
    assert await diff_of(worker, instance.id) == []


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("sell", {}, "there is no tool named 'sell'; the tools are: find, make, price, scrap"),
        (
            "price",
            {},
            "price was not called: argument id: expected a string, got nothing; "
            "argument cents: expected an integer, got nothing",
        ),
        ("price", {"id": "t1"}, "price was not called: argument cents: expected an integer, got nothing"),
        ("price", {"id": 1, "cents": 1}, "price was not called: argument id: expected a string, got 1"),
        ("price", {"id": "t1", "cents": "1"}, 'price was not called: argument cents: expected an integer, got "1"'),
        ("price", {"id": "t1", "cents": 1.5}, "price was not called: argument cents: expected an integer, got 1.5"),
        ("price", {"id": "t1", "cents": True}, "price was not called: argument cents: expected an integer, got true"),
        ("find", {"txt": "a"}, "find was not called: argument txt: there is no such argument; there are: text"),
        ("find", {"text": None}, "find was not called: argument text: expected a string, got null"),
    ],
)
async def test_arguments_are_checked_before_anything_runs(
    instance: Instance, worker: Worker, tool: str, arguments: dict[str, Any], text: str
) -> None:
    guests = worker.guests.started
    outcome = await instance.call(tool, arguments)
    assert (outcome.kind, outcome.text) == ("invalid", text)
    assert outcome.is_error
    assert worker.guests.started == guests  # none was needed
    [call] = await history_of(worker, instance.id)
    assert (call.tool, call.arguments, call.outcome, call.micros) == (tool, arguments, "invalid", 0)


@pytest.mark.parametrize(
    "arguments",
    [
        {"id": "t1", "cents": 10**30},
        {"id": "t1", "cents": 10**400},
        {"id": "t1", "cents": float("nan")},
        {"id": "t1", "cents": float("inf")},
        {"id": "\ud800", "cents": 1},
        {"id": "a\0b", "cents": 1},
        {"id": "é" * 500_000, "cents": 1},
        {"\ud800": 1},
        {"id": nested(150), "cents": 1},
        {"id": nested(50_000), "cents": 1},
    ],
    ids=[
        "large",
        "larger",
        "NaN",
        "infinity",
        "surrogate",
        "NUL",
        "long",
        "surrogate for a name",
        "deep",
        "deeper",
    ],
)
async def test_arguments_that_no_database_holds_end_in_an_outcome(
    instance: Instance, worker: Worker, arguments: dict[str, Any]
) -> None:
    await instance.call("find", {})
    guests = worker.guests.started
    outcome = await instance.call("price", arguments)
    assert outcome.kind in ("invalid", "refused", "failed")
    assert (await history_of(worker, instance.id, after=1))[0].outcome == outcome.kind
    assert (await instance.call("price", {"id": "t1", "cents": 1})).kind == "ok"
    assert worker.guests.started == guests


async def test_a_number_that_no_database_holds_is_refused_in_words(instance: Instance) -> None:
    outcome = await instance.call("price", {"id": "t1", "cents": 10**30})
    assert (outcome.kind, outcome.text.split(":")[0]) == ("refused", "a number is too large")


SWAP = '''
def swap(db: Database, *, one: str, other: str) -> dict:
    """Let two things change their names.

    Args:
        one: The first.
        other: The second.
    """
    names = {row["id"]: row["name"] for row in db.all("SELECT id, name FROM things")}
    db.run("UPDATE things SET name = '' WHERE id = :id", id=one)
    db.run("UPDATE things SET name = :name WHERE id = :id", id=other, name=names[one])
    db.run("UPDATE things SET name = :name WHERE id = :id", id=one, name=names[other])
    return {}
'''


async def test_rows_that_change_places_under_a_unique_index_are_kept(tmp_path: Path) -> None:
    folder = await write_bundle(tmp_path / "shelf" / "shop", tools=SWAP, scenarios=())
    async with Worker(Library([folder.parent]), tmp_path / "state") as worker:
        instance = await launched(worker)
        assert (await instance.call("swap", {"one": "t1", "other": "t2"})).kind == "ok"
        names = await worker.query(instance.id, "SELECT name FROM things ORDER BY id")
    assert names.rows == (("bell",), ("anvil",), ("candle",))


FAULT = "{} failed; this is a fault of the tool, not of your request, and nothing was changed"
CRASH = "{} crashed; this is a fault of the tool, and nothing was changed"


@pytest.mark.parametrize(
    ("tool", "arguments", "detail"),
    [
        ("fail", {}, "tools.py, line 95: OSError: nothing at /srv/secret/place"),
        ("leave", {}, "SystemExit: 3"),
        ("recurse", {}, "RecursionError: maximum recursion depth exceeded"),
        ("hog", {}, "MemoryError: "),
        ("sneak", {}, "it says that it only reads, and it changed rows"),
        ("ask", {"sql": "DELETE FROM parts RETURNING id"}, "all() and one() only read; use run() to write"),
        ("ask", {"sql": "SELECT randomblob(3)"}, "not authorized to use function: randomblob"),
        ("ask", {"sql": "SELECT x'00' AS x"}, "ToolFault: returned what is not JSON: Object of type bytes"),
        ("give", {"what": "much"}, "ToolFault: returned 100000012 bytes; 262144 is the most that an agent is sent"),
        ("give", {"what": "nan"}, "ToolFault: returned what is not JSON: Out of range float"),
        ("give", {"what": "infinity"}, "ToolFault: returned what is not JSON: Out of range float"),
        ("give", {"what": "a list"}, "ToolFault: returned a list, not an object"),
        ("give", {"what": "nothing"}, "ToolFault: returned a NoneType, not an object"),
        ("give", {"what": "text"}, "ToolFault: returned a str, not an object"),
        ("give", {"what": "bytes"}, "ToolFault: returned what is not JSON: "),
        ("give", {"what": "a set"}, "ToolFault: returned what is not JSON: "),
        ("give", {"what": "an object"}, "ToolFault: returned what is not JSON: "),
        ("give", {"what": "a surrogate"}, "ToolFault: returned what is not JSON: 'utf-8' codec"),
        ("give", {"what": "a loop"}, "ToolFault: returned what is not JSON: Circular reference detected"),
        ("give", {"what": "deep"}, "its result is nested deeper than 100"),
        ("give", {"what": "deeper"}, "ToolFault: returned what is not JSON: it is nested too deep"),
    ],
    ids=str,
)
async def test_a_tool_that_breaks_its_contract_has_failed(
    odd: Instance, odd_worker: Worker, tool: str, arguments: dict[str, Any], detail: str
) -> None:
    await odd.call("ask", ORDINARY)
    guests = odd_worker.guests.started
    outcome = await odd.call(tool, arguments)
    assert (outcome.kind, outcome.text) == ("failed", FAULT.format(tool))
    assert outcome.detail is not None
    assert detail in outcome.detail
    assert [call.detail for call in await history_of(odd_worker, odd.id)] == [None, outcome.detail]
    await assert_nothing_changed(odd, odd_worker)
    assert odd_worker.guests.started == guests  # its guest lives


@pytest.mark.parametrize(("tool", "cause"), [("leave_at_once", "exit 3"), ("kill_itself", "SIGSEGV")])
async def test_a_tool_that_ends_its_guest_changes_nothing(
    odd: Instance, odd_worker: Worker, tool: str, cause: str
) -> None:
    outcome = await odd.call(tool, {})
    assert (outcome.kind, outcome.text) == ("died", CRASH.format(tool))
    await assert_nothing_changed(odd, odd_worker)
    assert odd_worker.guests.deaths[cause] >= 2


@pytest.mark.parametrize("tool", ["hang", "hang_in_sql"])
async def test_a_tool_that_hangs_is_stopped_and_changes_nothing(
    hasty: Instance, hasty_worker: Worker, tool: str
) -> None:
    await hasty.call("ask", ORDINARY)
    guests = hasty_worker.guests.started
    outcome = await hasty.call(tool, {})
    assert (outcome.kind, outcome.text) == (
        "timeout",
        f"{tool} did not finish within 0.5 s and was stopped; nothing was changed",
    )
    await assert_nothing_changed(hasty, hasty_worker)
    assert hasty_worker.guests.started == guests + 1  # one was stopped, another lives


async def test_a_tool_that_hangs_costs_the_calls_of_others_nothing_but_time(
    hasty: Instance, hasty_worker: Worker
) -> None:
    others = [await launched(hasty_worker) for _ in range(20)]
    [hung, *answered] = await asyncio.gather(
        hasty.call("hang", {}), *(other.call("price", {"id": "t1", "cents": 1}) for other in others)
    )
    assert hung.kind == "timeout"
    assert {outcome.text for outcome in answered} == {'{"now": "2026-03-16 09:00:00"}'}
    assert [(await rows(other, hasty_worker))[0] for other in others] == [("t1", "anvil", 1)] * 20


async def test_a_caller_that_goes_away_leaves_nothing_half(hasty: Instance, hasty_worker: Worker) -> None:
    call = asyncio.create_task(hasty.call("hang", {}))
    while hasty.guest is None or hasty.guest.waiting == 0:  # noqa: ASYNC110 - the guest has no event to wait for
        await asyncio.sleep(0.001)
    call.cancel()
    assert await asyncio.gather(call, return_exceptions=True) != []
    assert await history_of(hasty_worker, hasty.id) == []
    await assert_nothing_changed(hasty, hasty_worker)


DENIED = "not authorized|cannot VACUUM from within a transaction|may not be modified"
FORBIDDEN = [
    "COMMIT",
    "ROLLBACK",
    "END",
    "BEGIN",
    "SAVEPOINT mine",
    "PRAGMA foreign_keys = OFF",
    "PRAGMA writable_schema = ON",
    "PRAGMA journal_mode = DELETE",
    "ATTACH ':memory:' AS other",
    "ATTACH '/tmp/other.db' AS other",
    "DETACH main",
    "VACUUM",
    "VACUUM INTO '/tmp/other.db'",
    "DROP TABLE things",
    "DROP TRIGGER things_are_logged",
    "ALTER TABLE things RENAME TO goods",
    "ALTER TABLE things ADD COLUMN x",
    "CREATE TABLE mine (id INTEGER PRIMARY KEY)",
    "CREATE TEMP TABLE mine (id INTEGER PRIMARY KEY)",
    "CREATE INDEX mine ON things (cents)",
    "CREATE TEMP TRIGGER mine AFTER UPDATE ON things BEGIN DELETE FROM parts; END",
    "CREATE VIRTUAL TABLE mine USING fts5 (x)",
    "REINDEX",
    "ANALYZE",
    "UPDATE sqlite_schema SET sql = ''",
    "DELETE FROM sqlite_schema",
    "SELECT load_extension('x')",
]


@pytest.mark.parametrize("sql", FORBIDDEN)
async def test_tools_change_rows_and_nothing_else(odd: Instance, odd_worker: Worker, sql: str) -> None:
    failed = await odd.call("statement", {"sql": sql})
    assert failed.kind == "failed"
    assert re.search(DENIED, failed.detail or "")
    await assert_nothing_changed(odd, odd_worker)
    swallowed = await odd.call("statement_swallowed", {"sql": sql})
    assert swallowed.kind == "refused"
    assert re.search(DENIED, swallowed.text)
    await assert_nothing_changed(odd, odd_worker)
    assert (await odd.call("price", {"id": "t2", "cents": 250})).kind == "ok"
    assert ("log", "insert") in [(row.table, row.operation) for row in await diff_of(odd_worker, odd.id)]


async def test_a_transaction_that_sqlite_ended_itself_leaves_nothing(odd: Instance, odd_worker: Worker) -> None:
    assert (await odd.call("refuse_outside", {})).kind == "failed"
    await assert_nothing_changed(odd, odd_worker)
    assert (await odd.call("carry_on_outside", {})).kind == "failed"
    await assert_nothing_changed(odd, odd_worker)


async def test_rows_that_point_nowhere_are_refused(odd: Instance, odd_worker: Worker) -> None:
    outcome = await odd.call("statement", {"sql": "INSERT INTO parts (thing_id) VALUES ('t9')"})
    assert (outcome.kind, outcome.text) == (
        "refused",
        "this would break a rule of the database: FOREIGN KEY constraint failed",
    )
    await assert_nothing_changed(odd, odd_worker)


SPOKEN_JUNK = [
    "junk",
    "a little",
    "endless",
    "no JSON",
    "a list",
    "wrong sizes",
    "deep",
    "nothing",
    "no parts",
    "an odd outcome",
    "an unknown outcome",
    "a list as a result",
    "odd micros",
    "endless micros",
    "another's nonce",
    "no text",
    "no number",
    "a surrogate",
    "much",
    "many parts",
    "a long head",
    "need",
]


@pytest.mark.parametrize("frame", SPOKEN_JUNK)
async def test_junk_on_a_guests_socket_is_one_clear_error(hasty: Instance, hasty_worker: Worker, frame: str) -> None:
    outcome = await hasty.call("speak", {"frame": frame})
    assert outcome.kind in ("died", "timeout")
    assert outcome.text.startswith(("speak crashed; this is", "speak did not finish within 0.5 s"))
    await assert_nothing_changed(hasty, hasty_worker)


@pytest.mark.parametrize("frame", ["junk for changes", "a hostile change"])
async def test_a_guest_whose_word_does_not_fit_has_failed(odd: Instance, odd_worker: Worker, frame: str) -> None:
    outcome = await odd.call("speak", {"frame": frame})
    assert (outcome.kind, outcome.text) == ("failed", FAULT.format("speak"))
    assert [call.outcome for call in await history_of(odd_worker, odd.id)] == ["failed"]
    await assert_nothing_changed(odd, odd_worker)


@pytest.mark.parametrize("frame", ["lies", "two answers", "many micros", "negative micros"])
async def test_a_guest_that_lies_about_its_result_harms_its_own_call_alone(
    hasty: Instance, hasty_worker: Worker, frame: str
) -> None:
    outcome = await hasty.call("speak", {"frame": frame})
    assert outcome.kind == "ok"
    [call] = await history_of(hasty_worker, hasty.id)
    assert 0 <= call.micros <= 3_600_000_000
    other = await launched(hasty_worker)
    assert (await other.call("price", {"id": "t1", "cents": 1})).kind in ("ok", "timeout")
    assert (await other.call("price", {"id": "t1", "cents": 1})).kind == "ok"
    await assert_nothing_changed(hasty, hasty_worker)


async def test_what_a_tool_prints_goes_nowhere(odd: Instance, capfd: pytest.CaptureFixture[str]) -> None:
    assert (await odd.call("print_much", {})).kind == "ok"
    assert capfd.readouterr() == ("", "")


async def test_a_tool_writes_no_files(odd: Instance, odd_worker: Worker, tmp_path: Path) -> None:
    path = tmp_path / "note"
    path.touch()
    assert (await odd.call("write_file", {"path": str(path)})).kind == "failed"
    assert path.read_text() == ""
    await assert_nothing_changed(odd, odd_worker)


async def test_a_text_of_a_refusal_is_bounded(odd: Instance) -> None:
    outcome = await odd.call("refuse", {"text": "x" * 300_000})
    assert outcome.kind == "refused"
    assert len(outcome.text) == 256 * 1024


async def test_tools_that_cannot_be_loaded_are_an_error_and_no_outcome(tmp_path: Path) -> None:
    folder = await write_bundle(tmp_path / "shelf" / "shop", scenarios=())
    (folder / "tools.py").write_text((folder / "tools.py").read_text() + "\n1 / 0\n")
    async with Worker(Library([folder.parent]), tmp_path / "state") as worker:
        instance = await launched(worker)
        with pytest.raises(GuestError, match=r"shop: tools\.py, line .*: ZeroDivisionError"):
            await instance.call("find", {})
        assert await history_of(worker, instance.id) == []


async def test_calls_of_one_instance_take_turns_and_too_many_are_told_so(instance: Instance, worker: Worker) -> None:
    calls = (instance.call("make", {"name": f"thing {number}"}) for number in range(40))
    outcomes: list[CallOutcome] = await asyncio.gather(*calls)
    kinds = [outcome.kind for outcome in outcomes]
    assert kinds == ["ok"] * 32 + ["invalid"] * 8
    assert outcomes[-1].text == "more than 32 calls at once; wait for the earlier ones"
    history = await history_of(worker, instance.id)
    assert [call.seq for call in history] == list(range(1, 33))
    assert len({outcome.text for outcome in outcomes[:32]}) == 32


async def test_instances_do_not_see_each_other(worker: Worker) -> None:
    tickets = await worker.launch(Launch(environment="shop", count=5))
    instances = [worker.find(ticket.instance) for ticket in tickets]
    await asyncio.gather(
        *(one.call("price", {"id": "t2", "cents": cents}) for cents, one in enumerate(instances) for _ in range(3))
    )
    found = [await one.call("find", {"text": "bell"}) for one in instances]
    assert [one.structured["things"][0]["cents"] for one in found if one.structured] == [0, 1, 2, 3, 4]
    assert [(await rows(one, worker))[1][2] for one in instances] == [0, 1, 2, 3, 4]


async def test_a_call_that_came_while_a_guest_loaded_is_not_left_behind_one_that_hangs(
    worker: Worker, instance: Instance
) -> None:
    """As when calls come while the first guest loads its tools: the load ends, and the next in its queue hangs."""
    guest = await worker.guests.serving(instance.environment, "another")
    hangs, is_over = asyncio.Event(), asyncio.Event()

    async def hang() -> None:
        async with guest.turn():
            hangs.set()
            await is_over.wait()

    async with guest.turn():  # a load
        hanging = asyncio.create_task(hang())
        await until(lambda: guest.waiting == 2, "one waits that will hang")
        call = asyncio.create_task(instance.call("find", {}))
        await until(lambda: guest.waiting == 3, "the call waits behind it")
    async with asyncio.timeout(LONG):
        await hangs.wait()
        assert (await call).kind == "ok"
    is_over.set()
    await hanging


async def test_a_guest_gets_its_next_request_before_the_last_answer_is_kept(instance: Instance) -> None:
    """So it works while the worker verifies and writes."""
    assert (await instance.call("make", {"name": "first"})).kind == "ok"
    guest, kept = instance.guest, instance.state.last
    assert guest is not None

    async def next_request() -> int:
        async with guest.turn():
            return instance.state.last

    async with guest.turn():
        calling = asyncio.ensure_future(instance.call("make", {"name": "second"}))
        await until(lambda: guest.waiting == 2, "the call waits for the guest")
        following = asyncio.ensure_future(next_request())
        await until(lambda: guest.waiting == 3, "another request waits behind it")
    assert (await following, (await calling).kind, instance.state.last) == (kept, "ok", kept + 1)


async def test_at_most_so_many_guests_serve_one_environment(worker: Worker) -> None:
    tickets = await worker.launch(Launch(environment="shop", count=40))
    guests = worker.guests.started
    calls = [worker.find(ticket.instance).call("find", {}) for ticket in tickets]
    outcomes = await asyncio.gather(*calls)
    assert {outcome.kind for outcome in outcomes} == {"ok"}
    assert worker.guests.started <= guests + worker.guests.most_each
