"""The site of docs/ is built without a complaint, has every page, and asks nothing of other hosts."""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from tests.processes import LONG
from tests.prose import ROOT

pytest.importorskip("mkdocs", reason="needs the extra [docs]")

LOADED = re.compile(
    r"""<(?:script|img|iframe|link(?=[^>]*stylesheet))[^>]*?(?:src|href)=["']?((?:https?:)?//[^"' >]+)"""
)


async def test_the_site_is_whole_and_needs_no_network(tmp_path: Path) -> None:
    site = tmp_path / "site"
    building = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)),
        cwd=ROOT,
        env={"NO_MKDOCS_2_WARNING": "1", "PATH": "", "HOME": str(tmp_path)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(LONG):
        said, _ = await building.communicate()
    assert building.returncode == 0, said.decode()
    pages = {page.relative_to(ROOT / "docs").with_suffix(".html") for page in (ROOT / "docs").rglob("*.md")}
    built = {page.relative_to(site): page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    assert pages <= built.keys()
    assert {page: found for page, text in built.items() if (found := LOADED.findall(text))} == {}
    assert "score" in built[Path("reference/python.html")]
