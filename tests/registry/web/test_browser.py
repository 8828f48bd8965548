"""The pages in a real browser: the playground, live updates, hostile texts, accessibility, narrow screens."""

import re
import shutil
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from agent_client.toolbox import connect
from registry.client import FarmClient
from registry.farm import Options, running
from registry.web.live import MOST_WATCHERS
from tests.bundles import SOUND_SCENARIO, with_description, write_bundle
from tests.evals.run_folders import write_evaluation, write_exchanges, write_synthesis, write_training
from tests.registry.web.browsers import NEEDS_BROWSER, Visitor, chromium, entered, in_one_task, noted

pytestmark = [NEEDS_BROWSER, pytest.mark.asyncio(loop_scope="module")]
PAYLOAD = "\"'><script>window.pwned=1</script><img src=x onerror=window.pwned=1><svg/onload=window.pwned=1>"
LINK = "[x](javascript:window.pwned=1) {{7*7}} ${7*7} \x1b[31mred\u202egnp\x07 ไทย العربية"
HOSTILE = f"{PAYLOAD} {LINK}"
LONG_WORD = "w" * 100_000
SHIFTS = """window.shifted = 0; new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifted += one.value;
}).observe({ type: "layout-shift", buffered: true });"""
WATCH = "window.pwned = 0; window.alert = window.confirm = () => { window.pwned = 2; return true; };"
AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
LEAST_SHIFT = 0.01
"""A layout shift that nobody sees. One of 0.1 is called good."""
SERIOUS = ("serious", "critical")
HOSTILE_TOOLS = f'''
def speak(db: Database, *, text: str = "") -> dict:
    """Say something {PAYLOAD.replace(chr(34), "'")}

    Args:
        text: What to say {PAYLOAD.replace(chr(34), "'")}
    """
    db.run("INSERT INTO said (text) VALUES (:text)", text=text)
    return {{"said": text, {PAYLOAD!r}: {LINK!r}, "long": "w" * 100000}}


def refuse(db: Database) -> dict:
    """Refuse."""
    raise ToolError({HOSTILE!r})
'''
PLACES = """() => {
  const found = {};
  const reached = document.activeElement.title;
  for (const one of reached ? [document.activeElement] : document.querySelectorAll("h1, h2, th, .label, .crumbs")) {
    const { left, top } = one.getBoundingClientRect();
    if (top < 0 || top > innerHeight) continue;
    found[reached || one.textContent.trim().slice(0, 40)] = [Math.round(left), Math.round(top)];
  }
  return found;
}"""
"""Where that stands which a person is at: what the keyboard has reached, or else the headings that are seen."""
REACH = "(one) => { one.focus({preventScroll: true}); one.scrollIntoView({behavior: 'instant', block: 'center'}); }"
FOREIGN = "script:not([src]), img, [onerror], [onload], iframe, a[href^='javascript']"
RUN = re.compile(r'href="(/runs/(?:show|training|synthesis)[^"]+)"')
ODD_COLUMN = "<img src=x onerror=window.pwned=1>"


@dataclass(frozen=True)
class Stage:
    """A farm with an ordinary and a hostile environment, and an open browser."""

    visitor: Visitor
    browser: Browser
    runs: tuple[str, ...]
    """Addresses of a training run, a synthesis run and two evaluations."""


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Stage]:
    library = tmp_path_factory.mktemp("library")
    await write_bundle(library / "shop", policy="# Rules\n\n1. **Price.** A thing has a price.\n")
    await write_hostile(library / "hostile")
    write_exchanges(library / "shop")
    runs = tmp_path_factory.mktemp("runs")
    async with in_one_task(library, tmp_path_factory.mktemp("state"), (runs,)) as visitor, chromium() as opened:
        await write_evaluation(visitor.client, runs / "one", "idle", name=HOSTILE)
        await write_evaluation(visitor.client, runs / "two")
        write_training(runs / "rl", HOSTILE + LONG_WORD[:5000])
        write_synthesis(runs / "blood", f"{PAYLOAD[:100]}", HOSTILE + LONG_WORD[:5000])
        page = await visitor.page("/runs")
        yield Stage(visitor, opened, tuple(sorted(set(RUN.findall(page)), reverse=True)))


async def write_hostile(folder: Path) -> None:
    scenario: dict[str, Any] = {
        **SOUND_SCENARIO,
        "id": "evil",
        "title": HOSTILE,
        "task": f"{HOSTILE} {LONG_WORD[:5000]}",
        "tags": [PAYLOAD],
        "checkpoints": [
            {
                "id": "evil",
                "role": "goal",
                "question": HOSTILE,
                "kind": "sql",
                "sql": f"SELECT '{PAYLOAD.replace(chr(39), '')}' FROM said",
                "expect": [[PAYLOAD]],
            }
        ],
        "solution": {"calls": [{"tool": "speak", "arguments": {"text": HOSTILE}}], "answer": HOSTILE},
    }
    schema = f'CREATE TABLE said (id INTEGER PRIMARY KEY, text TEXT, "{ODD_COLUMN}" TEXT);\n'
    seed = f"INSERT INTO said (text) VALUES ('{PAYLOAD.replace(chr(39), chr(39) * 2)}');\n"
    policy = f"# {HOSTILE}\n\n- {HOSTILE}\n\n| {PAYLOAD} | b |\n|---|---|\n| {LINK} | `{PAYLOAD}` |\n\n{LONG_WORD}\n"
    await write_bundle(folder, tools=HOSTILE_TOOLS, schema=schema, seed=seed, scenarios=[scenario], policy=policy)
    with_description(folder, title=HOSTILE, description=f"{HOSTILE} {LONG_WORD[:3000]}")


def is_moved(before: list[int], now: list[int] | None) -> bool:
    """True if a heading stands elsewhere. A window scrolls by whole pixels, so one may be missing."""
    return now is None or any(abs(one - other) > 1 for one, other in zip(before, now, strict=True))


async def fits(page: Page) -> bool:
    """True if nothing is wider than the window."""
    return await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def of_one_run(stage: Stage) -> tuple[str, ...]:
    """Pages below those of the runs: a rollout, the episodes of a step, an environment, an exchange, a comparison."""
    training, synthesis, one, two = stage.runs
    both = f"{one}&run={two.partition('=')[2]}"
    return (
        f"{one}#/0/shop%2Fdearer%230",
        f"{training}/episodes/1",
        f"{synthesis}/blood_bank",
        f"{synthesis}/blood_bank/1",
        "/environments/shop/exchanges/1",
        "/environments/shop/exchanges/2",
        both,
    )


async def gone(page: Page, address: str) -> None:
    """Go to a page, and wait until a report has drawn itself."""
    await page.goto("about:blank")
    await page.goto(address)
    if "/runs/show" in address:
        await page.wait_for_selector(".beside" if "#" in address else ".kpi")


async def test_the_whole_story_of_the_playground(stage: Stage) -> None:
    """Search, launch, call, a wrong argument, the difference, back, fork, the reference, score, close."""
    troubles: list[str] = []
    context = await entered(stage.browser, stage.visitor.address)
    page = await noted(context, troubles)
    await page.goto(f"{stage.visitor.address.url}/")
    await page.fill("#q", "shop of things")
    await expect(page.locator(".gallery .card")).to_have_count(1)
    await page.click(".gallery a")
    await page.click("text=Make the bell dearer")
    await page.click("text=Play it")
    await page.select_option("#tool", "price")
    await page.fill("[name='arg.id']", "t2")
    await page.fill("[name='arg.cents']", "much")
    await page.click("text=Call price")
    await expect(page.locator("#call-1")).to_contain_text("invalid")
    await page.fill("[name='arg.id']", "t2")
    await page.fill("[name='arg.cents']", "250")
    await page.keyboard.press("Enter")
    await expect(page.locator("#call-2 .change", has_text="things").locator("ins")).to_have_text("250")
    await expect(page.locator("#tables td.changed")).to_contain_text("250")
    await page.fill("#answer", "Done.")
    await page.click("text=Score now")
    await expect(page.locator(".reward")).to_have_text("1.00")
    await page.click("text=go back to the start")
    await expect(page.locator("#call-2")).to_have_count(0)
    assert await page.input_value("#answer") == "Done."  # what a person writes stays
    await page.click("text=Make its first call")
    await expect(page.locator("#reference")).to_contain_text("All of its calls are made")
    first = page.url
    await page.click("#call-1 >> text=fork from here")
    await expect(page.locator("#call-1")).to_be_visible()
    await expect(page).not_to_have_url(re.compile(re.escape(first.partition("?")[0])))
    page.once("dialog", lambda dialog: dialog.accept())
    await page.click("text=Close")
    await expect(page.locator("h1")).to_contain_text("closed")
    assert [one for one in troubles if "422" not in one] == []
    await context.close()


async def test_a_page_follows_an_agent_and_the_end_of_its_instance(stage: Stage) -> None:
    [lease] = await stage.visitor.client.launch("shop", "dearer")
    context = await entered(stage.browser, stage.visitor.address)
    page = await noted(context, troubles := [])
    await page.goto(f"{stage.visitor.address.url}/instances/{lease.instance}?tool=make")
    await page.fill("[name='arg.name']", "half a wo")
    await page.click("text=Choose a model")
    await page.fill("#model-name", "half a mo")
    await page.evaluate(SHIFTS)
    before = await page.evaluate("window.shifted")
    async with connect(*lease.address()) as toolbox:
        await toolbox.call("price", {"id": "t2", "cents": 250})
        await expect(page.locator("#call-1")).to_contain_text("price")
        await expect(page.locator("#tables td.changed")).to_contain_text("250")
    assert await page.input_value("[name='arg.name']") == "half a wo"  # live updates leave forms alone
    assert await page.input_value("#model-name") == "half a mo"
    assert await page.evaluate("window.shifted") - before < LEAST_SHIFT
    await stage.visitor.client.close(lease.instance)
    await expect(page.locator("h1")).to_contain_text("closed")
    assert troubles == []
    await context.close()


async def test_a_page_too_many_says_that_it_is_not_live(stage: Stage) -> None:
    [lease] = await stage.visitor.client.launch("shop", "dearer")
    own = f"/instances/{lease.instance}"
    url, cookies = stage.visitor.address.url, stage.visitor.http.cookies
    limits = httpx.Limits(max_connections=MOST_WATCHERS)
    async with httpx.AsyncClient(base_url=url, cookies=cookies, limits=limits) as http, AsyncExitStack() as stack:
        for _ in range(MOST_WATCHERS):
            await stack.enter_async_context(http.stream("GET", f"{own}/events"))
        context = await entered(stage.browser, stage.visitor.address)
        page = await context.new_page()
        await page.goto(f"{url}{own}?tool=price")
        await expect(page.locator(".pulse .still")).to_be_visible()
        await page.fill("[name='arg.id']", "t2")
        await page.fill("[name='arg.cents']", "250")
        await page.click("text=Call price")
        await expect(page.locator("#call-1")).to_be_visible()  # it can be played as ever
        await context.close()


async def test_many_pages_of_one_browser_load_and_the_newest_are_live(stage: Stage) -> None:
    """A browser holds six connections to a farm. The pages that pause follow again when they are asked to."""
    [lease] = await stage.visitor.client.launch("shop", "dearer")
    context = await entered(stage.browser, stage.visitor.address)
    pages = [await context.new_page() for _ in range(7)]
    for page in pages:
        await page.goto(f"{stage.visitor.address.url}/instances/{lease.instance}")
    for page in pages[:-4]:
        await expect(page.locator(".pulse .paused")).to_be_visible()
    for page in pages[-4:]:
        await expect(page.locator(".pulse .here")).to_be_visible()
    await pages[0].click("[data-follow]")
    await expect(pages[-4].locator(".pulse .paused")).to_be_visible()
    async with connect(*lease.address()) as toolbox:
        await toolbox.call("price", {"id": "t2", "cents": 250})
    await expect(pages[0].locator("#call-1")).to_contain_text("price")
    await expect(pages[1].locator("#call-1")).to_have_count(0)
    for page in pages[-3:]:
        await page.close()
    await expect(pages[1].locator("#call-1")).to_contain_text("price")  # there is room again
    await context.close()


async def test_nothing_of_a_hostile_environment_runs_or_breaks_the_layout(stage: Stage) -> None:
    troubles: list[str] = []
    context = await entered(stage.browser, stage.visitor.address)
    await context.add_init_script(WATCH)
    page = await noted(context, troubles)
    url = stage.visitor.address.url
    [lease] = await stage.visitor.client.launch("hostile", "evil")
    async with connect(*lease.address()) as toolbox:
        for tool, arguments in (("speak", {"text": HOSTILE}), ("refuse", {}), ("speak", {PAYLOAD: PAYLOAD})):
            await toolbox.call(tool, arguments)
    await stage.visitor.client.score(lease.instance, HOSTILE)
    own = f"/instances/{lease.instance}"
    for path in (
        *("/", "/environments/hostile", "/environments/hostile/scenarios/evil", "/instances"),
        *(f"{own}?tool=speak", f"{own}/state", f"{own}/diff", f"{own}/sql", "/farm", "/nowhere%3Cscript%3E"),
        *("/runs", *stage.runs, *of_one_run(stage)),
    ):
        await gone(page, f"{url}{path}")
        await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert await page.evaluate("window.pwned") == 0, path
        assert await page.locator(FOREIGN).count() == 0
        for width in (375, 1280):
            await page.set_viewport_size({"width": width, "height": 900})
            assert await fits(page), (path, width)
    await page.goto(f"{url}{own}/sql")
    await page.fill("#sql", f"SELECT '{PAYLOAD.replace(chr(39), '')}' AS \"{ODD_COLUMN}\", text FROM said")
    await page.click("text=Ask")
    await expect(page.locator("#state td").first).to_contain_text("<script>")
    await page.fill("#sql", f'SELECT "{ODD_COLUMN}x" FROM nowhere')
    await page.click("text=Ask")
    await expect(page.locator("[role=alert]")).to_be_visible()
    await page.goto(f"{url}{own}?tool=speak")
    await page.fill("[name='arg.text']", HOSTILE)
    await page.click("text=Call speak")
    await expect(page.locator("#call-4")).to_be_visible()
    assert await page.evaluate("window.pwned") == 0
    assert [one for one in troubles if "404" not in one and "422" not in one] == []
    await context.close()


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
async def test_no_page_has_a_serious_fault_for_those_who_see_or_hear_it_otherwise(dark: bool, stage: Stage) -> None:
    context = await entered(stage.browser, stage.visitor.address, dark=dark)
    page = await context.new_page()
    url = stage.visitor.address.url
    [lease] = await stage.visitor.client.launch("shop", "dearer")
    async with connect(*lease.address()) as toolbox:
        await toolbox.call("price", {"id": "t2", "cents": 250})
        await toolbox.call("price", {"id": "t9", "cents": 250})
    await stage.visitor.client.score(lease.instance, "Done.")
    [over] = await stage.visitor.client.launch("shop", "dearer")
    await stage.visitor.client.close(over.instance)
    own = f"/instances/{lease.instance}"
    found: dict[str, list[str]] = {}
    for path in (
        *("/", "/environments/shop", "/environments/shop/scenarios/dearer", "/instances", f"{own}?tool=price"),
        *(f"{own}/state", f"{own}/diff", f"{own}/sql", "/farm", "/v1/docs", "/nowhere"),
        *("/runs", *stage.runs, *of_one_run(stage), f"/instances/{over.instance}", "/login?code=1.2.3"),
    ):
        if path.startswith("/login"):
            await context.clear_cookies()
        await gone(page, f"{url}{path}")
        await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        await page.evaluate(AXE)
        told = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        faults = [one for one in told["violations"] if one["impact"] in SERIOUS]
        found[path] = [f"{one['id']}: {one['nodes'][0]['html'][:160]}" for one in faults]
    assert {path: faults for path, faults in found.items() if faults} == {}
    await context.close()


async def test_a_run_is_read_with_the_keyboard_and_compared(stage: Stage) -> None:
    troubles: list[str] = []
    context = await entered(stage.browser, stage.visitor.address)
    page = await noted(context, troubles)
    await page.goto(f"{stage.visitor.address.url}/runs")
    for box in await page.locator("[name=run]").all():
        await box.check()
    await page.click("text=Compare the chosen")
    await expect(page.locator("main")).to_contain_text("Paired at")
    first = page.locator(".cell").first
    await first.focus()
    await page.keyboard.press("Enter")
    await expect(page.locator(".beside")).to_contain_text("The reference solution")
    await page.select_option("[aria-label='What stands beside it']", "1")
    await expect(page.locator(".beside")).to_contain_text("What the checkpoints say of it")
    await page.keyboard.press("Tab")
    await page.keyboard.press("ArrowRight")
    await expect(page.locator(".steps")).to_contain_text("2 of")
    await page.keyboard.press("Escape")
    await expect(page.locator("#rollouts")).to_be_visible()
    assert troubles == []
    await context.close()


async def test_nothing_moves_on_pages_that_follow_what_grows_and_the_keyboard_stays(stage: Stage) -> None:
    training, synthesis, evaluation, _ = stage.runs
    [runs] = stage.visitor.runs
    logs = [runs / "one" / "rollouts.jsonl", runs / "two" / "rollouts.jsonl", runs / "rl" / "metrics.jsonl"]
    end = runs / "blood" / "environments" / "blood_bank" / "rejected.json"
    whole = {file: file.read_text(encoding="utf-8") for file in (*logs, end)}
    for file in logs:
        file.write_text("".join(whole[file].splitlines(keepends=True)[:2]), encoding="utf-8")
    end.unlink()
    context = await entered(stage.browser, stage.visitor.address)
    told = {
        evaluation: "4 of 4 rollouts judged",
        training: "step 2",
        synthesis: "rejected",
        f"{synthesis}/blood_bank": "given up",
        "/farm": "ok",
    }
    pages = {address: await context.new_page() for address in told}
    for address, page in pages.items():
        await gone(page, f"{stage.visitor.address.url}{address}")
        await page.evaluate(SHIFTS)
    await pages[evaluation].locator(".cell").first.evaluate(REACH)
    before = {address: await page.evaluate(PLACES) for address, page in pages.items()}
    shifted = {address: await page.evaluate("window.shifted") for address, page in pages.items()}
    for file, text in whole.items():
        file.write_text(text, encoding="utf-8")
    [lease] = await stage.visitor.client.launch("shop", "dearer")
    async with connect(*lease.address()) as toolbox:
        await toolbox.call("price", {"id": "t2", "cents": 250})
    for address, page in pages.items():
        await expect(page.locator("main")).to_contain_text(told[address])
        assert await page.evaluate("window.shifted") - shifted[address] < LEAST_SHIFT, address
        now = await page.evaluate(PLACES)
        assert before[address]
        assert {name: (at, now.get(name)) for name, at in before[address].items() if is_moved(at, now.get(name))} == {}
    await context.close()


async def test_every_page_fits_a_telephone_and_a_large_screen(stage: Stage) -> None:
    [lease] = await stage.visitor.client.launch("shop", "dearer")
    own = f"/instances/{lease.instance}"
    context = await entered(stage.browser, stage.visitor.address)
    page = await context.new_page()
    pages = ("/", "/environments/shop", "/environments/shop/scenarios/dearer", "/instances", own, "/farm")
    for path in (*pages, "/runs", *stage.runs, *of_one_run(stage)):
        await gone(page, f"{stage.visitor.address.url}{path}")
        for width in (375, 1920):
            await page.set_viewport_size({"width": width, "height": 900})
            assert await fits(page), (width, path)
    await context.close()


async def test_an_environment_is_reached_and_played_with_the_keyboard_alone(stage: Stage) -> None:
    context = await entered(stage.browser, stage.visitor.address)
    page = await context.new_page()
    await page.goto(f"{stage.visitor.address.url}/")
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.className") == "skip"
    await page.keyboard.press("/")
    assert await page.evaluate("document.activeElement.id") == "q"
    await page.goto(f"{stage.visitor.address.url}/environments/shop/scenarios/dearer")
    await page.focus("text=Play it")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/instances/*")
    await page.focus("text=Make its first call")
    await page.keyboard.press("Enter")
    await expect(page.locator("#call-1")).to_be_visible()
    await page.keyboard.press("Escape")
    await page.wait_for_url("**/instances")
    await context.close()


async def test_the_api_is_tried_from_its_page(stage: Stage) -> None:
    page = await stage.browser.new_page()
    await page.goto(f"{stage.visitor.address.url}/v1/docs")
    route = page.locator("details", has_text="List the workers")
    await route.locator("summary").click()
    await route.locator("text=Send").click()
    await expect(route.locator("[role=status]")).to_contain_text("401")
    await page.fill("#token", stage.visitor.address.token)
    await route.locator("text=Send").click()
    await expect(route.locator("pre")).to_contain_text("worker-1")
    await page.close()


async def test_a_page_stays_through_a_restart_of_the_farm(stage: Stage, tmp_path: Path) -> None:
    await write_bundle(tmp_path / "library" / "shop")
    options = Options(library=(tmp_path / "library",), state=tmp_path / "state", port=0)
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        [lease] = await client.launch("shop", "dearer")
        context = await entered(stage.browser, address)
        page = await context.new_page()
        await page.goto(f"{address.url}/instances/{lease.instance}")
        await page.fill("#answer", "half a sentence")
        over = await context.new_page()
        await over.goto(f"{address.url}/environments/shop")
        instances = await context.new_page()
        instances.on("dialog", lambda dialog: dialog.accept())
        await instances.goto(f"{address.url}/instances")
    await expect(page.locator(".pulse .away")).to_be_visible()
    await over.click("text=Play without a task")
    await expect(over.locator("#notice")).to_have_text("The farm does not answer.")
    await expect(over.locator("h1")).to_be_visible()
    await instances.click("td >> text=Close")
    await expect(instances.locator("#notice")).to_have_text("The farm does not answer.")
    async with running(replace(options, port=int(address.url.rpartition(":")[2]))):
        async with connect(*lease.address()) as toolbox:
            await toolbox.call("price", {"id": "t2", "cents": 250})
        await expect(page.locator("#call-1")).to_contain_text("price")
        await expect(page.locator(".pulse .here")).to_be_visible()
        assert await page.input_value("#answer") == "half a sentence"
        await over.click("text=Play without a task")
        await over.wait_for_url("**/instances/*")
        await context.close()


async def test_what_was_typed_stays_in_the_browser_after_a_refused_call(stage: Stage) -> None:
    [lease] = await stage.visitor.client.launch("shop", "dearer")
    context = await entered(stage.browser, stage.visitor.address)
    page = await context.new_page()
    own = f"{stage.visitor.address.url}/instances/{lease.instance}?tool=price"
    await page.goto(own)
    await page.fill("[name='arg.id']", "t2")
    await page.fill("[name='arg.cents']", "abc")
    await page.click("text=Call price")
    await expect(page.locator("#form [role=alert]")).to_contain_text("expected an integer")
    assert await page.input_value("[name='arg.id']") == "t2"
    assert await page.input_value("[name='arg.cents']") == "abc"
    assert page.url == own
    await page.click("#model summary")
    await page.fill("#model-name", "m")
    await page.fill("#model-url", "file:///etc/passwd")
    await page.click("text=Let it play")
    await expect(page.locator("#notice")).to_contain_text("base_url")
    assert await page.input_value("#model-name") == "m"
    await context.close()


async def test_a_run_that_is_deleted_under_its_page_says_so(stage: Stage, tmp_path: Path) -> None:
    errors: list[str] = []
    runs = tmp_path / "runs"
    await write_bundle(tmp_path / "library" / "shop")
    options = Options(library=(tmp_path / "library",), state=tmp_path / "state", port=0, runs=(runs,))
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        await write_evaluation(client, runs / "one", "idle")
        context = await entered(stage.browser, address)
        page = await context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        await page.goto(f"{address.url}/runs")
        await page.click("td.clip a")
        await expect(page.locator(".kpi").first).to_be_visible()
        shutil.rmtree(runs / "one")
        await expect(page.locator("#report [role=alert]")).to_contain_text("moved or deleted")
        await expect(page.locator("#run-pulse")).to_be_hidden()
        await page.reload()
        await expect(page.locator("main")).to_contain_text("moved or deleted")
        await expect(page.locator("#run-pulse")).to_have_count(0)
        await context.close()
    assert errors == []


async def test_a_link_lets_in_once_and_the_page_says_so(stage: Stage) -> None:
    context = await stage.browser.new_context()
    page = await context.new_page()
    await page.goto(f"{stage.visitor.address.url}/login?code=1.2.3")
    await expect(page.locator("main")).to_contain_text("was used, or is too old")
    await page.goto(f"{stage.visitor.address.url}/farm")
    await expect(page.locator("main")).to_contain_text("farm open")
    await context.close()


async def test_a_session_that_is_over_is_told_where_the_next_form_is_sent(stage: Stage) -> None:
    [lease] = await stage.visitor.client.launch("shop", "dearer")
    context = await entered(stage.browser, stage.visitor.address)
    page = await context.new_page()
    async with page.expect_response("**/events?mark=*"):  # once it is live, the page asks for nothing by itself
        await page.goto(f"{stage.visitor.address.url}/instances/{lease.instance}")
    await context.clear_cookies()
    await page.click("text=Score now")
    await expect(page.locator("main")).to_contain_text("farm open")
    await context.close()


async def test_the_payload_of_these_tests_would_run_if_it_were_let(stage: Stage) -> None:
    page = await stage.browser.new_page()
    await page.set_content(f'<p title="{PAYLOAD}"></p>')
    await page.wait_for_function("window.pwned === 1")
    await page.close()
