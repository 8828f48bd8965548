"""What comes in is an ordinary bundle: it passes the check, is served by guests, and its checks judge."""

import json
from pathlib import Path
from typing import Any

import pytest

from servers.authoring.check import findings
from servers.messages import Assessment, Judge
from servers.sandbox.guest_pool import Guests
from synth.interop.imports.converter import Arrival
from tests.synth.interop.arriving import imported, played, rows_changed
from tests.synth.interop.entries import ADDED, CODE, LENT, THERE, WRONG, config, environment, scenario


async def judged(folder: Path, *calls: tuple[str, dict[str, Any]]) -> Assessment:
    async with played(folder) as (instance, worker, first):
        for tool, arguments in calls:
            assert (await instance.call(tool, arguments)).kind == "ok"
        return await worker.judge(instance.id, Judge(checkpoints=first.checkpoints))


async def test_an_import_is_a_sound_bundle_with_its_licence(tmp_path: Path) -> None:
    [arrival] = await imported(tmp_path)
    assert (arrival.reason, arrival.tools, arrival.scenarios) == (None, 7, 1)
    assert arrival.folder is not None
    async with Guests() as guests:
        assert await findings(arrival.folder, guests) == []
    assert (arrival.folder / "LICENSE").read_text() == "MIT License\n"
    assert json.loads((arrival.folder / "environment.json").read_text())["provenance"]["source"] == "EnvScaler, env_1"


async def test_an_imported_scenario_has_no_reference_solution(tmp_path: Path) -> None:
    await imported(tmp_path)
    async with played(tmp_path) as (_, _, first):
        assert first.solution is None


async def test_a_call_changes_the_rows_that_it_touches_and_no_other(tmp_path: Path) -> None:
    await imported(tmp_path)
    async with played(tmp_path) as (instance, _, _):
        assert (await instance.call("lend", {"tool_id": "t1", "person": "Ada"})).structured == {
            "message": "Lent to Ada"
        }
        assert rows_changed(instance) == [("tools", "update", "t1")]
        await instance.call("scrap", {"tool_id": "t1"})
        assert rows_changed(instance) == [("tools", "delete", "t1")]
        added = await instance.call("add_tool", {"name": "ladder"})
        assert added.structured is not None
        assert rows_changed(instance) == [("log", "insert", "0"), ("tools", "insert", added.structured["ids"][0])]
        await instance.call("peek", {})
        assert rows_changed(instance) == [("attributes", "update", "opened")]
        await instance.call("get_tool", {"tool_id": "t2"})
        assert rows_changed(instance) == []


async def test_rows_keep_their_order(tmp_path: Path) -> None:
    await imported(tmp_path)
    async with played(tmp_path) as (instance, _, _):
        await instance.call("add_tool", {"name": "a ladder"})
        found = (await instance.call("list_tools", {})).structured
        assert found is not None
        assert [tool["name"] for tool in found["data"]] == ["saw", "drill", "a ladder"]


async def test_a_refusal_is_their_error_and_nothing_of_it_stays(tmp_path: Path) -> None:
    await imported(tmp_path)
    async with played(tmp_path) as (instance, _, _):
        before = (await instance.call("list_tools", {})).text
        outcome = await instance.call("lend", {"tool_id": "t1", "person": "nobody"})
        assert (outcome.kind, outcome.text) == ("refused", "Nobody cannot borrow")
        assert rows_changed(instance) == []
        assert (await instance.call("list_tools", {})).text == before


async def test_a_method_that_raises_is_a_fault_of_the_tool(tmp_path: Path) -> None:
    await imported(tmp_path)
    async with played(tmp_path) as (instance, _, _):
        outcome = await instance.call("lend", {"tool_id": "t9", "person": "Ada"})
        assert outcome.kind == "failed"
        assert "KeyError: 't9'" in (outcome.detail or "")


async def test_what_no_row_can_hold_is_a_fault_and_nothing_stays(tmp_path: Path) -> None:
    await imported(tmp_path)
    async with played(tmp_path) as (instance, _, _):
        before = (await instance.call("list_tools", {})).text
        outcome = await instance.call("spoil", {})
        assert outcome.kind == "failed"
        assert "tools.x.tool_id: a function" in (outcome.detail or "")
        assert rows_changed(instance) == []
        assert (await instance.call("list_tools", {})).text == before


async def test_clock_and_chances_are_the_instance_s(tmp_path: Path) -> None:
    await imported(tmp_path)
    texts: list[list[str]] = []
    for seed in (3, 3, 4):
        async with played(tmp_path / "." if seed == 3 else tmp_path, seed=seed * 10 + len(texts)) as (instance, _, _):
            instance.state.origin = instance.state.origin._replace(seed=seed)
            await instance.call("add_tool", {"name": "ladder", "count": 2})
            found = await instance.call("list_tools", {})
            texts.append([call.text for call in instance.state.calls()] + [found.text])
            [row] = [change.after["value"] for change in _changes(instance) if change.table == "log"]
            assert json.loads(row)["at"] == "2025-07-01T09:00:00"
    assert texts[0] == texts[1] != texts[2]


def _changes(instance: Any) -> list[Any]:
    return [change for call in instance.state.calls() for change in instance.changed_rows(call.changes)]


async def test_check_functions_judge_and_each_sees_its_own_copy(tmp_path: Path) -> None:
    await imported(tmp_path, scenarios=[scenario(THERE, LENT, ADDED, THERE, WRONG)])
    idle = await judged(tmp_path)
    assert [verdict.holds for verdict in idle.verdicts] == [True, False, False, True, False]
    assert "KeyError: 'shelves'" in (idle.verdicts[-1].error or "")
    done = await judged(tmp_path, ("lend", {"tool_id": "t1", "person": "Ada"}), ("add_tool", {"name": "ladder"}))
    assert [verdict.holds for verdict in done.verdicts] == [True, True, True, True, False]
    assert done.reward == 0.8


async def test_arguments_are_rebuilt_and_helpers_are_hidden(tmp_path: Path) -> None:
    await imported(tmp_path)
    async with played(tmp_path) as (instance, _, _):
        tools = instance.environment.tools
        assert "_find" not in tools
        assert tools["add_tool"].arguments["required"] == ["name"]
        assert tools["lend"].arguments["properties"]["person"]["type"] == ["string", "integer"]
        words = tools["get_tool"].arguments["properties"]["tool_id"]["description"]
        assert words == "The tool's own id, as its label says."
        assert tools["get_tool"].description == "Look up a tool.\n\n- The tool must exist."
        assert {name for name, tool in tools.items() if not tool.writes} == {"list_tools", "get_tool"}


async def test_their_schemas_can_be_kept(tmp_path: Path) -> None:
    told = {"type": "object", "properties": {"tool_id": {"type": "string"}}, "required": ["tool_id"]}
    tools = [{"type": "function", "function": {"name": "get_tool", "description": "As it came.", "parameters": told}}]
    [arrival] = await imported(tmp_path, [environment(tools=tools)], keep_schemas=True)
    assert arrival.folder is not None
    async with Guests() as guests:
        assert await findings(arrival.folder, guests) == []
    async with played(tmp_path) as (instance, _, _):
        assert instance.environment.tools["get_tool"].arguments == told
        assert instance.environment.tools["get_tool"].description == "As it came."


async def test_a_class_that_takes_no_config_begins_as_well(tmp_path: Path) -> None:
    code = CODE.replace("def __init__(self, init_config: dict):", "def __init__(self):").replace(
        "self.init_config = init_config", "self.init_config = {}"
    )
    [arrival] = await imported(tmp_path, [environment(env_class_code=code)])
    assert arrival.reason is None
    assert (await judged(tmp_path, ("lend", {"tool_id": "t1", "person": "Ada"}))).reward == 0.5


async def test_a_set_a_datetime_and_odd_keys_come_in_and_stay(tmp_path: Path) -> None:
    odd = {
        "tags": {"__type__": "set", "items": ["b", "a"]},
        "since": {"__type__": "datetime", "value": "2025-01-02T03:04:05"},
        "by_number": {"__type__": "dict", "items": [[{"__type__": "key", "value": 7}, "seven"]]},
    }
    check = """def check_func(final_state):
    seen = final_state["tags"], final_state["since"].year, final_state["by_number"][7]
    return seen == ({"a", "b"}, 2025, "seven")
"""
    await imported(tmp_path, scenarios=[scenario(check, init_config=config(**odd))])
    assert (await judged(tmp_path, ("lend", {"tool_id": "t1", "person": "Ada"}))).reward == 1.0


async def test_what_the_config_shares_with_the_state_stays_shared(tmp_path: Path) -> None:
    check = """def check_func(final_state):
    return final_state["init_config"]["tools"]["t1"]["lent_to"] == "Ada"
"""
    await imported(tmp_path, scenarios=[scenario(check)])
    assert (await judged(tmp_path, ("lend", {"tool_id": "t1", "person": "Ada"}))).reward == 1.0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"env_class_code": "class ToolShed\n    pass"}, "env_class_code: line 1: not Python"),
        ({"env_class_code": "import os\n" + CODE}, "line 1: import os: may not be imported"),
        ({"env_class_code": CODE.replace("self.opened = False", "open('/etc/passwd')")}, "open: may not be used"),
        ({"env_class_name": "Shed"}, "has no class 'Shed'"),
        ({"env_class_code": CODE + "\n\ndef public():\n    pass\n"}, "has functions beside its class"),
        ({"env_class_code": CODE.replace("self.opened = False", "while True: pass")}, "did not end within"),
        ({"env_class_code": CODE.replace("self.opened = False", "self.opened = iter([])")}, "opened: a list_iterator"),
        ({"env_class_code": CODE.replace("self.opened = False", "1 / 0")}, "ZeroDivisionError"),
        ({"env_class_code": CODE + "\n\nX = undefined\n"}, "NameError"),
        ({"environment_summary": "\ud800"}, "has another shape than was expected: UnicodeEncodeError"),
    ],
    ids=["syntax", "import", "open", "name", "function", "hangs", "attribute", "raises", "loads", "half a character"],
)
async def test_an_environment_that_cannot_be_is_left_out_with_the_reason(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    [arrival] = await imported(tmp_path, [environment(**changes)])
    assert words in (arrival.reason or "")
    assert list((tmp_path / "out").iterdir()) == []


async def test_what_was_imported_before_stays_when_its_new_form_cannot_be(tmp_path: Path) -> None:
    await imported(tmp_path)
    [arrival] = await imported(tmp_path, [environment(env_class_code="class")])
    assert arrival.reason
    assert (tmp_path / "out" / "env_1" / "tools.py").exists()


async def test_scenarios_of_one_id_and_without_checks_are_named(tmp_path: Path) -> None:
    bare = scenario(checklist_with_func=[], task_id="env_1-task_9")
    half = scenario(LENT, "def check_func(:", "", task_id="0115-233012")
    lost = scenario(init_config={"tools": {"__type__": "set", "items": [[1]]}}, task_id="bad")
    [arrival] = await imported(tmp_path, scenarios=[scenario(), scenario(), bare, half, lost])
    assert arrival.scenarios == 3
    assert arrival.folder is not None
    lines = (arrival.folder / "scenarios.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["task_1", "task_1_2", "task_0115_233012"]
    assert _noted(arrival, "its id was used before", "without a check function", "1 check functions are empty")
    assert _noted(arrival, "check 2 left out: not Python", "scenario bad: left out", "does not fit")


def _noted(arrival: Arrival, *words: str) -> bool:
    notes = "\n".join(arrival.notes)
    return all(word in notes for word in words)


async def test_a_method_that_is_called_like_a_built_in_gets_another_name(tmp_path: Path) -> None:
    code = CODE.replace("def scrap(", "def filter(")
    [arrival] = await imported(tmp_path, [environment(env_class_code=code)])
    assert arrival.reason is None
    async with played(tmp_path) as (instance, _, _):
        assert (await instance.call("filter_tool", {"tool_id": "t1"})).kind == "ok"


async def test_a_class_that_keeps_state_for_all_its_objects_is_held_to_its_rows(tmp_path: Path) -> None:
    code = CODE.replace("class ToolShed:\n", "class ToolShed:\n    shared = []\n").replace(
        "self.opened = True", "self.shared.append(1)"
    )
    await imported(tmp_path, [environment(env_class_code=code)])
    async with played(tmp_path) as (instance, _, _):
        outcome = await instance.call("peek", {})
        assert outcome.kind == "failed"
        assert "what all objects of ToolShed share" in (outcome.detail or "")


async def test_a_query_that_changes_something_is_a_fault(tmp_path: Path) -> None:
    code = CODE.replace(
        "return self.tools.get(tool_id)", "found = self.tools; found.pop('t2', None); return found['t1']"
    )
    await imported(tmp_path, [environment(env_class_code=code)])
    async with played(tmp_path) as (instance, _, _):
        before = (await instance.call("list_tools", {})).text
        outcome = await instance.call("get_tool", {"tool_id": "t1"})
        assert outcome.kind == "failed"
        assert "is said to read" in (outcome.detail or "")
        assert rows_changed(instance) == []
        assert (await instance.call("list_tools", {})).text == before


async def test_a_check_that_defines_no_check_function_is_left_out_with_the_reason(tmp_path: Path) -> None:
    [arrival] = await imported(tmp_path, scenarios=[scenario(LENT, "def other(final_state):\n    return True\n")])
    assert "scenario task_1: check 2 left out: defines no function check_func" in arrival.notes
    assert arrival.folder is not None
    async with Guests() as guests:
        assert await findings(arrival.folder, guests) == []


async def test_of_two_environments_whose_names_come_to_one_id_the_second_is_left_out(tmp_path: Path) -> None:
    other = environment(env_id="env-1", environment_summary="Another shed")
    [first, second] = await imported(tmp_path, [environment(), other], [scenario(), scenario(env_id="env-1")])
    assert first.folder is not None
    assert second.reason == "its name comes to 'env_1', as that of an environment before it"
    assert json.loads((first.folder / "environment.json").read_text())["title"] == "Tool shed"


async def test_why_an_environment_is_left_out_is_a_short_line_of_ours(tmp_path: Path) -> None:
    long = scenario()
    long["checklist_with_func"][0]["check_item"] = "Is it so?\n" * 1000
    [arrival] = await imported(tmp_path, scenarios=[long])
    assert arrival.reason == "has another shape than was expected: question: must have at most 2000 characters"


HUGE = """def check_func(final_state):
    return len("x" * 10**12) > 0
"""
ODD = """def check_func(final_state):
    return 1
"""


async def test_all_checks_of_a_scenario_are_asked_in_one_guest(tmp_path: Path) -> None:
    await imported(tmp_path, scenarios=[scenario(*(f"{THERE}\n# {number}\n" for number in range(40)), WRONG, ODD)])
    async with played(tmp_path) as (instance, worker, first):
        before = worker.guests.started
        assessment = await worker.judge(instance.id, Judge(checkpoints=first.checkpoints))
        assert worker.guests.started == before + 1
    assert [one.holds for one in assessment.verdicts] == [True] * 40 + [False, False]
    assert [one.error or "" for one in assessment.verdicts[40:]] == [
        "KeyError: 'shelves'",
        "TypeError: returned int; a checkpoint returns True or False",
    ]


async def test_a_check_for_which_memory_runs_out_is_asked_alone_and_costs_the_others_nothing(tmp_path: Path) -> None:
    await imported(tmp_path, scenarios=[scenario(THERE, HUGE, LENT)])
    async with played(tmp_path) as (instance, worker, first):
        before = worker.guests.started
        assessment = await worker.judge(instance.id, Judge(checkpoints=first.checkpoints))
        assert worker.guests.started == before + 3  # all; it alone, and once more
    assert [(one.holds, one.error) for one in assessment.verdicts] == [
        (True, None),
        (False, "MemoryError: "),
        (False, None),
    ]
