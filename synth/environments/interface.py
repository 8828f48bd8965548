"""Interface: the tools of an environment without bodies: signatures, manuals, results, refusals, rules."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from servers.records import Record
from servers.sandbox.guest_pool import Guests
from synth.environments.drafts.start_images import guests_here, image_of
from synth.environments.drafts.table_shapes import ImageShape, shape_of
from synth.environments.drafts.tool_signatures import described, gate_findings, tree_of
from synth.environments.rules import Rule, as_text
from synth.environments.schema import Schema
from synth.environments.seed import Rows
from synth.environments.setting import Setting
from synth.llm.prompt import Prompt
from synth.pipeline.asker import Asker
from synth.pipeline.stage import Artefacts, Stage

PROMPT = Prompt.load(Path(__file__).with_name("interface.md"))
FEWEST_TOOLS, MOST_TOOLS, FEWEST_OF_A_KIND = 12, 30, 4
SHORTEST_MANUAL = 12


class Plan(Record):
    """What a tool is for, beside what its signature says."""

    name: str
    kind: Literal["query", "command"]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    enforces: tuple[str, ...]
    refusals: tuple[str, ...]


class Interface(Record):
    """A module of tools whose bodies are `...`, and the plan of each."""

    stubs_py: str
    tools: tuple[Plan, ...]
    read_only: tuple[str, ...]


async def interface(made: Artefacts, asker: Asker) -> Interface:
    """Ask for the tools."""
    setting, schema = made[Setting], made[Schema]
    messages = PROMPT.fill(
        title=setting.title,
        introduction=setting.introduction,
        schema=schema.schema_sql,
        policy=schema.policy_md,
        rules=as_text(schema.rules),
    )
    async with guests_here() as guests:
        image, _ = await image_of(guests, schema=schema.schema_sql, seed=made[Rows].seed_sql, clock=schema.clock)
        shape = shape_of(image)

        async def accept(answer: Interface) -> list[str]:
            return await interface_findings(answer, shape, schema.rules, guests)

        if isinstance(made.before, Interface) and not made.evidence and not await accept(made.before):
            return made.before  # rows were added, and nothing else
        return await asker.ask(messages, Interface, accept)


STAGE = Stage("interface", Interface, interface)


async def interface_findings(answer: Interface, shape: ImageShape, rules: Sequence[Rule], guests: Guests) -> list[str]:
    """The faults of an interface."""
    tree, wrong = tree_of(answer.stubs_py)
    if tree is None:
        return [f"stubs_py: {wrong}"]
    found = [f"stubs_py: {finding}" for finding in (*gate_findings(answer.stubs_py), *_form_findings(tree))]
    if found:
        return found
    tools, wrong_here = await described(answer.stubs_py, guests)
    found += [f"stubs_py: {finding}" for finding in wrong_here]
    found += _plan_findings(answer, tools, shape)
    found += [
        f"stubs_py: {plan.name}: {finding}"
        for plan in answer.tools
        if plan.name in tools
        for finding in _tool_findings(plan, tools[plan.name], shape)
    ]
    return [*found, *_cover_findings(answer, shape, rules)]


def _form_findings(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            if node.name.startswith("_"):
                yield f"{node.name}: private functions come later; leave it out"
            elif len(node.body) != 2 or not _is_ellipsis(node.body[-1]):
                yield f"{node.name}: its body is the docstring and `...`, nothing else"
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            yield f"`{ast.unparse(node)[:60]}`: constants come later; leave it out"
    if ast.get_docstring(tree) is None:
        yield "begins with a docstring that says whose tools these are"


def _is_ellipsis(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...


def _plan_findings(answer: Interface, tools: dict[str, Any], shape: ImageShape) -> Iterator[str]:
    names = [plan.name for plan in answer.tools]
    if len(set(names)) < len(names):
        yield "tools: a name occurs twice"
    for name in sorted(set(names) - tools.keys()):
        yield f"tools.{name}: has no function in stubs_py"
    for name in sorted(tools.keys() - set(names)):
        yield f"stubs_py: {name}: has no entry in tools"
    if not FEWEST_TOOLS <= len(names) <= MOST_TOOLS:
        yield f"tools: there are {len(names)}; {FEWEST_TOOLS} to {MOST_TOOLS} are asked"
    for kind in ("query", "command"):
        count = sum(plan.kind == kind for plan in answer.tools)
        if count < FEWEST_OF_A_KIND:
            yield f"tools: {count} have the kind `{kind}`; at least {FEWEST_OF_A_KIND} are asked"
    yield from _kind_findings(answer.tools, shape)


def _kind_findings(plans: Sequence[Plan], shape: ImageShape) -> Iterator[str]:
    for plan in plans:
        unknown = sorted({*plan.reads, *plan.writes} - shape.tables.keys())
        if unknown:
            yield f"tools.{plan.name}: there is no table {', '.join(unknown)} (views are not named here)"
        if (plan.kind == "command") != bool(plan.writes):
            yield f"tools.{plan.name}: a command writes some table, a query none"
        if plan.kind == "command" and not plan.refusals:
            yield f"tools.{plan.name}: a command that never refuses; say when it does"


def _tool_findings(plan: Plan, tool: dict[str, Any], shape: ImageShape) -> Iterator[str]:
    if len(tool["description"]) < SHORTEST_MANUAL:
        yield "its docstring says too little"
    if not tool["result"].get("properties"):
        yield "returns a bare dict; return a TypedDict, so that its result is described"
    properties = cast("dict[str, dict[str, Any]]", tool["arguments"]["properties"])
    required = cast("list[str]", tool["arguments"]["required"])
    choices = _choices(plan, shape)
    for name, schema in properties.items():
        if name in choices and "enum" not in schema and schema.get("type") in ("string", ["string", "null"]):
            yield f"{name}: is text, and the database allows {', '.join(choices[name])}; make it a Literal"
        if schema.get("type") in ("object", "array") and not (schema.get("properties") or schema.get("items")):
            yield f"{name}: says nothing of what it holds; use a TypedDict, or list[str] and the like"
    if plan.kind == "query" and not plan.refusals and any(name.endswith("_id") for name in required):
        yield "takes an id; it refuses one that does not exist, so say so in `refusals`"


def _choices(plan: Plan, shape: ImageShape) -> dict[str, tuple[str, ...]]:
    """The columns with fixed texts in a tool's tables, unless one of these has free text there."""
    about = [shape.tables[name] for name in plan.writes or plan.reads if name in shape.tables]
    columns = [column for table in about for column in table.columns]
    free = {column.name for column in columns if not column.choices}
    return {column.name: column.choices for column in columns if column.name not in free}


def _cover_findings(answer: Interface, shape: ImageShape, rules: Sequence[Rule]) -> Iterator[str]:
    known = {rule.id for rule in rules}
    for plan in answer.tools:
        for one in sorted(set(plan.enforces) - known):
            yield f"tools.{plan.name}.enforces: there is no rule {one!r}"
    enforced = {one for plan in answer.tools if plan.kind == "command" for one in plan.enforces}
    missing = [rule.id for rule in rules if rule.holder == "tool" and rule.id not in enforced]
    if missing:
        yield f"tools: no command enforces {', '.join(missing)}, whose holder is `tool`; say in `enforces` which do"
    held = [rule.id for rule in rules if rule.holder == "schema" and rule.id not in enforced]
    if len(held) > max(2, len(rules) // 4):
        yield f"tools: no command can run into {', '.join(held)}; give tools with which most of them can be tried"
    for name in sorted(set(answer.read_only) - shape.tables.keys()):
        yield f"read_only: there is no table {name!r}"
    if len(set(answer.read_only)) > len(shape.tables) / 2:
        yield "read_only: names more than half of the tables; let commands write more of them"
    read = {name for plan in answer.tools for name in plan.reads}
    written = {name for plan in answer.tools for name in plan.writes}
    for name in sorted(shape.tables.keys() - read):
        yield f"tools: nothing reads {name}; let a query show its rows"
    for name in sorted(shape.tables.keys() - written - set(answer.read_only)):
        yield f"tools: nothing writes {name}; give a command for it, or list it in read_only"
