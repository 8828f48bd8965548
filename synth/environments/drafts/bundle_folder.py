"""The folder of a bundle, written from texts: for trials, and as the result."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from servers.bundle.description import Description, Provenance, Tool
from servers.bundle.environment import as_json
from servers.bundle.examples import EXAMPLES, EXAMPLES_FILE, BundleExample
from servers.bundle.rules import RULES, RULES_FILE, BundleRule


@dataclass(frozen=True)
class Texts:
    """All texts of a bundle except its scenarios."""

    id: str
    title: str
    introduction: str
    clock: str
    policy: str
    schema: str
    seed: str
    source: str
    tools: Sequence[dict[str, Any]]
    rules: Sequence[BundleRule]
    examples: Sequence[BundleExample] = ()

    def files(self, provenance: Provenance) -> dict[str, str]:
        """The files of the bundle by name. It has no scenarios yet."""
        description = Description(
            id=self.id,
            title=self.title.strip(),
            description=" ".join(self.introduction.split()),
            version="1.0.0",
            clock=self.clock,
            tools=tuple(Tool.model_validate(tool) for tool in self.tools),
            provenance=provenance,
        )
        return {
            "environment.json": as_json(description),
            "policy.md": self.policy.strip() + "\n",
            "schema.sql": self.schema.strip() + "\n",
            "seed.sql": self.seed.strip() + "\n",
            "tools.py": self.source,
            RULES_FILE: RULES.dump_json(tuple(self.rules), indent=2, exclude_defaults=True).decode() + "\n",
            EXAMPLES_FILE: EXAMPLES.dump_json(tuple(self.examples), indent=2, exclude_defaults=True).decode() + "\n",
            "scenarios.jsonl": "",
        }

    def write(self, folder: Path) -> Path:
        """Write an unfinished bundle into a subfolder for trials. Returns its path."""
        own = folder / self.id
        own.mkdir(parents=True, exist_ok=True)
        for name, text in self.files(Provenance(source="unfinished", licence="none", date="none")).items():
            (own / name).write_text(text, encoding="utf-8")
        return own
