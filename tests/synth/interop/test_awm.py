"""Agent World Model's environments: endpoints are tools, SQLite rows are the state, verifiers are checkpoints."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from servers.authoring.check import findings
from servers.bundle_library import Library
from servers.messages import Judge, Launch
from servers.sandbox.guest_pool import Guests
from servers.worker.instance import Instance
from servers.worker.worker import Worker
from synth.interop.awm.importer import ServerOrigin, import_servers
from synth.interop.awm.rows import LARGEST_LINE, rows_in
from synth.interop.imports.converter import Arrival
from tests.synth.interop.awm_rows import BOUGHT, CODE, verifier, write

KEEPING = """

class Kept:
    word = "nothing"


@app.post("/keep", operation_id="keep")
async def keep(word: str):
    found, Kept.word = Kept.word, word
    return {"found": found}
"""


async def imported(folder: Path, *verifiers: str, **changes: Any) -> Arrival:
    rows = rows_in(write(folder / "files", *verifiers, **changes))
    out = folder / "out"
    out.mkdir(exist_ok=True)
    async with Guests() as guests:
        [arrival] = await import_servers(rows, out, ServerOrigin("2026-11-23", "CC-BY-4.0"), guests, lambda _: None)
    return arrival


@asynccontextmanager
async def played(folder: Path) -> AsyncGenerator[tuple[Instance, Worker]]:
    library = Library([folder / "out"])
    async with Worker(library, folder / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="shop_1"))
        yield worker.find(ticket.instance), worker


async def test_an_import_is_a_sound_bundle_and_its_endpoints_are_tools(tmp_path: Path) -> None:
    arrival = await imported(tmp_path, BOUGHT)
    assert (arrival.reason, arrival.tools, arrival.scenarios) == (None, 7, 1)
    assert "GET /again: list_products is another endpoint's operation_id too" in arrival.notes
    assert "1 task left out: without a verifier nothing can judge an episode" in arrival.notes
    assert arrival.folder is not None
    async with Guests() as guests:
        assert await findings(arrival.folder, guests) == []
    tools = {one["name"]: one for one in json.loads((arrival.folder / "environment.json").read_text())["tools"]}
    assert tools["list_products"]["arguments"]["properties"]["most"] == {
        "type": "integer", "minimum": 1, "maximum": 50, "default": 10, "description": "How many.",
    }  # fmt: skip
    assert tools["add_to_cart"]["arguments"]["required"] == ["product_id"]
    assert {name for name, tool in tools.items() if not tool["writes"]} == {"list_products", "get_product", "broken"}


async def test_calls_answer_as_the_server_does_and_only_what_was_committed_stays(tmp_path: Path) -> None:
    await imported(tmp_path, BOUGHT)
    async with played(tmp_path) as (instance, _):
        found = await instance.call("list_products", {"most": 1})
        assert found.structured == {"result": [{"id": 1, "name": "saw", "price": 20}]}
        refused = await instance.call("get_product", {"product_id": 9})
        assert (refused.kind, refused.text) == ("refused", "No such product")
        assert (await instance.call("get_product", {"product_id": 2})).structured == {"id": 2, "name": "drill; red"}
        assert (await instance.call("add_to_cart", {"product_id": 777})).structured == {"lines": 1}
        twice = await instance.call("add_to_cart", {"product_id": 777})
        assert twice.kind == "failed"
        assert "UNIQUE constraint failed" in (twice.detail or "")
        await instance.call("rename_two", {"name": "axe"})
        names = (await instance.call("list_products", {})).structured
        assert names is not None
        assert [one["name"] for one in names["result"]] == ["axe", "drill; red"]
        assert (await instance.call("broken", {})).kind == "failed"


async def test_what_a_server_keeps_reaches_no_other_instance_and_no_new_beginning(tmp_path: Path) -> None:
    await imported(tmp_path, code=CODE + KEEPING)
    async with played(tmp_path) as (instance, worker):

        async def found(instance: Instance) -> Any:
            return ((await instance.call("keep", {"word": "kept"})).structured or {})["found"]

        assert await found(instance) == "nothing"
        [ticket] = await worker.launch(Launch(environment="shop_1"))
        assert await found(worker.find(ticket.instance)) == "nothing"
        await worker.reset(instance.id)
        assert await found(instance) == "nothing"
        environment = instance.environment
    async with Guests(most_own=2) as guests:
        first, second = [await guests.serving(environment, name) for name in ("a", "b")]
        assert await guests.serving(environment, "a") is first
        third = await guests.serving(environment, "c")
        assert [one.ended for one in (first, second, third)] == ["another instance needs its place", None, None]
        many = await asyncio.gather(*(guests.serving(environment, name) for name in "defg"))
        assert sum(one.ended is None for one in (second, third, *many)) == 2


@pytest.mark.parametrize(
    ("tool", "words"),
    [("remember", "something beside its database"), ("wait", "import asyncio: may not be imported")],
    ids=["state", "waits"],
)
async def test_what_a_guest_does_not_have_is_a_fault(tmp_path: Path, tool: str, words: str) -> None:
    await imported(tmp_path, BOUGHT)
    async with played(tmp_path) as (instance, _):
        for _ in range(2):
            outcome = await instance.call(tool, {})
            assert outcome.kind == "failed"
            assert words in (outcome.detail or "")


async def test_the_verifier_judges_start_end_and_answer(tmp_path: Path) -> None:
    await imported(tmp_path, BOUGHT)
    async with played(tmp_path) as (instance, worker):
        [scenario] = Library([tmp_path / "out"]).scenarios("shop_1").values()
        idle = await worker.judge(instance.id, Judge(checkpoints=scenario.checkpoints, answer="It costs 90."))
        await instance.call("add_to_cart", {"product_id": 2, "since": "2025-01-02T03:04:05"})
        done = await worker.judge(instance.id, Judge(checkpoints=scenario.checkpoints, answer="It costs 90."))
        silent = await worker.judge(instance.id, Judge(checkpoints=scenario.checkpoints, answer=""))
        assert (idle.reward, done.reward, silent.reward) == (0.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return {'result': 'complete'}", "says complete before any call: it rewards doing nothing"),
        ("raise ValueError('broken')", "its verifier raises at the start: ValueError: broken"),
        ("return True", "returned 'True'; a verifier returns"),
        ("import sqlite3; sqlite3.connect(final_db_path).execute('DELETE FROM products')", "OperationalError"),
        ("import subprocess", "left out: its verifier: line 2: import subprocess: may not be imported"),
        ("return (", "left out: its verifier is not Python"),
    ],
    ids=["idle", "raises", "other", "writes", "imports", "syntax"],
)
async def test_a_verifier_that_judges_nothing_is_named(tmp_path: Path, body: str, words: str) -> None:
    arrival = await imported(tmp_path, verifier(body))
    assert arrival.reason is None
    assert words in "\n".join(arrival.notes)


@pytest.mark.slow
async def test_a_verifier_that_hangs_is_named(tmp_path: Path) -> None:
    arrival = await imported(tmp_path, verifier("while True: pass"))
    assert "its verifier cannot be asked: python: takes more than" in "\n".join(arrival.notes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"code": "import socket\n" + CODE}, "import socket: may not be imported"),
        ({"code": "app = ("}, "full_code: not Python"),
        ({"code": "x = 1"}, "the code has no FastAPI application"),
        ({"code": CODE + "\nwhile True: pass"}, "did not end within"),
        ({"code": " "}, "there is no code of this environment"),
        ({"gen_db": {"db_schema": {"tables": []}}}, "there is no schema"),
        ({"gen_db": {"db_schema": {"tables": [{"ddl": "CREATE TABLE"}]}}}, "schema.sql"),
    ],
    ids=["import", "syntax", "no app", "hangs", "no code", "no schema", "wrong schema"],
)
@pytest.mark.slow
async def test_an_environment_that_cannot_be_is_left_out(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    arrival = await imported(tmp_path, BOUGHT, **changes)
    assert words in (arrival.reason or "")
    assert [path.name for path in (tmp_path / "out").iterdir()] == []


def test_rows_that_are_nothing_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"scenario": "x"}\n[1]\n{"full_code": ""}\nnonsense\n')
    rows = rows_in(tmp_path)
    assert len(rows.left_out) == 4
    assert "line 4: is not JSON" in rows.left_out[-1]


def test_the_folder_of_others_is_read_without_links_and_by_bounded_rows(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (tmp_path / "private.jsonl").write_text('{"scenario": "private", "description": "secret"}\n')
    (theirs / "b.jsonl").symlink_to("../private.jsonl")
    with (theirs / "a.jsonl").open("wb") as file:
        file.truncate(2 * LARGEST_LINE + 5)
        file.seek(0, os.SEEK_END)
        file.write(b'\n{"scenario": "kept", "description": "x"}\n{"scenario": "t", "scenario": "u"}\n')
    with (theirs / "c.json").open("wb") as file:
        file.truncate(LARGEST_LINE + 1)
    rows = rows_in(theirs)
    assert list(rows.servers) == ["kept"]
    assert [one.partition("/theirs/")[2] for one in rows.left_out] == [
        "a.jsonl: line 1: longer than 16 MiB",
        "a.jsonl: line 3: is not JSON: an object has the key 'scenario' twice",
        "c.json: longer than 16 MiB",
    ]
