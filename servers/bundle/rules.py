"""The rules of an environment, in the optional `rules.json`: each has an id and a holder.

Agents read the rules in `policy.md`. This list is for proofs.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field, TypeAdapter

from servers.bundle.files import listed
from servers.errors import BundleError
from servers.records import Name, Record

RULES_FILE = "rules.json"
Holder = Literal["schema", "tool", "agent"]
MARK = re.compile(r"(?:#|--)\s*rules?:\s*([a-z0-9_]+(?:\s*,\s*[a-z0-9_]+)*)\s*$")
"""A comment that names the rules a line enforces: `# rule: no_late_renewal` in tools.py, `-- rule: …` in schema.sql."""
ITEM = re.compile(r"(?m)^(\d+)\.\s")


class BundleRule(Record):
    """One rule. `item` is its number in policy.md. `never` is a SELECT that must find nothing.

    `by` names what in schema.sql enforces it: one name, or several, such as a trigger for INSERT and one for UPDATE.
    """

    id: Name
    text: str = Field(min_length=1)
    item: int = Field(ge=1)
    holder: Holder
    by: str | tuple[str, ...] = ""
    never: str = ""

    @property
    def holds(self) -> tuple[str, ...]:
        """The names in `by`."""
        return named(self.by)


def named(by: str | tuple[str, ...]) -> tuple[str, ...]:
    """The names in the `by` of a rule, which may be one name or a list."""
    return tuple(one for one in ((by,) if isinstance(by, str) else by) if one)


RULES = TypeAdapter(tuple[BundleRule, ...])


def load_rules(folder: Path) -> tuple[BundleRule, ...]:
    """The rules of a bundle; none when it has no `rules.json`.

    Raises:
        BundleError: the file cannot be read.
    """
    return listed(folder / RULES_FILE, RULES)


def rule_findings(folder: Path, *, policy: str, schema: str, source: str) -> list[str]:
    """Inconsistencies between the rules, the policy's numbered items, and the comments in schema.sql and tools.py."""
    try:
        rules = load_rules(folder)
    except BundleError as error:
        return [str(error)]
    return list(_findings(folder, rules, policy, {"schema.sql": schema, "tools.py": source}))


def marked(text: str) -> dict[int, tuple[str, ...]]:
    """The rules that each line of a text names in a comment."""
    found: dict[int, tuple[str, ...]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        mark = MARK.search(line)
        if mark is not None:
            found[number] = tuple(one.strip() for one in mark[1].split(","))
    return found


def _findings(folder: Path, rules: tuple[BundleRule, ...], policy: str, texts: dict[str, str]) -> Iterator[str]:
    path = folder / RULES_FILE
    ids = [rule.id for rule in rules]
    items = {int(number) for number in ITEM.findall(policy)}
    yield from (f"{path}: {one}: stands there {ids.count(one)} times" for one in sorted(set(ids)) if ids.count(one) > 1)
    for rule in rules:
        if rule.item not in items:
            yield f"{path}: {rule.id}.item: policy.md has no item {rule.item}"
        if rule.holds and rule.holder != "schema":
            yield f"{path}: {rule.id}.by: is for rules that the schema holds, and the holder is {rule.holder}"
        for one in rule.holds:
            if not re.search(rf"(?i)\b{re.escape(one.split('.')[0])}\b", texts["schema.sql"]):
                yield f"{path}: {rule.id}.by: there is no {one!r} in schema.sql"
    for name, text in texts.items():
        for line, marks in marked(text).items():
            for one in sorted(set(marks) - set(ids)):
                yield f"{folder / name}: line {line}: rule {one!r} is not in {RULES_FILE}"
