"""The record in `environment.json`: id, description, tools, provenance."""

from collections import Counter
from typing import Any, Literal, cast

from pydantic import Field, field_validator

from servers.records import Clock, Name, Record


class Tool(Record):
    """One tool, as agents see it. It is derived from `tools.py`."""

    name: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")
    description: str = Field(min_length=1)
    arguments: dict[str, Any]
    result: dict[str, Any]
    writes: bool

    @property
    def properties(self) -> dict[str, dict[str, Any]]:
        """The JSON Schema of each argument, by name."""
        found = self.arguments.get("properties")
        return cast("dict[str, dict[str, Any]]", found) if isinstance(found, dict) else {}

    @property
    def required(self) -> set[str]:
        """The required arguments."""
        return set(cast("list[str]", self.arguments.get("required", [])))


class Provenance(Record):
    """What made an artefact."""

    source: str
    licence: str
    date: str
    model: str | None = None
    prompts: dict[str, str] = {}
    notes: str | None = None
    first_wording: str | None = None
    """Of a scenario that a writer retold: its task as it was before."""


class ImportedOrigin(Record):
    """The origin of an environment whose code came from elsewhere.

    Its `tools.py` and checkpoints need only be repeatable. Tool schemas that are `kept` came with it.
    """

    schemas: Literal["rebuilt", "kept"] = "rebuilt"
    code: Literal["methods", "endpoints"] = "methods"
    """`endpoints`: a FastAPI application, whose guests load FastAPI and SQLAlchemy."""


class BenchmarkOrigin(Record):
    """The public benchmark that an environment is, and the version of its data and of its checker.

    Its tools take what upstream's take: a call's arguments are an object, and their schemas are for the agent alone.
    """

    name: Literal["tau-bench", "bfcl", "acebench"]
    version: str
    part: str
    """The domain, category or language, and the split if there are several."""
    checker: str
    """The file of the official checker, and the first digits of its digest."""


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
    benchmark: BenchmarkOrigin | None = None

    @field_validator("tools")
    @classmethod
    def names_differ(cls, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        names = Counter(tool.name for tool in tools)
        twice = sorted(name for name, count in names.items() if count > 1)
        if twice:
            raise ValueError(f"two tools named {', '.join(twice)}")
        return tools
