"""The pictures of the documentation, taken by a real browser: `python -m tests.pictures` takes them again.

It needs Chromium, and mkdocs (extra `docs`) for the picture of the site. It prints what is missing, and exits with 1.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.evals.example_report import EXAMPLE
from tests.prose import ROOT

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
PICTURES = ROOT / "docs" / "pictures"
ROLLOUT = "library_loans%2Fback1_0007%230"
SECONDS = 120.0


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
                sys.stdout.write(f"{take(picture, PICTURES, found).relative_to(ROOT)}\n")
        except subprocess.CalledProcessError as error:
            sys.stderr.write(f"{error}\n{error.stderr.decode(errors='replace')}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
