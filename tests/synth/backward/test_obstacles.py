"""Of what a refusal tells, an answer must tell what truly bars the step: never the clock, nor what only stands near."""

from pathlib import Path
from typing import Any

import pytest

from servers.errors import BundleError
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import load_scenarios
from synth.backward.generator import Shelf, make_backward
from synth.backward.goal_repair import mended
from synth.backward.profile import Profile
from synth.backward.refusals.counterfactuals import RefusedCall
from synth.backward.refusals.obstacles import obstacles
from synth.backward.refusals.reasons import reasons_of, told_beside, why_goals
from synth.certify.certifier import examine
from synth.phrasing.task_text import REPORTS, without_question
from synth.play.playground import Playground
from tests.bundles import write, write_bundle

CLOCK = "2026-03-16 09:00:00"
SCHEMA = """
CREATE TABLE bells (
    id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, cents INTEGER NOT NULL CHECK (cents >= 0),
    status TEXT NOT NULL, ends_on TEXT NOT NULL, longer INTEGER NOT NULL, colour TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE repairs (
    id INTEGER PRIMARY KEY, bell_id TEXT NOT NULL REFERENCES bells (id), made_on TEXT NOT NULL, cents INTEGER NOT NULL
);
"""
SEED = """
INSERT INTO bells VALUES
    ('b1', 'Agnes', 4200, 'hung', '2026-05-01', 1, 'red'),
    ('b2', 'Berta', 2900, 'cracked', '2026-06-01', 0, 'red'),
    ('b3', 'Clara', 3300, 'hung', '2026-07-01', 0, 'red');
INSERT INTO repairs (bell_id, made_on, cents) VALUES ('b1', '2026-02-03', 10800);
"""
SIZES = ", ".join(str(size) for size in range(101, 141))
"""Whoever tells all that a look-up shows tells more numbers than a person would."""
HEAD = f'''
def bells(db: Database) -> dict:
    """List the bells.
    """
    return {{"bells": db.all("SELECT id, name, cents, status, colour, '{SIZES}' AS sizes FROM bells ORDER BY id")}}


def paint(db: Database, *, id: str, colour: Literal["blue", "green"]) -> dict:
    """Paint a bell.

    Args:
        id: The bell.
        colour: Its new colour.
    """
    return {{"painted": db.run("UPDATE bells SET colour = :colour WHERE id = :id", id=id, colour=colour)}}
'''
COMMAND = '''

def {name}(db: Database, *, id: str{more}) -> dict:
    """Do something with a bell.

    Args:
        id: The bell.{manual}
    """
    bell = db.one("SELECT * FROM bells WHERE id = :id", id=id)
    if bell is None:
        raise ToolError("no such bell")
    {check}
    return {{"changed": db.run("UPDATE bells SET longer = longer + 1 WHERE id = :id", id=id)}}
'''


def refusing(check: str, *, more: str = "", manual: str = "", head: str = HEAD) -> str:
    """Tools of which `ring` is the one that refuses."""
    return head + COMMAND.format(name="ring", check=check.strip().replace("\n", "\n    "), more=more, manual=manual)


WINDOW = """
if not "14:30" <= db.now()[11:16] <= "16:30":
    raise ToolError("it is rung from 2026-03-16 14:30:00 until 2026-03-16 16:30:00 only")
"""
TOO_EARLY = """
if db.now() < "2026-03-16 19:45:00":
    raise ToolError(f"it is {db.now()}, too early; it may ring 15 minutes before 2026-03-16 20:00:00")
"""
CLOCKS_DAY = """
if db.now()[:10] < "2026-03-18":
    raise ToolError("its day is 2026-03-16; it rings only from the second day after that")
"""
DAYS_BEFORE = """
if db.now()[:10] < "2026-04-08":
    raise ToolError("its feast is on 2026-04-10, and it may ring from 2 days before")
"""
NOT_BEFORE = """
if db.now()[:10] < "2026-10-04":
    raise ToolError("the licence runs until 2026-11-03; it can be renewed from 2026-10-04")
"""
SOMETHING_ELSE_TOO = """
if db.now()[:10] < "2026-10-04":
    raise ToolError("it rings from 2026-10-04")
raise ToolError("its clapper is gone")
"""
APPROVAL = """
if bell["cents"] > 3000:
    raise ToolError("it costs 42.00 and needs an approval of the dean, which is not there")
"""
SAME_PRICE = """
other = db.one("SELECT cents FROM bells WHERE id = 'b2'")
if bell["cents"] != other["cents"]:
    raise ToolError(f"it costs {bell['cents'] / 100:.2f} and the other {other['cents'] / 100:.2f}; they must be equal")
"""
TOO_DEAR = """
if bell["cents"] > 3000:
    raise ToolError("it costs 42.00, and those above 30.00 are rung by the dean only")
"""
STATUS = """
if bell["status"] != "cracked" and bell["ends_on"] > db.now()[:10]:
    raise ToolError(f"it is {bell['status']} and lasts until {bell['ends_on']}; only cracked and old ones are rung")
"""
STATUS_UNTIL = """
if db.now()[:10] <= "2026-05-01":
    raise ToolError(f"it is {bell['status']} until {bell['ends_on']} and must not be rung")
"""
ONLY_ONCE = """
if bell["longer"]:
    raise ToolError(f"it was rung before, which is allowed once; it ends on {bell['ends_on']}")
"""
ANOTHER_ROW = """
done = db.one("SELECT * FROM repairs WHERE bell_id = :id", id=id)
if done is not None:
    raise ToolError(f"it was repaired already: {done['cents'] / 100:.2f} on {done['made_on']}")
"""
ITS_OWN_DAY = """
if bell["ends_on"] > "2026-04-30":
    raise ToolError(f"its term lasts until {bell['ends_on']}; it cannot ring for the feast")
"""


async def barring(folder: Path, check: str) -> list[tuple[str, Any, tuple[Any, ...]]]:
    """What bars the ringing of Agnes, with what is as right."""
    bundle = await write_bundle(folder / "tower", tools=refusing(check), schema=SCHEMA, seed=SEED, scenarios=())
    async with Playground(bundle) as stage:
        return [(one.type, one.value, one.also) for one in await obstacles(stage, await refused(stage))]


async def refused(stage: Playground) -> RefusedCall:
    """The refusal to ring Agnes."""
    scene = await stage.launch()
    outcome = await scene.call("ring", {"id": "b1"})
    assert outcome.kind == "refused"
    return RefusedCall("ring", {"id": "b1"}, outcome.text, CLOCK)


@pytest.mark.parametrize(
    ("check", "bars"),
    [
        pytest.param(WINDOW, [("time", "14:30", ())], id="today: the time, and the end of the window is none"),
        pytest.param(TOO_EARLY, [("time", "20:00", ("19:45",))], id="not the clock; what is counted to is as right"),
        pytest.param(CLOCKS_DAY, [], id="never today's date"),
        pytest.param(DAYS_BEFORE, [("date", "2026-04-10", ("2026-04-08",))], id="a day that another is counted from"),
        pytest.param(NOT_BEFORE, [("date", "2026-10-04", ())], id="not the date that stands nearby"),
        pytest.param(SOMETHING_ELSE_TOO, [], id="something else stands in the way too"),
        pytest.param(APPROVAL, [], id="not the price of what lacks an approval"),
        pytest.param(SAME_PRICE, [("amount", 42.0, ()), ("amount", 29.0, ())], id="both of two compared amounts"),
        pytest.param(TOO_DEAR, [("amount", 42.0, ()), ("amount", 30.0, ())], id="an amount and its limit"),
        pytest.param(STATUS, [], id="a status, not the expiry beside it"),
        pytest.param(STATUS_UNTIL, [("date", "2026-05-01", ())], id="the day until which it stands so"),
        pytest.param(ONLY_ONCE, [], id="what was done before, not the end beside it"),
        pytest.param(ANOTHER_ROW, [("date", "2026-02-03", ()), ("amount", 108.0, ())], id="another row in the way"),
        pytest.param(ITS_OWN_DAY, [("date", "2026-05-01", ())], id="a day that another day makes possible"),
    ],
)
async def test_what_bars_is_what_the_refusal_hinges_on(tmp_path: Path, check: str, bars: list[Any]) -> None:
    assert await barring(tmp_path, check) == bars


async def test_what_the_task_gives_or_asks_to_be_told_is_no_reason_to_look_for(tmp_path: Path) -> None:
    bundle = await write_bundle(tmp_path / "tower", tools=refusing(SAME_PRICE), schema=SCHEMA, seed=SEED, scenarios=())
    async with Playground(bundle) as stage:
        refusal = await refused(stage)
        [facts] = await reasons_of(stage, [refusal], "Ring the bell of 42 euros.")
        assert [one.value for one in facts] == [29.0]
        assert await reasons_of(stage, [refusal], "Ring the bell of 42 euros.", facts) == []


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("Agnes is not rung: she may only ring from 14:30 until 16:30.", True),
        ("Too early: not before half past two in the afternoon.", True),
        ("Agnes could not be rung today.", False),
        ("Agnes could not be rung on 16 March 2026.", False),
        ("She may only ring from 9:00 to 11:00.", False),
        ("All done.", False),
    ],
)
async def test_of_the_clocks_own_day_the_time_must_be_told(tmp_path: Path, answer: str, holds: bool) -> None:
    bundle = await write_bundle(tmp_path / "tower", tools=refusing(WINDOW), schema=SCHEMA, seed=SEED, scenarios=())
    async with Playground(bundle) as stage:
        refusal = await refused(stage)
        reasons = await reasons_of(stage, [refusal], "Please ring Agnes.")
        goals = why_goals(reasons, told_beside("Please ring Agnes.", [refusal]))
        [verdict] = (await (await stage.launch()).judge(goals, answer=answer)).verdicts
    assert verdict.holds == holds


async def made(folder: Path, check: str) -> Scenario:
    """The first scenario of two commands in which something is refused."""
    bundle = await write_bundle(folder / "tower", tools=refusing(check), schema=SCHEMA, seed=SEED, scenarios=())
    write(bundle, {"phrases.json": '{"chains": [["paint", "ring"]]}'})
    async with Playground(bundle) as stage:
        shelf = Shelf(bundle / "scenarios.jsonl", stage)
        await make_backward(
            stage, n=8, seed=1, there=(), on_certified=shelf.add, on_walk=lambda _: None, profile=Profile((2, 2))
        )
        return next(one for one in load_scenarios(stage.environment).values() if "refusal" in one.tags)


async def test_a_task_that_asks_for_no_reason_is_given_no_goal_over_one(tmp_path: Path) -> None:
    scenario = await made(tmp_path, NOT_BEFORE)
    plain = scenario.model_copy(update={"task": without_question(scenario.task)})
    assert len(plain.task) < len(scenario.task)
    async with Playground(tmp_path / "tower") as stage:
        with pytest.raises(BundleError, match="nothing bars what is refused that an answer could tell, and nothing is"):
            await mended(stage, plain)


async def test_a_reason_without_a_value_is_not_asked_for_and_the_state_judges(tmp_path: Path) -> None:
    scenario = await made(tmp_path, ONLY_ONCE)
    assert not any(report in scenario.task for report in REPORTS)
    assert not [one for one in scenario.checkpoints if one.kind == "answer"]
    assert [one for one in scenario.checkpoints if one.kind == "footprint"]


async def test_a_reason_with_a_value_is_asked_for_and_the_reference_names_the_step(tmp_path: Path) -> None:
    scenario = await made(tmp_path, NOT_BEFORE)
    [why] = [one for one in scenario.checkpoints if one.kind == "answer"]
    assert [(one.type, one.value) for one in why.facts] == [("date", "2026-10-04")]
    assert any(report in scenario.task for report in REPORTS)
    step = scenario.reference().answer.partition("This could not be done: ")[2].partition(". The reason: ")[0]
    assert step
    assert step.lower() in scenario.task.lower()


async def test_wrong_answers_tell_another_time_where_the_reason_is_one(tmp_path: Path) -> None:
    scenario = await made(tmp_path, WINDOW)
    [why] = [one for one in scenario.checkpoints if one.kind == "answer"]
    assert [(one.type, one.value) for one in why.facts] == [("time", "14:30")]
    assert scenario.certificate is not None
    assert scenario.certificate.kill_score == 1
    assert scenario.certificate.company["hedger"] < 1


async def test_mending_makes_the_reasons_anew_and_takes_back_a_question_without_any(tmp_path: Path) -> None:
    scenario = await made(tmp_path, ONLY_ONCE)
    near = [{"name": "reason_1", "type": "date", "value": "2026-05-01"}]
    why = {"id": "why_1", "role": "goal", "question": "Why?", "kind": "answer", "facts": near, "tell": "any"}
    *goals, guard = scenario.model_dump(mode="json")["checkpoints"]
    faulty = {
        **scenario.model_dump(mode="json"),
        "task": f"{scenario.task} {REPORTS[0]}",
        "checkpoints": [*goals, why, guard],
    }
    async with Playground(tmp_path / "tower") as stage:
        better = (await mended(stage, Scenario.model_validate(faulty))).scenario
        seen = await examine(stage, better)
    assert better.task == scenario.task
    assert [one.id for one in better.checkpoints] == [one.id for one in scenario.checkpoints]
    assert seen.certificate is not None
