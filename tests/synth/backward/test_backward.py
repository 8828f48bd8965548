"""Scenarios are made of any bundle whose tools change rows: the same each time, once each, and in a person's words."""

import re
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from servers.bundle_library import OWN_LIBRARY, Library
from servers.errors import BundleError
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import is_current, load_scenarios
from synth.backward.generator import Shelf, Yield, make_backward
from synth.phrasing.task_text import REPORTS
from synth.play.playground import Playground
from synth.processes.process_pool import PoolSettings
from tests.bundles import SOUND_SCENARIO, TOOLS, write, write_bundle
from tests.library import of_each_environment
from tests.processes import farm

READS = TOOLS[: TOOLS.index("def make")]
FEWEST_WALKS = 8
"""Walks of an environment. Those that were no person's one matter were dropped on 27 November 2026."""
WITHOUT_WALKS = {
    "hospital_billing_management_system",
    "medical_equipment_loan_management_system",
    "personal_nutrition_tracking_app",
}
"""Rewritten environments that walks tell badly: a key alone finds a first row, moments are ISO texts, or most read as
nobody writes. As many scenarios of recipes are asked of them."""
SIZES = ", ".join(str(size) for size in range(101, 141))
SIZED = READS.replace("made_at FROM", f"'{SIZES}' AS sizes FROM")
"""Whoever tells all that a look-up shows tells more numbers than a person would."""
REFUSES = (
    SIZED
    + '''
def price(db: Database, *, id: str, cents: int) -> dict:
    """Set a price.

    Args:
        id: The thing.
        cents: The price.
    """
    if db.now() < "2026-05-01":
        raise ToolError("prices stay as they are until 2026-05-01")
    return {"changed": db.run("UPDATE things SET cents = :cents WHERE id = :id", id=id, cents=cents)}
'''
)
BURNS = '''

def burn(db: Database, *, id: str) -> dict:
    """Burn a thing.

    Args:
        id: The thing.
    """
    db.run("DELETE FROM things WHERE id = :id", id=id)
    return {"burnt": {}["x"]}
'''


def of_the_library(name: str) -> list[Scenario]:
    """The scenarios of an environment of the library that were made this way."""
    return [
        one
        for one in Library([OWN_LIBRARY]).scenarios(name).values()
        if "backward" in one.tags and "conversation" not in one.tags
    ]


LEASES = (
    READS
    + '''
def lease(db: Database, *, id: str) -> dict:
    """Lease a thing for two days.

    Args:
        id: The thing.
    """
    sql = "UPDATE things SET made_at = datetime(:now, '+2 days') WHERE id = :id"
    return {"changed": db.run(sql, now=db.now(), id=id)}
'''
)


async def made(folder: Path, out: Path, n: int, seed: int = 1, jobs: int = 1) -> Yield:
    """Make scenarios of a bundle into a file."""
    async with Playground(folder) as stage:
        shelf = Shelf(out, stage)

        return await make_backward(
            stage,
            n=n,
            seed=seed,
            there=shelf.there,
            on_certified=shelf.add,
            on_walk=lambda _: None,
            pool=PoolSettings(jobs),
        )


@pytest_asyncio.fixture(scope="module")
async def four(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The first four scenarios of the parcel room, made by one process."""
    path = tmp_path_factory.mktemp("four") / "scenarios.jsonl"
    assert (await made(OWN_LIBRARY / "parcel_room", path, 4)).certified == 4
    return path.read_bytes()


async def test_the_same_seed_gives_the_same_bytes_however_many_processes_walk(four: bytes, tmp_path: Path) -> None:
    made_of_it = await made(OWN_LIBRARY / "parcel_room", tmp_path / "again", 4, jobs=3)
    assert (made_of_it.certified, (tmp_path / "again").read_bytes()) == (4, four)


async def test_another_seed_gives_others(four: bytes, tmp_path: Path) -> None:
    await made(OWN_LIBRARY / "parcel_room", tmp_path / "other", 1, seed=2)
    assert not four.startswith((tmp_path / "other").read_bytes())


async def test_a_deadline_that_is_counted_from_a_call_is_judged_by_its_day(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop", tools=LEASES, scenarios=())
    await made(shop, shop / "scenarios.jsonl", 1)
    async with Playground(shop) as stage:
        [scenario] = load_scenarios(stage.environment).values()
    assert scenario.certificate is not None
    assert re.search(r"""date\(\\?"made_at\\?"\) = '""", scenario.checkpoints[0].model_dump_json())


async def test_words_that_nothing_else_tells_come_from_the_examples(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop", scenarios=())
    write(shop, {"examples.json": '[{"tool": "make", "arguments": {"name": "brass gong"}}]'})
    await made(shop, tmp_path / "out", 4)
    assert "brass gong" in (tmp_path / "out").read_text()


async def test_a_run_that_was_stopped_goes_on_without_loss_or_duplicates(four: bytes, tmp_path: Path) -> None:
    await made(OWN_LIBRARY / "parcel_room", tmp_path / "stopped", 1)
    went_on = await made(OWN_LIBRARY / "parcel_room", tmp_path / "stopped", 4)
    assert (went_on.certified, (tmp_path / "stopped").read_bytes()) == (3, four)
    again = await made(OWN_LIBRARY / "parcel_room", tmp_path / "stopped", 4)
    assert (again.walks, (tmp_path / "stopped").read_bytes()) == (0, four)


async def test_a_bundle_without_phrases_has_its_tasks_from_its_descriptions(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop")
    await made(shop, shop / "scenarios.jsonl", 4)
    async with Playground(shop) as stage:
        scenarios = list(load_scenarios(stage.environment).values())
        assert scenarios[0].id == "dearer"
        assert len({one.task for one in scenarios}) == len(scenarios) == 5
        assert all(is_current(stage.environment, one) for one in scenarios[1:])


async def test_a_profile_says_how_many_commands_there_are_and_which(tmp_path: Path) -> None:
    shop = str(await write_bundle(tmp_path / "shop", scenarios=()))
    command = ("synth", "backward", shop, "--out", str(tmp_path / "out"), "--n")
    done = await farm(*command, "2", "--commands", "1", "--tool", "price", "--no-refusals", home=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "Commands used: price 2." in done.out
    found = [Scenario.model_validate_json(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert [[call.tool for call in one.reference().calls].count("price") for one in found] == [1, 1]
    before = (tmp_path / "out").read_bytes()
    other = await farm(*command, "3", "--tool", "scrap", home=tmp_path)
    assert (other.code, (tmp_path / "out").read_bytes()) == (1, before)
    assert "is about 'price': other commands were asked for when this seed was used" in other.err


async def test_a_command_that_no_scenario_is_about_is_named_with_what_stands_in_the_way(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop", tools=TOOLS + BURNS, scenarios=())
    command = ("synth", "backward", str(shop), "--n", "2", "--out", str(tmp_path / "out"))
    done = await farm(*command, home=tmp_path)
    assert (done.code, done.err) == (0, ""), "what fails is told once, at the end"
    assert re.search(r"Never used: burn \(failed: tools.py, line \d+: KeyError: 'x'\)", done.out), done.out
    assert re.search(rf"`farm synth backward {shop} .*--tool burn .*--seed 2` tries these alone", done.out), done.out


async def test_a_bundle_whose_tools_all_read_is_refused(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop", tools=READS, scenarios=())
    with pytest.raises(BundleError, match="shop: all of its tools only read"):
        await made(shop, tmp_path / "out", 1)


async def test_a_bundle_whose_commands_all_refuse_says_so(tmp_path: Path) -> None:
    silent = REFUSES.replace(" until 2026-05-01", "")
    shop = await write_bundle(tmp_path / "shop", tools=silent, scenarios=())
    with pytest.raises(
        BundleError,
        match=r"no scenario came of 60 walks: no command that could be put into words \(60\); price: refused: prices",
    ):
        await made(shop, tmp_path / "out", 1)


async def test_a_refusal_that_tells_a_date_is_a_task_in_which_nothing_may_change(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop", tools=REFUSES, scenarios=())
    await made(shop, shop / "scenarios.jsonl", 1)
    async with Playground(shop) as stage:
        [scenario] = load_scenarios(stage.environment).values()
    why, guard = scenario.checkpoints
    assert (why.id, why.role, why.kind) == ("why_1", "goal", "answer")
    assert guard.kind == "footprint"
    assert guard.allow == ()
    assert "until 2026-05-01" in scenario.reference().answer
    assert any(report in scenario.task for report in REPORTS)
    assert not re.search("can't be done|not be possible", scenario.task), "nothing gives the refusal away"
    assert scenario.certificate is not None
    assert scenario.certificate.kill_score >= 0.9


WRONG_PHRASES = {
    '{"rows": {"thingies": ["{name}"]}}': "no table named 'thingies'",
    '{"asks": {"buy": {"self": ["buy it"]}}}': "no tool named 'buy'",
    '{"asks": {"scrap": {"self": ["scrap {thing}"]}}}': "asks.scrap.self: scrap has no argument 'thing'",
    '{"examples": {"make": [{"colour": "red"}]}}': "examples.make.1: make has no argument 'colour'",
    '{"senders": [{"table": "staff"}]}': "no table named 'staff'",
    '{"senders": [{"names": ["Ines"]}]}': "voices.chores.open: none says who asks",
    '{"asked": {}}': "asked: no such key",
    "{": "not JSON",
}


async def test_phrases_that_are_wrong_are_refused(tmp_path: Path) -> None:
    shops = [await write_bundle(tmp_path / f"shop{number}") for number, _ in enumerate(WRONG_PHRASES)]
    for shop, phrases in zip(shops, WRONG_PHRASES, strict=True):
        write(shop, {"phrases.json": phrases})
        with pytest.raises(BundleError, match=r"phrases\.json"):
            await made(shop, tmp_path / "out", 1)
    done = await farm("check", *shops, home=tmp_path)
    assert done.code == 1
    for shop, finding in zip(shops, WRONG_PHRASES.values(), strict=True):
        assert re.search(rf"{shop}/phrases\.json: .*{re.escape(finding)}", done.out), finding


@of_each_environment()
def test_a_task_is_in_a_persons_words(name: str) -> None:
    for scenario in of_the_library(name):
        assert not re.search(r"\w_\w|[{}]|  |\b(?!that )(\w+) \1\b|\d{4}-\d\d-\d\d", scenario.task), scenario.task
        assert scenario.certificate is not None
        assert 1 <= scenario.certificate.difficulty.calls <= 14


@of_each_environment()
def test_the_made_scenarios_of_the_library_are_different_tasks(name: str) -> None:
    walks = [scenario.task for scenario in of_the_library(name)]
    of_recipes = (one for one in Library([OWN_LIBRARY]).scenarios(name).values() if "recipe" in one.tags)
    recipes = [(one.task, one.setup, one.clock) for one in of_recipes]
    assert len(walks) == len(set(walks))
    assert len(recipes) == len(set(recipes)), "the same words from the same start"
    assert len(recipes if name in WITHOUT_WALKS else walks) >= FEWEST_WALKS


async def test_the_old_name_of_the_commands_works_and_says_the_new_one(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop")
    there = ("--n", "1", "--jobs", "1", "--no-refusals", "--out")
    old = await farm("synth", "scenarios", shop, "--backward", *there, tmp_path / "old.jsonl", home=tmp_path)
    new = await farm("synth", "backward", shop, *there, tmp_path / "new.jsonl", home=tmp_path)
    assert (old.code, new.code, new.err) == (0, 0, "")
    assert old.err == "`farm synth scenarios --backward` is called `farm synth backward` now.\n"
    assert (tmp_path / "old.jsonl").read_bytes() == (tmp_path / "new.jsonl").read_bytes()
    wrong = await farm("synth", "scenarios", shop, "--converse", "--tool", "make", home=tmp_path)
    assert (wrong.code, "No such option: --tool" in wrong.err) == (2, True)


async def test_the_commands_say_what_is_wrong_with_what_they_are_given(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop")
    missing: dict[str, Any] = {**SOUND_SCENARIO, "solution": {"calls": [{"tool": "buy"}], "answer": ""}}
    wrong = await write_bundle(tmp_path / "wrong", scenarios=[missing])
    backward = ("synth", "backward", str(shop), "--n", "1", "--out")
    junk = tmp_path / "junk.jsonl"
    junk.write_text("junk\n")
    for arguments, code, told in (
        (("synth", "scenarios", str(shop)), 2, "say how: `farm synth backward BUNDLE` makes"),
        (("synth", "backward", str(tmp_path / "none")), 2, "no such bundle"),
        ((*backward, str(tmp_path)), 2, f"--out {tmp_path}: cannot be written: it is a folder"),
        ((*backward, str(tmp_path / "no/x.jsonl")), 2, "cannot be written: there is no folder"),
        ((*backward, str(junk)), 1, f"{junk}: line 1: not JSON"),
        (
            (*backward, str(tmp_path / "x"), "--commands", "1,0"),
            2,
            "--commands '1,0': say numbers of commands from 1 to 5",
        ),
        ((*backward, str(tmp_path / "x"), "--tool", "show"), 2, "shop has no command 'show' that a scenario could be"),
        (("synth", "converse", str(shop), "--tool", "make"), 2, "No such option: --tool"),
        (("certify", str(shop), "--scenario", "nope"), 2, "shop has no scenario 'nope'"),
        (("certify", str(wrong)), 1, "solution.calls.1: no tool named 'buy'"),
    ):
        done = await farm(*arguments, home=tmp_path)
        assert (done.code, done.out) == (code, "")
        assert told in done.err
        assert "Traceback" not in done.err


async def test_certify_writes_certificates_and_leaves_the_rest_of_a_line_alone(tmp_path: Path) -> None:
    loose = {**SOUND_SCENARIO, "id": "loose"}
    shop = await write_bundle(tmp_path / "shop", scenarios=[loose])
    done = await farm("certify", str(shop), "--write", home=tmp_path)
    assert done.code == 1  # it has no footprint
    assert "kill score" in done.out
    assert "certificate" not in (shop / "scenarios.jsonl").read_text()
    guard = {
        "id": "nothing_else",
        "role": "guard",
        "question": "Has nothing else changed?",
        "kind": "footprint",
        "allow": [
            {"table": "things", "operation": "update", "columns": ["cents"], "where": "id = 't2'", "rows": 1},
            {"table": "log", "operation": "insert", "rows": 1},
        ],
    }
    tight = {**SOUND_SCENARIO, "checkpoints": [*SOUND_SCENARIO["checkpoints"], guard]}
    sound = await write_bundle(tmp_path / "sound", scenarios=[tight])
    before = (sound / "scenarios.jsonl").read_text().rstrip("\n")
    others = files_but_scenarios(sound)
    assert (await farm("certify", str(sound), "--write", home=tmp_path)).code == 0
    after = (sound / "scenarios.jsonl").read_text()
    assert after.startswith(before[:-1] + ', "certificate": {"digest": "')
    assert files_but_scenarios(sound) == others
    listed = await farm("scenarios", str(sound), home=tmp_path)
    assert re.search(r"^ *dearer +[-1-5] +1 +1 +1 +(1.00|0.9\d) ", listed.out, re.MULTILINE), listed.out
    shown = await farm("scenarios", str(sound), "dearer", home=tmp_path)
    assert re.search(r"changes: +log, things$", shown.out, re.MULTILINE), shown.out
    write(sound, {"policy.md": "# Other rules\n"})
    stale = await farm("check", str(sound), home=tmp_path)
    assert " out of date (" in stale.out
    renew = f"`farm certify {sound} --stale --write` makes new ones"
    assert f"1 certificate out of date: {renew}." in (await farm("scenarios", str(sound), home=tmp_path)).out
    assert renew in (await farm("scenarios", str(sound), "dearer", home=tmp_path)).out


def files_but_scenarios(bundle: Path) -> dict[str, bytes]:
    """The files of a bundle but its scenarios."""
    return {path.name: path.read_bytes() for path in bundle.iterdir() if path.name != "scenarios.jsonl"}


async def test_several_bundles_are_certified_by_several_processes(tmp_path: Path) -> None:
    folders = [str(await write_bundle(tmp_path / name)) for name in ("first", "second")]
    apart = await farm("certify", *folders, "--jobs", "2", home=tmp_path)
    alone = await farm("certify", *folders, "--jobs", "1", home=tmp_path)
    times = re.compile(r"\d\.\d\d +│")
    assert times.sub("", apart.out) == times.sub("", alone.out)
    assert (apart.code, apart.out.count("kill score"), "second" in apart.out) == (
        1,
        alone.out.count("kill score"),
        True,
    )
