"""Scratch folders: nothing of them stays, whatever ends the process that made them."""

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from servers.files.scratch_folder import scratch_folder

KILLED = """
import os, signal
from servers.files.scratch_folder import scratch_folder

with scratch_folder("test") as folder:
    (folder / "token").write_text("secret")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_a_scratch_folder_is_private_and_is_gone_at_its_end(temporary: Path) -> None:
    with scratch_folder("test") as folder:
        assert (folder.parent, folder.stat().st_mode & 0o777) == (temporary, 0o700)
        (folder / "some").mkdir()
    assert list(temporary.iterdir()) == []


def test_what_a_killed_process_left_is_deleted_by_the_next(temporary: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED], check=False)
    [left] = temporary.iterdir()
    assert (done.returncode, (left / "token").read_text()) == (-signal.SIGKILL, "secret")
    with scratch_folder("test") as folder:
        assert list(temporary.iterdir()) == [folder]


def test_what_is_used_or_no_scratch_folder_is_left_alone(temporary: Path) -> None:
    named, linked = (temporary / f"farm-test-{letter * 8}.scratch" for letter in "ab")
    others = [temporary / name for name in ("farm-mine", "farm-test-notes.scratch")]
    for folder in others:
        folder.mkdir()
    named.write_text("a file")
    linked.symlink_to(others[0])
    with scratch_folder("test") as first:
        with scratch_folder("test") as second:
            assert set(temporary.iterdir()) == {first, second, named, linked, *others}
        assert first.exists()
    assert all(one.exists() for one in (named, linked, *others))
