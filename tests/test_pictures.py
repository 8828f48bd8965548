"""The pictures of the documentation are taken by a browser; without one, the reader is told what is missing."""

import struct
from pathlib import Path

import pytest

from tests.pictures import PICTURES, browser, main, pictures, take
from tests.prose import PAGES, ROOT

MOST_BYTES = 4 * 1024 * 1024


def size_of(file: Path) -> tuple[int, int]:
    """Width and height of a PNG or a WebP, in pixels."""
    head = file.read_bytes()[:30]
    if head[:8] == b"\x89PNG\r\n\x1a\n":
        return struct.unpack(">II", head[16:24])
    assert (head[:4], head[8:16]) == (b"RIFF", b"WEBPVP8X")
    return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1


def test_each_picture_is_there_with_its_size() -> None:
    every = {picture.name: (picture.width, picture.height) for picture in pictures(ROOT)}
    assert {file.name: size_of(file) for file in PICTURES.iterdir()} == every


def test_the_pictures_are_small_together() -> None:
    assert sum(file.stat().st_size for file in PICTURES.iterdir()) < MOST_BYTES


def test_each_picture_is_shown_on_a_page() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [picture.name for picture in pictures(ROOT) if f"pictures/{picture.name})" not in text] == []


def test_without_a_browser_it_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(str(tmp_path)) == 1
    assert capsys.readouterr().err.startswith("no browser is installed; the pictures need one of chromium,")


@pytest.mark.slow
@pytest.mark.skipif(browser() is None, reason="needs Chromium")
def test_a_browser_takes_the_picture_of_a_report(tmp_path: Path) -> None:
    [picture] = [one for one in pictures(ROOT) if one.name == "report.png"]
    found = browser()
    assert found is not None
    assert size_of(take(picture, tmp_path, found)) == (picture.width, picture.height)
