"""The rules of an environment: what may be and what may not, each with an id and with who holds it."""

import re
from collections.abc import Sequence
from typing import Literal

from servers.record import Name, Record
from synth.stages.shape import Shape, Table

Holder = Literal["schema", "tool", "agent"]
NUMBERED = re.compile(r"(?m)^(\d+)\.\s")


class Rule(Record):
    """One rule. `item` is the number under which policy.md tells it; `by` is what holds it in schema.sql, if that does."""

    id: Name
    text: str
    item: int
    holder: Holder
    by: str


def rule_findings(rules: Sequence[Rule], policy: str, shape: Shape) -> list[str]:
    """Where the rules, the policy's numbered items and the schema do not agree."""
    ids = [rule.id for rule in rules]
    found = [f"rules: the id {one!r} is used {ids.count(one)} times" for one in sorted(set(ids)) if ids.count(one) > 1]
    items = [int(number) for number in NUMBERED.findall(policy)]
    if items != list(range(1, len(items) + 1)) or not items:
        found.append("policy_md: number its items 1., 2., 3. … at the beginning of a line, in one list")
    told = {rule.item for rule in rules}
    found += [f"policy_md: item {item} has no rule; give it one, or merge it" for item in items if item not in told]
    found += [f"rules.{rule.id}: there is no item {rule.item} in policy_md" for rule in rules if rule.item not in items]
    for rule in rules:
        finding = holder_finding(rule, shape)
        if finding:
            found.append(f"rules.{rule.id}: {finding}")
    return found


def holder_finding(rule: Rule, shape: Shape) -> str:
    """What is wrong with how a rule names its holder."""
    if rule.holder != "schema":
        return (
            "" if not rule.by else f'by: is for rules that the schema holds; leave it "" for the holder {rule.holder}'
        )
    if rule.by in shape.triggers or rule.by in shape.indexes:
        return ""
    table, _, column = rule.by.partition(".")
    if table not in shape.tables:
        known = ", ".join([*shape.triggers, *shape.indexes])
        return (
            f"by: {rule.by!r} is no trigger, unique index, table or table.column of schema_sql "
            f"(triggers and unique indexes: {known or 'none'}); or the holder is `tool`"
        )
    return (
        ""
        if _has_constraint(shape.tables[table], column)
        else (f"by: {rule.by} has no CHECK, UNIQUE, REFERENCES or NOT NULL; add one, or name the holder `tool`")
    )


def _has_constraint(table: Table, column: str) -> bool:
    if not column:
        return bool(re.search(r"(?i)\b(CHECK|UNIQUE|REFERENCES)\b", table.sql))
    found = next((one for one in table.columns if one.name == column), None)
    if found is None:
        return False
    linked = any(column in link.columns for link in table.links) or any(column in one for one in table.unique)
    return found.required or linked or re.search(rf"(?i)CHECK\s*\([^;]*\b{re.escape(column)}\b", table.sql) is not None


def as_text(rules: Sequence[Rule]) -> str:
    """The rules for a reader, a line each."""
    return "\n".join(
        f"- {rule.id} (item {rule.item}; held by {rule.holder}{f': {rule.by}' if rule.by else ''}): {rule.text}"
        for rule in rules
    )
