"""The rules of an environment, as `rules.json` lists them: each with an id, and with who holds it.

The file is optional. Agents read the rules in `policy.md`; this list is for those who show that they hold.
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
"""A comment that says which rules a line holds: `# rule: no_late_renewal` in tools.py, `-- rule: …` in schema.sql."""
ITEM = re.compile(r"(?m)^(\d+)\.\s")


class BundleRule(Record):
    """One rule. `item` is its number in policy.md, `never` what must not be found.

    `by` is what of schema.sql holds it: one name, or several, such as a trigger for INSERT and one for UPDATE.
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
    """The names in the `by` of a rule, which is one or several."""
    return tuple(one for one in ((by,) if isinstance(by, str) else by) if one)


RULES = TypeAdapter(tuple[BundleRule, ...])


def load_rules(folder: Path) -> tuple[BundleRule, ...]:
    """The rules of a bundle; none when it has no `rules.json`.

    Raises:
        BundleError: the file cannot be read.
    """
    return listed(folder / RULES_FILE, RULES)


def rule_findings(folder: Path, *, policy: str, schema: str, source: str) -> list[str]:
    """Where the rules, the policy's numbered items, and the marks in schema.sql and tools.py do not agree."""
    try:
        rules = load_rules(folder)
    except BundleError as error:
        return [str(error)]
    return list(_findings(folder, rules, policy, {"schema.sql": schema, "tools.py": source}))


def marked(text: str) -> dict[int, tuple[str, ...]]:
    """Which lines of a text bear marks of rules, and of which."""
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
