"""Files that a user names on the command line: one that is no regular file of bounded size is refused at once."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from servers.bundle.files import PACKAGED
from servers.errors import RequestError
from servers.files.named_file import LARGEST_NAMED, bytes_named, names_found, opened_by_name, text_found, text_named
from synth.interop.benchmarks.clone import Clone
from tests.processes import farm

NAMED = [
    "certify parcel_room --against {odd}.py",
    "connect json parcel_room --scenario return-0e3f --write {odd}",
    "eval {odd} --out out",
    "export sft --reference {library} --out out --template {odd}",
    "launch parcel_room --token-file {odd}",
    "up --token-file {odd}",
    "up --join-token-file {odd}",
    "up --authority {odd}",
    "worker --registry http://one --advertise http://two --token-file {odd}",
    "import envscaler {odd} {sound} --out out",
    "import envscaler {sound} {odd} --out out",
    "import envscaler {sound} {sound} --out out --licence {odd}",
    "play parcel_room --scenario return-0e3f --solution {odd}",
    "rl sft {odd} --run out --data .",
    "rl train {odd} --run out",
    "scenarios parcel_room --add {odd}",
    "synth run {odd}",
    "synth run --tasks {odd}.jsonl --n 1 --out out --writer recording --recording {empty}",
    "synth run --topic Bells --out out --writer recording --recording {odd}",
    "synth run --topic Bells --out out --writer recording --recording {odd}.gz",
    "synth run --topic Bells --out out --writer recording --recording {empty} --record {odd}",
    "synth run --topic Bells --out out --writer batch --model x --batch-results {odd}",
]
"""Every command that reads a file whose name it is given."""
SAMPLE = NAMED[:2]


def too_large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(LARGEST_NAMED + 1)


ODD: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "larger than 512 MiB": too_large,
}


async def is_refused(home: Path, command: str, odd: str) -> None:
    name = next(word for word in command.split() if "{odd}" in word).format(odd="odd")
    ODD[odd](home / name)
    (home / "sound.json").write_text("{}")
    (home / "empty.jsonl").touch()
    done = await farm(
        *command.format(odd="odd", sound="sound.json", empty="empty.jsonl", library=PACKAGED).split(), home=home
    )
    told = done.out + done.err
    assert (done.code, name in told, "Traceback" in told) == (2, True, False), told


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("command", SAMPLE)
async def test_a_command_does_not_wait_for_a_file_that_is_none(tmp_path: Path, command: str, odd: str) -> None:
    await is_refused(tmp_path, command, odd)


@pytest.mark.slow
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("command", [command for command in NAMED if command not in SAMPLE])
async def test_no_command_waits_for_a_file_that_is_none(tmp_path: Path, command: str, odd: str) -> None:
    await is_refused(tmp_path, command, odd)


@pytest.mark.parametrize("odd", ODD)
def test_what_is_no_regular_file_of_that_size_is_told(tmp_path: Path, odd: str) -> None:
    ODD[odd](tmp_path / "odd")
    with pytest.raises(OSError, match=f"it is {odd}"):
        opened_by_name(tmp_path / "odd")


def test_a_link_to_a_regular_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"one\r\ntwo")
    (tmp_path / "link").symlink_to("file")
    assert text_named(tmp_path / "link") == "one\ntwo"


def test_a_file_of_a_folder_of_others_is_read_through_no_link_out_of_it(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (tmp_path / "private").write_text("secret")
    (theirs / "LICENSE").write_text("MIT")
    (theirs / "inside").symlink_to("LICENSE")
    assert text_found(theirs, "inside") == "MIT"
    for name, target in (("LICENSE.md", "../private"), ("folder", "..")):
        (theirs / name).symlink_to(target)
    for name in ("LICENSE.md", "folder/private"):
        with pytest.raises(OSError, match="a link leads out of its folder"):
            text_found(theirs, name)
    with pytest.raises(RequestError, match="a link leads out of its folder"):
        Clone(theirs, "a benchmark").text("LICENSE.md")


async def test_a_licence_that_is_a_link_to_a_private_file_reaches_no_bundle(tmp_path: Path) -> None:
    (tmp_path / "private.txt").write_text("secret")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "LICENSE").symlink_to("../private.txt")
    for name in ("environments.json", "scenarios.json"):
        (theirs / name).write_text("{}")
    command = ("import", "envscaler", "theirs/environments.json", "theirs/scenarios.json", "--out", "out")
    done = await farm(*command, home=tmp_path)
    assert (done.code, "theirs/LICENSE: cannot be read: a link leads out" in done.err) == (2, True), done.err
    assert not (tmp_path / "out").exists()
    assert (await farm(*command, "--licence", "private.txt", home=tmp_path)).code == 0


def test_a_listing_of_a_folder_of_others_follows_no_link_and_has_an_end(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    (theirs / "deep" / "deeper").mkdir(parents=True)
    (tmp_path / "private.json").write_text("{}")
    (theirs / "linked.json").symlink_to("../private.json")
    (theirs / "folder").symlink_to("..")
    os.mkfifo(theirs / "pipe.json")
    for name in ("b.json", "a.json", "deep/deeper/c.json", "d.txt"):
        (theirs / name).write_text("{}")
    assert names_found(theirs, "", (".json",)) == ["a.json", "b.json"]
    assert names_found(theirs, "", (".json",), deep=True) == ["a.json", "b.json", "deep/deeper/c.json"]
    assert names_found(theirs, "none", (".json",)) == []
    with pytest.raises(OSError, match="a link leads out of its folder"):
        names_found(theirs, "folder", (".json",))
    with pytest.raises(OSError, match="more than 3 files and folders"):
        names_found(theirs, "", (".json",), most=3)


def test_a_file_that_grows_is_read_up_to_its_bound(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="larger than 1 KiB"):
        bytes_named(Path("/proc/self/smaps"), largest=1024)  # whose size is told as 0


def test_json_of_a_clone_that_is_nested_deep_is_refused(tmp_path: Path) -> None:
    deep = "[" * 500 + "]" * 500
    (tmp_path / "deep.json").write_text(deep)
    (tmp_path / "rows.json").write_text(f'{{"a": {deep}}}\n')
    clone = Clone(tmp_path, "a benchmark")
    with pytest.raises(RequestError, match=r"deep.json: is not JSON: nested deeper than 100 levels"):
        clone.json("deep.json")
    with pytest.raises(RequestError, match=r"row 1: is not JSON: nested deeper than 100 levels"):
        clone.rows("rows.json")
