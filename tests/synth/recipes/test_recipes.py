"""Harder scenarios come from a bundle's recipes: certified, of a computed level, the same each time."""

import json
from pathlib import Path
from typing import Any

import pytest

from servers.bundle_library import OWN_LIBRARY
from servers.errors import BundleError, RequestError
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import load_scenarios
from synth.certify.certifier import examine
from synth.play.playground import Playground
from synth.processes.process_pool import PoolSettings
from synth.recipes.recipe_generator import Wanted, make_from_recipes, wanted_of
from tests.bundles import TOOLS, write, write_bundle
from tests.processes import farm

SEED = """
INSERT INTO things (id, name, cents) VALUES ('t1', 'anvil', 100), ('t2', 'bell', 200), ('t3', 'candle', 300),
    ('t4', 'drum', 300), ('t5', 'easel', 450), ('t6', 'flute', 500);
INSERT INTO parts (thing_id, note) VALUES ('t1', 'horn'), ('t2', 'clapper');
"""
CHEAP: dict[str, Any] = {
    "id": "cheap_ones",
    "title": "Things up to {limit_cents}",
    "bind": "SELECT cents AS limit_cents FROM things WHERE cents BETWEEN 200 AND 450 GROUP BY cents",
    "sets": {"cheap": "SELECT id AS thing FROM things WHERE cents <= :limit_cents ORDER BY id"},
    "least": 2,
    "task": ["{open} Whatever costs {limit_cents} or less is to cost 9.00 from now on. How many things are that?"],
    "steps": [
        {"tool": "find"},
        {"tool": "price", "each": "cheap", "arguments": {"id": "{thing}", "cents": 900}},
    ],
    "questions": [{"ask": "how many things are dearer now", "value": "cheap_count", "say": "There were {value}."}],
    "weak": {
        "off by one": {"cheap": "SELECT id AS thing FROM things WHERE cents < :limit_cents ORDER BY id"},
        "takes all": {"cheap": "SELECT id AS thing FROM things ORDER BY id"},
    },
}
DEAREST: dict[str, Any] = {
    "id": "dearest",
    "title": "The dearest one",
    "bind": "SELECT 650 AS price_cents UNION SELECT 700",
    "picks": {"top": "SELECT id AS thing, cents AS rank FROM things ORDER BY cents DESC"},
    "task": ["{sender} here. Our dearest piece has been repaired. From today we want {price_cents} for it, please."],
    "steps": [{"tool": "find"}, {"tool": "price", "arguments": {"id": "{thing}", "cents": "{price_cents}"}}],
    "weak": {"first match": {"top": "SELECT id AS thing FROM things ORDER BY id LIMIT 1"}},
}


MORE: dict[str, str] = {
    "gongs": "INSERT INTO things (id, name, cents) VALUES ('t7', 'gong', :gong_cents), ('t8', 'horn', 250);",
    "broken": "INSERT INTO nowhere VALUES (1);",
}


async def shop_with(
    folder: Path, *recipes: dict[str, Any], seed: str = SEED, tools: str = TOOLS, setups: dict[str, str] = MORE
) -> Path:
    shop = await write_bundle(folder / "shop", scenarios=(), seed=seed, tools=tools)
    whole = {"senders": ["Ada"], "opens": ["Hello from {sender}."], "setups": setups, "recipes": list(recipes)}
    write(shop, {"recipes.json": json.dumps(whole)})
    return shop


async def made(shop: Path, n: int = 9, seed: int = 1, jobs: int = 1, wanted: Wanted = Wanted()) -> list[Scenario]:  # noqa: B008
    found: list[Scenario] = []
    async with Playground(shop) as stage:
        await make_from_recipes(
            stage,
            n=n,
            seed=seed,
            wanted=wanted,
            there=[],
            on_certified=found.append,
            on_walk=lambda _: None,
            pool=PoolSettings(jobs),
        )
    return found


async def test_a_set_is_done_whole_and_the_limit_counts(tmp_path: Path) -> None:
    found = await made(await shop_with(tmp_path, CHEAP))
    told = "two things cost 2 or less, so that task would tell its own answer"
    assert sorted(one.title for one in found) == ["Things up to 3", "Things up to 4.50"], told
    middle = next(one for one in found if one.title.endswith("3"))
    assert [call.tool for call in middle.reference().calls] == ["find", *["price"] * 4]
    assert middle.reference().calls[1].arguments["id"] == "${1.things[0].id}", "a key is looked up"
    assert middle.reference().answer == "It is done. There were 4.\nAnswer: 4"
    assert all(one.last_line for one in middle.checkpoints if one.kind == "answer")
    assert "t1" not in middle.task
    assert {run.weakness for run in middle.weak} == {"off by one", "takes all"}
    assert middle.certificate is not None
    ladder = middle.certificate.difficulty.ladder
    assert {"one of a set", "off by one", "takes all", "never tells", "forgets the last"} <= ladder.keys()
    assert all(reward < 1 for reward in ladder.values())
    assert middle.level == 4


async def test_a_key_that_the_task_tells_needs_no_result_that_shows_it(tmp_path: Path) -> None:
    told: dict[str, Any] = {
        **DEAREST,
        "task": ["{sender} here. Number {thing} has been repaired. From today we want {price_cents} for it, please."],
        "steps": DEAREST["steps"][1:],
    }
    found = await made(await shop_with(tmp_path / "told", told), n=1)
    assert [one.reference().calls[0].arguments["id"] for one in found] == ["t6"]
    untold = {**told, "task": DEAREST["task"]}
    with pytest.raises(BundleError, match="'t6' was shown nowhere"):
        await made(await shop_with(tmp_path / "untold", untold), n=1)


async def test_a_name_that_is_asked_for_has_all_others_of_its_column_as_rivals(tmp_path: Path) -> None:
    asked = {"ask": "what it is called", "value": "called", "say": "It is the {value}."}
    top = "SELECT id AS thing, name AS called, cents AS rank FROM things ORDER BY cents DESC"
    text = DEAREST["task"][0] + " What is it called?"
    recipe = {**DEAREST, "picks": {"top": top}, "questions": [asked], "task": [text], "weak": {}}
    [one, *_] = await made(await shop_with(tmp_path / "shop", recipe))
    [fact] = [fact for told in one.checkpoints if isinstance(told, AnswerCheckpoint) for fact in told.facts]
    assert set(fact.confusable) == {"anvil", "bell", "candle", "drum", "easel"}


async def test_of_two_dearest_neither_is_chosen(tmp_path: Path) -> None:
    first, _ = await made(await shop_with(tmp_path / "one", DEAREST))
    assert first.certificate is not None
    assert first.certificate.difficulty.ladder["first match"] < 1
    tied = SEED.replace("'flute', 500", "'flute', 450")
    with pytest.raises(BundleError, match="no scenario came of its recipes: nothing fits them"):
        await made(await shop_with(tmp_path / "two", DEAREST, seed=tied))


async def test_the_same_seed_gives_the_same_scenarios_for_any_number_of_processes(tmp_path: Path) -> None:
    shop = await shop_with(tmp_path, CHEAP, DEAREST)
    once = await made(shop, n=4)
    assert once == await made(shop, n=4, jobs=2)
    assert len(once) == 4
    assert not any(one.title.endswith(".") for one in once)


async def test_the_texts_of_a_recipe_take_turns_and_a_name_at_the_end_stays_bare(tmp_path: Path) -> None:
    letters = [
        "We have it back. {price_cents} for our dearest piece, please. Ada",
        "{price_cents} for the dearest. Ben",
    ]
    found = await made(await shop_with(tmp_path, {**DEAREST, "task": letters}))
    assert sorted(one.task.rpartition(" ")[2] for one in found) == ["Ada", "Ben"], "each text once, none with a stop"


async def test_what_is_there_is_not_made_again(tmp_path: Path) -> None:
    shop = await shop_with(tmp_path, DEAREST)
    there = await made(shop, n=1)
    async with Playground(shop) as stage:
        more: list[Scenario] = []
        whole = await make_from_recipes(
            stage,
            n=9,
            seed=2,
            wanted=Wanted(),
            there=there,
            on_certified=more.append,
            on_walk=lambda _: None,
            pool=PoolSettings(1),
        )
    assert {one.task for one in there} & {one.task for one in more} == set()
    assert (len(more), whole.twice) == (1, 1)


async def test_a_setup_adds_rows_that_all_but_bind_see(tmp_path: Path) -> None:
    bind = "SELECT 650 AS price_cents, 620 + 10 * count(*) AS gong_cents FROM things WHERE name = 'gong'"
    shop = await shop_with(tmp_path, {**DEAREST, "setup": ["gongs"], "bind": bind})
    [one] = await made(shop)
    assert one.setup == MORE["gongs"].replace(":gong_cents", "620"), "the values of the way stand in it"
    assert one.reference().calls[1].arguments["id"] == "${1.things[6].id}", "the added gong is the dearest"
    assert one.certificate is not None
    again = await made(shop, jobs=2)
    assert [one] == again


async def test_a_way_that_fits_no_added_row_is_left_out(tmp_path: Path) -> None:
    tie = {**DEAREST, "setup": ["gongs"], "bind": "SELECT 650 AS price_cents, 500 AS gong_cents"}
    shop = await shop_with(tmp_path, tie)
    with pytest.raises(BundleError, match="dearest: nothing fits the rows that were added"):
        await made(shop)


async def test_a_list_of_keys_is_one_argument_and_each_is_looked_up(tmp_path: Path) -> None:
    sale = '''
def sell(db: Database, *, ids: list[str]) -> dict:
    """Set things to nothing.

    Args:
        ids: The things.
    """
    for one in ids:
        if db.one("SELECT id FROM things WHERE id = :id AND cents > 0", id=one) is None:
            raise ToolError(f"{one} is sold")
        db.run("UPDATE things SET cents = 0 WHERE id = :id", id=one)
    return {"sold": len(ids), "first": ids[0]}
'''
    sold = {
        **CHEAP,
        "bind": "SELECT 450 AS limit_cents",
        "task": ["Whatever costs {limit_cents} or less is sold, in one go; then price the anvil at 1.50. How many?"],
        "steps": [
            {"tool": "find"},
            {"tool": "sell", "name": "sale", "arguments": {"ids": "{cheap[].thing}"}},
            {"tool": "price", "arguments": {"id": "{sale.first}", "cents": 150}},
        ],
        "weak": {"takes all": {"cheap": "SELECT id AS thing FROM things UNION ALL SELECT 't1'"}},
    }
    [one] = await made(await shop_with(tmp_path, sold, tools=TOOLS + sale))
    ids = one.reference().calls[1].arguments["ids"]
    assert ids == [f"${{1.things[{at}].id}}" for at in range(5)]
    [weak] = one.weak
    assert [call.tool for call in weak.calls] == ["sell"], "refused, so it has nothing to go on with, and stops"


async def test_only_wanted_levels_and_demands_are_kept(tmp_path: Path) -> None:
    shop = await shop_with(tmp_path, CHEAP, DEAREST)
    hard = await made(shop, wanted=wanted_of("4..5", None))
    assert {one.level for one in hard} == {4}
    limits = await made(shop, wanted=wanted_of(None, "off by one"))
    assert {one.tags[1] for one in limits} == {"cheap_ones"}
    with pytest.raises(RequestError, match="no weak agent 'sleepy'; there are: first match"):
        wanted_of(None, "sleepy")
    with pytest.raises(RequestError, match=r"say a level from 1 to 5, or two of them, as 3\.\.5"):
        wanted_of("5..3", None)


async def test_a_claim_that_does_not_hold_costs_the_certificate(tmp_path: Path) -> None:
    shop = await shop_with(tmp_path, CHEAP)
    [scenario, *_] = await made(shop, n=1)
    right = scenario.weak[0].model_copy(
        update={"calls": scenario.reference().calls, "answer": scenario.reference().answer}
    )
    async with Playground(shop) as stage:
        seen = await examine(stage, scenario.model_copy(update={"weak": (right,)}))
    assert seen.certificate is None
    assert seen.findings == [f"it claims that an agent that {_told(right.weakness)} fails, and one does not"]


def _told(weakness: str) -> str:
    return {"off by one": "misses a limit by one"}.get(weakness, weakness)


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ({"steps": [{"tool": "lose"}]}, "cheap_ones: steps.1: no tool named 'lose'"),
        ({"steps": [{"tool": "find", "arguments": {"name": "x"}}]}, "steps.1: find has no argument 'name'"),
        ({"steps": [{"tool": "find", "each": "dear"}]}, "steps.1: no set named 'dear'"),
        ({"setup": ["gold"]}, "cheap_ones: no setup named 'gold'"),
        ({"setup": ["broken"]}, "recipes.json: cheap_ones: .*no such table: nowhere"),
        ({"setup": ["gongs"]}, "cheap_ones: no value named :gong_cents"),
        ({"weak": {"off by one": {"dear": "SELECT 1"}}}, "weak.off by one: no pick or set named 'dear'"),
        ({"bind": "SELECT colour FROM things"}, "cheap_ones: .*no such column: colour"),
        ({"bind": "DELETE FROM things"}, "cheap_ones: "),
    ],
    ids=str,
)
async def test_a_recipe_with_a_fault_is_named(tmp_path: Path, change: dict[str, Any], finding: str) -> None:
    shop = await shop_with(tmp_path, {**CHEAP, **change})
    with pytest.raises(BundleError, match=finding):
        await made(shop)


async def test_commands_make_list_and_select_by_level(tmp_path: Path) -> None:
    shop = await shop_with(tmp_path, CHEAP, DEAREST)
    command = ("synth", "backward", str(shop), "--jobs", "1", "--n", "5")
    done = await farm(*command, "--level", "1..5", home=tmp_path)
    assert (done.code, done.err) == (0, "")
    async with Playground(shop) as stage:
        there = load_scenarios(stage.environment)
    assert len(there) == 4, "the run ends when every way was tried"
    hard = await farm("scenarios", str(shop), "--level", "4", "--json", home=tmp_path)
    cards = json.loads(hard.out)
    assert {card["level"] for card in cards} == {4}
    assert {"takes all", "never looks up"} <= cards[0]["ladder"].keys()
    assert len(cards) == sum(one.level == 4 for one in there.values())
    wrong = await farm(*command, "--level", "9", home=tmp_path)
    assert (wrong.code, "say a level from 1 to 5" in wrong.err) == (2, True)
    both = await farm(*command, "--level", "3", "--commands", "1", home=tmp_path)
    assert (both.code, "give them without --commands and --tool" in both.err) == (2, True)


async def test_an_environment_without_recipes_says_so(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop")
    with pytest.raises(BundleError, match=r"shop has no recipes\.json"):
        await made(shop)


async def test_a_scenario_of_the_library_asks_for_what_only_some_rows_are(tmp_path: Path) -> None:
    [one] = await made(OWN_LIBRARY / "hotel_bookings", n=1, wanted=wanted_of("4..5", None))
    assert one.certificate is not None
    assert one.certificate.kill_score >= 0.9
    assert one.weak
