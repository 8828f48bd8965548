"""What an import does beyond the checks: starts of scenarios without any, clocks, their results, and other's files."""

import json
from pathlib import Path
from typing import Any

import pytest

from servers.bundle_library import Library
from servers.messages import Judge, Launch
from servers.worker.worker import Worker
from synth.interop.imports.scenario_clock import dates_of
from tests.synth.interop.arriving import imported, played, rows_changed
from tests.synth.interop.entries import CODE, LENT, config, environment, scenario


async def test_an_environment_whose_scenarios_have_no_checks_begins_with_the_rows_of_the_first(tmp_path: Path) -> None:
    bare = [scenario(checklist_with_func=[], task_id=f"env_1-task_{number}") for number in (1, 2)]
    [arrival] = await imported(tmp_path, scenarios=bare)
    assert (arrival.reason, arrival.scenarios) == (None, 0)
    assert "2 scenarios left out" in arrival.notes[0]
    library = Library([tmp_path / "out"])
    async with Worker(library, tmp_path / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="env_1"))
        found = (await worker.find(ticket.instance).call("list_tools", {})).structured
        assert found is not None
        assert [tool["name"] for tool in found["data"]] == ["saw", "drill"]


async def test_an_environment_without_scenarios_says_that_it_begins_without_a_config(tmp_path: Path) -> None:
    [arrival] = await imported(tmp_path, scenarios=[])
    assert arrival.reason is None
    assert arrival.notes == ["there is no scenario: it begins as its class makes it, without a config"]


async def test_an_import_by_name_and_a_hash_come_in_and_repeat(tmp_path: Path) -> None:
    code = CODE.replace(
        "self.opened = True", "self.opened = [__import__('time').time(), hash(str(len(self.tools)) + 'x')]"
    )
    [arrival] = await imported(tmp_path, [environment(env_class_code=code)])
    assert arrival.reason is None
    seen: list[Any] = []
    for seed in (1, 2):
        async with played(tmp_path, seed=seed) as (instance, _, _):
            seen.append((await instance.call("peek", {})).text)
    assert seen[0] == seen[1]
    assert "failed" not in seen[0]


@pytest.mark.parametrize(
    ("dates", "clock"),
    [
        ({"log": [{"created_at": "2024-05-02"}, {"added_date": "2024-06-03T10:00:00"}]}, "2024-06-04 09:00:00"),
        ({"loans": {"a": {"borrowed_date": "2024-03-01", "due_date": "2024-09-01"}}}, "2024-03-02 09:00:00"),
        ({"meals": {"a": {"scheduled_datetime": "2024-07-10 12:00"}}}, "2024-07-09 09:00:00"),
        ({"people": {"a": {"date_of_birth": "1985-03-08", "seen": "2024-02-30"}}}, None),
    ],
    ids=["recorded", "due", "planned", "none"],
)
def test_a_clock_is_after_what_is_recorded_and_before_what_is_planned(dates: dict[str, Any], clock: str | None) -> None:
    assert dates_of(dates).clock == clock


async def test_each_scenario_begins_at_its_dates(tmp_path: Path) -> None:
    dated = scenario(init_config=config(log=[{"at": "2023-04-05"}]), task_id="env_1-task_2")
    await imported(tmp_path, scenarios=[scenario(), dated])
    lines = (tmp_path / "out" / "env_1" / "scenarios.jsonl").read_text().splitlines()
    assert [json.loads(line)["clock"] for line in lines] == ["2025-07-01 09:00:00", "2023-04-06 09:00:00"]


async def test_a_clock_that_does_not_fit_is_named(tmp_path: Path) -> None:
    dated = scenario(init_config=config(log=[{"at": "2023-04-05"}]))
    [arrival] = await imported(tmp_path, scenarios=[dated], clock="2022-01-01 00:00:00")
    assert "scenario task_1: its clock, 2022-01-01 00:00:00, is before what is recorded: at 2023-04-05" in arrival.notes


async def test_their_results_are_their_text_and_a_failed_call_keeps_its_changes(tmp_path: Path) -> None:
    await imported(tmp_path, their_results=True)
    async with played(tmp_path) as (instance, _, _):
        found = await instance.call("get_tool", {"tool_id": "t1"})
        assert found.structured == {
            "result": "{'success': True, 'data': {'tool_id': 't1', 'name': 'saw', 'lent_to': ''}}"
        }
        outcome = await instance.call("lend", {"tool_id": "t1", "person": "nobody"})
        assert outcome.structured == {"result": "{'success': False, 'error': 'Nobody cannot borrow'}"}
        assert rows_changed(instance) == [("tools", "update", "t1")]


async def test_in_a_strict_episode_an_exception_takes_the_whole_reward(tmp_path: Path) -> None:
    await imported(tmp_path, scenarios=[scenario(LENT)], strict=True)
    for wrong, reward in (([], 1.0), ([("lend", {"tool_id": "t9", "person": "Ada"})], 0.0)):
        async with played(tmp_path, seed=len(wrong)) as (instance, worker, first):
            for tool, arguments in [*wrong, ("lend", {"tool_id": "t1", "person": "Ada"})]:
                await instance.call(tool, arguments)
            found = await worker.judge(instance.id, Judge(checkpoints=first.checkpoints))
            assert found.reward == reward


async def test_another_import_replaces_what_it_wrote(tmp_path: Path) -> None:
    await imported(tmp_path)
    [arrival] = await imported(tmp_path, scenarios=[scenario(task_id="env_1-task_7")])
    assert arrival.reason is None
    assert '"task_7"' in (tmp_path / "out" / "env_1" / "scenarios.jsonl").read_text()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [".imported.json", "env_1"]


@pytest.mark.parametrize("name", ["policy.md", "notes.txt", "more/notes.txt"])
async def test_another_import_deletes_nothing_that_it_did_not_write(tmp_path: Path, name: str) -> None:
    await imported(tmp_path)
    mine = tmp_path / "out" / "env_1" / name
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine")
    [arrival] = await imported(tmp_path)
    assert f"{mine.relative_to(tmp_path / 'out' / 'env_1').parts[0]}" in (arrival.reason or "")
    assert "was not written by this import, or has changed since; move it away" in (arrival.reason or "")
    assert mine.read_text() == "mine"


async def test_a_folder_of_that_name_is_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "out" / "env_1" / "thesis.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    [arrival] = await imported(tmp_path)
    assert "thesis.txt" in (arrival.reason or "")
    assert mine.read_text() == "mine"
