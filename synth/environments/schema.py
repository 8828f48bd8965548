"""Schema: the tables of an environment, its rules, and the policy with them."""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from servers.records import Record
from synth.environments.drafts.start_images import guests_here, image_of
from synth.environments.drafts.table_shapes import ImageShape, shape_of
from synth.environments.rules import Rule, breaches, rule_findings
from synth.environments.setting import Setting
from synth.llm.prompt import Prompt
from synth.pipeline.asker import Asker
from synth.pipeline.stage import Artefacts, Stage

PROMPT = Prompt.load(Path(__file__).with_name("schema.md"))
FEWEST_TABLES, MOST_TABLES = 6, 14
FEWEST_RULES, MOST_RULES = 10, 30
FEWEST_HELD = 3
FEWEST_CHECKS = 8
LONGEST_POLICY = 6000
SHORT = re.compile(r"(?i)\bRAISE\s*\(\s*(\w+)\s*,\s*'((?:[^']|'')*)'")


class Schema(Record):
    """`clock` is the time at which every instance of the environment starts."""

    clock: str
    schema_sql: str
    policy_md: str
    rules: tuple[Rule, ...]


async def schema(made: Artefacts, asker: Asker) -> Schema:
    """Ask for the tables and the rules."""
    setting = made[Setting]
    messages = PROMPT.fill(title=setting.title, introduction=setting.introduction, scope=setting.scope)
    return await asker.ask(messages, Schema, accept_schema)


STAGE = Stage("schema", Schema, schema, counts=lambda value: {"tables": value.schema_sql.upper().count("CREATE TABLE")})


async def accept_schema(answer: Schema) -> list[str]:
    """The faults of a schema, its policy and its rules."""
    found = list(_word_findings(answer))
    if any(finding.startswith("clock") for finding in found):
        return found
    async with guests_here() as guests:
        image, wrong = await image_of(guests, schema=answer.schema_sql)
    if wrong:
        return [*found, wrong]
    shape = shape_of(image)
    return [
        *found,
        *_shape_findings(shape),
        *rule_findings(answer.rules, answer.policy_md, shape),
        *breaches(answer.rules, image),
    ]


def _word_findings(answer: Schema) -> Iterator[str]:
    if not _is_time(answer.clock):
        yield f"clock: {answer.clock!r} is no time of the calendar, written as YYYY-MM-DD HH:MM:SS"
    if not 300 <= len(answer.policy_md) <= LONGEST_POLICY:
        yield f"policy_md: has {len(answer.policy_md)} characters; at least 300, at most {LONGEST_POLICY} are asked"
    if not FEWEST_RULES <= len(answer.rules) <= MOST_RULES:
        yield f"rules: there are {len(answer.rules)}; {FEWEST_RULES} to {MOST_RULES} are asked"
    for holder in ("schema", "tool"):
        count = sum(rule.holder == holder for rule in answer.rules)
        if count < FEWEST_HELD:
            yield f"rules: {count} have the holder `{holder}`; at least {FEWEST_HELD} are asked"
    if not any(rule.holder == "agent" for rule in answer.rules):
        yield "rules: none is left to the agent's judgement; at least one is asked, such as what may be told to whom"
    for kind, text in SHORT.findall(answer.schema_sql):
        if kind.upper() != "ABORT":
            yield f"schema_sql: RAISE({kind}, …): write RAISE(ABORT, '…'), which undoes the whole call"
        elif len(text) < 15:
            yield f"schema_sql: RAISE(ABORT, '{text}'): the agent reads this: say what is wrong and what could be done"


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).isoformat(sep=" ") == text
    except ValueError:
        return False


def _shape_findings(shape: ImageShape) -> Iterator[str]:
    tables = shape.tables
    if not FEWEST_TABLES <= len(tables) <= MOST_TABLES:
        yield f"schema_sql: creates {len(tables)} tables; {FEWEST_TABLES} to {MOST_TABLES} are asked"
    linked = {table.name for table in tables.values() if table.links}
    linked |= {link.parent for table in tables.values() for link in table.links}
    for name in sorted(tables.keys() - linked):
        yield f"schema_sql: {name}: no foreign key leads to it or from it; link it, or leave it out"
    for table in tables.values():
        for column in table.columns:
            if column.type == "REAL" and re.search(r"price|cost|fee|amount|total|balance|paid|charge", column.name):
                yield f"schema_sql: {table.name}.{column.name}: money is an INTEGER of cents; call it …_cents"
    checks = sum(len(re.findall(r"(?i)\bCHECK\s*\(", table.sql)) for table in tables.values())
    if checks < FEWEST_CHECKS:
        yield f"schema_sql: has {checks} CHECKs; at least {FEWEST_CHECKS} are asked: states, dates, amounts"
    if not shape.triggers and not shape.indexes:
        yield "schema_sql: has no trigger and no unique index; let them hold the rules over several rows"
