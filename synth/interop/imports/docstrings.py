"""The docstring of a method for callers: effect, rules, and each argument."""

import ast
import re
from dataclasses import dataclass

HEADING = re.compile(r"^(\w[\w ]{0,30}?)\s*:\s*(.*)$")
ARGUMENT_HEADINGS = {"args", "arguments", "parameters", "params", "inputs", "input"}
OTHER_HEADINGS = {"returns", "return", "raises", "yields", "example", "examples", "output", "outputs", "attributes"}
RULE_HEADINGS = {"constraints", "constraint", "rules", "note", "notes", "side effects", "effects"}
ARGUMENT = re.compile(r"^\s*[-*]?\s*`?\*{0,2}(\w+)`?\s*(\([^)]*\))?\s*:\s*(.*)$")


@dataclass(frozen=True)
class DocstringText:
    """The parts of a docstring: summary, and each parameter."""

    text: str
    of: dict[str, str]


def words_of(method: ast.FunctionDef) -> DocstringText:
    """The sections of a docstring, without those about results and errors."""
    sections: dict[str, list[str]] = {"": []}
    current = ""
    for line in (ast.get_docstring(method) or "").splitlines():
        heading = HEADING.match(line)
        name = heading.group(1).lower() if heading else ""
        if heading and name in ARGUMENT_HEADINGS | OTHER_HEADINGS | RULE_HEADINGS:
            current = "args" if name in ARGUMENT_HEADINGS else "rules" if name in RULE_HEADINGS else "other"
            sections.setdefault(current, []).append(heading.group(2))
        else:
            sections.setdefault(current, []).append(line)
    first = " ".join(" ".join(sections[""]).split())
    rules = [" ".join(rule.split()).strip("-* ") for rule in _items(sections.get("rules", []))]
    text = first or f"{method.name.replace('_', ' ').strip().capitalize()}."
    listed = [rule for rule in rules if rule and rule.lower() != "none"]
    if listed:
        text += "\n\n" + "\n".join(f"- {rule}" for rule in listed)
    return DocstringText(_for_callers(text), _arguments(sections.get("args", [])))


def _for_callers(text: str) -> str:
    """The text in a caller's terms: `self.claims` are the claims."""
    return re.sub(r"\bself\.", "", text)


def _items(lines: list[str]) -> list[str]:
    """The items of a list, with their continuation lines."""
    items: list[str] = []
    for line in lines:
        if not line.strip():
            continue
        if line.lstrip()[:1] in "-*" or not items:
            items.append(line)
        else:
            items[-1] += " " + line.strip()
    return items


def _arguments(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in lines:
        entry = ARGUMENT.match(line)
        if entry:
            name = entry.group(1)
            found[name] = _for_callers(entry.group(3).strip())
        elif name and line.strip():
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found
