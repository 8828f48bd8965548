"""The pictures of the documentation, taken by a real browser: `python -m tests.pictures` takes them again.

It needs Chromium, and mkdocs (extra `docs`) for the picture of the site. It prints what is missing, and exits with 1.
"""

import asyncio
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from playwright.async_api import Browser, async_playwright

from agent_client.toolbox import connect
from registry.client import Address, FarmClient
from registry.farm import Options, running
from registry.web.session import one_time_link
from servers.bundle_library import OWN_LIBRARY
from tests.evals.example_report import EXAMPLE
from tests.prose import ROOT

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
PICTURES = ROOT / "docs" / "pictures"
ROLLOUT = "library_loans%2Fback1_0007%230"
SECONDS = 120.0
FARM = "farm:"
"""Before the address of a page of a farm, which is started for its picture."""


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
    yield Picture("gallery.png", f"{FARM}/", width=1280, height=860)
    yield Picture("playground.png", f"{FARM}/play", width=1440, height=1000)
    yield Picture("playground-dark.png", f"{FARM}/play", width=1440, height=1000)


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
    """Write the pictures of the pages of a farm: its gallery, and a scenario in the middle of a play."""
    with tempfile.TemporaryDirectory() as state:
        options = Options(library=(OWN_LIBRARY,), state=Path(state), port=0)
        async with running(options) as address, FarmClient(address.url, address.token) as client:
            [lease] = await client.launch("library_loans", "renew_before_trip")
            async with connect(*lease.address()) as toolbox:
                await toolbox.call("find_members", {"name": "Ada Lindqvist"})
                await toolbox.call("find_loans", {"member_id": "mem_ada", "status": "open"})
                await toolbox.call("renew_loan", {"loan_id": "loan_0025"})
            await client.score(lease.instance, "Dune is renewed, until 8 April.")
            async with async_playwright() as playwright:
                opened = await playwright.chromium.launch(executable_path=with_browser, args=["--no-sandbox"])
                for picture in wanted:
                    place = f"/instances/{lease.instance}?tool=renew_loan" if picture.url.endswith("play") else "/"
                    await _take_page(opened, address, picture, place, folder)
                await opened.close()


async def _take_page(opened: Browser, address: Address, picture: Picture, place: str, folder: Path) -> None:
    page = await opened.new_page(
        viewport={"width": picture.width, "height": picture.height},
        color_scheme="dark" if "dark" in picture.name else "light",
    )
    await page.goto(one_time_link(address.url, address.token))
    await page.wait_for_url(f"{address.url}/")
    await page.goto(f"{address.url}{place}")
    await page.wait_for_timeout(500)
    await page.screenshot(path=folder / picture.name)
    sys.stdout.write(f"{(folder / picture.name).relative_to(ROOT)}\n")
    await page.close()


def build_site(folder: Path) -> None:
    """Build the documentation. Raises CalledProcessError if a page has a fault or mkdocs is missing."""
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=SECONDS)


def main(path: str | None = None) -> int:
    found = browser(path)
    if found is None:
        sys.stderr.write(f"no browser is installed; the pictures need one of {', '.join(BROWSERS)}\n")
        return 1
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as site:
        try:
            build_site(Path(site))
            for picture in pictures(Path(site)):
                if not picture.url.startswith(FARM):
                    sys.stdout.write(f"{take(picture, PICTURES, found).relative_to(ROOT)}\n")
            asyncio.run(
                take_of_farm([one for one in pictures(Path(site)) if one.url.startswith(FARM)], PICTURES, found)
            )
        except subprocess.CalledProcessError as error:
            sys.stderr.write(f"{error}\n{error.stderr.decode(errors='replace')}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
