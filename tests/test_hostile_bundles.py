"""Bundles and runs whose files are no text in regular files: every command refuses them by name, and ends by itself."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from servers.bundle.files import PACKAGED
from tests.processes import Done, farm, farm_up

ENVIRONMENT = "parcel_room"
"""The environment that is copied: under its own id, so that commands get as far as the file."""
IN_BUNDLE, IN_RUN = f"library/{ENVIRONMENT}/", "run/"
SERVED = ("environment.json", "policy.md", "schema.sql", "seed.sql", "tools.py")
PLAYED = (*SERVED, "scenarios.jsonl")
EXAMINED = (*PLAYED, "rules.json", "phrases.json", "paraphrases.json", "examples.json")
READS: dict[str, tuple[str, ...]] = {
    "check {bundle}": (*EXAMINED, "proof.json"),
    "derive {bundle}": ("tools.py",),
    "derive {bundle} --write": ("environment.json", "tools.py"),
    "prove {bundle} --calls 20": (*SERVED, "rules.json", "phrases.json", "paraphrases.json", "examples.json"),
    "prove {bundle} --check": (*SERVED, "rules.json", "examples.json", "proof.json"),
    "certify {bundle} --scenario {scenario} --jobs 1": EXAMINED,
    "certify {bundle} --told": EXAMINED,
    "hack {bundle} --scenario {scenario} --jobs 1": EXAMINED,
    "play {bundle} --scenario {scenario} --gold": PLAYED,
    "serve {bundle} --scenario {scenario}": PLAYED,
    "connect json {bundle} --scenario {scenario}": PLAYED,
    "connect json {bundle}": ("environment.json",),
    "scenarios {bundle}": PLAYED,
    "scenarios {bundle} {scenario}": PLAYED,
    "scenarios {bundle} --add {more}": (*PLAYED, "rules.json", "phrases.json", "examples.json"),
    "audit {bundle}": PLAYED,
    "export envscaler {bundle} --out out": PLAYED,
    "export sft --reference {library} --out out": PLAYED,
    "judge {run} --with {bundle}": PLAYED,
    "eval {suite} --library {library} --out out": PLAYED,
    "synth backward {bundle} --n 1 --jobs 1": (*PLAYED, "phrases.json"),
    "synth forward {bundle} --n 1 --writer recording --recording {none} --solver x": PLAYED,
    "synth converse {bundle} --n 1 --writer recording --recording {none} --solver x": PLAYED,
    "synth phrases {bundle} --writer recording --recording {none}": (*SERVED, "phrases.json"),
}
"""Every command that takes a bundle, and the files that it reads."""
SAYS_NO_FILE = {"connect json {bundle}", "synth phrases {bundle} --writer recording --recording {none}"}
"""Commands that ask only whether a file is there or can be replaced: what it holds they do not read."""
COMPARES = {("prove {bundle} --check", "deep")}
"""A command that compares a text with the digest that was proved, and does not read what it means."""
RUN_READS: dict[str, tuple[str, ...]] = {
    "show {run}": ("run.json", "rollouts.jsonl"),
    "report {run}": ("run.json", "scenarios.jsonl", "rollouts.jsonl"),
    "judge {run} --with {bundle}": ("run.json", "rollouts.jsonl"),
    "export sft {run} --out out": ("run.json", "rollouts.jsonl"),
    "eval {suite} --library {library} --out {run}": ("run.json", "lock"),
}
"""Every command that takes a run's folder, and the files that it reads."""


def too_large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(300 * 1024 * 1024)
        file.seek(0, os.SEEK_END)
        file.write(b"\n")


ODD: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a link": lambda path: path.symlink_to("/etc/passwd"),
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a folder": Path.mkdir,
    "too large": too_large,
}
TEXTS: dict[str, Callable[[Path], object]] = {
    "deep": lambda path: path.write_text("[" * 200_000 + "]" * 200_000 + "\n", encoding="utf-8"),
    "not UTF-8": lambda path: path.write_bytes(b'{"id": "\xff"}\n'),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with one bundle, a run of it, a suite, and files to read. Not to be written to."""
    home = tmp_path_factory.mktemp("sound")
    shutil.copytree(PACKAGED / ENVIRONMENT, home / "library" / ENVIRONMENT)
    lines = ['name = "one"', "[agent]", 'kind = "gold"', "[scenarios]"]
    (home / "suite.toml").write_text("\n".join([*lines, f'ids = ["{ENVIRONMENT}/{first_scenario()["id"]}"]', ""]))
    (home / "none.jsonl").touch()
    (home / "more.jsonl").write_text(json.dumps(first_scenario() | {"id": "another", "title": "Another"}) + "\n")
    return home


def first_scenario() -> dict[str, object]:
    with (PACKAGED / ENVIRONMENT / "scenarios.jsonl").open(encoding="utf-8") as file:
        return json.loads(file.readline())


async def done_with(home: Path, sound: Path, command: str, path: str, put: Callable[[Path], object]) -> Done:
    """Run a command in a home where one file, at a path in it, is an odd one."""
    shutil.copytree(sound, home, dirs_exist_ok=True)
    places = {
        "bundle": home / "library" / ENVIRONMENT,
        "library": home / "library",
        "run": home / "run",
        "suite": home / "suite.toml",
        "more": home / "more.jsonl",
        "none": home / "none.jsonl",
        "scenario": first_scenario()["id"],
    }
    if "{run}" in command:
        saved = await farm(*f"play {ENVIRONMENT} --scenario {places['scenario']} --gold --save run".split(), home=home)
        assert saved.code == 0, saved.err
    (home / path).unlink(missing_ok=True)
    put(home / path)
    return await farm(*(word.format(**places) for word in command.split()), home=home)


def is_refused(done: Done, file: str) -> None:
    told = done.out + done.err
    assert done.code in (1, 2), told
    assert file in told
    assert "Traceback" not in told


CASES = [(command, file) for command, files in READS.items() for file in files]
RUN_CASES = [(command, file) for command, files in RUN_READS.items() for file in files]
SAMPLE = [
    ("check {bundle}", "proof.json"),
    ("play {bundle} --scenario {scenario} --gold", "scenarios.jsonl"),
    ("scenarios {bundle} --add {more}", "rules.json"),
    ("serve {bundle} --scenario {scenario}", "policy.md"),
    ("audit {bundle}", "tools.py"),
    ("synth phrases {bundle} --writer recording --recording {none}", "phrases.json"),
]


@pytest.mark.parametrize(("command", "file"), SAMPLE)
async def test_a_command_does_not_wait_for_a_pipe_in_a_bundle(
    sound: Path, tmp_path: Path, command: str, file: str
) -> None:
    is_refused(await done_with(tmp_path, sound, command, IN_BUNDLE + file, os.mkfifo), file)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "file"), [case for case in CASES if case not in SAMPLE])
async def test_no_command_waits_for_a_pipe_in_a_bundle(sound: Path, tmp_path: Path, command: str, file: str) -> None:
    is_refused(await done_with(tmp_path, sound, command, IN_BUNDLE + file, os.mkfifo), file)


@pytest.mark.slow
@pytest.mark.parametrize("odd", [*ODD, *TEXTS])
@pytest.mark.parametrize("command", [command for command in READS if command not in SAYS_NO_FILE])
async def test_every_command_refuses_an_odd_file_of_a_bundle(
    sound: Path, tmp_path: Path, command: str, odd: str
) -> None:
    files = READS[command]
    file = "scenarios.jsonl" if "scenarios.jsonl" in files else files[0]
    done = await done_with(tmp_path, sound, command, IN_BUNDLE + file, (ODD | TEXTS)[odd])
    is_refused(done, "no proof.json about its files" if (command, odd) in COMPARES else file)


@pytest.mark.parametrize(("command", "file"), RUN_CASES[:2])
async def test_a_command_does_not_wait_for_a_pipe_in_a_run(
    sound: Path, tmp_path: Path, command: str, file: str
) -> None:
    is_refused(await done_with(tmp_path, sound, command, IN_RUN + file, os.mkfifo), file)


@pytest.mark.slow
@pytest.mark.parametrize("odd", [*ODD, *TEXTS])
@pytest.mark.parametrize(("command", "file"), RUN_CASES)
async def test_every_command_refuses_an_odd_file_of_a_run(
    sound: Path, tmp_path: Path, command: str, file: str, odd: str
) -> None:
    if file == "lock" and odd in ("too large", *TEXTS):
        pytest.skip("what a lock holds is not read")
    is_refused(
        await done_with(tmp_path, sound, command, IN_RUN + file, (ODD | TEXTS)[odd]), "" if file == "lock" else file
    )


@pytest.mark.slow
@pytest.mark.parametrize("odd", [*ODD, *TEXTS])
async def test_a_farm_stays_up_beside_a_hostile_bundle_and_does_not_launch_it(
    sound: Path, tmp_path: Path, odd: str
) -> None:
    library = Path(shutil.copytree(sound / "library", tmp_path / "library"))
    path = library / ENVIRONMENT / "scenarios.jsonl"
    path.unlink()
    (ODD | TEXTS)[odd](path)
    async with farm_up(tmp_path / "state", "--library", library, "--port", "0", home=tmp_path) as running:
        for command in ("launch", "connect json --lease"):
            is_refused(
                await farm(*command.split(), ENVIRONMENT, "--scenario", "x", "--state", running.state, home=tmp_path),
                "scenarios.jsonl",
            )
