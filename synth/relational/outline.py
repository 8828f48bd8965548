"""The interface of a rewriting: the imported signatures and manuals, with results that the writer describes."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from servers.bundle.description import Tool
from servers.bundle.environment import Environment
from servers.gate.parser import parsed
from servers.records import Record
from servers.sandbox.guest_pool import Guests
from synth.environments.drafts.start_images import guests_here, image_of
from synth.environments.drafts.table_shapes import ImageShape, shape_of
from synth.environments.drafts.tool_signatures import described, gate_findings, tree_of
from synth.environments.interface import Interface, Plan
from synth.environments.rules import as_text
from synth.environments.schema import Schema
from synth.llm.prompt import Prompt
from synth.pipeline.asker import Asker
from synth.pipeline.stage import Artefacts, Stage
from synth.relational.tables import RelationalTables, class_text, imported_in

PROMPT = Prompt.load(Path(__file__).with_name("outline.md"))
HEAD = '''"""The tools of: {title}."""

from typing import {typing}

from servers.toolkit import Database
'''
TYPING = ("Literal", "NotRequired", "TypedDict")
CLASSES = ("TypedDict",)


class OutlinedTool(Record):
    """The result of one tool, and what it is for."""

    name: str
    kind: Literal["query", "command"]
    returns: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    enforces: tuple[str, ...]
    refusals: tuple[str, ...]


class Outline(Record):
    """What the writer gives: the TypedDicts of results, and a line for each tool."""

    classes_py: str
    tools: tuple[OutlinedTool, ...]


async def outline(made: Artefacts, asker: Asker) -> Interface:
    """Ask for the results of the tools. Their signatures and manuals are those of the imported tools."""
    environment, given = imported_in(made), made[RelationalTables]
    messages = PROMPT.fill(
        title=environment.description.title,
        source=class_text(environment),
        schema=given.schema_sql,
        rules=as_text(given.rules),
        tools="\n".join(
            f"- {tool.name} ({'may write' if tool.writes else 'reads'}): `{head_of(environment, tool.name)}`"
            for tool in environment.description.tools
        ),
    )
    async with guests_here() as guests:
        image, _ = await image_of(guests, schema=given.schema_sql, clock=made[Schema].clock)
        shape = shape_of(image)

        async def accept(answer: Outline) -> list[str]:
            return await outline_findings(answer, environment, shape, frozenset(one.id for one in given.rules), guests)

        answer = await asker.ask(messages, Outline, accept)
    return Interface(
        stubs_py=stubs_of(answer, environment),
        tools=tuple(Plan(**one.model_dump(exclude={"returns"})) for one in answer.tools),
        read_only=(),
    )


STAGE = Stage("interface", Interface, outline)


async def outline_findings(
    answer: Outline, environment: Environment, shape: ImageShape, rules: frozenset[str], guests: Guests
) -> list[str]:
    """The faults of an outline."""
    there = environment.tools
    found = list(_name_findings([one.name for one in answer.tools], there))
    tree, wrong = tree_of(answer.classes_py)
    if tree is None:
        return [*found, f"classes_py: {wrong}"]
    if not all(isinstance(node, ast.ClassDef) for node in tree.body):
        found.append("classes_py: holds TypedDict classes and nothing else; imports are there already")
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    for one in answer.tools:
        found += [f"tools.{one.name}: {finding}" for finding in _plan_findings(one, classes, shape, rules)]
        if one.name in there and one.kind == "command" and not there[one.name].writes:
            found.append(f"tools.{one.name}: only reads, so it is a query")
    if found:
        return found
    return await _stub_findings(stubs_of(answer, environment), environment, guests)


def _name_findings(names: Sequence[str], there: Mapping[str, Tool]) -> Iterator[str]:
    yield from (f"tools: {name} is missing" for name in there if name not in names)
    yield from (f"tools: there is no tool {name!r}" for name in names if name not in there)
    if len(set(names)) < len(names):
        yield "tools: a name occurs twice"


async def _stub_findings(source: str, environment: Environment, guests: Guests) -> list[str]:
    found = [f"classes_py: {finding}" for finding in gate_findings(source)]
    if found:
        return found
    there = environment.tools
    tools, wrong_here = await described(source, guests)
    found = [f"classes_py: {finding}" for finding in wrong_here]
    for name, tool in tools.items():
        if tool["arguments"] != there[name].arguments:
            found.append(f"{name}: its arguments became others")
        if not tool["result"].get("properties"):
            found.append(f"{name}: returns a TypedDict without fields; describe its result")
    return found


def _plan_findings(one: OutlinedTool, classes: set[str], shape: ImageShape, rules: frozenset[str]) -> Iterator[str]:
    if one.returns not in classes:
        yield f"returns: there is no class {one.returns!r} in classes_py"
    if unknown := sorted({*one.reads, *one.writes} - shape.tables.keys()):
        yield f"there is no table {', '.join(unknown)}"
    if (one.kind == "command") != bool(one.writes):
        yield "a command writes some table, a query none"
    if unknown := sorted(set(one.enforces) - rules):
        yield f"enforces: there is no rule {', '.join(unknown)}"


def stubs_of(answer: Outline, environment: Environment) -> str:
    """The module of stubs: the writer's classes, the imported signatures with their manuals."""
    functions = _functions(environment)
    stubs = [
        f"{_head(functions[one.name], one.returns)}\n{_manual(functions[one.name])}    ..." for one in answer.tools
    ]
    title = environment.description.title.replace('"', "'").replace("\\", "/")
    body = "\n\n\n".join([answer.classes_py.strip(), *stubs])
    head = HEAD.format(title=title, typing=", ".join(name for name in TYPING if f"{name}[" in body or name in CLASSES))
    return f"{head.rstrip()}\n\n\n{body}\n"


def head_of(environment: Environment, tool: str) -> str:
    """The signature of an imported tool."""
    return _head(_functions(environment)[tool], "…").removesuffix(" -> …:")


def _functions(environment: Environment) -> dict[str, ast.FunctionDef]:
    tree = parsed(environment.source)
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _head(node: ast.FunctionDef, returns: str) -> str:
    arguments = ast.unparse(node.args).replace("_Database", "Database").replace("_Literal", "Literal")
    return f"def {node.name}({arguments}) -> {returns}:"


def _manual(node: ast.FunctionDef) -> str:
    """The docstring as it stands, indented."""
    lines = (ast.get_docstring(node) or f"{node.name}.").replace("\\", "\\\\").replace('"""', "'''").split("\n")
    body = "\n".join([lines[0], *(f"    {line}".rstrip() for line in lines[1:])])
    return f'    """{body}\n    """\n' if len(lines) > 1 else f'    """{body}"""\n'
