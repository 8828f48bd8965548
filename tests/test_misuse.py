"""What people mistype: every command ends with exit code 2 and says in plain words what it wants."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import farm

ROOT = Path(__file__).parent.parent
FOLDERS = ("servers", "registry", "evals", "synth", "rl_training", "agent_client", "bench")
IN_A_PROCESS_OF_ITS_OWN = {ROOT / "synth" / "dataset_process.py", ROOT / "servers" / "sandbox" / "guest_pool.py"}
"""What these say goes to another process or into the log."""
FOREIGN = re.compile(r"Value error|Input should be|\[Errno|Traceback|\bpydantic\b|Error\(|codec can't")
"""Words of libraries and of the system that no user should have to read."""
OWN = "library_loans"
MISUSES: dict[str, tuple[str, ...]] = {
    "environments --library nodir": ("--library nodir: no such folder",),
    f"scenarios {OWN} nobody": ("has no scenario 'nobody'",),
    f"scenarios {OWN} --add nofile.jsonl": ("--add nofile.jsonl: no such file",),
    f"scenarios {OWN} --add folder": ("--add folder: is a folder",),
    f"play {OWN} --scenario renew_card --gold --seed x": ("'--seed'", "must be a whole number"),
    f"play {OWN} --scenario renew_card --solution folder": ("cannot be read: it is a folder",),
    f"connect cursor {OWN}": (
        "'cursor' is not one of 'claude', 'desktop', 'json'",
        "json: one entry, for any other client",
    ),
    "connect": ("for any other client. Choose from: claude",),
    f"serve {OWN} --scenario nobody": ("has no scenario 'nobody'",),
    f"serve {OWN} --port x": ("'--port'", "must be a whole number"),
    "up --port 99999": ("'--port'", "must be at most 65535"),
    "up --state /proc/x --port 0": ("the state folder /proc/x cannot be used",),
    "up --state file --port 0": ("file is a file; choose a folder",),
    "up --ledger nonsense --port 0": ("the ledger's URL is not one of SQLAlchemy", "sqlite:///FILE"),
    "up --ledger mysql://h/x --port 0 --state state": ("not in mysql",),
    "up --ledger sqlite:// --port 0 --state state": ("a ledger in memory would be lost",),
    "up --library nodir": ("--library nodir: no such folder",),
    "launch x --token-file nofile": ("--token-file nofile: cannot be read: No such file",),
    "launch x --token-file folder": ("--token-file folder: cannot be read: it is a folder",),
    "launch x --token-file bytes": ("--token-file bytes: cannot be read: not UTF-8 at byte 0",),
    "launch x --count many": ("'--count'", "must be a whole number. How many instances."),
    "launch x --ttl 1h": ("'--ttl'", "must be a whole number. Seconds without", "such as 7200"),
    "instances --state nodir": ("no farm was started on nodir",),
    "score": ("Missing argument 'instance'. An instance's id.",),
    f"play {OWN} --gold": ("Missing option '--scenario'. A scenario's id; `farm scenarios ENVIRONMENT` lists them.",),
    f"launch {OWN} renew_card": ("unexpected extra argument(s) (renew_card). A scenario is named by --scenario ID",),
    "check folder": ("folder: no bundle: it has no environment.json; `farm new NAME` makes one",),
    "score abc": ("not the id of an instance",),
    "doctor extra": ("extra",),
    "new Bad": ("'Bad' is no name of an environment",),
    "new class": ("'class' is a word of Python",),
    "check nobundle": ("nobundle: no such bundle",),
    "derive nobundle": ("nobundle: no such bundle",),
    f"prove {OWN} --calls 0": ("'--calls'", "must be at least 1"),
    f"prove {OWN} --report nodir/x.html": ("cannot be written: there is no folder nodir",),
    f"certify {OWN} --against nofile": ("--against nofile",),
    f"hack {OWN} --out file": ("file: cannot keep what is found",),
    "synth run": ("--out DIR is needed",),
    "synth run --out nothing": ("nothing holds no run to go on with", "--topic"),
    "synth run --out nothing --model m": ("nothing to make: give --topic, --tasks or --from",),
    "synth run nofile.toml": ("nofile.toml: cannot be read",),
    "synth run folder": ("folder: cannot be read: it is a folder",),
    "synth run bytes": ("bytes: no TOML: not UTF-8 at byte 0",),
    "synth run --topic x --model m --out file": ("file",),
    f"synth backward {OWN} --out nodir/x.jsonl --n 1": ("nodir",),
    "synth phrases nobundle": ("nobundle: no such bundle",),
    "import envscaler nofile nofile --out out": ("nofile",),
    "audit nobundle": ("nobundle",),
    "eval nofile --out run": ("nofile: cannot be read",),
    "eval file --out run": ("file: not TOML",),
    "eval suite.toml --out run --base-url x": ("--base-url",),
    "eval --out run": ("give a suite, or an agent with --agent COMMAND",),
    "eval --agent no-such-agent --out run": ("'no-such-agent' is not found",),
    "eval suite.toml --agent x --environment y --out run": ("--environment and --scenario go without a suite",),
    "eval --agent true --agent-read . --out run": ("add --agent-walls",),
    "eval suite.toml --agent-walls --out run": ("--agent-walls and --agent-read are for",),
    f"play {OWN} --scenario x --gold --agent true": ("choose one",),
    "report folder": ("folder: not a run",),
    "report folder --html nodir/x.html": ("nodir",),
    "show file": ("file: not a run",),
    f"judge folder --with {OWN}": ("folder: not a run",),
    "export sft x --out y --format parquet": ("'parquet' is not one of 'chat'",),
    "export sft --reference bundle --out y": ("--reference bundle: is a bundle; give the folder that it lies in",),
    "rl train nofile --run run": ("nofile",),
    "rl serve nowhere": ("nowhere: no model in it",),
    "bench extra": ("extra",),
    "demo extra": ("extra",),
    "fly": ("fly",),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of no use, one that is no text, an empty folder, and one that looks like a bundle."""
    home = tmp_path_factory.mktemp("home")
    (home / "file").write_text("x")
    (home / "bytes").write_bytes(b"\xff\xfe")
    (home / "folder").mkdir()
    (home / "bundle").mkdir()
    (home / "bundle" / "environment.json").write_text("{}")
    return home


@pytest.mark.parametrize(("words", "said"), MISUSES.items(), ids=MISUSES.keys())
async def test_a_misused_command_ends_with_2_and_says_what_it_wants(
    words: str, said: tuple[str, ...], home: Path
) -> None:
    done = await farm(*words.split(), home=home)
    told = " ".join(done.err.replace("│", " ").split())
    assert (done.code, done.out) == (2, ""), done
    assert FOREIGN.search(done.err) is None, done.err
    assert all(one in told for one in said), done.err


def raw_errors(tree: ast.AST) -> Iterator[str]:
    """Handlers of errors of the system that tell them in the system's words."""
    for handler in ast.walk(tree):
        if not isinstance(handler, ast.ExceptHandler) or handler.type is None or handler.name is None:
            continue
        caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        if {"OSError", "UnicodeDecodeError"} & {ast.unparse(one) for one in caught}:
            told = "\n".join(map(ast.unparse, handler.body))
            if f"{{{handler.name}}}" in told or (f"str({handler.name})" in told and "isinstance" not in told):
                yield f"line {handler.lineno}: {told}"


def test_errors_of_the_system_are_told_through_one_door() -> None:
    modules = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    found = {
        str(path.relative_to(ROOT)): list(raw_errors(ast.parse(path.read_text(encoding="utf-8"))))
        for path in modules
        if path not in IN_A_PROCESS_OF_ITS_OWN and "library" not in path.parts
    }
    assert {path: raw for path, raw in found.items() if raw} == {}


def test_an_error_in_the_systems_words_would_be_found() -> None:
    source = 'try:\n    read()\nexcept OSError as error:\n    raise RequestError(f"{path}: {error}") from None\n'
    assert len(list(raw_errors(ast.parse(source)))) == 1


@pytest.mark.parametrize(
    "command",
    [("environments",), ("scenarios", "parcel_room", "--json"), ("--version",), ("--help",), ("play", "--help")],
    ids=" ".join,
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_the_output_is_told(command: tuple[str, ...], unbuffered: str) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "farm", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=environment,
        )
    assert done.stderr == "farm: the output cannot be written: No space left on device\n"
    assert done.returncode == 1


PLAY = f"play {OWN} --scenario renew_card --gold"


def in_a_shell(line: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a shell's line in which FARM is the command."""
    told = line.replace("FARM", f"{sys.executable} -m farm")
    variables = {**os.environ, **environment}
    return subprocess.run(["/bin/sh", "-c", told], capture_output=True, text=True, check=False, env=variables)


@pytest.mark.parametrize("command", ["--version", "--help", "environments"])
def test_an_output_that_is_closed_is_no_error(command: str) -> None:
    done = in_a_shell(f"exec FARM {command} >&-")
    assert (done.returncode, done.stderr) == (0, "")


def test_an_input_that_is_closed_is_an_empty_one() -> None:
    done = in_a_shell(f"exec FARM serve {OWN} <&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_errors_that_nobody_can_read_keep_their_exit_code() -> None:
    assert in_a_shell(f"exec FARM scenarios {OWN} nobody 2>&-").returncode == 2


def test_a_reader_who_has_seen_enough_of_an_episode_is_no_error() -> None:
    done = in_a_shell(f"FARM {PLAY} | head -1")
    assert (done.stdout.count("\n"), done.stderr) == (1, "")


def test_a_full_disk_behind_an_episode_is_told() -> None:
    done = in_a_shell(f"FARM {PLAY} > /dev/full")
    assert (done.returncode, done.stderr) == (1, "farm: the output cannot be written: No space left on device\n")


def test_what_an_encoding_lacks_is_shown_by_its_number() -> None:
    done = in_a_shell(f"FARM {PLAY}", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u2192 find_members" in done.stdout
    told = in_a_shell("FARM scenarios fitness_studio_memberships --json", PYTHONIOENCODING="ascii").stdout
    assert any(not one["task"].isascii() for one in json.loads(told))


@pytest.mark.parametrize("command", ["environments", "--help"])
def test_a_terminal_of_no_columns_shows_what_one_of_unknown_width_does(command: str) -> None:
    assert len(in_a_shell(f"FARM {command}", COLUMNS="0").stdout) > 1000


def test_the_help_of_a_command_is_asked_for_in_both_orders() -> None:
    assert in_a_shell("FARM help synth run").stdout == in_a_shell("FARM synth run --help").stdout


def test_a_farm_that_may_open_too_few_files_says_so(tmp_path: Path) -> None:
    line = f"ulimit -n 60; exec {sys.executable} -m farm up --port 0 --state {tmp_path / 'state'}"
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=False)
    said = [line for line in done.stderr.splitlines() if not line.startswith("{")]
    assert said == ["farm: a server needs 128 open files, and this shell allows 60: see `ulimit -n`"]
    assert done.returncode == 2
