"""The places where an environment refuses: the lines of tools.py and schema.sql, with the rules that they name.

A refusal is known only by its text, so each place is a pattern of its possible texts. Both files are read, never run.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from servers.bundle.rules import BundleRule, marked
from servers.gate.parser import parsed
from servers.state.readonly_query import Reader

BROKEN = "this would break a rule of the database: "
SCHEMA_REFUSES, UNKNOWN_REFUSES = 0.9, 0.3
"""The progress of a tool at a refusal by the schema, and at one from an unknown place."""
RAISE = re.compile(r"(?is)\bRAISE\s*\(\s*(?:ABORT|FAIL|ROLLBACK)\s*,\s*'((?:[^']|'')*)'\s*\)")


@dataclass(frozen=True)
class RefusalPlace:
    """One line that refuses calls, with the rules that it names."""

    where: str
    line: int
    """The line in tools.py. 0 for schema.sql."""
    pattern: re.Pattern[str]
    certain: int
    """The number of constant characters in its text."""
    rules: tuple[str, ...]


@dataclass(frozen=True)
class Places:
    """All places of an environment, and the calls between its functions."""

    every: tuple[RefusalPlace, ...]
    functions: dict[str, "SourceFunction"]

    def of(self, text: str) -> list[RefusalPlace]:
        """The possible origins of a refusal with this text: the places that share the most words with it."""
        found = [place for place in self.every if place.pattern.fullmatch(text)]
        most = max((place.certain for place in found), default=0)
        return [place for place in found if place.certain == most]

    def bearing(self, rule: str) -> list[RefusalPlace]:
        """The places that name a rule."""
        return [place for place in self.every if rule in place.rules]

    def progress(self, tool: str, text: str) -> float:
        """The progress of a tool when it refused, from 0 to 1, by the lines of its function."""
        function, places = self.functions[tool], self.of(text)
        lines = [line for place in places if place.line for line in self._lines(function, place.line)]
        if not lines:
            return SCHEMA_REFUSES if places else UNKNOWN_REFUSES
        return (min(lines) - function.first) / (function.last - function.first + 1)

    def _lines(self, function: "SourceFunction", line: int) -> list[int]:
        """The positions of a function while a line of the file runs: that line, or the calls that lead there."""
        if function.first <= line <= function.last:
            return [line]
        return [at for name, at in function.calls if line in self.functions[name].reach]


@dataclass(frozen=True)
class SourceFunction:
    """A function of tools.py: its lines, its calls by name and line, and the lines that run in its calls."""

    first: int
    last: int
    calls: tuple[tuple[str, int], ...]
    reach: frozenset[int]
    refuses: bool
    bare: bool
    """A tool without arguments."""


def places_of(source: str, schema: str, rules: Sequence[BundleRule], reader: Reader) -> Places:
    """The places of an environment. `reader` has its tables."""
    return Places((*_of_tools(source), *_of_schema(schema, rules, reader)), functions_of(source))


def functions_of(source: str) -> dict[str, SourceFunction]:
    """The functions of tools.py. One refuses if it raises a ToolError, directly or through its calls."""
    nodes = {node.name: node for node in parsed(source).body if isinstance(node, ast.FunctionDef)}
    calls = {name: _calls(node, nodes) for name, node in nodes.items()}
    reach = {name: _wider({name}, calls) for name in nodes}
    raising = {name for name, node in nodes.items() if any(_refusal(one) is not None for one in ast.walk(node))}
    return {
        name: SourceFunction(
            first=node.lineno,
            last=node.end_lineno or node.lineno,
            calls=calls[name],
            reach=frozenset(line for one in reach[name] for line in _lines_of(nodes[one])),
            refuses=bool(reach[name] & raising),
            bare=not node.args.kwonlyargs,
        )
        for name, node in nodes.items()
    }


def refusing(source: str) -> set[str]:
    """The tools whose code has a refusal.

    One without arguments must raise it itself: others may refuse arguments only.
    """
    return {
        name
        for name, function in functions_of(source).items()
        if function.refuses and (not function.bare or _raises(source, function))
    }


def _raises(source: str, function: SourceFunction) -> bool:
    return any(
        _refusal(node) is not None and function.first <= getattr(node, "lineno", 0) <= function.last
        for node in ast.walk(parsed(source))
    )


def _calls(node: ast.FunctionDef, nodes: dict[str, ast.FunctionDef]) -> tuple[tuple[str, int], ...]:
    found = [one for one in ast.walk(node) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)]
    return tuple((one.func.id, one.lineno) for one in found if isinstance(one.func, ast.Name) and one.func.id in nodes)


def _wider(names: set[str], calls: dict[str, tuple[tuple[str, int], ...]]) -> set[str]:
    """Some functions, and everything that they call."""
    while True:
        wider = names | {called for name in names for called, _ in calls[name]}
        if wider == names:
            return names
        names = wider


def _lines_of(node: ast.FunctionDef) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _refusal(node: ast.AST) -> ast.Call | None:
    call = node.exc if isinstance(node, ast.Raise) else None
    is_refusal = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "ToolError"
    return call if isinstance(call, ast.Call) and is_refusal else None


def _of_tools(source: str) -> Iterator[RefusalPlace]:
    marks = marked(source)
    for node in ast.walk(parsed(source)):
        call = _refusal(node)
        if call is None or not isinstance(node, ast.Raise) or not call.args:
            continue
        lines = range(node.lineno - 1, (node.end_lineno or node.lineno) + 1)
        rules = tuple(
            rule for line in lines for rule in marks.get(line, ()) if line >= node.lineno or _is_alone(source, line)
        )
        pattern, certain = _pattern(call.args[0])
        if certain:
            yield RefusalPlace(
                f"tools.py, line {node.lineno}", node.lineno, re.compile(pattern, re.DOTALL), certain, rules
            )


def _is_alone(source: str, line: int) -> bool:
    """True if a line is only a comment: then it belongs to the next line."""
    return source.splitlines()[line - 1].lstrip().startswith(("#", "--"))


def _pattern(node: ast.expr) -> tuple[str, int]:
    """The possible texts of an expression, and the number of their constant characters."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.escape(node.value), len(node.value)
    parts: list[ast.expr] = []
    if isinstance(node, ast.JoinedStr):
        parts = node.values
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [node.left, node.right]
    if not parts:
        return ".*", 0
    patterns = [_pattern(part) for part in parts]
    return "".join(pattern for pattern, _ in patterns), sum(certain for _, certain in patterns)


def _of_schema(schema: str, rules: Sequence[BundleRule], reader: Reader) -> Iterator[RefusalPlace]:
    held = [rule for rule in rules if rule.holds]
    marks = marked(schema)
    known = reader.connection.execute("SELECT type, name, tbl_name, sql FROM main.sqlite_schema").fetchall()
    for kind, name, table, sql in known:
        if kind == "trigger" and sql:
            yield from _of_trigger(schema, str(name), str(sql), held, marks)
        elif kind == "index" and sql and "UNIQUE" in str(sql).upper():
            columns = reader.connection.execute("SELECT name FROM pragma_index_info(?)", (name,)).fetchall()
            bearing = tuple(rule.id for rule in held if name in rule.holds)
            told = ", ".join(f"{table}.{column}" for (column,) in columns)
            yield _place(f"schema.sql, index {name}", f"UNIQUE constraint failed: {told}", bearing)
            yield _place(f"schema.sql, index {name}", f"UNIQUE constraint failed: index '{name}'", bearing)
        elif kind == "table" and sql:
            yield from _of_table(str(name), str(sql), held)


def _of_trigger(
    schema: str, name: str, sql: str, held: Sequence[BundleRule], marks: dict[int, tuple[str, ...]]
) -> Iterator[RefusalPlace]:
    begin = schema.find(sql[sql.find(name) :])
    by = tuple(rule.id for rule in held if name in rule.holds)
    for found in RAISE.finditer(sql):
        text = found[1].replace("''", "'")
        line = schema.count("\n", 0, begin + found.end() - sql.find(name)) + 1 if begin >= 0 else 0
        own = marks.get(line) or (marks.get(line - 1, ()) if line > 1 and _is_alone(schema, line - 1) else ())
        yield RefusalPlace(f"schema.sql, line {line}", 0, re.compile(re.escape(text)), len(text), own or by)


def _of_table(table: str, sql: str, held: Sequence[BundleRule]) -> Iterator[RefusalPlace]:
    """The texts of a table's own constraints, for the rules that name the table or a column of it."""
    for rule, by in [(one, by) for one in held for by in one.holds]:
        name, _, column = by.partition(".")
        if name != table:
            continue
        told = rf"CHECK constraint failed: .*\b{re.escape(column)}\b.*" if column else "CHECK constraint failed: .*"
        place = re.escape(f"{table}.{column}") if column else re.escape(table) + r"\.\w+"
        for pattern in (told, rf"(?:NOT NULL|UNIQUE) constraint failed: (?:.*, )?{place}(?:, .*)?"):
            yield RefusalPlace(
                f"schema.sql, {by}", 0, re.compile(re.escape(BROKEN) + pattern, re.DOTALL), 20, (rule.id,)
            )


def _place(where: str, text: str, rules: tuple[str, ...]) -> RefusalPlace:
    return RefusalPlace(where, 0, re.compile(re.escape(BROKEN + text)), len(BROKEN + text), rules)
