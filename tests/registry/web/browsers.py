"""A farm with pages for tests, a client that was let in, and a real browser where one is installed."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from registry.client import Address, FarmClient
from registry.farm import Options, running
from registry.web.session import one_time_link
from tests.pictures import browser

CHROMIUM = browser()
NEEDS_BROWSER = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed: the pages are NOT tested in it")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
CSRF = re.compile(r'name="csrf" value="([0-9a-f]{64})"')
MILLISECONDS = 30_000
"""They bound every wait, and measure nothing."""
expect.set_options(timeout=MILLISECONDS)


@dataclass(frozen=True)
class Visitor:
    """A farm, its client with the control token, and a plain HTTP client that was let in by a link."""

    address: Address
    client: FarmClient
    http: httpx.AsyncClient
    runs: tuple[Path, ...] = ()

    async def page(self, path: str, status: int = 200) -> str:
        answer = await self.http.get(path)
        assert answer.status_code == status, answer.text
        return answer.text

    async def send(self, path: str, **form: str) -> httpx.Response:
        """Send a form as a page of this session does."""
        found = CSRF.search(await self.page("/"))
        assert found is not None
        return await self.http.post(path, data={"csrf": found[1], **form})


@asynccontextmanager
async def visited(library: Path, state: Path, runs: tuple[Path, ...] = ()) -> AsyncGenerator[Visitor]:
    """A farm that answers while inside, and a visitor who was let in."""
    async with (
        running(Options(library=(library,), state=state, port=0, runs=runs)) as address,
        FarmClient(address.url, address.token) as client,
        httpx.AsyncClient(base_url=address.url, timeout=MILLISECONDS / 1000) as http,
    ):
        await http.get(one_time_link(address.url, address.token))
        yield Visitor(address, client, http, runs)


@asynccontextmanager
async def in_one_task(library: Path, state: Path, runs: tuple[Path, ...] = ()) -> AsyncGenerator[Visitor]:
    """`visited` for a fixture, whose beginning and end are run in two tasks: a farm wants one."""
    ready: asyncio.Future[Visitor] = asyncio.get_running_loop().create_future()
    over = asyncio.Event()

    async def own() -> None:
        async with visited(library, state, runs) as visitor:
            ready.set_result(visitor)
            await over.wait()

    task = asyncio.create_task(own())
    await asyncio.wait((task, ready), return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        await task
    try:
        yield await ready
    finally:
        over.set()
        await task


@asynccontextmanager
async def chromium() -> AsyncGenerator[Browser]:
    """A real browser without a screen."""
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        try:
            yield opened
        finally:
            await opened.close()


async def entered(opened: Browser, address: Address, *, dark: bool = False, width: int = 1280) -> BrowserContext:
    """A window of its own, let in by a link."""
    context = await opened.new_context(
        color_scheme="dark" if dark else "light", viewport={"width": width, "height": 900}
    )
    context.set_default_timeout(MILLISECONDS)
    page = await context.new_page()
    await page.goto(one_time_link(address.url, address.token))
    await page.wait_for_url(f"{address.url}/")
    await page.close()
    return context


async def noted(context: BrowserContext, troubles: list[str]) -> Page:
    """A page whose errors and refusals of the policy are noted."""
    page = await context.new_page()
    page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
    page.on("console", lambda said: troubles.append(said.text) if said.type == "error" else None)
    return page
