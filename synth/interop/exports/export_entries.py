"""What every export to EnvScaler's files gives: the entries of both files, and what their format cannot say."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class ExportedBundle:
    """The entries of both files, and what their format cannot express."""

    environments: dict[str, Any] = field(default_factory=dict[str, Any])
    scenarios: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    lost: list[str] = field(default_factory=list[str])


def rules_of(policy: str) -> list[str]:
    """The rules of a policy: its items and paragraphs, without headings."""
    rules: list[str] = []
    for line in policy.splitlines():
        text = line.strip()
        if text.startswith(("- ", "* ")) or (text and not text.startswith("#") and not rules):
            rules.append(text.lstrip("-* "))
        elif not text:
            rules.append("")
        elif not text.startswith("#"):
            rules[-1] = f"{rules[-1]} {text}".strip()
    return [rule for rule in rules if rule]
