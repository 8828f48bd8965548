"""Who opens files: bundles are read through doors that follow no link, wait for no pipe and read up to a bound.

Whatever else opens a file is named here with what it opens. A new name in this list is a decision: is the file really
none that somebody else put there?
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOORS = {
    "servers/bundle/files.py": "files of bundles, and the rest of what others hand in",
    "servers/files/atomic_write.py": "files that are written whole",
    "servers/files/private_files.py": "files of the state folder",
}
OTHERS = {
    "servers/authoring/new_bundle.py": "the farm's own template",
    "servers/cli/secret_options.py": "a file with a token, which may be a pipe",
    "servers/guest/zygote.py": "/dev/null",
    "servers/limits/memory.py": "/proc",
    "servers/limits/process_clock.py": "/proc",
    "servers/state/state_index.py": "the index of the state folder",
    "servers/text/terminal.py": "/dev/null",
    "registry/client_file.py": "the file of a client's settings that its user names",
    "registry/farm.py": "URL and token of the state folder",
    "registry/ledger/database.py": "the ledger",
    "registry/web/assets.py": "the farm's own pages",
}
ROOMS = ("servers", "registry")
"""The rooms that a farm serves with. Those above them are programs of one user about files of that user."""
READING = {"read_text", "read_bytes"}


def opening_calls(source: str) -> Iterator[ast.Call]:
    """The calls that open a file, by their names: `open(…)`, `os.open(…)`, `io.open(…)`, `path.read_text()`."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="open")):
                yield node
            case ast.Call(func=ast.Attribute(attr="open", value=ast.Name(id="os" | "io" | "gzip"))):
                yield node
            case ast.Call(func=ast.Attribute(attr="open"), args=[ast.Constant(value=str()), *_]):
                yield node  # a path with a mode
            case ast.Call(func=ast.Attribute(attr=name)) if name in READING:
                yield node
            case _:
                pass


def modules() -> list[str]:
    found = (path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    return sorted(str(path.relative_to(ROOT)) for path in found if "servers/library/" not in path.as_posix())


@pytest.mark.parametrize(
    "text", ["open(p)", "os.open(p, 0)", "p.open('rb')", "p.read_text()", "Path(p).read_bytes()", "gzip.open(p)"]
)
def test_every_way_to_open_a_file_is_seen(text: str) -> None:
    assert len(list(opening_calls(text))) == 1


@pytest.mark.parametrize("text", ["await guest.open(end)", "StateFile.open(path, index)", "webbrowser(p)"])
def test_what_opens_something_else_is_not_meant(text: str) -> None:
    assert not list(opening_calls(f"async def f(): {text}"))


def test_no_other_module_of_a_farm_opens_files() -> None:
    found = {name for name in modules() if list(opening_calls((ROOT / name).read_text(encoding="utf-8")))}
    assert found == DOORS.keys() | OTHERS.keys()
