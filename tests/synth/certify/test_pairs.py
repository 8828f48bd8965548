"""Certificates of scenarios over two environments: what is wrong in either of them is found."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from servers.authoring.check import findings
from servers.sandbox.guest_pool import Guests
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import is_current
from synth.certify.pairs import examine_both
from synth.play.playground import Playground
from tests.bundles import write
from tests.pairs import TRIP, write_pair

SECOND: dict[str, Any] = TRIP["second"]
CALLS: list[dict[str, Any]] = TRIP["solution"]["calls"]
WEAK: dict[str, Any] = {"weakness": "takes all", "calls": [], "answer": ""}
TOLD: dict[str, Any] = {
    "id": "told",
    "role": "goal",
    "question": "Does it tell 3?",
    "kind": "answer",
    "facts": [{"name": "n", "type": "count", "value": 3}],
}
Stages = tuple[Playground, Playground]


@pytest_asyncio.fixture(scope="module")
async def stages(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Stages]:
    folder = await write_pair(tmp_path_factory.mktemp("pair"))
    async with AsyncExitStack() as stack:
        first, second = [await stack.enter_async_context(Playground(folder / name)) for name in ("shop", "inn")]
        yield first, second


def trip(**changes: Any) -> Scenario:
    return Scenario.model_validate({**TRIP, **changes})


async def test_wrong_runs_in_both_environments_are_tried(stages: Stages) -> None:
    seen = await examine_both(stages, trip())
    assert seen.findings == []
    kept = seen.certificate
    assert kept is not None
    assert (kept.difficulty.calls, kept.difficulty.tables) == (4, ("log", "things"))
    assert kept.told == {"3.id": "bell_priced", "4.id": "attic_priced", "4.cents": "attic_priced"}
    assert {one.mutant for one in kept.survivors} == {"in shop: log 1: not there", "in inn: log 2: not there"}
    killed = {one.what for one in seen.mutants if one.fails}
    assert {"in shop: left out call 2 (price)", "in inn: left out call 2 (price)"} <= killed
    assert "in shop: call 2 (price) with cents 301 for 300" in killed
    assert kept.company["first match elsewhere"] < 1
    written = trip().model_copy(update={"certificate": kept})
    assert is_current(stages[0].environment, written)
    path = stages[1].folder / "policy.md"
    before = path.read_text()
    write(stages[1].folder, {"policy.md": before + "\nRooms are cheap.\n"})
    assert not is_current(stages[0].environment, written), "the second environment has changed"
    write(stages[1].folder, {"policy.md": before})


async def test_a_guard_that_is_missing_in_the_second_environment_is_found(stages: Stages) -> None:
    seen = await examine_both(stages, trip(second={**SECOND, "checkpoints": SECOND["checkpoints"][:1]}))
    assert seen.certificate is None
    assert any("in inn: the twice earns 1" in one for one in seen.findings)


async def test_a_reference_that_leaves_one_environment_undone_is_found(stages: Stages) -> None:
    seen = await examine_both(stages, trip(solution={"calls": CALLS[:3], "answer": "Done."}))
    assert seen.certificate is None
    assert seen.findings == ["checkpoint attic_priced: does not hold after the reference; seen [[300]]"]


async def test_a_goal_that_holds_at_the_start_of_the_second_environment_is_found(stages: Stages) -> None:
    setup = "UPDATE things SET name = 'attic', cents = 450 WHERE id = 't3';"
    call = {"tool": "shop__price", "arguments": {"id": "${2.things[0].id}", "cents": 300}}
    seen = await examine_both(
        stages,
        trip(second={**SECOND, "setup": setup}, solution={"calls": [*CALLS[:2], call, CALLS[3]], "answer": "Done."}),
    )
    assert "in inn: checkpoint attic_priced: a goal that holds at the start" in seen.findings


@pytest.mark.parametrize(
    ("changes", "finding"),
    [
        ({"second": {**SECOND, "environment": "away"}}, "there is no environment 'away'"),
        ({"second": {**SECOND, "environment": "shop"}}, "is the first one"),
        ({"second": {**SECOND, "setup": "UPDATE away SET a = 1;"}}, "no such table: away"),
        ({"solution": {"calls": [{"tool": "price"}], "answer": ""}}, "solution.calls.1: no tool named 'price'"),
        (
            {
                "solution": {
                    "calls": [CALLS[0], {"tool": "scrap", "arguments": {"id": "${9.rooms[0].id}"}}],
                    "answer": "",
                }
            },
            "there is no call 9 before this",
        ),
        (
            {"second": {**SECOND, "checkpoints": [{**SECOND["checkpoints"][0], "sql": "SELECT price FROM things"}]}},
            "second.checkpoints.attic_priced: sql: does not run: no such column: price",
        ),
    ],
    ids=["not there", "twice the same", "setup", "tool", "reference", "checkpoint"],
)
async def test_what_cannot_be_played_is_found_by_its_text(
    changes: dict[str, Any], finding: str, tmp_path: Path
) -> None:
    folder = await write_pair(tmp_path, **changes)
    async with Guests() as guests:
        found = await findings(folder / "shop", guests)
    assert [one for one in found if finding in one], found


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"second": {**SECOND, "checkpoints": TRIP["checkpoints"]}}, "another question named bell_only, bell_priced"),
        ({"second": {**SECOND, "checkpoints": SECOND["checkpoints"][1:]}}, "no goal among its checkpoints"),
        ({"turns": ["Hello."]}, "a benchmark's task has one environment"),
        ({"weak": [WEAK]}, "cannot be played"),
        ({"second": {**SECOND, "checkpoints": [*SECOND["checkpoints"], TOLD]}}, "is judged in checkpoints"),
    ],
    ids=["one name", "no goal", "turns", "weak", "told"],
)
def test_a_second_environment_that_does_not_fit_is_refused(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        trip(**changes)
