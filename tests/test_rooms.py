"""The rooms of the product: their sizes, their words, no two that import each other, one meaning for a name."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PARTS = ("servers", "synth", "evals", "registry", "rl_training", "agent_client")
MOST_MODULES = 15
FEWEST_LINES = 40
MOST_SHORT_FILES = 27
"""Modules shorter than that, today; the number may only fall. Alembic wants a file for each revision."""
REVISIONS = ROOT / "registry" / "migrations" / "versions"
BUNDLES = {ROOT / "servers" / "library", ROOT / "servers" / "authoring" / "template"}
EXPORTED = ROOT / "synth" / "interop" / "exports" / "exported"
"""Texts that stand in for the toolkit where what is exported runs: they must bear its names."""
AS_A_CLASS = re.compile(r"[A-Z]+[a-z]\w*$")
OF_DB_API = {"Error", "Row"}
"""Aliases in `servers/imported/awm/sqlite3.py`: imported code asks for the names of the standard module."""
FILES = [
    path
    for part in PARTS
    for path in sorted((ROOT / part).rglob("*.py"))
    if not BUNDLES & {path, *path.parents} and "stubs" not in path.parts
]
ROOMS = sorted({path.parent for path in FILES if path.name == "__init__.py"})
Graph = dict[str, set[str]]


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_no_room_is_crowded() -> None:
    sizes = Counter(named(path.parent) for path in FILES if path.name != "__init__.py")
    assert {room: size for room, size in sizes.items() if size > MOST_MODULES} == {}


def test_short_files_become_no_more() -> None:
    """Most that is so short belongs into its neighbour. Processes that are started by name, and the like, may stay."""
    modules = [path for path in FILES if path.name != "__init__.py" and path.parent != REVISIONS]
    short = [named(path) for path in modules if lines(path) < FEWEST_LINES]
    assert len(short) <= MOST_SHORT_FILES, short


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("room", ROOMS, ids=named)
def test_a_room_says_what_lives_there_and_hands_nothing_on(room: Path) -> None:
    body = tree(room / "__init__.py").body
    assert ast.get_docstring(tree(room / "__init__.py")), "one or two sentences: what lives there, and what must not"
    assert not [node for node in body if isinstance(node, ast.ImportFrom)]


def test_every_room_is_listed() -> None:
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    assert [named(room) for room in ROOMS if f"| `{named(room)}/` |" not in page] == []


def test_no_two_rooms_import_each_other() -> None:
    """Also not in a circle over others. A module that lies at the top of a part is a room of its own."""
    assert circle(imports_of_rooms()) == []


def imports_of_rooms() -> Graph:
    modules = {named(path).removesuffix(".py").replace("/", "."): path for path in FILES}
    found: Graph = defaultdict(set[str])
    for name, path in modules.items():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name in modules and room_of(alias.name) != room_of(name):
                        found[room_of(name)].add(room_of(alias.name))
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    other = whole if whole in modules else node.module
                    if other in modules and room_of(other) != room_of(name):
                        found[room_of(name)].add(room_of(other))
    return found


def room_of(module: str) -> str:
    return module if module.count(".") == 1 else module.rpartition(".")[0]


def circle(graph: Graph) -> list[str]:
    """What is left when rooms that import no other, or that no other imports, are taken away, again and again."""
    left = {room: set(others) for room, others in graph.items()}
    while True:
        imported = set[str]().union(*left.values())
        kept = {
            room: others & left.keys() for room, others in left.items() if room in imported and others & left.keys()
        }
        if kept == left:
            return sorted(left)
        left = kept


def test_a_name_of_a_class_or_a_type_stands_for_one_thing() -> None:
    """Type variables stand for nothing yet. So they may have each other's names, but no class's."""
    names = Counter(name for path in FILES if path.parent != EXPORTED for name in classes_and_aliases(tree(path)))
    assert {name: count for name, count in names.items() if count > 1} == {}
    variables = {name for path in FILES for name, value in capitalised(tree(path)) if is_variable(value)}
    assert sorted(variables & names.keys()) == []


def classes_and_aliases(module: ast.Module) -> Iterator[str]:
    yield from (node.name for node in ast.walk(module) if isinstance(node, ast.ClassDef))
    for name, value in capitalised(module):
        if not is_variable(value) and name not in OF_DB_API:
            yield name


def capitalised(module: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The assignments of a module to names that are written as a class's."""
    for node in module.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Name) and AS_A_CLASS.match(target.id) and (value := getattr(node, "value", None)):
                yield target.id, value


def is_variable(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "TypeVar"


def test_nothing_of_ours_is_imported_under_another_name() -> None:
    """Two things of one name in one file: one of them is named wrongly, and is renamed where it stands."""
    python = [
        *ROOT.glob("*.py"),
        *(path for part in (*PARTS, "bench", "tests") for path in (ROOT / part).rglob("*.py")),
    ]
    ours = {*PARTS, "bench", "tests", *(path.stem for path in ROOT.glob("*.py"))}
    renamed = [
        f"{named(path)}:{node.lineno}: {alias.name} as {alias.asname}"
        for path in python
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if alias.asname and (getattr(node, "module", None) or alias.name).split(".")[0] in ours
    ]
    assert renamed == []
