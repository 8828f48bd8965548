"""The same calls from the same start give the same texts and the same rows, whatever happens in between."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from servers.bundle_library import Library
from servers.guest import walls
from servers.messages import Launch
from servers.state.rows import RowChange
from servers.worker.worker import Worker
from tests.told import diff_of

Call = tuple[str, dict[str, Any]]
CALLS: Sequence[Call] = (
    ("find_members", {"name": "Ada"}),
    ("renew_loan", {"loan_id": "loan_0025"}),
    ("reserve_book", {"member_id": "mem_ada", "book_id": "book_left_hand"}),
    ("renew_loan", {"loan_id": "loan_0025"}),
    ("lend_copy", {"member_id": "mem_ada", "copy_id": "copy_dune_1"}),
    ("waive_fine", {"fine_id": "fine_0001", "reason": " "}),
    ("release_uncollected", {}),
    ("take_back_copy", {"copy_id": "copy_left_hand_1"}),
    ("find_reservations", {"book_id": "book_left_hand"}),
    ("no_such_tool", {}),
    ("show_member", {"member_id": 3}),
    ("find_loans", {}),
)


def may_fix_addresses() -> bool:
    """Whether the kernel lets a process choose that its addresses are not random. Some containers do not."""
    with walls.fixed_addresses() as chosen:
        return chosen


def place_of_a_new_programs_heap() -> str:
    return subprocess.run(
        [sys.executable, "-c", "print(id(object))"], capture_output=True, text=True, check=True
    ).stdout


async def played(worker: Worker, *, seed: int = 0, killing: bool = False) -> tuple[list[str], list[RowChange]]:
    """The texts of all calls and the rows that differ at the end; the guests are killed before every other call."""
    [ticket] = await worker.launch(Launch(environment="library_loans", seed=seed))
    texts: list[str] = []
    for number, (tool, arguments) in enumerate(CALLS):
        if killing and number % 2:
            worker.guests.forget(worker.find(ticket.instance).environment.digest)
        outcome = await worker.find(ticket.instance).call(tool, arguments)
        assert outcome.kind in ("ok", "refused", "invalid")
        texts.append(outcome.text)
    return texts, await diff_of(worker, ticket.instance)


async def test_the_same_calls_give_the_same_texts_and_rows(worker: Worker) -> None:
    texts, rows = await played(worker)
    assert (texts, rows) == await played(worker)
    assert {(row.table, row.operation) for row in rows} >= {("loans", "update"), ("reservations", "insert")}


async def test_another_seed_gives_other_ids_and_else_the_same(worker: Worker) -> None:
    texts, rows = await played(worker, seed=1)
    others, other_rows = await played(worker, seed=2)
    assert texts[2] != others[2]
    assert texts[:2] == others[:2]
    assert [row.table for row in rows] == [row.table for row in other_rows]


async def test_a_guest_that_was_killed_in_between_makes_no_difference(worker: Worker) -> None:
    assert await played(worker, killing=True) == await played(worker)
    assert worker.guests.started > len(CALLS) // 2


async def test_another_worker_on_another_day_makes_no_difference(library: Library, tmp_path: Path) -> None:
    seen: list[tuple[list[str], list[RowChange]]] = []
    for name in ("one", "other"):
        async with Worker(library, tmp_path / name) as worker:
            seen.append(await played(worker))
    assert seen[0] == seen[1]


async def test_the_order_of_a_set_is_the_same_on_every_worker(odd_shelf: Path, tmp_path: Path) -> None:
    texts: set[str] = set()
    for name in ("one", "other", "third"):
        async with Worker(Library([odd_shelf]), tmp_path / name) as worker:
            [ticket] = await worker.launch(Launch(environment="odd"))
            texts.add((await worker.find(ticket.instance).call("order_of_a_set", {})).text)
    assert len(texts) == 1


async def test_no_place_in_memory_is_told(odd_shelf: Path, tmp_path: Path) -> None:
    async with Worker(Library([odd_shelf]), tmp_path / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="odd"))
        instance = worker.find(ticket.instance)
        told = json.loads((await instance.call("tell_places", {})).text)
        refused = await instance.call("refuse_with_a_place", {})
    assert told == {
        "function": "<function tell_places>",
        "inner": "<function tell_places.<locals>.<lambda>>",
        "note": "a fault at 0x7f44be66f360 in a driver",
    }
    assert (refused.kind, refused.text) == ("refused", "<servers.toolkit.Database object> has no room")


async def test_ids_that_sqlite_draws_after_the_last_one_repeat(odd_shelf: Path, tmp_path: Path) -> None:
    drawn: list[list[int]] = []
    for name, seed in (("one", 0), ("other", 0), ("third", 1)):
        async with Worker(Library([odd_shelf]), tmp_path / name) as worker:
            [ticket] = await worker.launch(Launch(environment="odd", seed=seed))
            instance = worker.find(ticket.instance)
            drawn.append(json.loads((await instance.call("note_after_the_last", {})).text)["ids"])
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(set(drawn[0])) == len(drawn[0])


@pytest.mark.skipif(not may_fix_addresses(), reason="this machine does not let a process fix its addresses")
async def test_the_order_of_a_set_with_none_is_the_same_on_every_worker(odd_shelf: Path, tmp_path: Path) -> None:
    """Before Python 3.12 the hash of None is its place in memory."""
    texts: set[str] = set()
    for name in ("one", "other", "third"):
        async with Worker(Library([odd_shelf]), tmp_path / name) as worker:
            [ticket] = await worker.launch(Launch(environment="odd"))
            texts.add((await worker.find(ticket.instance).call("order_of_a_set_with_none", {})).text)
    assert len(texts) == 1


@pytest.mark.skipif(not may_fix_addresses(), reason="this machine does not let a process fix its addresses")
def test_addresses_are_fixed_for_what_starts_meanwhile_alone() -> None:
    before = walls.personality()
    with walls.fixed_addresses():
        assert place_of_a_new_programs_heap() == place_of_a_new_programs_heap()
    assert walls.personality() == before


async def test_sqlite_tells_the_instances_time_which_calls_move_on(worker: Worker) -> None:
    [ticket] = await worker.launch(Launch(environment="shop", clock="1999-12-31 23:59:00"))
    instance = worker.find(ticket.instance)
    for name in ("drum", "easel", "flute"):
        await instance.call("make", {"name": name})
    found = await worker.query(instance.id, "SELECT made_at FROM things WHERE cents = 0 ORDER BY made_at")
    assert [at for (at,) in found.rows] == ["1999-12-31 23:59:00", "2000-01-01 00:00:00", "2000-01-01 00:01:00"]
    assert (await worker.standing(instance.id)).now == "2000-01-01 00:02:00"


async def test_rows_of_the_seed_tell_the_time_of_the_start(worker: Worker) -> None:
    [ticket] = await worker.launch(Launch(environment="shop"))
    found = await worker.query(ticket.instance, "SELECT DISTINCT made_at FROM things")
    assert found.rows == (("2026-03-16 09:00:00",),)


async def test_a_setup_comes_on_top_of_the_first_rows(worker: Worker) -> None:
    setup = "UPDATE things SET cents = 1 WHERE id = 't3'; INSERT INTO log (what) VALUES (datetime('now'));"
    [ticket] = await worker.launch(Launch(environment="shop", setup=setup, clock="2030-01-01 00:00:00"))
    found = await worker.query(ticket.instance, "SELECT cents, what FROM things, log WHERE things.id = 't3'")
    assert found.rows == ((1, "t3 300 -> 1"), (1, "2030-01-01 00:00:00"))
    assert await diff_of(worker, ticket.instance) == []


async def test_instances_that_are_played_at_once_repeat_as_well(worker: Worker) -> None:
    seen = await asyncio.gather(*(played(worker) for _ in range(3)))
    assert all(one == seen[0] for one in seen)
