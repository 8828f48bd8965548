"""A probe says which of several ends came about, and never changes what an episode earns."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from agent_client.play import Limits
from evals.demo import gold_model
from evals.report.report import read_report
from evals.report.report_data import report_data
from evals.rollout import rollout
from evals.runs.folder import RunFolder
from evals.runs.suite_run import reference_of
from registry.client import FarmClient
from registry.farm import Options, private, running
from servers.bundle_library import OWN_LIBRARY
from servers.scenario.scenario import PlannedCall, Scenario, Solution
from servers.worker.settings import WorkerSettings
from tests.bundles import SOUND_SCENARIO, write_bundle
from tests.evals.suite_runs import evaluated, suite

DEAR: dict[str, Any] = {
    "id": "dear",
    "role": "probe",
    "question": "Does the bell cost more than 3?",
    "kind": "sql",
    "sql": "SELECT cents > 300 FROM things WHERE id = 't2'",
    "expect": [[1]],
}
CHEAP = {**DEAR, "id": "cheap", "sql": "SELECT cents <= 300 FROM things WHERE id = 't2'"}
ENDLESS = {
    "id": "endless",
    "role": "probe",
    "question": "Does it end?",
    "kind": "python",
    "python": "def check(start, final, answer, calls):\n    while True:\n        pass\n",
}
BROKEN = {**DEAR, "id": "broken", "sql": "SELECT nothing FROM nowhere"}


def with_probes(*probes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**SOUND_SCENARIO, "probes": list(probes), **more}


@pytest.mark.parametrize("probes", [(DEAR,), (CHEAP,), (DEAR, CHEAP, BROKEN), (ENDLESS, CHEAP)], ids=str)
async def test_no_answer_of_a_probe_changes_reward_or_success(tmp_path: Path, probes: tuple[dict[str, Any]]) -> None:
    await write_bundle(tmp_path / "shelf" / "shop", scenarios=[with_probes(*probes)])
    soon = WorkerSettings(call_seconds=1.0)
    options = Options(library=(tmp_path / "shelf",), state=tmp_path / "state", port=0, worker=soon)
    async with running(options) as address, FarmClient(address.url, address.token) as farm:
        played = await reference_of(farm, await farm.scenario("shop", "dearer"), seed=0)
        assert played is not None
        assert (played.outcome, played.reward, played.success) == ("scored", 1.0, True)
        assert played.score is not None
        assert [one.checkpoint for one in played.score.verdicts] == ["priced"]
        told = {one.checkpoint: one for one in played.score.probes}
        assert told.keys() == {probe["id"] for probe in probes}
        for name, holds in (("dear", False), ("cheap", True)):
            if name in told and "broken" not in told and "endless" not in told:
                assert told[name].holds == holds
        if "broken" in told:
            assert told["broken"].error


async def test_a_report_counts_what_each_probe_says_over_all_scenarios(tmp_path: Path) -> None:
    scenarios = [with_probes(DEAR, CHEAP), with_probes(DEAR, id="other", setup="UPDATE things SET cents = 500")]
    await write_bundle(tmp_path / "shelf" / "shop", scenarios=scenarios)
    async with private((tmp_path / "shelf",)) as address, FarmClient(address.url, address.token) as farm:
        await evaluated(farm, tmp_path / "run", suite(agent={"kind": "idle"}, run={"attempts": 2}))
    report = read_report(RunFolder(tmp_path / "run"))
    told = {one.probe: (one.scenarios, one.rollouts, one.holds.value if one.holds else None) for one in report.probes}
    assert told == {"dear": (2, 4, 0.5), "cheap": (1, 2, 1.0)}
    assert [one["question"] for one in report_data(report)["probes"]] == [DEAR["question"], DEAR["question"]]
    assert report.all.reward is not None
    assert report.all.reward.value == 0.0


async def test_a_probe_of_the_library_tells_two_lawful_ways_apart() -> None:
    async with private((OWN_LIBRARY,)) as address, FarmClient(address.url, address.token) as farm:
        detail = await farm.scenario("hotel_bookings", "room_not_ready")
        rooms = {"room_403": ("403", False), "room_205": ("205", True)}
        for room, (number, is_upgraded) in rooms.items():
            calls = (
                PlannedCall(
                    tool="move_room",
                    arguments={"booking_id": "bkg_1020", "room_id": room, "free_upgrade": is_upgraded},
                ),
                PlannedCall(tool="check_in", arguments={"booking_id": "bkg_1020"}),
            )
            model = gold_model(Solution(calls=calls, answer=f"She is checked in.\nAnswer: {number}"))
            played = await rollout(farm, detail, model, limits=Limits(turns=5))
            assert played.score is not None
            assert (played.reward, [one.holds for one in played.score.probes]) == (1.0, [is_upgraded])


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"checkpoints": [*SOUND_SCENARIO["checkpoints"], DEAR]}, "a probe earns nothing; it stands in probes"),
        ({"probes": [{**DEAR, "role": "guard"}]}, "its role is not probe"),
        ({"probes": [{**DEAR, "id": "priced"}]}, "a probe and another question named priced"),
        ({"probes": [DEAR, DEAR]}, "named dear"),
    ],
)
def test_a_probe_in_the_wrong_place_is_refused(changed: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Scenario.model_validate({**SOUND_SCENARIO, **changed})
