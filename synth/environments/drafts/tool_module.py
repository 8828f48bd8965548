"""A `tools.py` in the making: the interface's stubs, with written functions in their places."""

import ast
from dataclasses import dataclass, field

from servers.gate.parser import parsed
from synth.environments.drafts.tool_signatures import text_of, tree_of

TYPING = "typing"


@dataclass(frozen=True)
class Module:
    """The stubs and the code so far: functions by name, constants and classes in order, imports."""

    stubs: str
    functions: dict[str, str] = field(default_factory=dict[str, str])
    private: dict[str, str] = field(default_factory=dict[str, str])
    constants: dict[str, str] = field(default_factory=dict[str, str])
    imports: frozenset[str] = frozenset()

    def with_code(self, code: str, *, names: frozenset[str], again: bool = False) -> tuple["Module", list[str]]:
        """The module with further functions of these names, or the text's faults. `again` allows replacement."""
        tree, wrong = tree_of(code)
        if tree is None:
            return self, [wrong]
        taking = _Taking(self, code, names, again=again)
        for node in tree.body:
            taking.take(node)
        taking.found += [f"{name}: is missing" for name in sorted(names - taking.functions.keys())]
        more = Module(self.stubs, taking.functions, taking.private, taking.constants, frozenset(taking.imports))
        return more, taking.found

    def text(self) -> str:
        """The module as text, with stubs in place of missing functions."""
        tree = self.stub_tree()
        classes = [text_of(self.stubs, node) for node in tree.body if isinstance(node, ast.ClassDef)]
        tools = [
            self.functions.get(node.name) or text_of(self.stubs, node)
            for node in tree.body
            if isinstance(node, ast.FunctionDef)
        ]
        document = ast.get_docstring(tree) or "Tools."
        constants = "\n".join(text for text in self.constants.values() if not text.startswith(("class ", "@")))
        more = [text for text in self.constants.values() if text.startswith(("class ", "@"))]
        heads = [f'"""{document}"""', self._imports(tree), *([constants] if constants else [])]
        return "\n\n".join(heads) + "\n\n\n" + "\n\n\n".join([*classes, *more, *tools, *self.private.values()]) + "\n"

    def stub_tree(self) -> ast.Module:
        return parsed(self.stubs)

    def stub(self, name: str) -> ast.FunctionDef:
        return next(node for node in self.stub_tree().body if isinstance(node, ast.FunctionDef) and node.name == name)

    def with_body(self, stub: ast.FunctionDef, code: str, written: ast.FunctionDef) -> str:
        """The stub's signature and docstring, with the written body."""
        lines = code.splitlines()
        has_document = ast.get_docstring(written) is not None
        before = written.body[0].end_lineno if has_document else _last_line_of_head(written)
        body = "\n".join(lines[before or 0 : written.end_lineno])
        return f"{text_of(self.stubs, stub).removesuffix('...').rstrip()}\n{body}"

    def _imports(self, tree: ast.Module) -> str:
        """The imports by module, sorted: the library's own, then ours."""
        plain: set[str] = set()
        named: dict[str, set[str]] = {"servers.toolkit": {"Database", "ToolError"}}
        stubs = [ast.unparse(node) for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
        for text in (*stubs, *sorted(self.imports)):
            node = parsed(text).body[0]
            if isinstance(node, ast.ImportFrom):
                named.setdefault(node.module or "", set()).update(_alias(alias) for alias in node.names)
            elif isinstance(node, ast.Import):
                plain.update(_alias(alias) for alias in node.names)
        body = "\n".join([*self.functions.values(), *self.private.values()])
        if "cast(" in body:
            named.setdefault(TYPING, set()).add("cast")
        if "Any" in body:
            named.setdefault(TYPING, set()).add("Any")
        lines = [f"import {name}" for name in sorted(plain)]
        lines += [_from(module, names) for module, names in sorted(named.items()) if module != "servers.toolkit"]
        return "\n".join(lines) + "\n\n" + _from("servers.toolkit", named["servers.toolkit"])


class _Taking:
    """Adds the statements of a text to a module, one by one."""

    def __init__(self, module: Module, code: str, names: frozenset[str], *, again: bool) -> None:
        self.functions, self.private = dict(module.functions), dict(module.private)
        self.constants, self.imports = dict(module.constants), set(module.imports)
        self.found: list[str] = []
        self._module, self._code, self._names, self._again = module, code, names, again
        self._classes = {node.name for node in module.stub_tree().body if isinstance(node, ast.ClassDef)}

    def take(self, node: ast.stmt) -> None:
        """Add a statement in its place, or record why it has none."""
        text = text_of(self._code, node)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            self.imports.add(ast.unparse(node))
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("_"):
            self._keep(self.private, self._module.private, node.name, text)
        elif isinstance(node, ast.FunctionDef):
            self._tool(node)
        elif isinstance(node, ast.ClassDef) and node.name in self._classes:
            self.found.append(f"class {node.name}: is in the module already; leave it out")
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.ClassDef)):
            self._keep(self.constants, self._module.constants, _name_of(node), text)
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            self.found.append(f"`{text[:60]}`: a module holds imports, constants and functions, nothing that runs")

    def _keep(self, kept: dict[str, str], before: dict[str, str], name: str, text: str) -> None:
        if before.get(name, text) != text and not self._again:
            self.found.append(f"{name}: is in the module already; use that one, or name yours differently")
        kept[name] = text

    def _tool(self, node: ast.FunctionDef) -> None:
        if node.name not in self._names:
            self.found.append(f"{node.name}: is not among the functions that are asked now; leave it out")
            return
        stub = self._module.stub(node.name)
        if ast.dump(stub.args) != ast.dump(node.args):
            self.found.append(f"{node.name}: its arguments are not those of the module; keep them to the letter")
        if node.body[0].lineno <= _last_line_of_head(node):
            self.found.append(f"{node.name}: write its body on lines of its own, below the signature")
        self.functions[node.name] = self._module.with_body(stub, self._code, node)


def _last_line_of_head(node: ast.FunctionDef) -> int:
    """The last line of a signature. Comments may follow before the first statement."""
    arguments = [*node.args.args, *node.args.kwonlyargs, *node.args.kw_defaults]
    last = max([node.lineno, *(part.end_lineno or 0 for part in arguments if part is not None)])
    return max(last, node.returns.end_lineno or 0) if node.returns is not None else last


def _from(module: str, names: set[str]) -> str:
    return f"from {module} import {', '.join(sorted(names, key=lambda name: (not name.isupper(), name)))}"


def _alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _name_of(node: ast.Assign | ast.AnnAssign | ast.ClassDef) -> str:
    if isinstance(node, ast.ClassDef):
        return node.name
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    return ast.unparse(target)
