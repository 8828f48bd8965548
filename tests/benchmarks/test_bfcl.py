"""BFCL multi-turn: an import, its tools over real HTTP with objects in rows, turns, and upstream's own checker."""

import json
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from registry.client import FarmClient
from servers.errors import Conflict, RequestError
from servers.sandbox.guest_pool import Guests
from servers.scenario.scenario import PlannedCall, Scenario
from synth.interop.benchmarks.bfcl import BfclCategory, BfclVersion, bfcl, bfcl_source
from synth.interop.benchmarks.bundle_writer import write
from tests.benchmarks.replays import MARK, STAND_INS, UPSTREAM, farm_of, nothing, replayed, turns

pytestmark = pytest.mark.skipif(find_spec("mpmath") is None, reason="needs the extra [bfcl]")
STAND_IN = STAND_INS / "bfcl"
TASKS = "data/BFCL_v4_multi_turn_base.json"
V3 = UPSTREAM / "bfcl-v3"
needs_package = pytest.mark.skipif(
    find_spec("bfcl_eval") is None, reason="needs the package bfcl-eval, installed without its dependencies"
)
OFFICIAL = """
import json, sys
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils import execute_multi_turn_func_call as execute
rows, truths = ([json.loads(line) for line in open(path)] for path in sys.argv[1:3])
truth = {row["id"]: row["ground_truth"] for row in truths}
told = {}
for row in rows:
    name, classes, config = row["id"], row["involved_classes"], row["initial_config"]
    long = "long_context" in name
    turns = [execute(turn, config, classes, "official", name, long)[0] for turn in truth[name]]
    told["task_" + name.rsplit("_", 1)[1]] = [text for turn in turns for text in turn]
print(json.dumps(told))
"""


async def imported(
    out: Path, category: BfclCategory, version: BfclVersion = "v4", path: Path | None = None, package: Path = STAND_IN
) -> None:
    source = bfcl_source(version, path, package)
    async with Guests() as guests:
        await write(bfcl(source, category, any_version=package == STAND_IN), out, guests)


@asynccontextmanager
async def stand_in(folder: Path, category: BfclCategory) -> AsyncGenerator[FarmClient]:
    await imported(folder / "imported", category)
    async with farm_of(folder / "imported", folder / "state") as client:
        yield client


def without_last(scenario: Scenario) -> Sequence[PlannedCall]:
    calls = list(turns(scenario))
    del calls[max(place for place, call in enumerate(calls) if call is not MARK)]
    return calls


def unmarked(scenario: Scenario) -> Sequence[PlannedCall]:
    return [call for call in turns(scenario) if call is not MARK]


async def test_the_truth_by_turns_is_valid_and_anything_less_is_not(tmp_path: Path) -> None:
    async with stand_in(tmp_path, "base") as client:
        assert all(one.passed for one in (await replayed(client, "bfcl_v4_base", turns)).values())
        for calls in (nothing, without_last, unmarked):
            assert not any(one.passed for one in (await replayed(client, "bfcl_v4_base", calls)).values()), calls


async def test_a_missing_function_is_listed_at_its_turn_and_an_excluded_one_never(tmp_path: Path) -> None:
    async with stand_in(tmp_path, "miss_func") as client:
        scenario = (await client.scenario("bfcl_v4_miss_func", "task_0")).scenario
        assert scenario.turns[2].startswith("I have updated some more functions")
        async with client.leased("bfcl_v4_miss_func", "task_0") as live, live.connect() as toolbox:
            listed: list[bool] = []
            for _ in scenario.turns:
                await live.mark_turn()
                toolbox = await toolbox.listed_again()  # noqa: PLW2901 - the same connection
                names = {tool.name for tool in toolbox.tools}
                assert "close" not in names
                listed.append("hang" in names)
            assert listed == [False, False, True, True]
            await client.rewind(live.id, 2)
            assert "hang" not in {tool.name for tool in (await toolbox.listed_again()).tools}
        async with client.leased("bfcl_v4_miss_func", "task_0") as live, live.connect() as toolbox:
            other = await toolbox.call("pin_note", {"text": "x"})
            assert other.is_error  # the class is not the task's
            assert "there is no tool named 'pin_note'" in other.text
        assert all(one.passed for one in (await replayed(client, "bfcl_v4_miss_func", turns)).values())


async def test_objects_live_in_rows_and_come_back_whole(tmp_path: Path) -> None:
    async with stand_in(tmp_path, "base") as client, client.leased("bfcl_v4_base", "task_0") as live:
        async with live.connect() as toolbox:
            await live.mark_turn()
            went = await toolbox.call("walk_to", {"rack": "attic"})
            assert went.text == '{"rack": "attic", "free": 1}'
            [fork] = await client.fork(live.id)
            hung = json.loads((await toolbox.call("hang", {"owner": "Dee"})).text)
            assert hung["rack"] == "attic"  # a coat knows its rack
            seen = json.loads((await toolbox.call("look", {"tickets": True})).text)["coats"]
            assert seen[1] == f"{hung['ticket']} Dee"
            await client.rewind(live.id, 2)
            assert json.loads((await toolbox.call("look", {})).text) == {"coats": ["Cy"]}
            again = await toolbox.call("hang", {"owner": "Dee"})
            assert json.loads(again.text) == hung  # the random generator was rewound too
            lost = await toolbox.call("give_back", {"owner": "Ada"})
            assert (lost.text, lost.is_error) == ("Error during execution: Ada has no coat here", False)
            wrong = await toolbox.call("walk_to", {"nowhere": 1})
            assert wrong.text.startswith("Error during execution:")
        await client.close(fork.instance)


async def test_the_text_of_a_call_cannot_leave_it(tmp_path: Path) -> None:
    """Upstream evaluates calls as text. Values are literals there, and names that are no names are left out."""
    async with stand_in(tmp_path, "base") as client, client.leased("bfcl_v4_base", "task_0") as live:
        async with live.connect() as toolbox:
            text = (await toolbox.call("walk_to", {"rack": "'); __import__('os').system('true') #"})).text
            assert json.loads(text)["error"] == "walk_to: no rack ''); __import__('os').system('true') #'"
            text = (await toolbox.call("look", {"tickets=True) or exit(": 1})).text
            assert json.loads(text) == {"coats": ["Ada", "Ben"]}
        assert (await live.score()).outcome == "scored"


async def test_only_benchmarks_have_turns(shelf: Path, tmp_path: Path) -> None:
    async with farm_of(shelf, tmp_path / "state") as client, client.leased("shop") as live:
        with pytest.raises(Conflict, match="is not of a benchmark"):
            await live.mark_turn()


@pytest.mark.parametrize(
    ("path", "old", "new", "told"),
    [
        (
            "data/BFCL_v4_multi_turn_base.json",
            '"involved_classes": ["',
            '"involved_classes": ["No',
            "row 1: ValueError",
        ),
        (TASKS, '"id": ', '"no": ', "row 1: KeyError: 'id'"),
        ("data/possible_answer/BFCL_v4_multi_turn_base.json", '["walk_to(', '["walk = (', "row 1: SyntaxError"),
        ("data/possible_answer/BFCL_v4_multi_turn_base.json", "{", "", "row 1: is not JSON"),
        ("data/multi_turn_func_doc/ticket_api.json", None, "", "ticket_api.json: is missing"),
    ],
)
def test_data_that_cannot_be_read_are_told_by_row(
    tmp_path: Path, path: str, old: str | None, new: str, told: str
) -> None:
    package = tmp_path / "bfcl_eval"
    shutil.copytree(STAND_IN / "bfcl_eval", package)
    file = package / path
    text = file.read_text(encoding="utf-8")
    file.unlink() if old is None else file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(RequestError) as error:
        bfcl(bfcl_source("v4", None, package), "base", any_version=True)
    assert told in str(error.value)


@needs_package
@pytest.mark.slow
@pytest.mark.parametrize("category", ["base", "miss_func", "miss_param", "long_context"])
@pytest.mark.parametrize("version", ["v4", "v3"])
async def test_every_truth_replayed_over_http_is_valid_in_upstreams_words(
    tmp_path: Path, version: BfclVersion, category: BfclCategory
) -> None:
    spec = find_spec("bfcl_eval")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    package = Path(spec.submodule_search_locations[0])
    if version == "v3" and not V3.is_dir():
        pytest.skip("needs the data of v3 in ../shared/upstream, or in FARM_UPSTREAM")
    await imported(tmp_path / "imported", category, version, V3 if version == "v3" else None, package)
    data = V3 if version == "v3" else package / "data"
    name = f"BFCL_{version}_multi_turn_{category}.json"
    command = [sys.executable, "-c", OFFICIAL, str(data / name), str(data / "possible_answer" / name)]
    run = subprocess.run(  # noqa: ASYNC221 - nothing else runs here yet
        command, capture_output=True, check=True, text=True, env={"TZ": "UTC"}
    )
    async with farm_of(tmp_path / "imported", tmp_path / "state", workers=2) as client:
        found = await replayed(client, f"bfcl_{version}_{category}", turns)
    assert {task: one.texts for task, one in found.items()} == json.loads(run.stdout)
    assert sum(one.passed for one in found.values()) == 200
