"""The text of `tools.py` around an imported class, and of checkpoints around imported check functions."""

import ast
import builtins
from dataclasses import dataclass

from servers.gate.parser import parsed
from synth.interop.imports.dataset import Unreadable
from synth.interop.imports.docstrings import words_of
from synth.interop.imports.method_schemas import NoTool, Parameter, parameters
from synth.interop.imports.source import ClassSource, with_imports

BUILTINS = frozenset(dir(builtins))
WIDTH = 100

RUNTIME = """

# From here on: one function per tool, made from the methods above.

from typing import Literal as _Literal

from servers.imported.running import Imported as _Imported
from servers.toolkit import Database as _Database

_OBJECT = _Imported({name}, ({classes}))


def _read(db: _Database, method: str, arguments: dict) -> dict:
    return _OBJECT.reading(db, method, arguments)


def _write(db: _Database, method: str, arguments: dict) -> dict:
    result, statements = _OBJECT.call(db, method, arguments)
    for sql, values in statements:
        db.run(sql, **values)
    return result
"""

CHECK = """

from servers.imported.judging import holds as _holds


def check(start, final, answer, calls):
    return _holds(check_func, start, final)
"""


@dataclass(frozen=True)
class Wrapper:
    """One tool: its name, the method behind it, and the function's text."""

    name: str
    method: str
    text: str


def tools_text(source: ClassSource, wrappers: list[Wrapper], *, theirs: bool = False) -> str:
    """A whole `tools.py`: the class with replaced imports, then its tools.

    With `theirs` a tool's result is the text that EnvScaler shows, also of a call that failed.
    """
    classes = "".join(f"{name}, " for name in source.classes)
    head = source.text.rstrip() + "\n"
    runtime = RUNTIME.format(name=source.name, classes=classes.rstrip())
    if theirs:
        runtime = runtime.replace("_OBJECT.call(", "_OBJECT.shown_call(").replace(
            "return _OBJECT.reading(db, method, arguments)", "return _write(db, method, arguments)"
        )
    return head + runtime + "".join(one.text for one in wrappers)


def wrappers_of(source: ClassSource, kinds: dict[str, str]) -> tuple[list[Wrapper], list[str]]:
    """The tools of a class, and the methods that cannot be tools, or not under their name."""
    wrappers: list[Wrapper] = []
    notes: list[str] = []
    for method in source.methods:
        name = method.name
        if (
            name in source.names
            or name in BUILTINS
            or name.lower() != name
            or not name.isidentifier()
            or len(name) > 60
        ):
            name = f"{name.lower()[:55]}_tool"
            notes.append(f"{method.name}: has a meaning in its module already; its tool is {name}")
        try:
            wrappers.append(_wrapper(name, method, source, reads=kinds.get(method.name) == "query"))
        except NoTool as reason:
            notes.append(f"{method.name}: is no tool: {reason}")
    return wrappers, notes


def _wrapper(name: str, method: ast.FunctionDef, source: ClassSource, *, reads: bool) -> Wrapper:
    found = parameters(method, source.typed_dicts)
    head = ", ".join(["db: _Database", *(["*"] if found else []), *(_signed(one) for one in found)])
    always = ", ".join(f"{one.name!r}: {one.name}" for one in found if not one.drop_none)
    given = f"{{{always}}}"
    for one in found:
        if one.drop_none:
            given += f" | ({{}} if {one.name} is None else {{{one.name!r}: {one.name}}})"
    called = "_read" if reads and not may_write(method, source) else "_write"
    return Wrapper(
        name,
        method.name,
        f"\n\ndef {name}({head}) -> dict:\n{_docstring(method, found)}"
        f"    return {called}(db, {method.name!r}, {given})\n",
    )


def _signed(one: Parameter) -> str:
    return f"{one.name}: {one.kind}" + ("" if one.default is None else f" = {one.default}")


def _docstring(method: ast.FunctionDef, found: list[Parameter]) -> str:
    lines = words_of(method).text.split("\n")
    if found:
        lines += ["", "Args:", *(f"    {one.name}: {one.words}" for one in found)]
    text = "\n".join(f"    {line}".rstrip() for line in lines).strip()
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    return f'    """{text}\n    """\n'


def may_write(method: ast.FunctionDef, source: ClassSource) -> bool:
    """True if a method sets an attribute of its object, directly or through another method, by its text."""
    methods = {one.name: one for one in source.methods}
    seen: set[str] = set()
    waiting = [method]
    while waiting:
        one = waiting.pop()
        if one.name in seen:
            continue
        seen.add(one.name)
        for node in ast.walk(one):
            if (
                isinstance(node, (ast.Attribute, ast.Subscript))
                and not isinstance(node.ctx, ast.Load)
                and _is_own(node)
            ):
                return True
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr in CHANGING and _is_own(node.func.value):
                    return True
                if _is_self(node.func.value) and node.func.attr in methods:
                    waiting.append(methods[node.func.attr])
    return False


CHANGING = frozenset({"add", "append", "clear", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update"})


def _is_own(node: ast.expr) -> bool:
    """True if an expression is a part of `self`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return _is_self(node)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def checkpoint_text(source: str) -> str:
    """A Python checkpoint around a check function, with repeatable imports.

    Raises:
        SyntaxError: it is not Python.
        Unreadable: it defines no `check_func`.
    """
    tree = parsed(source)
    if not any(map(_is_check, ast.walk(tree))):
        raise Unreadable("defines no function check_func")
    return with_imports(source, tree).rstrip() + "\n" + CHECK


def _is_check(node: ast.AST) -> bool:
    """True if a node gives something the name `check_func`."""
    if isinstance(node, ast.Name):
        return node.id == "check_func" and isinstance(node.ctx, ast.Store)
    return isinstance(node, ast.FunctionDef) and node.name == "check_func"
