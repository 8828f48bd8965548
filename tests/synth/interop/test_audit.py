"""An audit says what running shows: what works, what is true for nothing, what breaks, what follows chance."""

from pathlib import Path

import pytest

from servers.bundle_library import OWN_LIBRARY
from servers.errors import BundleError, NotFound
from servers.messages import Judge
from synth.interop.audit.audit import EnvironmentAudit, environment_audit, imported_in, orders_of
from synth.interop.audit.audit_job import Auditing
from synth.interop.audit.audit_table import sums_of, weakest
from tests.synth.interop.arriving import imported, played
from tests.synth.interop.entries import ADDED, CODE, LENT, THERE, WRONG, environment, scenario

NEVER = """def check_func(final_state):
    return len(final_state["tools"]) < 0
"""


async def audited(folder: Path) -> EnvironmentAudit:
    [bundle] = imported_in(folder / "out")
    orders = orders_of(bundle)
    if isinstance(orders, EnvironmentAudit):
        return orders
    async with Auditing().open() as audit:
        return environment_audit(bundle, [await audit(order) for order in orders])


async def test_checks_are_asked_before_anybody_acts(tmp_path: Path) -> None:
    await imported(tmp_path, scenarios=[scenario(THERE, LENT, ADDED, WRONG, NEVER)])
    found = await audited(tmp_path)
    [one] = found.scenarios
    assert [check.at_start for check in one.checks] == [True, False, False, False, False]
    assert [bool(check.error_at_start) for check in one.checks] == [False, False, False, True, False]
    assert one.reward_for_nothing == 0.2
    assert [check.reached for check in one.checks] == [True, True, True, False, False]
    assert one.reward_found == 0.6


async def test_the_calls_that_were_found_earn_what_is_said_when_they_are_played(tmp_path: Path) -> None:
    await imported(tmp_path)
    [one] = (await audited(tmp_path)).scenarios
    assert one.reward_found == 1.0
    async with played(tmp_path) as (instance, worker, first):
        for call in one.calls:
            assert (await instance.call(call.tool, call.arguments)).kind == "ok"
        assert (await worker.judge(instance.id, Judge(checkpoints=first.checkpoints))).reward == 1.0


RENAMED = """def check_func(final_state):
    tools = final_state["tools"].values()
    return any(tool["name"] == "ladder" and tool["lent_to"] == "Cy" for tool in tools)
"""


async def test_calls_that_earn_everything_are_a_witness_and_no_solution(tmp_path: Path) -> None:
    never = scenario(NEVER, LENT, task_id="never")
    await imported(tmp_path, scenarios=[scenario(LENT, ADDED, RENAMED), never])
    found = {one.id: one for one in (await audited(tmp_path)).scenarios}
    assert found["never"].witness is None
    witness = found["task_1"].witness
    assert witness is not None
    lent = [call for call in witness.calls if call.arguments.get("person") == "Cy"]
    assert "${" in lent[0].arguments["tool_id"]  # the id that a call made is said by the place in its result


async def test_a_witness_has_no_call_that_nothing_needs(tmp_path: Path) -> None:
    await imported(tmp_path, scenarios=[scenario(LENT, ADDED, RENAMED)])
    [one] = (await audited(tmp_path)).scenarios
    assert one.witness is not None
    for place in range(len(one.witness.calls)):
        calls = [*one.witness.calls[:place], *one.witness.calls[place + 1 :]]
        if any("${" in str(call.arguments) for call in calls):
            continue  # its references would point at other calls
        async with played(tmp_path) as (instance, worker, first):
            for call in calls:
                await instance.call(call.tool, call.arguments)
            assert (await worker.judge(instance.id, Judge(checkpoints=first.checkpoints))).reward < 1


async def test_wrong_agents_play_where_a_witness_is_known(tmp_path: Path) -> None:
    await imported(tmp_path, scenarios=[scenario(LENT, ADDED), scenario(NEVER, LENT, task_id="never")])
    one, never = (await audited(tmp_path)).scenarios
    assert (one.id, one.problem, never.wrong_agents) == ("task_1", None, {})
    assert one.wrong_agents["claimer"] == 0.0
    assert one.wrong_agents["half"] == 0.5


async def test_tools_are_told_by_what_they_do(tmp_path: Path) -> None:
    await imported(tmp_path)
    found = {tool.name: tool for tool in (await audited(tmp_path)).tools}
    assert found["get_tool"].succeeded > 0
    assert found["get_tool"].broke == 0
    assert found["add_tool"].draws
    assert found["add_tool"].repeats
    assert not found["list_tools"].draws
    assert found["scrap"].broke > 0
    assert "KeyError" in found["scrap"].error


async def test_a_tool_that_changes_something_and_then_refuses_is_named(tmp_path: Path) -> None:
    code = CODE.replace('if person == "nobody":', "if True:")
    await imported(tmp_path, [environment(env_class_code=code)])
    found = await audited(tmp_path)
    lend = next(tool for tool in found.tools if tool.name == "lend")
    assert lend.succeeded == 0
    assert lend.changed_when_refused > 0
    lines = "\n".join(sums_of([found]))
    assert "then said they failed: 1 (env_1.lend)" in lines
    assert "env_1: lend: never succeeded" in lines


async def test_an_audit_repeats(tmp_path: Path) -> None:
    await imported(tmp_path)
    assert await audited(tmp_path) == await audited(tmp_path)


async def test_a_bundle_that_does_not_load_is_told_and_does_not_stop_the_others(tmp_path: Path) -> None:
    await imported(tmp_path)
    (tmp_path / "out" / "env_1" / "tools.py").write_text("class")
    found = await audited(tmp_path)
    assert not found.loads
    assert "not Python" in found.findings[0]


def test_what_was_not_imported_is_not_audited() -> None:
    with pytest.raises(BundleError, match="was not imported"):
        orders_of(OWN_LIBRARY / "library_loans")


async def test_a_bundle_without_scenarios_has_its_tools_tried_from_the_first_rows(tmp_path: Path) -> None:
    await imported(tmp_path)
    (tmp_path / "out" / "env_1" / "scenarios.jsonl").write_text("")
    found = await audited(tmp_path)
    assert found.scenarios == ()
    assert {tool.name for tool in found.tools if tool.succeeded} >= {"get_tool", "list_tools"}


async def test_the_weakest_scenarios_come_first(tmp_path: Path) -> None:
    idle = scenario(THERE, LENT, task_id="idle")
    await imported(tmp_path, scenarios=[scenario(LENT, ADDED), scenario(NEVER, LENT, task_id="never"), idle])
    found = await audited(tmp_path)
    table = weakest([found], 10)
    assert table is not None
    assert list(table.columns[1].cells) == ["idle", "never"]
    assert weakest([found], 0) is None


def test_a_folder_without_bundles_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="holds no bundle"):
        imported_in(tmp_path)
