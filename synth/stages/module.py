"""A `tools.py` in the making: the interface's stubs, with the functions that have been written in their places."""

import ast
from dataclasses import dataclass, field

from synth.stages.describing import parsed, text_of

TYPING = "typing"


@dataclass(frozen=True)
class Module:
    """The stubs, and what was written so far: functions by name, constants and classes in their order, imports."""

    stubs: str
    functions: dict[str, str] = field(default_factory=dict[str, str])
    private: dict[str, str] = field(default_factory=dict[str, str])
    constants: dict[str, str] = field(default_factory=dict[str, str])
    imports: frozenset[str] = frozenset()

    def with_code(self, code: str, *, names: frozenset[str], again: bool = False) -> tuple["Module", list[str]]:
        """The module with functions of these names more, or what is wrong with the text. `again` lets it replace."""
        tree, wrong = parsed(code)
        if tree is None:
            return self, [wrong]
        functions, private, constants = dict(self.functions), dict(self.private), dict(self.constants)
        imports, found = set(self.imports), list[str]()
        own_classes = {node.name for node in self._stub_tree().body if isinstance(node, ast.ClassDef)}
        for node in tree.body:
            text = text_of(code, node)
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                imports.add(ast.unparse(node))
            elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                if node.name not in names:
                    found.append(f"{node.name}: is not among the functions that are asked now; leave it out")
                else:
                    stub = self._stub(node.name)
                    if ast.dump(stub.args) != ast.dump(node.args):
                        found.append(f"{node.name}: its arguments are not those of the module; keep them to the letter")
                    if node.body[0].lineno <= _last_line_of_head(node):
                        found.append(f"{node.name}: write its body on lines of its own, below the signature")
                    functions[node.name] = self._with_body(stub, code, node)
            elif isinstance(node, ast.FunctionDef):
                if node.name in self.private and not again and self.private[node.name] != text:
                    found.append(f"{node.name}: is in the module already; use that one, or name yours differently")
                private[node.name] = text
            elif isinstance(node, ast.ClassDef) and node.name in own_classes:
                found.append(f"class {node.name}: is in the module already; leave it out")
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.ClassDef)):
                name = _name_of(node)
                if name in self.constants and not again and self.constants[name] != text:
                    found.append(f"{name}: is in the module already; use that one, or name yours differently")
                constants[name] = text
            elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                found.append(f"`{text[:60]}`: a module holds imports, constants and functions, nothing that runs")
        found += [f"{name}: is missing" for name in sorted(names - functions.keys())]
        return Module(self.stubs, functions, private, constants, frozenset(imports)), found

    def text(self) -> str:
        """The module as one text: stubs where nothing was written yet."""
        tree = self._stub_tree()
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

    def _stub_tree(self) -> ast.Module:
        return ast.parse(self.stubs)

    def _stub(self, name: str) -> ast.FunctionDef:
        return next(node for node in self._stub_tree().body if isinstance(node, ast.FunctionDef) and node.name == name)

    def _with_body(self, stub: ast.FunctionDef, code: str, written: ast.FunctionDef) -> str:
        """The stub's signature and docstring, with the body that was written."""
        lines = code.splitlines()
        has_document = ast.get_docstring(written) is not None
        before = written.body[0].end_lineno if has_document else _last_line_of_head(written)
        body = "\n".join(lines[before or 0 : written.end_lineno])
        return f"{text_of(self.stubs, stub).removesuffix('...').rstrip()}\n{body}"

    def _imports(self, tree: ast.Module) -> str:
        """One import a module, sorted: the library's own, then ours."""
        plain: set[str] = set()
        named: dict[str, set[str]] = {"servers.toolkit": {"Database", "ToolError"}}
        stubs = [ast.unparse(node) for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
        for text in (*stubs, *sorted(self.imports)):
            node = ast.parse(text).body[0]
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


def _last_line_of_head(node: ast.FunctionDef) -> int:
    """The line on which a signature ends: comments may stand between it and the first statement."""
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
