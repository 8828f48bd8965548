"""Who may import whom, and what each part must not touch."""

import ast
import sys
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = {"servers": 1, "agent_client": 1, "registry": 2, "evals": 3, "synth": 4, "rl_training": 4}
SOURCES = sorted(
    path
    for part in (*FLOORS, "bench", "tests", "farm.py", "envfarm.py")
    for path in ([ROOT / part] if part.endswith(".py") else (ROOT / part).rglob("*.py"))
)
BUNDLES = ROOT / "servers" / "library"
OURS = [path for path in SOURCES if path.relative_to(ROOT).parts[0] not in ("tests", "bench")]
CODE = [path for path in OURS if BUNDLES not in path.parents]
ALONE = {
    "servers/toolkit.py",
    *(
        path.relative_to(ROOT).as_posix()
        for part in ("guest", "imported")
        for path in (ROOT / "servers" / part).rglob("*.py")
    ),
}
GATE = {path.relative_to(ROOT).as_posix() for path in (ROOT / "servers" / "gate").glob("*.py")}
"""What inspects the text of Python: in guests for bundles, and nothing of it executes any."""
TELL_THE_VERSION = {"servers/joining/messages.py"}  # by importlib.metadata
BESIDE_THEM = {"apsw", "docstring_parser", "fastapi", "mpmath", "sqlalchemy", "starlette"}


@pytest.fixture(scope="module", autouse=True)
def forgotten() -> Generator[None]:
    """Forget the trees afterwards, which are large."""
    yield
    tree.cache_clear()
    imports.cache_clear()


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> tuple[str, ...]:
    """The full dotted names that a file imports."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{named(path)}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def importers(*packages: str) -> set[str]:
    """The files outside tests and bench that import one of some packages."""
    return {named(path) for path in OURS for name in imports(path) if name.split(".")[0] in packages}


def test_imports_go_down() -> None:
    told = [
        f"{named(path)} imports {name}"
        for path in OURS
        if (part := part_of(path)) in FLOORS
        for name in imports(path)
        if (other := name.split(".")[0]) in FLOORS and other != part and FLOORS[other] >= FLOORS[part]
    ]
    assert told == []


def test_nobody_imports_the_root_command_or_the_tests() -> None:
    assert importers("farm", "envfarm", "tests", "bench") == set()


def test_the_protocol_is_spoken_in_two_files_and_each_model_library_in_one_place() -> None:
    assert importers("mcp", "mcp_types") <= {"servers/doors/mcp.py", "agent_client/toolbox.py"}
    assert len(importers("openai")) <= 1
    assert all(name.startswith("rl_training/") for name in importers("verl", "vllm", "torch"))
    with_ray = {"servers/cluster/ray_cluster.py", "registry/workers/ray_keeper.py"}
    with_ray |= {"synth/processes/ray_workers.py", "synth/runner/ray_run.py"}
    assert all(name.startswith("rl_training/") for name in importers("ray") - with_ray)


def test_imports_stand_at_the_top_of_their_file() -> None:
    """But a command imports its work after its checks: a mistake is told at once, and work takes seconds to load."""
    of_commands = {path for path in SOURCES if path.stem in ("command", "commands") or path.stem.endswith("_command")}
    inner = {
        f"{named(path)}, line {node.lineno}"
        for path in {*CODE} | {*SOURCES} - {*OURS}
        if path not in of_commands
        for outer in ast.walk(tree(path))
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for node in ast.walk(outer)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    }
    assert inner == set()


def test_only_the_commands_and_entry_points_read_the_command_line_and_the_environment() -> None:
    readers = {
        named(path)
        for path in CODE
        for node in ast.walk(tree(path))
        if (isinstance(node, ast.Attribute) and node.attr in ("argv", "environ", "environb", "getenv"))
        or (isinstance(node, ast.ImportFrom) and {alias.name for alias in node.names} & {"argv", "environ", "getenv"})
    }
    entries = {named(path) for path in CODE if is_entry_point(path)}
    assert readers <= entries | {"farm.py"}


def is_entry_point(path: Path) -> bool:
    """A file of commands, or the main module of a process of its own."""
    guarded = any(
        isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'" for node in tree(path).body
    )
    return path.name in ("commands.py", "__main__.py") or guarded


def test_what_runs_beside_untrusted_code_brings_nothing_of_ours() -> None:
    from_elsewhere = {
        f"{name} imports {imported}"
        for name in ALONE | GATE
        for imported in imports(ROOT / name)
        if not is_standard(imported) and imported.split(".")[0] not in BESIDE_THEM and not is_alone(imported)
    }
    assert from_elsewhere == set()


IMPORT_BY_NAME = {"farm.py", "envfarm.py"}
"""The two files that import by name, each from its own table: a command, and a public name."""
OWN_WRONG_AGENTS = "synth/certify/agents/user_agents.py"
"""Runs the file that a user names after `farm certify --against`: the user's own code, as tests are."""


def is_standard(name: str) -> bool:
    return name.split(".", maxsplit=1)[0] in sys.stdlib_module_names


def is_alone(name: str) -> bool:
    """Whether a dotted name is one of the files that run in a guest, or something in one."""
    parts = name.split(".")
    return parts[0] == "servers" and parts[1] in {"toolkit", "gate", "guest", "imported"}


def test_only_guests_execute_text() -> None:
    executers = {
        named(path)
        for path in CODE
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Name) and node.id in ("exec", "eval", "compile", "__import__")
    }
    loaders = importers("importlib", "runpy", "pickle", "marshal", "code", "codeop") - TELL_THE_VERSION
    assert executers | loaders <= ALONE | IMPORT_BY_NAME | {OWN_WRONG_AGENTS}


def test_python_is_parsed_in_one_place_and_in_guests() -> None:
    """Outside it, two threads that parse at once would mix each other up."""
    parsers = {
        named(path)
        for path in CODE
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr == "parse" and ast.unparse(node) == "ast.parse"
    }
    assert parsers - ALONE == {"servers/gate/parser.py"}


def test_tools_import_what_every_bundle_may() -> None:
    allowed = {"datetime", "re", "json", "math", "typing", "collections", "itertools", "functools", "string"}
    allowed |= {"calendar", "decimal", "statistics", "textwrap"}
    told = [
        f"{named(path)} imports {name}"
        for path in BUNDLES.glob("*/tools.py")
        for name in imports(path)
        if name.split(".")[0] not in allowed and not name.startswith("servers.toolkit.")
    ]
    assert told == []
