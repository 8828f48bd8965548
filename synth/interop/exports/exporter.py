"""A bundle as EnvScaler's two files: a class whose attributes are the tables and whose methods are the tools.

SQL cannot be converted into code over dicts, so the class contains schema and tools, and runs them over sqlite3.
"""

import json
import pprint
from typing import Any

import apsw

from servers.bundle.description import Tool
from servers.bundle.environment import Environment
from servers.errors import BundleError
from servers.guest.sqlite.sql_text import quoted
from servers.sandbox.guest_pool import Guests
from servers.scenario.scenario import Scenario
from servers.state.readonly_query import Reader
from synth.interop.exports.checks import checks_of
from synth.interop.exports.export_entries import ExportedBundle, rules_of, start_image, tool_entry
from synth.interop.exports.imported_bundle import export_imported, is_imported
from synth.interop.exports.texts import defined, text_of, without_imports

OWN = ("clock", "calls")


async def export(environment: Environment, scenarios: list[Scenario], guests: Guests) -> ExportedBundle:
    """Both files of a bundle.

    Raises:
        BundleError: schema, seed or a setup does not run, or a table holds values that JSON lacks.
    """
    if is_imported(environment):
        return await export_imported(environment, scenarios, guests)
    exported = ExportedBundle()
    clock = environment.description.clock
    taken = sorted(defined(environment.source) & (defined(text_of("database")) | defined(text_of("environment"))))
    if taken:
        raise BundleError(
            f"{environment.folder}: tools.py: {', '.join(taken)}: is a name of what is exported; rename it"
        )
    image = await start_image(environment, "", clock, guests)
    schema = _schema(image, environment)
    schema["clock"] = clock
    name = _class_name(environment.id)
    code = _class_code(name, schema, environment)
    exported.environments[environment.id] = {
        "env_id": environment.id,
        "environment_summary": environment.description.title,
        "environment_introduction": environment.description.description,
        "state_space_definition": [
            {"entity": table, "attributes": ", ".join(told["all"]), "description": f"A dict of rows by {told['key']}."}
            for table, told in schema["tables"].items()
        ],
        "constraints_rules": rules_of(environment.policy),
        "operation_list": [_operation(tool, code) for tool in environment.tools.values()],
        "env_class_name": name,
        "env_class_code": code,
        "env_class_def": code[: code.index("    def ", code.index(f"class {name}"))],
        "tools": [tool_entry(tool.name, tool) for tool in environment.tools.values()],
    }
    for scenario in scenarios:
        if scenario.second is not None:
            exported.lost.append(f"{scenario.id}: is over two environments, and a task of EnvScaler has one; left out")
            continue
        started = await start_image(environment, scenario.setup, scenario.clock or clock, guests)
        config = {**_rows(started, schema), "clock": scenario.clock or clock, "calls": 0}
        checks = list(checks_of(scenario, schema, exported.lost))
        if not checks:
            exported.lost.append(f"{scenario.id}: all of its goals are about the answer or the calls; it is left out")
            continue
        exported.add(environment, name, scenario, config, checks)
    return exported


def _schema(image: bytes, environment: Environment) -> dict[str, Any]:
    """The description of the tables for the exported text."""
    reader = Reader(image, image)
    try:
        tables: dict[str, Any] = {}
        for name in reader.tables():
            if name in OWN or any(tool == name for tool in environment.tools):
                raise BundleError(f"{environment.folder}: table {name}: has the name of a tool or of {OWN}; rename it")
            [(sql,)] = reader.connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (name,)).fetchall()
            found = reader.connection.execute("SELECT name, hidden FROM pragma_table_xinfo(?)", (name,)).fetchall()
            columns, key = reader.columns(name)
            stored = [str(column) for column, hidden in found if not hidden]
            tables[name] = {
                "sql": sql,
                "columns": stored,
                "all": [str(column) for column, _ in found] or columns,
                "key": key,
            }
        others = reader.connection.execute(
            "SELECT type, sql FROM sqlite_schema WHERE type <> 'table' AND sql IS NOT NULL ORDER BY rowid"
        ).fetchall()
    except apsw.Error as error:
        raise BundleError(f"{environment.folder}: its tables cannot be read: {error}") from None
    finally:
        reader.close()
    return {
        "tables": tables,
        "others": [str(sql) for _, sql in others],
        "views": [str(sql) for kind, sql in others if kind == "view"],
    }


def _rows(image: bytes, schema: dict[str, Any]) -> dict[str, Any]:
    """The rows of a start, by table and key."""
    reader = Reader(image, image)
    try:
        found: dict[str, Any] = {}
        for table, told in schema["tables"].items():
            columns = ", ".join(quoted(column) for column in told["all"])
            order = ", ".join(quoted(key) for key in told["key"])
            rows = reader.connection.execute(f"SELECT {columns} FROM {quoted(table)} ORDER BY {order}").fetchall()
            lines = [dict(zip(told["all"], row, strict=True)) for row in rows]
            if any(isinstance(value, bytes) for line in lines for value in line.values()):
                raise BundleError(f"table {table}: holds a BLOB, which EnvScaler's format cannot hold")
            found[table] = {"|".join(str(line[key]) for key in told["key"]): line for line in lines}
        return found
    finally:
        reader.close()


def _class_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _class_code(name: str, schema: dict[str, Any], environment: Environment) -> str:
    own = f"SCHEMA = {pprint.pformat(schema, width=110, sort_dicts=False)}\n"
    frame = text_of("environment").replace("SCHEMA: dict[str, Any] = {}\n", own)
    methods = "".join(_method(tool) for tool in environment.tools.values())
    parts = [text_of("database"), without_imports(environment.source), frame]
    return "\n\n".join(parts) + f'\n\nclass {name}(Exported):\n    """{environment.description.title}."""\n{methods}'


def _method(tool: Tool) -> str:
    """One tool as a method. Omitted arguments are not passed on, so the tool's own defaults apply."""
    properties, required = tool.properties, tool.required
    ordered = [
        *(name for name in properties if name in required),
        *(name for name in properties if name not in required),
    ]
    told = [name if name in required else f"{name}=..." for name in ordered]
    given = ", ".join(f"{name!r}: {name}" for name in ordered)
    return (
        f"\n    def {tool.name}({', '.join(['self', *told])}):\n"
        f"        {json.dumps(tool.description)}\n"
        f"        given = {{{given}}}\n"
        f"        given = {{name: value for name, value in given.items() if value is not ...}}\n"
        f"        return self._call({tool.name}, given)\n"
    )


def _operation(tool: Tool, code: str) -> dict[str, str]:
    begin = code.index(f"\n    def {tool.name}(", code.rindex("(Exported):"))
    end = code.find("\n    def ", begin + 1)
    return {
        "operation_name": tool.name,
        "operation_description": tool.description,
        "operation_type": "state_change" if tool.writes else "query",
        "code": code[begin : end if end > 0 else None].strip(),
    }
