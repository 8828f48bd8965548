"""The rules of an environment from a writer, and their inconsistencies with policy and schema."""

import re
from collections.abc import Sequence
from typing import Any

from servers.bundle.rules import ITEM, BundleRule, Holder, named
from servers.errors import QueryError
from servers.records import Record
from servers.state.readonly_query import Reader
from synth.environments.drafts.table_shapes import ImageShape, TableShape

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


class Rule(Record):
    """One rule; see servers/rules.py. Every key is asked, with "" for nothing. `by` is a name, or a list of several."""

    id: str
    text: str
    item: int
    holder: Holder
    by: str | tuple[str, ...]
    never: str

    def kept(self) -> BundleRule:
        """The rule as a bundle lists it."""
        return BundleRule.model_validate(self.model_dump())


def rule_findings(rules: Sequence[Rule], policy: str, shape: ImageShape) -> list[str]:
    """Inconsistencies between the rules, the policy's numbered items, and the schema."""
    ids = [rule.id for rule in rules]
    found = [f"rules: the id {one!r} is used {ids.count(one)} times" for one in sorted(set(ids)) if ids.count(one) > 1]
    found += [f"rules: {one!r} is no id: lower case letters, digits and _" for one in ids if not NAME.fullmatch(one)]
    items = [int(number) for number in ITEM.findall(policy)]
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


def breaches(rules: Sequence[Rule], image: bytes) -> list[str]:
    """Rules whose `never` does not run, or finds rows in an image."""
    found: list[str] = []
    reader = Reader(image, image)
    try:
        for rule in rules:
            if not rule.never:
                continue
            try:
                answer = reader.select(rule.never, rows=3)
            except QueryError as error:
                found.append(f"rules.{rule.id}: never: {error}")
                continue
            if answer.rows:
                shown = "; ".join(_row_text(answer.columns, row) for row in answer.rows)
                found.append(f"the rule {rule.id} ({rule.text}) is broken by: {shown}")
    finally:
        reader.close()
    return found


def _row_text(columns: Sequence[str], row: Sequence[Any]) -> str:
    return ", ".join(f"{column} = {value}" for column, value in zip(columns, row, strict=True))[:200]


def holder_finding(rule: Rule, shape: ImageShape) -> str:
    """The fault in a rule's holder, if any."""
    names = named(rule.by)
    if rule.holder != "schema":
        return "" if not names else f'by: is for rules that the schema holds; leave it "" for the holder {rule.holder}'
    return next((finding for one in names or ("",) if (finding := _name_finding(one, shape))), "")


def _name_finding(by: str, shape: ImageShape) -> str:
    """The fault in one name of a holder, if any."""
    if by in shape.triggers or by in shape.indexes:
        return ""
    table, _, column = by.partition(".")
    if table not in shape.tables:
        known = ", ".join([*shape.triggers, *shape.indexes])
        return (
            f"by: {by!r} is no trigger, unique index, table or table.column of schema_sql "
            f"(triggers and unique indexes: {known or 'none'}); or the holder is `tool`"
        )
    if _has_constraint(shape.tables[table], column):
        return ""
    return f"by: {by} has no CHECK, UNIQUE, REFERENCES or NOT NULL; add one, or name the holder `tool`"


def _has_constraint(table: TableShape, column: str) -> bool:
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
        f"- {rule.id} (item {rule.item}; held by {rule.holder}{_by_text(rule)}): {rule.text}" for rule in rules
    )


def _by_text(rule: Rule) -> str:
    names = named(rule.by)
    return f": {', '.join(names)}" if names else ""
