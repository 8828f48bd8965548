"""Commands that play a bundle refuse one that is no text in regular files: in one line, with an exit code."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.processes import farm

ODD: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "a link": ("policy.md", lambda path: path.symlink_to("/etc/passwd"), "it is a symbolic link"),
    "a pipe": ("policy.md", os.mkfifo, "it is a named pipe"),
}


@pytest.mark.slow
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("command", ["prove", "certify", "hack"])
async def test_a_hostile_bundle_is_refused_in_a_line(shelf: Path, tmp_path: Path, command: str, odd: str) -> None:
    shop = Path(shutil.copytree(shelf / "shop", tmp_path / "shop"))
    name, put_there, why = ODD[odd]
    (shop / name).unlink()
    put_there(shop / name)
    done = await farm(command, shop, home=tmp_path)
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines() == [f"farm: {shop / name}: cannot be read: {why}; put a regular file there"]
