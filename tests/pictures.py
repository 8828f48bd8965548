"""The pictures of the documentation, taken by a real browser: `python -m tests.pictures` takes them again.

It needs Chromium, and mkdocs (extra `docs`) for the picture of the site. It prints what is missing, and exits with 1.
With names of pictures, such as `farm-light.webp`, it takes those alone.
"""

import asyncio
import base64
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from playwright.async_api import Browser, async_playwright

from registry.web.session import one_time_link
from tests.evals.example_report import EXAMPLE
from tests.pictured_farm import PAGES, PicturedFarm, pictured_farm
from tests.prose import ROOT

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
PICTURES = ROOT / "docs" / "pictures"
ROLLOUT = "library_loans%2Fback1_0007%230"
SECONDS = 120.0
FARM = "farm:"
"""Before the name of a page of a farm, which is started for its picture."""
THEMES = ("light", "dark")
QUALITY = 85


class Picture(NamedTuple):
    """A page and the part of it that a picture shows, in CSS pixels from the top left corner."""

    name: str
    url: str
    width: int = 1200
    height: int = 760


def pictures(site: Path) -> Iterator[Picture]:
    """Every picture, with `site` as the folder of the built documentation."""
    yield Picture("report.png", EXAMPLE.as_uri())
    yield Picture("rollout.png", f"{EXAMPLE.as_uri()}#/0/{ROLLOUT}", height=1000)
    yield Picture("site.png", (site / "index.html").as_uri(), width=1320)
    for page, (width, height) in PAGES.items():
        for theme in THEMES:
            yield Picture(f"{page}-{theme}.webp", f"{FARM}{page}", width, height)


def browser(path: str | None = None) -> str | None:
    """The first browser that is installed, in the folders of `path` or else of `PATH`."""
    return next((found for name in BROWSERS if (found := shutil.which(name, path=path))), None)


def take(picture: Picture, folder: Path, with_browser: str) -> Path:
    """Write one picture as PNG into a folder. Raises CalledProcessError if the browser fails."""
    file = folder / picture.name
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                with_browser,
                *("--headless", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1"),
                "--no-sandbox",  # root has no sandbox in Chromium; the pages are our own and load nothing
                "--virtual-time-budget=5000",  # the page's own clock: its scripts have run when it is drawn
                f"--user-data-dir={profile}",
                f"--window-size={picture.width},{picture.height}",
                f"--screenshot={file}",
                picture.url,
            ],
            check=True,
            capture_output=True,
            timeout=SECONDS,
        )
    return file


async def take_of_farm(wanted: Sequence[Picture], folder: Path, with_browser: str) -> None:
    """Write the pictures of the pages of a farm into a folder."""
    with tempfile.TemporaryDirectory() as state:
        async with pictured_farm(Path(state)) as farm, async_playwright() as playwright:
            opened = await playwright.chromium.launch(executable_path=with_browser, args=["--no-sandbox"])
            for picture in wanted:
                (folder / picture.name).write_bytes(await _page_of(opened, farm, picture))
                sys.stdout.write(f"{picture.name}\n")
            await opened.close()


async def _page_of(opened: Browser, farm: PicturedFarm, picture: Picture) -> bytes:
    """A page of a farm as WebP."""
    page = await opened.new_page(
        viewport={"width": picture.width, "height": picture.height},
        color_scheme="dark" if "-dark" in picture.name else "light",
    )
    if not picture.url.endswith(":login"):
        await page.goto(one_time_link(farm.address.url, farm.address.token))
        await page.wait_for_url(f"{farm.address.url}/")
        await page.goto("about:blank")
    address = farm.pages[picture.url.removeprefix(FARM)]
    await page.goto(f"{farm.address.url}{address}")
    if address.startswith("/runs/show"):
        await page.wait_for_selector(".kpi, .beside", timeout=1000 * SECONDS)
    await page.wait_for_timeout(1000)
    devtools = await page.context.new_cdp_session(page)
    options = {"format": "webp", "quality": QUALITY}
    told: Any = await devtools.send("Page.captureScreenshot", options)  # pyright: ignore
    await page.context.close()
    return base64.b64decode(told["data"])


def build_site(folder: Path) -> None:
    """Build the documentation. Raises CalledProcessError if a page has a fault or mkdocs is missing."""
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=SECONDS)


def main(path: str | None = None, names: Sequence[str] = ()) -> int:
    found = browser(path)
    if found is None:
        sys.stderr.write(f"no browser is installed; the pictures need one of {', '.join(BROWSERS)}\n")
        return 1
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as site:
        wanted = [one for one in pictures(Path(site)) if not names or one.name in names]
        of_farm = [one for one in wanted if one.url.startswith(FARM)]
        try:
            if others := [one for one in wanted if one not in of_farm]:
                build_site(Path(site))
                for picture in others:
                    sys.stdout.write(f"{take(picture, PICTURES, found).name}\n")
            if of_farm:
                asyncio.run(take_of_farm(of_farm, PICTURES, found))
        except subprocess.CalledProcessError as error:
            sys.stderr.write(f"{error}\n{error.stderr.decode(errors='replace')}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(names=sys.argv[1:]))
