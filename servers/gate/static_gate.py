"""The static gate: what `tools.py` and Python checkpoints may contain, from their text alone.

It complements the walls and does not replace them. It keeps well-meant code, above all a model's, repeatable and free
of leftovers. The guest's walls bound what malicious code can do.
"""

import ast
import builtins
from string import Formatter
from typing import NamedTuple

from servers.gate.allowed_modules import NAMES
from servers.gate.allowed_names import (
    BUILTINS,
    CLOCK,
    CLOCKS,
    FRAMES,
    INSTEAD,
    KINDS_OF_CLASS,
    MEMBERS,
    MEMBERS_REFUSED,
    MUTATING,
    OF_DATACLASSES,
    ON_METHODS,
    STATE,
    TYPES_AS_VALUES,
    UNDERSCORED,
)
from servers.gate.bound_names import Comprehension, bound, targets
from servers.gate.parser import NOT_PYTHON, parsed

FunctionNode = ast.FunctionDef | ast.Lambda
FIXED = (ast.Constant, ast.Name, ast.Attribute, ast.UnaryOp, ast.BinOp, ast.Tuple)
ALL_BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("__"))
NO_DECORATOR = frozenset[str]()
LISTED = ", ".join(sorted(NAMES))
OWN = "names with two underscores are Python's own"
MAKES_TYPES = "it makes types, which are kept beyond a call: define the type at the top of the module"
CHANGES_CLASSES = "it changes the class that it gets, also a shared one: write it above a class"
DECORATORS = frozenset({"dataclasses.dataclass"})
NOT_ASYNC = "async: a tool is a plain function"


class Handle(NamedTuple):
    """Names of a `Database` handle, and the attributes that may be used on it."""

    names: frozenset[str]
    members: frozenset[str]


TOOLS = Handle(frozenset({"db"}), frozenset({"all", "one", "run", "now", "new_id"}))
CHECKPOINT = Handle(frozenset({"start", "final"}), frozenset({"all", "one", "now"}))


def tool_problems(source: str) -> list[str]:
    """Everything forbidden in a `tools.py`, by line: `line 12: eval: …`."""
    return _problems(source, TOOLS)


def checkpoint_problems(source: str) -> list[str]:
    """Everything forbidden in the Python of a checkpoint."""
    return _problems(source, CHECKPOINT)


def _problems(source: str, handle: Handle) -> list[str]:
    try:
        gate = _Gate(parsed(source), handle)
    except NOT_PYTHON as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        return [f"line {line or 1}: not Python: {error or 'nested too deep'}"]
    try:
        gate.read()
    except RecursionError:
        return ["line 1: nested too deep"]
    return [f"line {line}: {reason}" for line, reason in sorted(gate.found)]


class _Gate(ast.NodeVisitor):
    """Checks one module. `found` has line and reason of each problem."""

    def __init__(self, tree: ast.Module, handle: Handle) -> None:
        self.found: set[tuple[int, str]] = set()
        self._tree = tree
        self._handle = handle
        self._modules: dict[str, str] = {}
        self._imported: dict[str, str] = {}
        self._globals = bound(tree.body)
        self._scopes: list[set[str]] = []
        self._in_class: set[str] = set()
        self._type: ast.expr | None = None

    def read(self) -> None:
        for statement in self._tree.body:
            for name in sorted(bound([statement]) & (ALL_BUILTINS | self._handle.names)):
                self._find(statement, f"{name}: has a meaning already; call this something else")
            if isinstance(statement, ast.Import | ast.ImportFrom):
                self._import(statement)
            elif isinstance(
                statement, ast.Assign | ast.AnnAssign | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
            ):
                self.visit(statement)
            elif not _is_text(statement):
                self._find(statement, "a module holds imports, constants, functions and classes, nothing that runs")

    def _find(self, node: ast.AST, reason: str) -> None:
        self.found.add((getattr(node, "lineno", 1), reason))

    # imports

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.split(".")[0]
            if isinstance(node, ast.Import):
                if alias.name not in NAMES:
                    self._find(node, f"import {alias.name}: may not be imported; there are: {LISTED}")
                self._modules[name] = alias.name if alias.asname else name
            elif not node.level and f"{node.module}.{alias.name}" in NAMES:
                self._modules[name] = f"{node.module}.{alias.name}"
            elif node.level or node.module not in NAMES:
                self._find(node, f"from {node.module} import: may not be imported; there are: {LISTED}")
            else:
                self._member(node, node.module, alias.name)
                self._imported[name] = f"{node.module}.{alias.name}"

    def _member(self, node: ast.AST, module: str, name: str) -> None:
        instead = MEMBERS_REFUSED.get(module, {}).get(name)
        if instead is not None:
            self._find(node, f"{module}.{name}: {instead}")
        elif name not in MEMBERS.get(module, ()):
            self._find(node, f"{module}.{name}: is not what the module is there for")

    def visit_Import(self, node: ast.Import) -> None:
        self._find(node, "import: stands at the top of the module")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self._find(node, "import: stands at the top of the module")

    # names

    def visit_Name(self, node: ast.Name) -> None:
        if node.id.startswith("__"):
            self._find(node, f"{node.id}: {OWN}")
        elif isinstance(node.ctx, ast.Del):
            self._find(node, f"del {node.id}: let it be")
        elif isinstance(node.ctx, ast.Load):
            self._read_name(node, node.id)
        elif node.id in self._handle.names:
            self._find(node, f"{node.id}: holds the database; call this something else")

    def _read_name(self, node: ast.Name, name: str) -> None:
        if self._is_local(name):
            return
        if name in ALL_BUILTINS:
            if name not in BUILTINS:
                self._find(node, f"{name}: may not be used; {INSTEAD.get(name, 'there is no use for it in a tool')}")
            elif name == "type":
                self._find(node, "type: asks for the type of a value where it is compared, as type(value) is str")
        elif self._makes_types(node):
            self._find(node, f"{name}: {MAKES_TYPES}")
        elif self._named(node) in DECORATORS:
            self._find(node, f"{name}: {CHANGES_CLASSES}")
        elif name in self._modules:
            self._find(node, f"{name}: a module is used by its members, {name}.…")
        elif name not in self._globals and name not in self._in_class:
            self._find(node, f"{name}: is not defined")

    def _is_local(self, name: str) -> bool:
        return any(name in scope for scope in self._scopes)

    def _is_module_level(self, node: ast.expr) -> bool:
        """True for a module-level name, or a part of its value."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self._globals and not self._is_local(node.id)

    def visit_Global(self, node: ast.Global) -> None:
        self._find(node, f"global {', '.join(node.names)}: {STATE}")

    # attributes

    def visit_Attribute(self, node: ast.Attribute) -> None:
        module = self._module_of(node.value)
        if not isinstance(node.ctx, ast.Load):
            self._find(node, f".{node.attr} is set: values are dicts; build a new one")
        elif module is not None:
            if f"{module}.{node.attr}" not in NAMES:
                self._member(node, module, node.attr)
            if self._makes_types(node):
                self._find(node, f"{module}.{node.attr}: {MAKES_TYPES}")
            if f"{module}.{node.attr}" in DECORATORS:
                self._find(node, f"{module}.{node.attr}: {CHANGES_CLASSES}")
            return
        self._attribute(node, node.attr)
        if isinstance(node.value, ast.Name) and node.value.id in self._handle.names:
            if node.attr not in self._handle.members:
                self._find(node, f".{node.attr}: the database has {', '.join(sorted(self._handle.members))}")
        elif node.attr in CLOCKS:
            self._find(node, f".{node.attr}: {CLOCK}")
        elif node.attr in ("format", "format_map") and not self._is_plain_format(node):
            self._find(node, f".{node.attr}: only of a text that is written here, with holes for whole values")
        self.visit(node.value)

    def _attribute(self, node: ast.AST, name: str) -> None:
        if (name.startswith("_") and name not in UNDERSCORED) or name in FRAMES:
            self._find(node, f".{name}: is not for everybody; use what is public")
        elif name == "register":
            self._find(node, ".register: it changes a class for everybody")

    def _module_of(self, node: ast.expr) -> str | None:
        """The module that an expression names."""
        if isinstance(node, ast.Name):
            return None if self._is_local(node.id) else self._modules.get(node.id)
        if isinstance(node, ast.Attribute):
            parent = self._module_of(node.value)
            return f"{parent}.{node.attr}" if parent is not None and f"{parent}.{node.attr}" in NAMES else None
        return None

    def _is_plain_format(self, node: ast.Attribute) -> bool:
        text = self._constant(node.value)
        try:
            return text is not None and node.attr == "format" and _has_plain_holes(text)
        except ValueError:
            return False

    def _constant(self, node: ast.expr) -> str | None:
        """A text literal, or the module's single assignment to that name."""
        if isinstance(node, ast.Name) and not self._is_local(node.id):
            values = [one.value for one in self._tree.body if isinstance(one, ast.Assign) and node.id in bound([one])]
            node = values[0] if len(values) == 1 else node
        return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        for name in node.kwd_attrs:
            self._attribute(node, name)
        if isinstance(node.cls, ast.Name) and self._is_local(node.cls.id):
            self._find(node, f"case {node.cls.id}(…): a pattern names a class of the module or a built-in one")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for side in (node.left, *node.comparators):
            if isinstance(side, ast.Call) and _asks_for_a_type(side):
                self.visit(side.args[0])
            else:
                self.visit(side)

    # state

    def _makes_types(self, node: ast.expr) -> bool:
        """True if an expression makes types that outlive a call, in a place with a call's values."""
        module, _, name = (self._named(node) or "").partition(".")
        return module == "typing" and node is not self._type and name not in TYPES_AS_VALUES

    def _type_name(self, node: ast.expr) -> None:
        """Check a name that is used as a type."""
        self._type = node
        self.visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not self._scopes and self._makes_types(node.value):
            self._type_name(node.value)
            self.visit(node.slice)
            return
        if not isinstance(node.ctx, ast.Load) and self._is_module_level(node.value):
            self._find(node, f"a module-level value is changed: {STATE}")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in MUTATING and self._is_module_level(function.value):
            self._find(node, f".{function.attr}(): a module-level value is changed: {STATE}")
        self.visit(function)
        for part in (*node.args, *node.keywords):
            self.visit(part)

    # functions

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name.startswith("__"):
            self._find(node, f"{node.name}: {OWN}")
        self._refuse_type_parameters(node)
        allowed = ON_METHODS if self._in_class else NO_DECORATOR
        for decorator in node.decorator_list:
            if not (isinstance(decorator, ast.Name) and decorator.id in allowed):
                self._find(decorator, "a decorator: call what it does inside the function")
        is_tool = not self._scopes and not self._in_class and not node.name.startswith("_")
        if is_tool and any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in ast.walk(node)):
            self._find(node, f"{node.name}: yields; a tool returns its whole result")
        if node.returns is not None:
            self._annotation(node.returns)
        self._function(node, node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._function(node, [node.body])

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._find(node, NOT_ASYNC)

    def _refuse_type_parameters(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        if getattr(node, "type_params", None):
            self._find(node, f"{node.name}[…]: write the types themselves")

    def _function(self, node: FunctionNode, body: list[ast.stmt] | list[ast.expr]) -> None:
        given = node.args
        for default in (*given.defaults, *given.kw_defaults):
            if default is not None:
                self._default(default)
        parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        parameters += [one for one in (given.vararg, given.kwarg) if one is not None]
        for parameter in parameters:
            if parameter.annotation is not None:
                self._annotation(parameter.annotation)
        in_class, self._in_class = self._in_class, set()  # a class's names are not seen in its methods
        self._scopes.append(bound(body) | {parameter.arg for parameter in parameters})
        for part in body:
            self.visit(part)
        self._scopes.pop()
        self._in_class = in_class

    def _default(self, node: ast.expr) -> None:
        if not all(isinstance(inner, FIXED) for inner in ast.walk(node) if isinstance(inner, ast.expr)):
            self._find(node, "a default that is built once and shared by all calls: use None, and build it inside")
        self.visit(node)

    def _annotation(self, node: ast.expr) -> None:
        """Check an annotation. Types are evaluated when schemas are derived, also quoted ones."""
        if isinstance(node, ast.Subscript) and self._named(node.value) == "typing.Literal":
            if not all(isinstance(inner, FIXED) for inner in ast.walk(node.slice) if isinstance(inner, ast.expr)):
                self._find(node, "Literal[…]: holds the values themselves")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            self._find(node, "a type in quotes: define it above and write its name")
        elif isinstance(node, ast.Name | ast.Attribute):
            self._type_name(node)
        elif isinstance(node, ast.Subscript | ast.BinOp | ast.Tuple | ast.List | ast.Constant):
            for inner in ast.iter_child_nodes(node):
                if isinstance(inner, ast.expr):
                    self._annotation(inner)
        else:
            self._find(node, "a type is a name, not something that runs")

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._annotation(node.annotation)
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def _comprehension(self, node: Comprehension, *results: ast.expr) -> None:
        self.visit(node.generators[0].iter)  # outside: the targets are not bound there
        self._scopes.append({name for part in node.generators for name in targets(part.target)})
        for number, part in enumerate(node.generators):
            if part.is_async:
                self._find(node, NOT_ASYNC)
            self.visit(part.target)
            for inner in part.ifs if number == 0 else (part.iter, *part.ifs):
                self.visit(inner)
        for result in results:
            self.visit(result)
        self._scopes.pop()

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node, node.elt)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node, node.elt)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node, node.elt)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node, node.key, node.value)

    # classes

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._refuse_type_parameters(node)
        if self._scopes or self._in_class:
            self._find(node, f"class {node.name}: stands at the top level of the module")
        if not self._is_plain_class(node):
            self._find(node, f"class {node.name}: a TypedDict, a NamedTuple, an Enum or a frozen dataclass; no other")
        for base in node.bases:
            self.visit(base)
        in_class, self._in_class = self._in_class, bound(node.body) | {node.name}
        for statement in node.body:
            if isinstance(statement, ast.AnnAssign | ast.Assign | ast.FunctionDef):
                self.visit(statement)
            elif not (isinstance(statement, ast.Pass) or _is_text(statement)):
                self._find(statement, "a class holds fields and methods, nothing that runs")
        self._in_class = in_class

    def _is_plain_class(self, node: ast.ClassDef) -> bool:
        """True for a kind of class without behaviour, or a subclass of one in this module."""
        ours = {one.name for one in self._tree.body if isinstance(one, ast.ClassDef)}
        kinds = [
            self._named(base) in KINDS_OF_CLASS or (isinstance(base, ast.Name) and base.id in ours)
            for base in node.bases
        ]
        marks = [self._is_harmless(mark) for mark in node.decorator_list]
        keywords = all(one.arg == "total" and isinstance(one.value, ast.Constant) for one in node.keywords)
        return all(kinds) and all(marks) and keywords and bool(kinds or marks)

    def _is_harmless(self, mark: ast.expr) -> bool:
        """`@dataclass(frozen=True, …)` or `@unique`."""
        if self._named(mark) == "enum.unique":
            return True
        if not isinstance(mark, ast.Call) or self._named(mark.func) != "dataclasses.dataclass" or mark.args:
            return False
        options = {one.arg: isinstance(one.value, ast.Constant) and one.value.value is True for one in mark.keywords}
        return options.keys() <= OF_DATACLASSES and "frozen" in options and all(options.values())

    def _named(self, node: ast.expr) -> str | None:
        """The full name of an imported object."""
        if isinstance(node, ast.Name):
            return self._imported.get(node.id)
        if isinstance(node, ast.Attribute):
            module = self._module_of(node.value)
            return None if module is None else f"{module}.{node.attr}"
        return None


def _asks_for_a_type(node: ast.Call) -> bool:
    """True for `type(value)`. With more arguments it makes a type."""
    asks = isinstance(node.func, ast.Name) and node.func.id == "type"
    return asks and len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _has_plain_holes(text: str) -> bool:
    """True if the holes of a format text are whole values, without access to their parts."""
    for _, hole, form, _ in Formatter().parse(text):
        if hole is not None and ("." in hole or "[" in hole or not _has_plain_holes(form or "")):
            return False
    return True
