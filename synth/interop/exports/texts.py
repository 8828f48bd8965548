"""The texts of exported code: self-contained files, and ours without imports of our own modules."""

import ast
from pathlib import Path

import servers.guest.sqlite.plain_text
from servers.gate.parser import parsed

FOLDER = Path(__file__).parent / "exported"
OURS = ("synth.interop.exports.exported.database", "servers.toolkit", "servers.guest.sqlite.plain_text")
PLAIN_TEXT = Path(servers.guest.sqlite.plain_text.__file__)


def text_of(name: str) -> str:
    """A file of exported code, without imports of our own modules."""
    return without_imports((FOLDER / f"{name}.py").read_text(encoding="utf-8"))


def plain_text() -> str:
    """The text of the SQL function `plain_text`."""
    return without_imports(PLAIN_TEXT.read_text(encoding="utf-8"))


def without_imports(code: str) -> str:
    """The same text for a place that already defines our own imports."""
    lines = code.splitlines()
    for node in parsed(code).body:
        if isinstance(node, ast.ImportFrom) and node.module in OURS:
            for line in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[line] = ""
    return "\n".join(lines).strip() + "\n"


def defined(code: str) -> set[str]:
    """The names that a text defines at its top level, except imports."""
    found: set[str] = set()
    for node in parsed(code).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            found |= {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and _is_set(inner)}
    return found


def _is_set(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def scoped(source: str, name: str) -> str:
    """A checkpoint's text inside a function that returns its `check`, as two may define the same names."""
    body = parsed(source).body
    [scope] = parsed(f"def make_{name}():\n    return check\n").body
    if isinstance(scope, ast.FunctionDef):
        scope.body = [*body, *scope.body]
    return f"{ast.unparse(scope)}\n\n\n{name} = make_{name}()\n"
