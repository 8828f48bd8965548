"""A bundle of ours in their format: their loader loads it, its methods do what our tools do, their checks judge it."""

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from servers.bundle.environment import load
from servers.bundle_library import OWN_LIBRARY
from servers.errors import BundleError
from servers.sandbox.guest_pool import Guests
from servers.scenario.scenario import PlannedCall, Scenario
from servers.scenario.scenario_file import load_scenarios
from synth.interop.exports.export_entries import ExportedBundle
from synth.interop.exports.exporter import export
from synth.interop.imports.dataset import read
from tests.bundles import write_bundle
from tests.synth.interop.arriving import imported
from tests.synth.interop.entries import CODE, LENT, config, environment, scenario, write


async def exported(folder: Path) -> tuple[ExportedBundle, dict[str, Scenario]]:
    environment = load(folder)
    scenarios = load_scenarios(environment)
    async with Guests() as guests:
        return await export(environment, list(scenarios.values()), guests), scenarios


@pytest.fixture(scope="module")
def loans() -> tuple[ExportedBundle, dict[str, Scenario]]:
    return asyncio.run(exported(OWN_LIBRARY / "library_loans"))


def play(scenario: dict[str, Any], calls: Sequence[PlannedCall]) -> dict[str, Any]:
    return {"scenario": scenario, "calls": [call.model_dump(mode="json") for call in calls]}


async def loaded_as_they_do(found: ExportedBundle, *plays: dict[str, Any]) -> list[dict[str, Any]]:
    """What their loader makes of scenarios of one environment with some calls, in a process of its own."""
    told = {"environment": found.environments[plays[0]["scenario"]["env_id"]], "plays": plays}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.synth.interop.their_loader",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate(json.dumps(told).encode())
    assert process.returncode == 0, err.decode()
    return json.loads(out)


async def every_reference_earns_everything(found: ExportedBundle, scenarios: dict[str, Scenario]) -> None:
    assert len(found.scenarios) >= 7
    some = found.scenarios[:12]
    known = {f"{entry['env_id']}-{name}": one for entry in some for name, one in scenarios.items()}
    seen = await loaded_as_they_do(found, *(play(entry, known[entry["task_id"]].reference().calls) for entry in some))
    for entry, one in zip(some, seen, strict=True):
        assert one == {"before": 0.0, "after": 1.0, "refused": []}, entry["task_id"]


async def test_a_reference_solution_earns_everything_by_their_checks_and_nothing_earns_nothing(
    loans: tuple[ExportedBundle, dict[str, Scenario]],
) -> None:
    await every_reference_earns_everything(*loans)


@pytest.mark.slow
async def test_so_it_is_with_another_environment() -> None:
    await every_reference_earns_everything(*await exported(OWN_LIBRARY / "hotel_bookings"))


async def test_what_a_tool_refuses_changes_nothing_there_either(
    loans: tuple[ExportedBundle, dict[str, Scenario]],
) -> None:
    found, _ = loans
    calls = [PlannedCall(tool="renew_card", arguments={"member_id": "mem_nobody"})]
    [seen] = await loaded_as_they_do(found, play(found.scenarios[0], calls))
    assert seen["after"] == 0.0
    assert seen["refused"][0]["success"] is False
    assert "mem_nobody" in seen["refused"][0]["error"]


async def test_a_guard_that_breaks_takes_every_check_with_it(
    loans: tuple[ExportedBundle, dict[str, Scenario]],
) -> None:
    found, scenarios = loans
    entry = next(one for one in found.scenarios if one["task_id"].endswith("-renew_card"))
    wanted = [PlannedCall(tool="renew_card", arguments={"member_id": "mem_ruth"})]
    beside = scenarios["renew_before_trip"].reference().calls
    right, wrong = await loaded_as_they_do(found, play(entry, wanted), play(entry, [*beside, *wanted]))
    assert right["after"] == 1.0
    assert wrong == {"before": 0.0, "after": 0.0, "refused": []}


async def test_what_cannot_be_said_is_told() -> None:
    found, _ = await exported(OWN_LIBRARY / "hotel_bookings")
    assert "charge_minibar: balance_told (goal): is about the answer or the calls" in found.lost
    assert any(line.startswith("cancel_if_free: all of its goals") for line in found.lost)


async def test_what_we_write_we_can_read(loans: tuple[ExportedBundle, dict[str, Scenario]], tmp_path: Path) -> None:
    found, _ = loans
    files = read(*write(tmp_path, found.environments, found.scenarios))
    assert files.left_out == []
    assert len(files.scenarios) == len(found.scenarios)
    [environment] = files.environments.values()
    assert environment.kinds["renew_card"] == "state_change"
    assert environment.class_name == "LibraryLoans"


async def test_a_blob_is_refused_by_name(tmp_path: Path) -> None:
    await write_bundle(tmp_path / "shop")
    seed = tmp_path / "shop" / "seed.sql"
    schema = tmp_path / "shop" / "schema.sql"
    schema.write_text(schema.read_text() + "\nCREATE TABLE pictures (id INTEGER PRIMARY KEY, data BLOB);\n")
    seed.write_text(seed.read_text() + "\nINSERT INTO pictures VALUES (1, x'00ff');\n")
    with pytest.raises(BundleError, match="pictures: holds a BLOB"):
        await exported(tmp_path / "shop")


async def test_a_name_that_the_export_needs_is_refused(tmp_path: Path) -> None:
    await write_bundle(tmp_path / "shop")
    tools = tmp_path / "shop" / "tools.py"
    tools.write_text(tools.read_text() + "\n\nTIME_FUNCTIONS = 1\n")
    with pytest.raises(BundleError, match="TIME_FUNCTIONS: is a name of what is exported"):
        await exported(tmp_path / "shop")


async def test_an_imported_bundle_gives_back_files_that_run_as_they_did(tmp_path: Path) -> None:
    code = CODE.replace("class ToolShed", "import time\nimport uuid\nfrom datetime import datetime\n\n\nclass ToolShed")
    entry = {**environment(), "env_class_code": f"{code}\n    def stamp(self) -> dict:\n        {STAMP}\n"}
    await imported(tmp_path, [entry], [scenario(LENT, CALENDAR)])
    bundle = load(tmp_path / "out" / "env_1")
    assert "servers.imported" in bundle.source
    found, _ = await exported(tmp_path / "out" / "env_1")
    theirs = found.environments["env_1"]
    assert "servers" not in theirs["env_class_code"]
    assert "servers" not in json.dumps(found.scenarios)
    [again] = found.scenarios
    calls = [PlannedCall(tool="lend", arguments={"tool_id": "t1", "person": "Ada"}), PlannedCall(tool="stamp")]
    [seen] = await loaded_as_they_do(found, play(again, calls))
    assert seen == {"before": 0.5, "after": 1.0, "refused": []}
    assert again["init_config"]["tools"] == config()["tools"]
    assert [one["function"]["name"] for one in theirs["tools"]][:2] == ["list_tools", "get_tool"]
    assert theirs["constraints_rules"] == environment()["constraints_rules"]


STAMP = """return {"success": True, "data": [datetime.now().year > 2000, time.time() > 0, len(str(uuid.uuid4()))]}"""
CALENDAR = """from datetime import date

def check_func(final_state):
    import time
    return date(2026, 1, 1).year == 2026 and time.time() > 0 and len(initial_state["tools"]) == 2
"""


async def test_what_a_cleaned_set_has_beside_their_checks_is_told_as_lost(tmp_path: Path) -> None:
    await imported(tmp_path, scenarios=[scenario(LENT, LENT)])
    folder = tmp_path / "out" / "env_1"
    [line] = (folder / "scenarios.jsonl").read_text().splitlines()
    told = json.loads(line)
    told["checkpoints"][1]["role"] = "guard"
    (folder / "scenarios.jsonl").write_text(json.dumps(told) + "\n")
    found, _ = await exported(folder)
    assert found.lost == [
        "task_1: init_config holds more than JSON; the class makes it from the rest",
        "task_1: c02 (guard): no check function of theirs says it",
    ]
    assert len(found.scenarios[0]["checklist_with_func"]) == 1
