"""The texts of a bundle around a server: schema, rows, tools, and a verifier as a checkpoint."""

import ast
import keyword
import re
from typing import Any

from servers.gate.parser import NOT_PYTHON, parsed
from servers.text.json_values import is_list
from synth.interop.awm.rows import VERIFIER, ForeignServer
from synth.interop.imports.dataset import Unreadable
from synth.interop.imports.source import AWM_MODULES, with_imports
from synth.interop.imports.source_writer import BUILTINS

ACTION = r"(?:CASCADE|SET\s+NULL|SET\s+DEFAULT|RESTRICT|NO\s+ACTION)"
TARGET = (
    r"REFERENCES\s+[\"`\[]?\w+[\"`\]]?\s*(?:\([^)]*\))?"
    rf"(?:\s+ON\s+(?:DELETE|UPDATE)\s+{ACTION}|\s+(?:NOT\s+)?DEFERRABLE(?:\s+INITIALLY\s+\w+)?|\s+MATCH\s+\w+)*"
)
LONGEST_TABLE = 16 * 1024
"""Characters of one table's statement."""
KEY_OF_TABLE = re.compile(rf",\s*(?:CONSTRAINT\s+\S+\s+)?FOREIGN\s+KEY\s*\([^)]*\)\s*{TARGET}", re.IGNORECASE)
KEY_OF_COLUMN = re.compile(rf"\s+(?:CONSTRAINT\s+\S+\s+)?{TARGET}", re.IGNORECASE)

HEAD = '"""A server of Agent World Model: its code as text, and a tool for each endpoint."""\n\n'
RUNTIME = """

from typing import Any

from servers.imported.awm.serving import Application as _Application
from servers.toolkit import Database as _Database

_APPLICATION = _Application(_CODE)
_Value = str | int | float | bool | list | dict | None


def _read(db: _Database, route: dict, arguments: dict) -> dict:
    return _APPLICATION.read(db, route, arguments)


def _write(db: _Database, route: dict, arguments: dict) -> dict:
    return _APPLICATION.run(db, route, arguments)


def _given(arguments: dict, required: tuple) -> dict:
    return {name: value for name, value in arguments.items() if value is not None or name in required}
"""
PROBE = """

def envfarm_endpoints(db: _Database) -> dict:
    \"\"\"The endpoints.\"\"\"
    return {"endpoints": _APPLICATION.endpoints()}
"""
CHECK = """

from servers.imported.awm.serving import complete as _complete


def check(start, final, answer, calls):
    return _complete({name}, start, final, answer)
"""


def schema_text(server: ForeignServer) -> str:
    """The tables and indexes. Their foreign keys are left out: the servers that they came with enforce none."""
    parts = ["-- Made by `farm import awm`. Foreign keys are left out: AWM's servers do not enforce them.\n"]
    for table in server.tables:
        parts.append(_table(str(table.get("ddl") or "")))
        indexes: Any = table.get("indexes")
        parts += [str(index).strip().rstrip(";") + ";\n" for index in (indexes if is_list(indexes) else [])]
    return "\n".join(parts)


def _table(ddl: str) -> str:
    """A table without foreign keys. One whose key is not a row's number is kept by its key.

    Raises:
        Unreadable: it is too long for expressions whose time grows with the square of a text.
    """
    if len(ddl) > LONGEST_TABLE:
        raise Unreadable(f"db_schema: a table is longer than {LONGEST_TABLE // 1024} KiB")
    text = KEY_OF_COLUMN.sub("", KEY_OF_TABLE.sub("", ddl.strip().rstrip(";")))
    text = re.sub(r"\s+AUTOINCREMENT\b", "", text, flags=re.IGNORECASE)
    alone = re.search(r"PRIMARY\s+KEY\s*\(\s*(\w+)\s*\)", text, re.IGNORECASE)
    is_number = re.search(r"\bINTEGER\b[^,()]*\bPRIMARY\s+KEY\b", text, re.IGNORECASE) or (
        alone and re.search(rf"\b{alone[1]}\s+INTEGER\b", text, re.IGNORECASE)
    )
    by_key = not is_number and re.search(r"PRIMARY\s+KEY", text, re.IGNORECASE) and "WITHOUT ROWID" not in text.upper()
    return f"{text}{' WITHOUT ROWID' if by_key else ''};\n"


def seed_text(server: ForeignServer) -> str:
    """The rows of the start."""
    told: list[Any] = [table.get("insert_statements") for table in server.samples]
    statements = [one for table in told if is_list(table) for one in table]
    return "".join(str(one).strip().rstrip(";") + ";\n" for one in statements)


def module_text(code: str) -> str:
    """The head of `tools.py`: the server's code as it came, line for line, and what calls it."""
    lines = "".join(f"    {line!r}\n" for line in code.splitlines(keepends=True))
    return f"{HEAD}_CODE = (\n{lines})\n{RUNTIME}"


def probe_text(code: str) -> str:
    """A module that tells the endpoints of a server."""
    return module_text(code) + PROBE


def tool_text(endpoint: dict[str, Any], *, writes: bool) -> str:
    """The function of one endpoint.

    Raises:
        Unreadable: an argument has a name that Python does not have.
    """
    name, schema = endpoint["name"], endpoint["arguments"]
    properties: dict[str, dict[str, Any]] = schema["properties"]
    required = tuple(one for one in properties if one in schema["required"])
    for one in (name, *properties):
        if not one.isidentifier() or keyword.iskeyword(one) or one == "db":
            raise Unreadable(f"{name}: {one!r} cannot be the name of an argument")
    signed = [f"{one}: _Value" + ("" if one in required else " = None") for one in properties]
    head = ", ".join(["db: _Database", *(["*"] if signed else []), *signed])
    words = [_one_line(endpoint["description"]) or name]
    if properties:
        told = (f"    {one}: {_one_line(part.get('description', one)) or one}" for one, part in properties.items())
        words += ["", "Args:", *told]
    doc = "\n".join(f"    {line}".rstrip() for line in words).strip()
    given = ", ".join(f"{one!r}: {one}" for one in properties)
    return (
        f'\n\ndef {name}({head}) -> dict:\n    """{doc}\n    """\n'
        f"    route = {_route(endpoint['route'], set(properties))!r}\n"
        f"    return {'_write' if writes else '_read'}(db, route, _given({{{given}}}, {required!r}))\n"
    )


def _route(told: dict[str, Any], arguments: set[str]) -> dict[str, Any]:
    """The route of an endpoint, of which a guest has told. It is written as a literal, so it may be nothing else.

    Raises:
        Unreadable: it is no route.
    """
    method, path, body, places = told["method"], told["path"], told["body"], told["places"]
    texts = [method, path, *places, *places.values()]
    if not all(isinstance(one, str) for one in texts) or body not in (None, "parts", "whole"):
        raise Unreadable("a guest told a route that is none")
    if set(places) != arguments:
        raise Unreadable(f"{path}: its arguments and its places differ")
    return {"method": method, "path": path, "places": dict(places), "body": body}


def _one_line(text: Any) -> str:
    return " ".join(str(text).split()).replace("\\", "\\\\").replace('"""', "'''").strip('"')


def is_a_name(name: str) -> bool:
    """True if a tool can have this name."""
    return (
        name.isidentifier()
        and name.isascii()
        and not keyword.iskeyword(name)
        and name not in BUILTINS
        and not name.startswith("_")
    )


def writers_in(code: str) -> set[str]:
    """The functions that write to their session by their text."""
    try:
        tree = parsed(code)
    except NOT_PYTHON as error:
        raise Unreadable(f"full_code: not Python: {error}") from None
    functions = [one for one in ast.walk(tree) if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return {one.name for one in functions if any(map(_writes, ast.walk(one)))}


def _writes(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("commit", "add", "add_all", "delete", "flush", "merge")


def checkpoint_text(code: str) -> str:
    """A Python checkpoint around a verifier.

    Raises:
        SyntaxError: it is not Python.
    """
    return with_imports(code, parsed(code), AWM_MODULES).rstrip() + "\n" + CHECK.format(name=VERIFIER)
