"""What can be launched, as the API shows it."""

import json
import shutil
from pathlib import Path

import pytest

from registry.catalogue import Catalogue
from registry.messages import ScenarioCard
from servers.bundle_library import Library
from servers.errors import BundleError, NotFound
from servers.messages import Page
from tests.bundles import SOUND_SCENARIO, with_description
from tests.registry.farms import Clock, Farm, running


@pytest.fixture
def library(shelf: Path, tmp_path: Path) -> Library:
    """Three bundles; in one a file is missing, in one a scenario names no tool."""
    folder = tmp_path / "shelf"
    for name in ("shop", "half", "odd"):
        shutil.copytree(shelf / "shop", folder / name)
        with_description(folder / name, id=name)
    (folder / "half" / "policy.md").unlink()
    wrong = {**SOUND_SCENARIO, "solution": {"calls": [{"tool": "fly"}], "answer": ""}}
    (folder / "odd" / "scenarios.jsonl").write_text(json.dumps(wrong))
    return Library([folder])


async def test_the_list_has_the_healthy_environments_and_names_the_broken_ones(farm: Farm) -> None:
    found = await farm.client.environments()
    assert [(card.id, card.title, card.tools, card.scenarios) for card in found.items] == [("shop", "Things", 4, 1)]
    assert found.total == 1
    assert set(found.broken) == {"half", "odd"}
    assert found.broken["half"].startswith("half/policy.md: ")
    assert found.broken["odd"].startswith("odd/scenarios.jsonl: line 1")


@pytest.mark.parametrize("name", ["no id", "1st", "\x1b[2Jodd", "x.y"])
async def test_a_folder_whose_name_is_no_id_is_a_broken_one_and_takes_no_other_away(
    farm: Farm, tmp_path: Path, name: str
) -> None:
    shutil.copytree(tmp_path / "shelf" / "shop", tmp_path / "shelf" / name)
    found = await farm.client.environments()
    assert [card.id for card in found.items] == ["shop"]
    assert found.broken[name].endswith("the name of its folder is no id: lower case letters, digits and _")


async def test_a_search_that_nothing_has_finds_nothing(farm: Farm) -> None:
    assert (await farm.client.environments(search="THINGS")).total == 1
    assert (await farm.client.environments(search="submarine")).total == 0


async def test_a_page_past_the_end_is_empty_and_says_how_many_there_are(farm: Farm) -> None:
    found = await farm.client.environments(offset=1, limit=5)
    assert (found.items, found.total, found.offset, found.limit) == ((), 1, 1, 5)


async def test_an_environment_shows_its_tools_its_rules_and_its_tables(farm: Farm) -> None:
    shop = await farm.client.environment("shop")
    assert [tool.name for tool in shop.tools] == ["find", "make", "price", "scrap"]
    assert shop.tools[2].arguments["required"] == ["id", "cents"]
    assert "A thing has a price." in shop.policy
    assert "CREATE TABLE things" in shop.schema_sql
    assert shop.digest == farm.registry.catalogue.library.environment("shop").digest


async def test_scenarios_are_listed_by_tag_and_text(farm: Farm, tmp_path: Path) -> None:
    second = {**SOUND_SCENARIO, "id": "cheaper", "title": "Cheaper", "tags": ["easy"]}
    lines = [json.dumps(SOUND_SCENARIO), json.dumps(second)]
    (tmp_path / "shelf" / "shop" / "scenarios.jsonl").write_text("\n".join(lines))
    assert [card.id for card in (await farm.client.scenarios("shop")).items] == ["dearer", "cheaper"]
    assert [card.id for card in (await farm.client.scenarios("shop", tag="easy")).items] == ["cheaper"]
    found = await farm.client.scenarios("shop", search="make the BELL")
    assert found.items == (
        ScenarioCard(
            id="dearer",
            title="Make the bell dearer",
            tags=(),
            task="Please let the bell cost 2.50.",
            checkpoints=1,
            goals=1,
            guards=0,
            calls=1,
        ),
    )


async def test_a_scenario_shows_its_checkpoints_and_its_solution(farm: Farm) -> None:
    found = await farm.client.scenario("shop", "dearer")
    assert found.environment == "shop"
    assert found.scenario.reference().calls[0].tool == "price"
    assert len(found.digest) == 64


async def test_what_is_not_in_the_library_is_not_found(farm: Farm) -> None:
    with pytest.raises(NotFound, match="no environment 'zoo' in the library; there are: half, odd, shop"):
        await farm.client.environment("zoo")
    with pytest.raises(NotFound, match="shop has no scenario 'fly'; there are: dearer"):
        await farm.client.scenario("shop", "fly")
    with pytest.raises(NotFound, match="no environment 'zoo'"):
        await farm.client.launch("zoo")
    with pytest.raises(NotFound, match="no scenario 'fly'"):
        await farm.client.launch("shop", "fly")


async def test_a_broken_bundle_is_said_to_be_the_author_s_without_naming_folders_of_ours(
    farm: Farm, tmp_path: Path
) -> None:
    for path in ("/v1/environments/half", "/v1/environments/half/scenarios"):
        answer = await farm.http.get(path)
        error = answer.json()["error"]
        assert (answer.status_code, error["kind"]) == (422, "bundle")
        assert error["message"].startswith("half/policy.md: ")
        assert str(tmp_path) not in answer.text
    with pytest.raises(BundleError, match=r"^half/policy.md: "):
        await farm.client.launch("half")


async def test_a_start_does_not_read_the_library(library: Library, tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "shelf" / "shop" / "environment.json").write_text("{")
    async with running(library, tmp_path / "state", clock) as farm:
        assert (await farm.client.health()).status == "ok"
        assert set((await farm.client.environments()).broken) == {"half", "odd", "shop"}


async def test_what_was_read_ahead_is_not_read_again(shelf: Path, tmp_path: Path) -> None:
    """A cold library would keep who asks first waiting, and everybody else with them."""
    folder = tmp_path / "shelf"
    shutil.copytree(shelf / "shop", folder / "shop")
    (folder / "broken").mkdir()
    (folder / "broken" / "environment.json").write_text("[")
    library = Library([folder])
    assert library.current("shop") is None
    await Catalogue(library).read_ahead()
    assert library.current("shop") is library.environment("shop")


def test_a_list_of_more_than_the_library_keeps_reads_each_bundle_once(shelf: Path, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    for number in range(5):
        shutil.copytree(shelf / "shop", folder / f"shop_{number}")
        with_description(folder / f"shop_{number}", id=f"shop_{number}")
    library = Library([folder], most_read=1)
    catalogue = Catalogue(library)
    found = catalogue.environments(Page(offset=0, limit=2))
    assert (found.total, [card.id for card in found.items]) == (5, ["shop_0", "shop_1"])
    freed = library.forgotten
    assert freed > 0
    assert [card.id for card in catalogue.environments(Page(offset=2, limit=2)).items] == ["shop_2", "shop_3"]
    assert library.forgotten == freed
    with_description(folder / "shop_1", title="Another title")
    assert [card.title for card in catalogue.environments(Page(offset=1, limit=1)).items] == ["Another title"]
