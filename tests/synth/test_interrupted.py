"""Ctrl-C in the middle of the work of several processes: nothing is left running, nothing that was done is lost."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from servers.bundle_library import OWN_LIBRARY
from tests.bundles import write_bundle
from tests.processes import farm, started, until, watching_for_orphans

NEWLINE = b"\n"
LOANS = OWN_LIBRARY / "library_loans"


async def interrupted(*arguments: str | Path, home: Path, when: Callable[[], bool]) -> None:
    """Start `farm` as a terminal would, and send Ctrl-C to all that came of it."""
    with watching_for_orphans() as left:
        one = await started(*arguments, home=home, leads=True)
        await until(when, "it is in the middle of it")
        os.killpg(one.pid, signal.SIGINT)
        done = await one.ended()
        assert (done.code, told_of_an_end(done.err)) == (130, True)
        await until(lambda: not left(), "nothing is left running")


def told_of_an_end(err: str) -> bool:
    """Whether a command said one line: that it was interrupted, and how it is gone on with if it can be."""
    return err.startswith("farm: interrupted") and err.count("\n") == 1


def lines(path: Path) -> int:
    """The whole lines of a file, which may be in the middle of the next one."""
    return path.read_bytes().count(NEWLINE) if path.exists() else 0


async def test_scenarios_that_were_made_stay_and_the_same_command_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "stopped"
    make = ("synth", "backward", "parcel_room", "--jobs", "2", "--out")
    await interrupted(*make, out, "--n", "64", home=tmp_path, when=lambda: lines(out) >= 2)
    there = lines(out)
    assert 2 <= there < 64
    before = out.read_bytes()
    make = (*make[:-3], "--jobs", "1", "--out")
    done = await farm(*make, out, "--n", str(there + 2), home=tmp_path)
    assert (done.code, lines(out)) == (0, there + 2)
    assert out.read_bytes().startswith(before)


async def test_certificates_that_were_given_stay_and_the_others_can_be_made(tmp_path: Path) -> None:
    loans = copytree(LOANS, tmp_path / "library_loans")
    path = loans / "scenarios.jsonl"
    there = [{**json.loads(line), "certificate": None} for line in path.read_text().splitlines()]

    def write(scenarios: list[dict[str, Any]]) -> None:
        path.write_text("".join(f"{json.dumps(one)}\n" for one in scenarios))

    def read() -> list[dict[str, Any]]:
        return [json.loads(line) for line in path.read_text().splitlines()]

    def given() -> int:
        return sum(one["certificate"] is not None for one in read())

    write(there)

    certify = ("certify", loans, "--write", "--stale", "--jobs")
    await interrupted(*certify, "2", home=tmp_path, when=lambda: given() >= 2)
    certified = [one for one in read() if one["certificate"] is not None]
    assert 2 <= len(certified) < len(there)
    write([*certified, *(one for one in read() if one["certificate"] is None)][: len(certified) + 2])
    done = await farm(*certify, "1", home=tmp_path)
    assert (done.code, given()) == (0, len(certified) + 2)
    assert "2 of 2 scenarios are certified." in done.out
    assert read()[: len(certified)] == certified
    assert (await farm(*certify, "1", home=tmp_path)).out == "Nothing to examine.\n"


async def test_proofs_that_were_made_stay_and_the_others_can_be_made(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop", scenarios=())
    loans = copytree(LOANS, tmp_path / "library_loans")
    (loans / "proof.json").unlink()
    prove = ("prove", shop, loans, "--write", "--stale", "--calls")
    await interrupted(*prove, "400", "--jobs", "2", home=tmp_path, when=(shop / "proof.json").exists)
    kept = (shop / "proof.json").stat().st_mtime_ns
    assert not (loans / "proof.json").exists()
    done = await farm(*prove, "60", "--jobs", "1", home=tmp_path)
    assert "written: " in done.out
    assert (loans / "proof.json").exists()
    assert (shop / "proof.json").stat().st_mtime_ns == kept


@pytest.mark.slow
async def test_a_search_goes_on_with_the_scenarios_that_are_left(tmp_path: Path) -> None:
    loans = copytree(LOANS, tmp_path / "library_loans")
    path = loans / "scenarios.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:8]))
    out, whole = tmp_path / "stopped", tmp_path / "whole"
    kept = out / "searched.jsonl"
    search = ("hack", loans, "--jobs", "2", "--budget", "5", "--json", "--out")
    await interrupted(*search, out, home=tmp_path, when=lambda: lines(kept) >= 2)
    before = kept.read_bytes()
    assert 2 <= lines(kept) < 8
    kept.write_bytes(before + b'["unfinished')
    done = await farm(*search, out, home=tmp_path)
    assert lines(kept) == 8
    assert kept.read_bytes().startswith(before)
    assert f"{before.count(NEWLINE)} of 8 scenarios were searched before." in done.err
    assert done.out == (await farm(*search, whole, home=tmp_path)).out
    path.write_text(path.read_text().replace('"title": "', '"title": "Another: ', 1))
    done = await farm(*search, out, home=tmp_path)
    assert "7 of 8 scenarios were searched before." in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("certify", "library_loans"),
        ("prove", "library_loans", "hotel_bookings"),
        ("synth", "backward", "library_loans", "--out", "more.jsonl"),
    ],
    ids=lambda arguments: arguments[0],
)
async def test_it_may_come_while_processes_are_still_starting(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    def starting() -> bool:
        return any("spawn_main" in one.command for one in left())

    with watching_for_orphans() as left:
        one = await started(*arguments, "--jobs", "2", home=tmp_path, leads=True)
        await until(starting, "the first is starting")
        os.killpg(one.pid, signal.SIGINT)
        done = await one.ended()
        assert (done.code, told_of_an_end(done.err)) == (130, True)
        await until(lambda: not left(), "nothing is left running")
