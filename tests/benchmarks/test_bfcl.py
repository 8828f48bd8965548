"""BFCL multi-turn: an import, its tools over real HTTP with objects in rows, turns, and upstream's own checker."""

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ToolListChangedNotification

from registry.client import FarmClient
from servers.errors import Conflict, RequestError
from servers.sandbox.guest_pool import Guests
from servers.scenario.scenario import PlannedCall, Scenario
from synth.interop.benchmarks.bfcl import CLASSES, BfclCategory, BfclVersion, TaskReader, bfcl, bfcl_source, methods_of
from synth.interop.benchmarks.bundle_writer import write
from tests.benchmarks.replays import MARK, STAND_INS, UPSTREAM, Calls, farm_of, nothing, replayed, turns
from tests.processes import LONG, farm

needs_mpmath = pytest.mark.skipif(find_spec("mpmath") is None, reason="needs the extra [bfcl]")
pytestmark = needs_mpmath
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


def installed() -> Path:
    """The folder of the package."""
    spec = find_spec("bfcl_eval")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0])


def arguments_of(package: Path) -> dict[str, list[str]]:
    """The names of the arguments of each of upstream's tools."""
    code = bfcl_source("v4", None, package).package
    return {tool: names for one in CLASSES for tool, names in methods_of(code, one).items()}


async def imported(
    out: Path, category: BfclCategory, version: BfclVersion = "v4", path: Path | None = None, package: Path = STAND_IN
) -> None:
    source = bfcl_source(version, path, package)
    async with Guests() as guests:
        await write(bfcl(source, category, any_version=package == STAND_IN), out, guests)


@asynccontextmanager
async def bfcl_farm(folder: Path, category: BfclCategory) -> AsyncGenerator[FarmClient]:
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
    async with bfcl_farm(tmp_path, "base") as client:
        assert all(one.passed for one in (await replayed(client, "bfcl_v4_base", turns)).values())
        for calls in (nothing, without_last, unmarked):
            assert not any(one.passed for one in (await replayed(client, "bfcl_v4_base", calls)).values()), calls


async def test_a_missing_function_is_listed_at_its_turn_and_an_excluded_one_never(tmp_path: Path) -> None:
    async with bfcl_farm(tmp_path, "miss_func") as client:
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


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_is_told_when_the_tools_change(tmp_path: Path, mode: Literal["legacy", "auto"]) -> None:
    """The official client, in both generations of the protocol."""
    told: asyncio.Queue[object] = asyncio.Queue()
    listens = asyncio.Event()

    async def heard(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            await told.put(message)

    async def answered(response: httpx2.Response) -> None:
        if response.request.method == "GET" and response.status_code == 200:
            listens.set()

    async with (
        bfcl_farm(tmp_path, "miss_func") as registry,
        registry.leased("bfcl_v4_miss_func", "task_0") as live,
        httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {live.token}"}, timeout=60, event_hooks={"response": [answered]}
        ) as http,
        Client(streamable_http_client(live.url, http_client=http), mode=mode, message_handler=heard) as client,
        AsyncExitStack() as stack,
    ):
        tools = client.server_capabilities.tools
        assert tools is not None
        assert tools.list_changed is True
        if mode == "legacy":
            await asyncio.wait_for(listens.wait(), LONG)
            notice = told.get
        else:
            listening = await stack.enter_async_context(client.listen(tools_list_changed=True))
            notice = listening.__anext__

        async def listed() -> bool:
            await asyncio.wait_for(notice(), LONG)
            return "hang" in {tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools}

        for _ in range(3):
            await live.mark_turn()
        assert await listed()
        await registry.rewind(live.id, 2)
        assert not await listed()
        await live.mark_turn()
        assert await listed()


async def test_objects_live_in_rows_and_come_back_whole(tmp_path: Path) -> None:
    async with bfcl_farm(tmp_path, "base") as client, client.leased("bfcl_v4_base", "task_0") as live:
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
    async with bfcl_farm(tmp_path, "base") as client, client.leased("bfcl_v4_base", "task_0") as live:
        async with live.connect() as toolbox:
            text = (await toolbox.call("walk_to", {"rack": "'); __import__('os').system('true') #"})).text
            assert json.loads(text)["error"] == "walk_to: no rack ''); __import__('os').system('true') #'"
            text = (await toolbox.call("look", {"tickets=True) or exit(": 1})).text
            assert json.loads(text) == {"coats": ["Ada", "Ben"]}
        assert (await live.score()).outcome == "scored"


def test_arguments_by_place_are_taken_by_name() -> None:
    reader = TaskReader(bfcl_source("v4", None, STAND_IN), "base", {}, {"walk_to": ["rack"], "hang": ["owner", "fee"]})
    assert reader.call("hang('Dee', fee=2.0)") == ("hang", {"owner": "Dee", "fee": 2.0})
    for text in ("walk_to('a', 'b')", "walk_to(__import__('os').system('true'))", "walk_to(*'a')", "walk_to", "x.y()"):
        with pytest.raises((ValueError, IndexError)):
            reader.call(text)


async def test_two_runs_of_one_task_share_nothing(tmp_path: Path) -> None:
    async with bfcl_farm(tmp_path, "base") as client:
        calls = turns((await client.scenario("bfcl_v4_base", "task_0")).scenario)
        async with (
            client.leased("bfcl_v4_base", "task_0") as one,
            client.leased("bfcl_v4_base", "task_0") as other,
            one.connect() as toolbox,
            other.connect() as another,
        ):
            for call in calls:
                if call is MARK:
                    await asyncio.gather(one.mark_turn(), other.mark_turn())
                else:
                    mine, theirs = await asyncio.gather(
                        toolbox.call(call.tool, call.arguments), another.call("look", {})
                    )
                    assert not mine.is_error
                    assert json.loads(theirs.text) == {"coats": ["Ada", "Ben"]}
            scores = await asyncio.gather(one.score(), other.score())
            assert [score.success for score in scores] == [True, False]


async def test_a_checker_that_raises_is_no_zero(tmp_path: Path) -> None:
    package = tmp_path / "bfcl_eval"
    shutil.copytree(STAND_IN / "bfcl_eval", package)
    checker = package / "eval_checker/multi_turn_eval/multi_turn_checker.py"
    checker.write_text(checker.read_text(encoding="utf-8").replace("seen += results", "1 / 0"), encoding="utf-8")
    bundle = bfcl(bfcl_source("v4", None, package), "base", any_version=True)
    async with Guests() as guests:
        await write(bundle, tmp_path / "b", guests)
    async with farm_of(tmp_path / "b", tmp_path / "state") as client:
        [found, *_] = (await replayed(client, "bfcl_v4_base", turns, most=1)).values()
        assert found.score is not None
        assert (found.score.outcome, found.score.reward) == ("infra_error", None)
        assert "the official checker raised: ZeroDivisionError" in (found.score.error or "")


async def test_another_version_of_the_package_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("import", "bfcl", "--package", str(STAND_IN), "--category", "base", "--out", str(out))
    done = await farm(*command, home=tmp_path)
    assert done.code == 2
    assert "is not bfcl-eval at 2026.3.23" in done.err
    assert "pip install --no-deps bfcl-eval==2026.3.23" in done.err
    assert not out.exists()


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
        ("data/multi_turn_func_doc/ticket_api.json", '"name"', '"nome"', "ticket_api.json: row 1: KeyError: 'name'"),
        (
            "data/multi_turn_func_doc/ticket_api.json",
            '"name": "',
            '"name": "a(): pass\\nimport os #',
            "row 1: name: must match",
        ),
        ("data/possible_answer/BFCL_v4_multi_turn_base.json", "walk_to(", f"walk_to({'-' * 600}1, y=", "row 1: "),
        (TASKS, '"id": ', '"id": "other", "id": ', "row 1: is not JSON: an object has the key 'id' twice"),
        (TASKS, '"id": ', '"cost": NaN, "id": ', "row 1: is not JSON: NaN is not a finite number"),
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
    package = installed()
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


@needs_package
@pytest.mark.slow
@pytest.mark.parametrize(
    ("category", "of_v3"), [("base", 139), ("miss_func", 137), ("miss_param", 136), ("long_context", 138)]
)
async def test_what_is_not_the_truth_gets_the_score_that_upstream_gives(
    tmp_path: Path, category: BfclCategory, of_v3: int
) -> None:
    if not V3.is_dir():
        pytest.skip("needs the data of v3 in ../shared/upstream, or in FARM_UPSTREAM")
    package = installed()
    await imported(tmp_path / "imported", category, "v4", None, package)
    reader = TaskReader(bfcl_source("v3", V3, package), category, {}, arguments_of(package))
    text = (V3 / f"possible_answer/BFCL_v3_multi_turn_{category}.json").read_text(encoding="utf-8")
    former: dict[str, list[PlannedCall]] = {}
    for row in map(json.loads, text.splitlines()):
        calls = former[f"task_{row['id'].rsplit('_', 1)[1]}"] = []
        for turn in row["ground_truth"]:
            calls += [MARK, *(PlannedCall(tool=tool, arguments=given) for tool, given in map(reader.call, turn))]

    def of_the_other(scenario: Scenario) -> Sequence[PlannedCall]:
        return former[scenario.id]

    controls: tuple[tuple[Calls, int], ...] = ((nothing, 0), (without_last, 0), (of_the_other, of_v3))
    async with farm_of(tmp_path / "imported", tmp_path / "state", workers=2) as client:
        for control, passed in controls:
            found = await replayed(client, f"bfcl_v4_{category}", control)
            assert sum(one.passed for one in found.values()) == passed
