"""The command line itself: what is imported for which command, its help, and its completion in a shell."""

import ast
import importlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

import envfarm
from farm import LISTED, PACKAGES, loaded
from servers.bundle_library import OWN_LIBRARY, Library
from tests.processes import Done, farm, farm_up

ROOT = Path(__file__).parent.parent
HEAVY = {"openai", "mcp", "fastapi", "sqlalchemy", "uvicorn", "starlette", "httpx", "httpx2", "alembic", "apsw"}
MOST_FOR_HELP = 450
"""Modules of any kind, Python's own among them. There were 370 when this was written, and 2,034 with all commands."""
MOST_FOR_PUBLIC_MODULE = 150
"""The same for `import envfarm`. There were 61."""
IMPORTED = """
import json, sys, farm
try:
    farm.main()
finally:
    sys.stderr.write(json.dumps(sorted(sys.modules)))
"""


IN_FORKS = """
import json, os, sys, tempfile
import pydantic, typer.rich_utils, farm

ended = []
for arguments in json.load(sys.stdin):
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as imported:
        if not (pid := os.fork()):
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            sys.argv[1:] = arguments
            code = 1
            try:
                farm.main()
                code = 0
            except SystemExit as end:
                code = end.code
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                json.dump(sorted({name.partition(".")[0] for name in sys.modules}), imported)
                imported.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        said.seek(0)
        imported.seek(0)
        ended.append((code, said.read(), json.load(imported)))
json.dump(ended, sys.stdout)
"""
"""Runs commands in forks of a process that has imported what all of them need, which is not heavy."""


class Ended(NamedTuple):
    """What a command left: its exit code, what it said, and which packages it had imported."""

    code: int
    said: str
    imported: set[str]


def in_forks(commands: Iterable[Sequence[str]]) -> list[Ended]:
    """Run commands, each in a process that has imported hardly anything."""
    asked = json.dumps([[*arguments] for arguments in commands])
    done = subprocess.run([sys.executable, "-c", IN_FORKS], input=asked, capture_output=True, text=True, check=True)
    return [Ended(code, said, {*imported}) for code, said, imported in json.loads(done.stdout)]


def imported_by(*arguments: str) -> set[str]:
    """The modules that a command has imported when it ends."""
    done = subprocess.run([sys.executable, "-c", IMPORTED, *arguments], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr))


@pytest.mark.parametrize("option", ["--help", "-h", "--version"])
def test_help_and_version_import_no_command(option: str) -> None:
    modules = imported_by(option)
    assert {name.partition(".")[0] for name in modules} & (HEAVY | {"pydantic"}) == set()
    assert modules & {listed.module for listed in LISTED.values()} == set()
    assert len(modules) < MOST_FOR_HELP


def test_listing_environments_imports_nothing_that_serves_them() -> None:
    assert {name.partition(".")[0] for name in imported_by("environments")} & HEAVY == set()


@pytest.mark.parametrize("command", ["ps", "instances", "launch shop", "score 0123456789abcdef"])
def test_a_command_that_asks_a_running_farm_imports_no_server(command: str, tmp_path: Path) -> None:
    program = [sys.executable, "-c", IMPORTED, *command.split(), "--state", str(tmp_path)]
    [error, modules] = subprocess.run(program, stderr=subprocess.PIPE, text=True, check=False).stderr.splitlines()
    assert "no farm was started" in error
    assert {name.partition(".")[0] for name in json.loads(modules)} & HEAVY == {"httpx2"}


async def test_a_bundle_that_cannot_be_read_is_listed_with_the_reason(shelf: Path, tmp_path: Path) -> None:
    shelf = shutil.copytree(shelf, tmp_path / "shelf")
    (shelf / "shop" / "tools.py").unlink()
    (shelf / "toys").mkdir()
    (shelf / "toys" / "environment.json").write_text('{"id": "toys"}')
    done = await farm("environments", "--library", shelf, "--json", home=tmp_path)
    cards = {card["id"]: card for card in json.loads(done.out)}
    assert "shop/tools.py: the file is missing; a bundle has environment.json, " in cards["shop"]["problem"]
    assert cards["toys"]["problem"].endswith("toys/environment.json: title: is not a text")
    assert cards["library_loans"]["problem"] is None
    assert cards["library_loans"]["scenarios"] == len(Library([OWN_LIBRARY]).scenarios("library_loans"))


async def test_a_bundle_that_hides_another_is_told_once(tmp_path: Path) -> None:
    mine = shutil.copytree(OWN_LIBRARY / "library_loans", tmp_path / "mine" / "library_loans")
    hides = f"library_loans: mine/library_loans is used, and hides {OWN_LIBRARY / 'library_loans'}; give one of them"
    done = await farm("environments", "--library", "mine", home=tmp_path)
    assert done.out.count(hides) == 1
    assert "hides" not in (await farm("environments", home=tmp_path)).out
    done = await farm("check", mine, home=tmp_path)
    assert f"advice: {hides.replace('mine/', f'{tmp_path}/mine/')}" in done.out
    async with farm_up(tmp_path / "state", "--port", "0", "--library", "mine", home=tmp_path) as running:
        assert hides in (await running.started.out.readline()).decode()


def first_paragraph(command: Any) -> str:
    return " ".join(command.help.split("\n\n")[0].split())


@pytest.mark.parametrize("name", LISTED)
def test_a_command_is_listed_as_it_describes_itself(name: str) -> None:
    listed, command = LISTED[name], loaded(name)
    assert (listed.help, listed.hidden) == (first_paragraph(command), command.hidden)


def test_every_command_of_every_module_is_listed() -> None:
    there: set[tuple[str, str]] = set()
    for path in ROOT.glob("[a-z]*/**/*.py"):
        if not {"tests", ".venv"} & {*path.relative_to(ROOT).parts} and defines_commands(path):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            app: typer.Typer = importlib.import_module(module).app
            there |= {(module, name) for name in typer.main.get_group(app).commands}
    listed = {(module, name) for name, one in LISTED.items() for module in (one.module, one.also) if module}
    assert listed == there


def defines_commands(path: Path) -> bool:
    """Whether a file makes a Typer named `app`."""
    return any(
        isinstance(node, ast.Assign) and ast.unparse(node) == "app = typer.Typer()"
        for node in ast.parse(path.read_text(encoding="utf-8")).body
    )


async def test_a_short_h_is_help_of_every_command(tmp_path: Path) -> None:
    short, long = await farm("synth", "run", "-h", home=tmp_path), await farm("synth", "run", "--help", home=tmp_path)
    assert short == long
    assert short.code == 0
    assert "Usage: farm synth run" in short.out


async def completed(tmp_path: Path, words: str) -> Done:
    """What bash is told to complete the last word with."""
    count = str(len(words.split(" ")) - 1)
    return await farm(home=tmp_path, _FARM_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=count)


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        ("farm env", ["environments"]),
        ("farm s", ["scenarios", "serve", "state", "sql", "score", "synth", "show"]),
        ("farm synth ", ["run", "backward", "forward", "converse", "pairs", "retell", "phrases"]),
        ("farm environments --lo", ["--long"]),
    ],
)
async def test_a_shell_completes_commands_and_options(tmp_path: Path, words: str, completions: list[str]) -> None:
    done = await completed(tmp_path, words)
    assert (done.code, done.out.split(), done.err) == (0, completions, "")


@pytest.mark.parametrize(
    ("name", "command", "code"),
    [
        ("evals", ("environments",), 0),
        ("evals", ("report", "run"), 1),
        ("registry", ("instances",), 1),
        ("servers", ("--help",), 1),
    ],
)
async def test_a_package_of_others_with_a_name_of_ours_is_named(
    tmp_path: Path, name: str, command: tuple[str, ...], code: int
) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("")
    done = await farm(*command, home=tmp_path, cold=True)
    assert done.code == code
    assert done.err.startswith(f"farm: {tmp_path / name} stands before envfarm's own package '{name}'")
    assert done.err.count("\n") == 1


async def test_a_module_of_others_with_a_name_of_ours_is_named(tmp_path: Path) -> None:
    (tmp_path / "evals.py").write_text("")
    done = await farm("report", "run", home=tmp_path, cold=True)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert str(tmp_path / "evals.py") in done.err


MISTAKES = (
    (("play", "no_such_place", "--scenario", "one", "--gold"), "no such bundle"),
    (("play", "library_loans", "--scenario", "no_such_one", "--gold"), "no scenario 'no_such_one'"),
    (("play", "library_loans", "--scenario", "renew_card"), "choose one"),
    (("eval", "no_such.toml", "--out", "run"), "no_such.toml"),
    (("judge", "run", "--with", "no_such_place"), "no such bundle"),
)


def test_a_mistake_is_told_before_what_takes_seconds_is_imported() -> None:
    for (arguments, told), ended in zip(MISTAKES, in_forks(arguments for arguments, _ in MISTAKES), strict=True):
        assert (ended.code, told in ended.said) == (2, True), ended.said
        assert ended.imported & (HEAVY - {"apsw"}) == set(), arguments


def test_importing_the_public_module_imports_nothing_else_of_ours() -> None:
    script = "import json, sys, envfarm; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    modules = set(json.loads(done.stdout))
    assert {name.partition(".")[0] for name in modules} & (HEAVY | {"pydantic", *PACKAGES}) == set()
    assert len(modules) < MOST_FOR_PUBLIC_MODULE


def test_the_public_names_are_all_there_and_are_what_type_checkers_take_them_for() -> None:
    """A type checker reads the imports under `TYPE_CHECKING`, and Python the table of where each name is defined."""
    tree = ast.parse(Path(envfarm.__file__).read_text(encoding="utf-8"))
    [checked] = [node for node in tree.body if isinstance(node, ast.If)]
    typed = {
        alias.name: getattr(importlib.import_module(node.module or ""), alias.name)
        for node in checked.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(typed) == sorted(envfarm.__all__)
    assert {name: getattr(envfarm, name) for name in envfarm.__all__} == typed
    assert set(envfarm.__all__) < set(dir(envfarm))


def test_a_public_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'envfarm' has no attribute 'Farm'"):
        getattr(envfarm, "Farm")  # noqa: B009 - a type checker knows that it is not there


LIGHT = (
    "connect --help",
    "score",
    "score NOT-AN-ID",
    "launch --count 0 library_loans",
    "close",
    "up --port 99999",
    "ps --help",
    "state NOT-AN-ID",
    "history NOT-AN-ID",
    "synth --help",
    "synth run --out none",
    "synth backward library_loans --level 2 --tool renew_card",
    "synth forward library_loans",
    "synth retell none",
    "certify --help",
    "certify none",
    "hack none",
    "rl --help",
    "rl prepare --out none --pass-rate much",
    "rl train",
)


def test_commands_tell_their_help_and_refuse_misuse_before_anything_heavy_is_imported() -> None:
    for words, ended in zip(LIGHT, in_forks(words.split() for words in LIGHT), strict=True):
        assert ended.code == (0 if "--help" in words else 2), (words, ended.said)
        assert ended.imported & HEAVY == set(), words
