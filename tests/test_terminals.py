"""No module writes to a terminal but through `servers.text.terminal`, and none reads marks in what strangers say."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("servers", "registry", "evals", "synth", "rl_training", "agent_client", "bench")
DOOR = ROOT / "servers" / "text" / "terminal.py"
MODULES = [
    path
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "library" not in path.relative_to(ROOT).parts and path != DOOR
]
TITLES = {"title", "subtitle", "caption"}


def wrong_ways(tree: ast.AST) -> Iterator[str]:
    """What would let a text of strangers be read for marks, or past the terminal's door."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        options = {option.arg: option.value for option in node.keywords}
        called = _dotted(node.func)
        if called in ("Console", "rich.print", "Text.from_markup", "Text.from_ansi") and "file" not in options:
            yield called
        if called == "marked" and not _is_literal(node.args[0]):
            yield f"marked({ast.unparse(node.args[0])})"
        markup = options.get("markup")
        if (markup is not None or called == "TextColumn") and not _is_false(markup):
            yield f"{called} reads marks"
        if called == "Panel" and any(not _is_text(options[name]) for name in TITLES & options.keys()):
            yield "a panel's title is read for marks: make it a Text"


def _dotted(node: ast.expr) -> str:
    """The name of what is called: `a.b.c`."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _is_literal(node: ast.expr) -> bool:
    """Whether a text is one of ours: a string, a name of one, or a choice of two."""
    if isinstance(node, ast.IfExp):
        return _is_literal(node.body) and _is_literal(node.orelse)
    return isinstance(node, ast.Constant | ast.Name)


def _is_false(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("Text", "marked")


def test_no_module_draws_in_another_way() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {wrong}"
        for path in MODULES
        for wrong in wrong_ways(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "Console().print(text)",
        "rich.print(text)",
        "out.print(text, markup=True)",
        "marked(f'[red]{text}[/]')",
        "Panel(text, title=name)",
        "TextColumn('{task.description}')",
        "Text.from_markup(text)",
    ],
)
def test_each_other_way_would_be_found(source: str) -> None:
    assert list(wrong_ways(ast.parse(source))) != []
