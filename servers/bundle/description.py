"""An environment as its `environment.json` describes it: what it is, its tools, and what made it."""

from collections import Counter
from typing import Any, Literal, cast

from pydantic import Field, field_validator

from servers.records import Clock, Name, Record


class Tool(Record):
    """One tool, as agents see it. Derived from `tools.py`, never typed by hand."""

    name: Name
    description: str = Field(min_length=1)
    arguments: dict[str, Any]
    result: dict[str, Any]
    writes: bool

    @property
    def properties(self) -> dict[str, dict[str, Any]]:
        """The JSON Schema of each argument, by its name."""
        found = self.arguments.get("properties")
        return cast("dict[str, dict[str, Any]]", found) if isinstance(found, dict) else {}

    @property
    def required(self) -> set[str]:
        """The arguments that the tool cannot do without."""
        return set(cast("list[str]", self.arguments.get("required", [])))


class Provenance(Record):
    """What made an artefact."""

    source: str
    licence: str
    date: str
    model: str | None = None
    prompts: dict[str, str] = {}
    notes: str | None = None


class ImportedOrigin(Record):
    """What is different about an environment whose code came from elsewhere.

    Its `tools.py` and checkpoints need only be repeatable. Tool schemas that are `kept` came with it.
    """

    schemas: Literal["rebuilt", "kept"] = "rebuilt"


class Description(Record):
    """The content of `environment.json`."""

    id: Name
    title: str = Field(min_length=1)
    description: str = Field(min_length=1)
    version: str = Field(pattern=r"^\d+\.\d+\.\d+$")
    clock: Clock
    tools: tuple[Tool, ...]
    provenance: Provenance
    imported: ImportedOrigin | None = None

    @field_validator("tools")
    @classmethod
    def names_differ(cls, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        names = Counter(tool.name for tool in tools)
        twice = sorted(name for name, count in names.items() if count > 1)
        if twice:
            raise ValueError(f"two tools named {', '.join(twice)}")
        return tools
