"""The pages over plain HTTP: what they show, and that playing needs no script."""

import asyncio
import re
import shutil
from collections import Counter, deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
import pytest_asyncio

from agent_client.toolbox import connect
from registry.leases import Registry
from registry.ledger.store import Ledger
from registry.web.live import (
    MOST_SAVED,
    MOST_WATCHERS,
    SECONDS_BETWEEN,
    SHARE,
    SLICE,
    LivePage,
    RefreshAllowance,
    longest_behind,
    tell,
)
from registry.web.pages.playground_pages import CALLS_SHOWN
from registry.web.scenario_lines import ListedScenarios
from registry.web.time_series import FarmSample, TimeSeries
from registry.workers.fleet import Fleet
from servers.bundle_library import Library
from servers.errors import NotFound
from servers.text.terminal import obeyed_in
from tests.bundles import SEED, SOUND_SCENARIO, with_description, write_bundle
from tests.evals.test_told_task import FORM, shelf_with
from tests.processes import LONG
from tests.registry.web.browsers import Visitor, in_one_task, visited

pytestmark = pytest.mark.asyncio(loop_scope="module")
CROWD = MOST_WATCHERS + 44
"""Live pages that are opened at once."""
INSTANCE = re.compile(r"/instances/([a-z0-9]{16})")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def visitor(shelf: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Visitor]:
    async with in_one_task(shelf, tmp_path_factory.mktemp("state")) as visitor:
        yield visitor


async def launched(visitor: Visitor, **form: str) -> str:
    answer = await visitor.send("/instances", environment="shop", **form)
    assert answer.status_code == 303
    found = INSTANCE.fullmatch(answer.headers["location"])
    assert found is not None
    return found[1]


async def test_the_gallery_shows_and_filters(visitor: Visitor) -> None:
    page = await visitor.page("/")
    assert "/environments/shop" in page
    assert "1 of 1 environment" in page
    assert "No environment fits" in await visitor.page("/?q=zeppelin")
    assert "No environment fits" in await visitor.page("/?made=imported")
    assert "/environments/shop" in await visitor.page("/?q=THINGS&made=hand-written&sort=proof")


async def test_a_benchmark_is_marked_with_its_version_and_checker(tmp_path: Path) -> None:
    await write_bundle(tmp_path / "shelf" / "shop")
    origin = {"name": "bfcl", "version": "v4", "part": "multi_turn_base", "checker": "checker.py 1a2b3c"}
    with_description(tmp_path / "shelf" / "shop", benchmark=origin)
    async with visited(tmp_path / "shelf", tmp_path / "state") as visitor:
        assert '<span class="mark-made benchmark">benchmark</span>' in await visitor.page("/?made=benchmark")
        assert "No environment fits" in await visitor.page("/?made=hand-written")
        page = await visitor.page("/environments/shop")
        assert "bfcl v4, multi_turn_base" in page
        assert "checker.py 1a2b3c" in page


async def test_an_environment_shows_everything(visitor: Visitor) -> None:
    page = await visitor.page("/environments/shop")
    for part in (
        "A thing has a price",
        "things_are_logged",
        'id="tool-scrap"',
        "Make the bell dearer",
        "a test",
        "anvil",
    ):
        assert part in page
    assert "No scenario fits" in await visitor.page("/environments/shop?q=zeppelin")
    assert "no environment" in await visitor.page("/environments/nowhere", 404)


async def test_an_environment_that_changes_is_shown_as_it_is_now(tmp_path: Path) -> None:
    """The parts of its page and the lines of its scenarios are kept between visits."""
    await write_bundle(tmp_path / "shelf" / "shop", policy="# Rules\n\nNothing is free.\n")
    async with visited(tmp_path / "shelf", tmp_path / "state") as visitor:
        first = await visitor.page("/environments/shop")
        assert first == await visitor.page("/environments/shop")
        assert "Nothing is free." in first
        changed = [{**SOUND_SCENARIO, "title": "Make the whistle dearer"}]
        await write_bundle(tmp_path / "shelf" / "shop", policy="# Rules\n\nAll is free.\n", scenarios=changed)
        page = await visitor.page("/environments/shop")
        assert "All is free." in page
        assert "Nothing is free." not in page
        assert "Make the whistle dearer" in page
        assert "Make the whistle dearer" in await visitor.page("/environments/shop?q=WHISTLE")


async def test_listed_scenarios_are_read_once_for_each_state_of_their_files(tmp_path: Path) -> None:
    await write_bundle(tmp_path / "shop")
    listed = ListedScenarios(Library([tmp_path]))
    everything = {"q": "", "rating": "", "tag": ""}
    [line], total = listed.found("shop", everything, (), 0, 25)
    assert (line.id, line.calls, total) == ("dearer", 1, 1)
    shutil.rmtree(tmp_path / "shop")
    assert listed.found("shop", {**everything, "q": "BELL"}, (), 0, 25) == ([line], 1)
    assert listed.found("shop", {**everything, "tag": "none"}, (), 0, 25) == ([], 0)
    with pytest.raises(NotFound):
        listed.found("shop", everything, (None,), 0, 25)


async def test_a_scenario_shows_its_answer_key(visitor: Visitor) -> None:
    page = await visitor.page("/environments/shop/scenarios/dearer")
    for part in ("Answer key", "Does the bell cost 2.50?", "SELECT cents FROM things", "price", "Done."):
        assert part in page
    await visitor.page("/environments/shop/scenarios/cheaper", 404)


async def test_a_playground_tells_the_form_of_the_answer(tmp_path: Path) -> None:
    async with visited(await shelf_with(tmp_path), tmp_path / "state") as visitor:
        instance = await launched(visitor, scenario="dearer")
        assert FORM in await visitor.page(f"/instances/{instance}")


async def test_a_scenario_shows_how_hard_it_is_and_its_probes(tmp_path: Path) -> None:
    ladder = {"never looks up": 0.0, "off by one": 0.25, "never tells": 0.5}
    difficulty = {"calls": 9, "tools": ["price"], "tables": ["things"], "ladder": ladder}
    kept = {"digest": "0", "mutants": 4, "killed": 4, "variants": 1, "difficulty": difficulty}
    probe = {**SOUND_SCENARIO["checkpoints"][0], "id": "dear", "role": "probe", "question": "Is it dear now?"}
    await write_bundle(tmp_path / "shop", scenarios=[{**SOUND_SCENARIO, "certificate": kept, "probes": [probe]}])
    async with visited(tmp_path, tmp_path / "state") as visitor:
        page = await visitor.page("/environments/shop/scenarios/dearer")
        assert "<dt>level</dt><dd>2 of 5</dd>" in page
        for agent, reward in ladder.items():
            assert f'<dt>{agent}</dt><dd class="num">{reward:.2f}</dd>' in page
        assert "Is it dear now?" in page


async def test_a_person_plays_without_a_script(visitor: Visitor) -> None:
    instance = await launched(visitor, scenario="dearer")
    own = f"/instances/{instance}"
    assert 'name="arg.cents"' in await visitor.page(f"{own}?tool=price")
    await visitor.send(f"{own}/call", **{"tool": "price", "arg.id": "t2", "arg.cents": "250"})
    await visitor.send(f"{own}/call", **{"tool": "price", "arg.id": "t9", "arg.cents": "1"})
    page = await visitor.page(own)
    assert "there is no thing" in page
    assert "<del>200</del>" in page
    assert "<ins>250</ins>" in page
    await visitor.send(f"{own}/score", answer="Done.")
    assert '<span class="reward good">1.00</span>' in await visitor.page(own)
    forked = INSTANCE.fullmatch((await visitor.send(f"{own}/fork", call="1")).headers["location"])
    assert forked is not None
    assert (await visitor.client.history(forked[1])).total == 1
    await visitor.send(f"{own}/rewind", call="0")
    assert (await visitor.client.history(instance)).total == 0
    await visitor.send(f"{own}/close")
    assert "Its state is deleted" in await visitor.page(own)


async def test_wrong_arguments_are_told_in_the_words_of_the_tool(visitor: Visitor) -> None:
    instance = await launched(visitor)
    await visitor.send(f"/instances/{instance}/call", **{"tool": "price", "arg.id": "t2", "arg.cents": "much"})
    [call] = (await visitor.client.history(instance)).items
    assert call.outcome == "invalid"
    assert "cents" in await visitor.page(f"/instances/{instance}")
    answer = await visitor.send(f"/instances/{instance}/call", tool="nothing")
    assert answer.status_code == 422
    assert "Choose a tool" in answer.text


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ({"arg.id": "t2", "arg.cents": "abc"}, "cents: expected an integer"),
        ({"arg.id": "t2", "arg.cents": "1e999"}, "cents: expected an integer"),
        ({"arg.id": "t99", "arg.cents": "77"}, "there is no thing"),
    ],
)
async def test_what_was_typed_stays_after_a_refused_call(typed: dict[str, str], told: str, visitor: Visitor) -> None:
    instance = await launched(visitor)
    answer = await visitor.send(f"/instances/{instance}/call", tool="price", table="parts", **typed)
    assert answer.status_code == 422
    form = answer.text.partition('id="form"')[2].partition('id="model"')[0]
    assert told in form
    for name, text in typed.items():
        assert re.search(rf'name="{re.escape(name)}" type="text" value="{text}"', form), name
    [call] = (await visitor.client.history(instance)).items
    assert set(call.arguments) == {"id", "cents"}


async def test_an_address_of_a_form_or_with_a_slash_leads_to_its_page(visitor: Visitor) -> None:
    instance = await launched(visitor)
    for address, page in (
        (f"/instances/{instance}/call", f"/instances/{instance}"),
        ("/farm/drain", "/farm"),
        ("/logout", "/"),
        ("/runs/", "/runs"),
        ("/farm/?x=1", "/farm?x=1"),
        ("//evil.example/", "/evil.example"),
        (f"/instances/{instance}/", f"/instances/{instance}"),
    ):
        answer = await visitor.http.get(f"{visitor.address.url}{address}")
        assert (answer.status_code, answer.headers.get("location")) == (303, page), address


async def test_a_page_about_an_error_leads_back(visitor: Visitor) -> None:
    assert 'href="/instances">To the instances' in await visitor.page("/instances/0123456789abcdef", 404)
    assert 'href="/">To the environments' in await visitor.page("/environments/nowhere", 404)
    for came, leads in ((visitor.address.url, True), ("https://evil.example", False), ("http://[", False)):
        answer = await visitor.http.get("/nowhere", headers={"Referer": f"{came}/environments/shop?q=bell"})
        assert ('href="/environments/shop?q=bell">Back' in answer.text) is leads
        assert "evil" not in answer.text


@pytest.mark.parametrize("part", ["state", "diff", "sql"])
async def test_the_state_of_an_instance_that_is_over_offers_another(part: str, visitor: Visitor) -> None:
    instance = await launched(visitor)
    await visitor.client.close(instance)
    page = await visitor.page(f"/instances/{instance}/{part}")
    assert "This instance is closed" in page
    assert "Launch another" in page
    refused = await visitor.http.get(f"/instances/{instance}/snapshot")
    assert f'href="/instances/{instance}">To the instance' in refused.text


async def test_counts_are_of_what_there_is(visitor: Visitor) -> None:
    assert "0 of 1 environment" in await visitor.page("/?q=zeppelin")
    instance = await launched(visitor)
    assert instance in await visitor.page("/instances?from=99999")
    for more in ("", "&sort=cents"):
        assert "anvil" in await visitor.page(f"/instances/{instance}/state?table=things&row=99999{more}")


async def test_a_long_value_of_a_table_is_reached_whole(visitor: Visitor) -> None:
    instance = await launched(visitor)
    text = "word & " * 40
    answer = await visitor.send(f"/instances/{instance}/sql", sql=f"SELECT '{text}' AS long, 'short' AS short, NULL")
    escaped = text.replace("&", "&amp;")
    assert f'<td><span class="long" tabindex="0" title="{escaped}">{escaped}</span></td>' in answer.text
    assert "<td>short</td>" in answer.text
    assert '<td><span class="faint">null</span></td>' in answer.text


async def test_the_reference_is_played_step_by_step_and_left(visitor: Visitor) -> None:
    instance = await launched(visitor, scenario="dearer")
    own = f"/instances/{instance}"
    await visitor.send(f"{own}/step")
    assert "All of its calls are made" in await visitor.page(own)
    assert (await visitor.send(f"{own}/step")).status_code == 409
    await visitor.send(f"{own}/call", tool="find")
    assert "Other calls were made" in await visitor.page(own)


async def test_a_page_watches_an_agent(visitor: Visitor) -> None:
    """The stream says that something changed, once an agent has made a call through its own door."""
    [lease] = await visitor.client.launch("shop", "dearer")
    url, token = lease.address()
    async with (
        asyncio.timeout(60),
        visitor.http.stream("GET", events_of(await visitor.page(f"/instances/{lease.instance}"))) as events,
        connect(url, token) as toolbox,
    ):
        assert events.headers["content-type"].startswith("text/event-stream")
        lines = events.aiter_lines()
        assert await anext(lines) == "retry: 2000"
        await toolbox.call("price", {"id": "t2", "cents": 250})
        assert await next_event(lines) == "event: changed"
        await visitor.client.close(lease.instance)
        while await next_event(lines) != "event: over":
            pass


def events_of(page: str) -> str:
    """The address of the events of a live page."""
    return page.partition('data-live="')[2].partition('"')[0]


async def next_event(lines: AsyncIterator[str]) -> str:
    while True:
        line = await anext(lines)
        if line.startswith("event:"):
            return line


async def test_live_pages_are_bounded_and_the_farm_ends(shelf: Path, tmp_path: Path) -> None:
    """However many ask. One more is refused for now, and let in once another is closed."""
    async with asyncio.timeout(LONG):
        async with visited(shelf, tmp_path / "state") as visitor:
            [lease] = await visitor.client.launch("shop")
            limits = httpx.Limits(max_connections=CROWD + 1)
            cookies = visitor.http.cookies
            async with httpx.AsyncClient(base_url=visitor.address.url, cookies=cookies, limits=limits) as http:

                async def opened() -> httpx.Response:
                    request = http.build_request("GET", f"/instances/{lease.instance}/events")
                    return await http.send(request, stream=True)

                crowd = await asyncio.gather(*(opened() for _ in range(CROWD)))
                pages = [one for one in crowd if one.status_code == 200]
                assert len(pages) == MOST_WATCHERS
                for one in crowd:
                    if one not in pages:
                        assert (one.status_code, one.headers["retry-after"]) == (503, "5")
                        assert f"{MOST_WATCHERS} live pages are open" in (await one.aread()).decode()
                assert (await visitor.client.health()).status == "ok"
                await pages.pop().aclose()
                while (late := await opened()).status_code == 503:
                    await late.aread()
                for one in [*pages, late]:
                    await one.aclose()


@pytest.mark.parametrize("pages", [1, 16, 200, MOST_WATCHERS])
async def test_live_pages_take_no_more_than_their_share_and_take_turns(pages: int) -> None:
    """All change all the time for an hour, as looks see it."""
    cost, told = 0.015, Counter[int]()
    allowance, waiting = RefreshAllowance(), deque(range(pages))
    for _ in range(200):
        allowance.spent(cost)
    looks = int(3600 / SECONDS_BETWEEN)
    for _ in range(looks):
        allowance.grow(SECONDS_BETWEEN)
        for _ in range(allowance.take(pages)):
            told[waiting[0]] += 1
            waiting.rotate(-1)
    assert told.total() * cost <= SHARE * 3600 + MOST_SAVED + cost
    assert len(told) == pages
    assert max(told.values()) - min(told.values()) <= 1


async def test_a_page_that_changes_alone_is_told_at_the_next_look_however_many_are_open() -> None:
    pages = [LivePage(f"instance-{number}", "worker-1", "old") for number in range(MOST_WATCHERS)]
    assert longest_behind(pages) == []
    pages[7].falls_behind()
    assert longest_behind(pages) == [pages[7]]
    assert RefreshAllowance().take(1) == 1


async def test_live_pages_are_told_of_a_change_a_few_at_once() -> None:
    pages = [LivePage("one", "worker-1", "old", latest="new") for _ in range(MOST_WATCHERS)]
    telling = asyncio.create_task(tell(pages))
    told = 0
    while not telling.done():
        await asyncio.sleep(0)
        before, told = told, sum(one.changed.is_set() for one in pages)
        assert told - before <= SLICE
    assert {one.mark for one in pages} == {"new"}
    assert told == MOST_WATCHERS


async def test_what_a_stranger_writes_is_never_obeyed_by_a_browser(shelf: Path, tmp_path: Path) -> None:
    """Bidi overrides and control characters are shown by number. Forms send them back whole."""
    odd = "\u202eevil\u2066\x9b\u200b"
    library = tmp_path / "library"
    shutil.copytree(shelf / "shop", library / "shop")
    policy, scenarios = library / "shop" / "policy.md", library / "shop" / "scenarios.jsonl"
    policy.write_text(f"# {odd}\n\n- {odd}\n\n```\n{odd}\n```\n")
    scenarios.write_text(scenarios.read_text().replace("Make the bell dearer", f"Make the bell dearer {odd}"))
    async with visited(library, tmp_path / "state") as visitor:
        [lease] = await visitor.client.launch("shop", "dearer")
        url, token = lease.address()
        async with connect(url, token) as toolbox:
            await toolbox.call(f"no\x1b[31m{odd}", {odd: odd})
        own = f"/instances/{lease.instance}"
        shown = quote(odd)
        for path in ("/", "/environments/shop", "/environments/shop/scenarios/dearer", own, f"/?q={shown}"):
            page = await visitor.page(path)
            assert not obeyed_in(page), path
            if path != "/":
                assert "\\u202eevil" in page or "&#8238;evil" in page
        assert 'value="&#8238;evil&#8294;&#155;&#8203;"' in await visitor.page(f"/?q={shown}")
        assert not obeyed_in((await visitor.http.get(f"/nowhere/{shown}")).text)


@pytest.mark.parametrize(("site", "status"), [("cross-site", 403), ("same-site", 403), ("same-origin", 303)])
async def test_a_form_of_another_site_is_refused_whatever_it_carries(visitor: Visitor, site: str, status: int) -> None:
    visitor.http.headers["Sec-Fetch-Site"] = site
    try:
        assert (await visitor.send("/instances", environment="shop")).status_code == status
    finally:
        del visitor.http.headers["Sec-Fetch-Site"]


async def test_a_state_is_sorted_filtered_followed_and_asked(visitor: Visitor) -> None:
    instance = await launched(visitor)
    own = f"/instances/{instance}"
    page = await visitor.page(f"{own}/state?table=things&sort=cents&down=1")
    assert page.index("candle") < page.index("bell") < page.index("anvil")
    assert '<input type="hidden" name="down" value="1">' in page
    page = await visitor.page(f"{own}/state?table=things&sort=cents&q=BEL")
    assert 'name="down"' not in page
    assert "bell" in page
    assert "candle" not in page
    assert "?table=things&amp;key=t1" in await visitor.page(f"{own}/state?table=parts")
    assert "1 row" in await visitor.page(f"{own}/state?table=things&key=t1")
    for odd in (
        "table=x",
        "sort=x",
        "sort=cents'--&q=';DROP",
        "row=99999999999999",
        "key='%00",
        "column=x&q=%F0%9F%98%80",
    ):
        await visitor.page(f"{own}/state?{odd}")
    assert "Nothing differs" in await visitor.page(f"{own}/diff")
    answer = await visitor.send(f"{own}/sql", sql="SELECT name FROM main.things WHERE cents > 250")
    assert "candle" in answer.text
    assert "only a SELECT" in (await visitor.send(f"{own}/sql", sql="DELETE FROM things")).text
    copy = await visitor.http.get(f"{own}/snapshot")
    assert copy.content.startswith(b"SQLite format 3")
    assert f"{instance}.db" in copy.headers["content-disposition"]


async def test_a_changed_row_that_stands_further_on_is_shown_first(tmp_path: Path) -> None:
    things = ", ".join(f"('u{at:02}', 'thing {at}', 100)" for at in range(60))
    await write_bundle(tmp_path / "shelf" / "shop", seed=f"{SEED}INSERT INTO things (id, name, cents) VALUES {things};")
    async with visited(tmp_path / "shelf", tmp_path / "state") as visitor:
        instance = await launched(visitor)
        own = f"/instances/{instance}"
        for thing in ("u55", "u00"):
            await visitor.send(f"{own}/call", **{"tool": "price", "arg.id": thing, "arg.cents": "250"})
        page = await visitor.page(f"{own}?table=things")
        assert "The first 1 row stands further on in the table." in page
        rows = page[page.index('id="table-rows"') :]
        assert rows.index("u55") < rows.index("u00")
        assert rows.count('<td class="changed"') == 2


async def test_a_long_history_shows_its_newest_calls(visitor: Visitor) -> None:
    instance = await launched(visitor)
    for _ in range(CALLS_SHOWN + 3):
        await visitor.send(f"/instances/{instance}/call", tool="find")
    page = await visitor.page(f"/instances/{instance}")
    assert "3 earlier calls" in page
    assert 'id="call-1"' not in page
    assert 'id="call-1"' in await visitor.page(f"/instances/{instance}?all=1")


async def test_a_drained_worker_gets_nothing_new(visitor: Visitor) -> None:
    await visitor.send("/farm/drain", worker="worker-1", drains="1")
    answer = await visitor.send("/instances", environment="shop")
    assert answer.status_code == 503
    assert "drained" in answer.text
    assert "Take up again" in await visitor.page("/farm")
    await visitor.send("/farm/drain", worker="worker-1", drains="0")
    await launched(visitor)
    assert (await visitor.send("/farm/drain", worker="nobody")).status_code == 404


async def test_all_instances_of_an_environment_are_closed(visitor: Visitor) -> None:
    await visitor.client.launch("shop", count=3)
    total = (await visitor.client.leases(status="live", environment="shop")).total
    assert total >= 3
    assert f"{total} instances" in await visitor.page("/instances?environment=shop")
    await visitor.send("/instances/close", environment="shop")
    assert (await visitor.client.leases(status="live")).total == 0


async def test_the_page_of_the_farm_shows_environments_over_time_and_closes_their_instances(visitor: Visitor) -> None:
    [lease] = await visitor.client.launch("shop", "dearer")
    assert "Close the instances of shop" in await visitor.page("/farm")
    async with connect(*lease.address()) as toolbox:
        await toolbox.call("find", {})
    answer = await visitor.send("/instances/close", environment="shop", back="/farm")
    assert answer.headers["location"] == "/farm"
    assert "Close the instances of shop" not in await visitor.page("/farm")
    assert (await visitor.client.leases(status="live")).total == 0


async def test_the_series_of_an_environment_fills_its_width_and_knows_deaths() -> None:
    samples = [
        FarmSample(
            at=5.0 * at,
            calls=Counter(shop=10 * at),
            deaths=Counter(idle=at, memory=at // 2),
            buckets=Counter({0.01: 4 * at, 0.5: 10 * at, 5.0: 11 * at}),
            buckets_of={"shop": Counter({0.01: 4 * at, 0.5: 10 * at, 5.0: 10 * at}), "hall": Counter({5.0: at})},
            faults=Counter(shop=at),
        )
        for at in range(5)
    ]
    with closing(Ledger.open("sqlite://")) as ledger:
        series = TimeSeries(Registry(Library([]), ledger, Fleet()))
    series.samples.extend(samples)
    [shop] = series.by_environment()
    assert (shop.name, shop.calls, shop.chart.value, shop.chart.peak) == ("shop", 40, "2.0", "2.0")
    assert shop.chart.line.startswith("M0.0,")
    assert " L600.0," in shop.chart.line
    assert (shop.faults, shop.latency.value, shop.latency.peak) == (4, "500.0", "500.0")
    assert series.charts()[1].value == "5,000.0"
    assert series.charts()[-1].peak == "1"


async def test_an_instance_that_closes_or_was_never_there(visitor: Visitor) -> None:
    instance = await launched(visitor)
    await visitor.client.close(instance)
    assert (await visitor.send(f"/instances/{instance}/call", tool="find")).status_code == 409
    await visitor.page("/instances/0123456789abcdef", 404)
    await visitor.page("/instances/..%2f", 404)


@pytest.mark.parametrize("form", [{"environment": "../x"}, {"environment": "shop", "scenario": "no"}, {}])
async def test_a_wrong_launch_is_told(form: dict[str, str], visitor: Visitor) -> None:
    assert (await visitor.send("/instances", **form)).status_code in (404, 422)


async def test_too_large_a_form_is_refused(visitor: Visitor) -> None:
    assert (await visitor.send("/instances", environment="x" * 1_100_000)).status_code == 413
    many = {f"f{number}": "" for number in range(1100)}
    assert (await visitor.send("/instances", **many)).status_code == 413


async def test_an_environment_without_scenarios_and_a_tool_of_sixty_arguments(tmp_path: Path) -> None:
    arguments = ", ".join(f"a{number}: str = ''" for number in range(60))
    told = "\n".join(f"        a{number}: One." for number in range(60))
    wide = f'\ndef wide(db: Database, *, {arguments}) -> dict:\n    """Take much.\n\n    Args:\n{told}\n    """\n'
    library = tmp_path / "library"
    huge = '\n\ndef huge(db: Database) -> dict:\n    """Say too much."""\n    return {"much": "x" * 5_000_000}\n'
    tools = f'{wide}    return {{"much": "x" * 200_000}}\n{huge}'
    await write_bundle(library / "wide", tools=tools, scenarios=[])
    shutil.copytree(library / "wide", library / "broken").joinpath("schema.sql").unlink()
    async with visited(library, tmp_path / "state") as visitor:
        assert "It has no scenarios yet" in await visitor.page("/environments/wide")
        assert "schema.sql: the file is missing" in await visitor.page("/")
        answer = await visitor.send("/instances", environment="wide")
        own = answer.headers["location"]
        assert (await visitor.page(f"{own}?tool=wide")).count('name="arg.') == 60
        await visitor.send(f"{own}/call", tool="wide")
        page = await visitor.page(own)
        assert len(page) < 300_000
        assert "more characters" in page
        await visitor.send(f"{own}/call", tool="huge")
        page = await visitor.page(own)
        assert len(page) < 300_000
        assert "262144 is the most" in page


async def test_the_page_of_the_api_stands_alone(visitor: Visitor) -> None:
    async with httpx.AsyncClient(base_url=visitor.address.url) as http:
        answer = await http.get("/v1/docs")
    assert answer.status_code == 200
    assert "http://" not in answer.text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in answer.text
    assert "'unsafe" not in answer.headers["content-security-policy"]
