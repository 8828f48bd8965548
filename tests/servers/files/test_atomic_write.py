"""Files are written whole, and whether they can be is known before there is something to lose."""

import os
from pathlib import Path

import pytest

from servers.errors import RequestError
from servers.files.atomic_write import make_sure_of, write_whole
from servers.files.private_files import write_private
from tests.disks import no_file_longer_than


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_whole(path, "old")
    write_whole(path, "new")
    assert {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()} == {"page.html": "new"}


def test_a_file_that_does_not_fit_on_the_disk_is_named(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_whole(path, "old")
    with no_file_longer_than(1000), pytest.raises(OSError, match=r"page\.html"):
        write_whole(path, "x" * 2000)
    assert {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()} == {"page.html": "old"}


def test_a_mode_is_kept_whatever_the_umask_is(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_whole(path, "shared", mode=0o666)
    assert path.stat().st_mode & 0o777 == 0o666


def test_what_cannot_be_put_in_place_leaves_nothing_beside_it(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(IsADirectoryError):
        write_private(tmp_path / "there", b"told")
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(path, "told")
        assert (os.read(reader, 100), path.is_fifo()) == (b"told", True)
    finally:
        os.close(reader)


def test_looking_whether_a_file_can_be_written_leaves_it_as_it_was(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_text("kept", encoding="utf-8")
    make_sure_of(there, "--out")
    make_sure_of(tmp_path / "new", "--out")
    assert [(file.name, file.read_text(encoding="utf-8")) for file in tmp_path.iterdir()] == [("there", "kept")]


def test_a_file_that_cannot_be_written_is_named_with_its_option(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"^--html .*/nowhere/page\.html: cannot be written: there is no folder"):
        make_sure_of(tmp_path / "nowhere" / "page.html", "--html")
    with pytest.raises(RequestError, match="it is a folder"):
        make_sure_of(tmp_path, "--html")
