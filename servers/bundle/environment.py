"""A bundle on disk, read and checked without running anything.

`servers.authoring.check` checks what needs a guest: the schema runs, the tools exist, the seeds fit.
"""

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from servers.bundle.call_arguments import ArgumentChecks
from servers.bundle.description import Description, Tool
from servers.bundle.files import ROWS_FOLDER, SERVED_FILES, BundleFolder, opened
from servers.bundle.seed_files import SEED, MeasuredSeeds, SeedFile, SeedScript, digest_again, measured_seeds
from servers.bundle.tool_schema import schema_problems
from servers.errors import BundleError
from servers.limits.json_size import refuse_many_values, values_in
from servers.validation import problems

CREATED = re.compile(
    r"""(?i)\bcreate\s+table\b\s*(?:if\s+not\s+exists\s+)?(?:main\s*\.\s*)?"""
    r"""(?:(\w+)|"((?:[^"]|"")+)"|'((?:[^']|'')+)'|`((?:[^`]|``)+)`|\[([^\]]+)\])"""
)
BYTES_PER_VALUE = 600
"""Memory of one JSON value of a description, most of it in the checks of arguments."""
MOST_FINDINGS = 200
"""The most findings about one file."""


@dataclass(frozen=True)
class Environment:
    """The parts of a bundle that a worker needs to serve it. It has no scenarios, and `tools.py` is text."""

    folder: Path
    description: Description
    policy: str
    schema: str
    seed_script: SeedScript
    source: str
    digest: str
    seed_tables: tuple[SeedFile, ...] = ()
    """The files with rows of single tables."""

    @property
    def id(self) -> str:
        return self.description.id

    @property
    def seed(self) -> str:
        """The script of all first rows, read from its file.

        Raises:
            BundleError: it cannot be read, or it is not all, since there are files with rows of tables.
        """
        if self.seed_tables:
            raise BundleError(f"{self.folder / ROWS_FOLDER}: has rows in files; this knows those of {SEED} alone")
        return self.seed_script.text()

    @property
    def first_rows(self) -> tuple[str, ...]:
        """The text of each file of first rows, read from it: the script, then the tables'. Raises BundleError."""
        return (self.seed_script.text(), *(f"-- {one.name}\n{one.text()}" for one in self.seed_tables))

    @property
    def seed_size(self) -> int:
        """The bytes of all first rows."""
        return self.seed_script.size + sum(one.size for one in self.seed_tables)

    @cached_property
    def memory(self) -> int:
        """An estimate of the bytes that it takes, with all checks of arguments."""
        values = values_in(self.description.model_dump_json())
        return BYTES_PER_VALUE * values + sum(map(sys.getsizeof, (self.policy, self.schema, self.source)))

    @cached_property
    def tools(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self.description.tools}

    @cached_property
    def checks(self) -> ArgumentChecks:
        """The check of each tool's arguments. A benchmark's tools take any."""
        free: dict[str, Any] | None = None if self.description.benchmark is None else {"type": "object"}
        return ArgumentChecks({name: free or tool.arguments for name, tool in self.tools.items()})

    @cached_property
    def tables(self) -> frozenset[str]:
        """The tables that the text of the schema creates."""
        return table_names(self.schema)

    @property
    def instructions(self) -> str:
        """The agent's instructions: description and policy. A benchmark has a policy of its own, and nothing beside."""
        if self.description.benchmark is not None:
            return self.policy
        return f"{self.description.description.strip()}\n\n{self.policy.strip()}\n"


def load(folder: Path) -> Environment:
    """Read the environment of a bundle, without its scenarios.

    Raises:
        BundleError: the first fault, with file and field.
    """
    findings, environment = read_environment(folder)
    if environment is None or findings:
        raise BundleError(findings[0])
    return environment


def read_environment(folder: Path) -> tuple[list[str], Environment | None]:
    """The environment or None, and all findings about its files. `tools.py` is not parsed here."""
    try:
        with opened(folder) as files:
            findings, texts, seeds = _texts(files)
            digest = _digest(files, texts, seeds)
    except BundleError as error:
        return [str(error)], None
    description: Description | None = None
    if "environment.json" in texts:
        path = folder / "environment.json"
        try:
            refuse_many_values(f"{path}", texts["environment.json"])
            description = Description.model_validate_json(texts["environment.json"])
        except BundleError as error:
            findings.append(str(error))
        except ValidationError as error:
            findings += file_problems(path, error)
        else:
            if description.id != folder.resolve().name:
                name = folder.resolve().name
                findings.append(f"{path}: id: {description.id!r} is not the folder's name {name!r}; rename one of them")
            findings += islice(_schema_problems(path, description), MOST_FINDINGS)
    found = seeds.of(folder)
    if description is None or found is None or digest is None:
        return findings, None
    script, tables = found
    environment = Environment(
        folder=folder,
        description=description,
        policy=texts["policy.md"],
        schema=texts["schema.sql"],
        seed_script=script,
        source=texts["tools.py"],
        digest=digest,
        seed_tables=tables,
    )
    return findings, environment


def digest_of_bundle(folder: Path) -> str | None:
    """The digest of the environment in a folder, without a check of what its files say. None if one is missing."""
    try:
        with opened(folder) as files:
            _, texts, seeds = _texts(files)
            return _digest(files, texts, seeds)
    except BundleError:
        return None


def pack(folder: Path, into: Callable[[bytes], None]) -> str:
    """Pass on the environment in a folder as one text, in pieces. Returns its digest, which is that of the text.

    Raises:
        BundleError: a file is missing, cannot be read, or has changed meanwhile. Then all that was passed on is void.
    """
    with opened(folder) as files:
        findings, texts, seeds = _texts(files)
        digest = _digest(files, texts, seeds, into)
    if digest is None:
        raise BundleError(findings[0])
    return digest


def _digest(
    files: BundleFolder, texts: Mapping[str, str], seeds: MeasuredSeeds, into: Callable[[bytes], None] | None = None
) -> str | None:
    """The digest of all served files, or None if one is missing. Those of rows are read again, and must be the same.

    `into` gets what the digest is of: for each file its name and length, and its text.

    Raises:
        BundleError: one is another by now.
    """
    if seeds.script is None or len(texts) + 1 < len(SERVED_FILES):
        return None
    digest = hashlib.sha256()

    def add(piece: bytes) -> None:
        digest.update(piece)
        if into is not None:
            into(piece)

    for name in SERVED_FILES:
        if name == SEED:
            digest_again(files, name, seeds.script, add)
        else:
            add(f"{name} {len(texts[name])}\n".encode() + texts[name].encode())
    for name, before in seeds.tables.items():
        digest_again(files, name, before, add)
    return digest.hexdigest()


def _texts(files: BundleFolder) -> tuple[list[str], dict[str, str], MeasuredSeeds]:
    """The findings about the files, the readable ones, and those of first rows, which may be long and are not kept."""
    findings: list[str] = []
    texts: dict[str, str] = {}
    seeds = MeasuredSeeds(None, {}, [])
    for name in SERVED_FILES:
        if name == SEED:
            seeds = measured_seeds(files)
            findings += seeds.findings
            continue
        try:
            texts[name] = files.text(name)
        except BundleError as error:
            findings.append(str(error))
    return findings, texts, seeds


def table_names(schema: str) -> frozenset[str]:
    """The tables that the text of a schema creates, and those of which it only says so: in a comment, for instance."""
    found = (match[match.lastindex or 0] for match in CREATED.finditer(schema))
    return frozenset(re.sub(r"([\"'`])\1", r"\1", name).lower() for name in found)


def file_problems(path: Path, error: ValidationError, line: int | None = None) -> list[str]:
    """A validation error as lines with file and field."""
    prefix = f"{path}: line {line}" if line else f"{path}"
    return [f"{prefix}: {problem}" for problem in problems(error, most=MOST_FINDINGS)]


def _schema_problems(path: Path, description: Description) -> Iterator[str]:
    for tool in description.tools:
        yield from (f"{path}: tools.{problem}" for problem in tool_problems(tool))


def tool_problems(tool: Tool) -> Iterator[str]:
    """The faults of a tool's schemas, by tool, field and place: `find.arguments.properties.id: …`."""
    for field, schema in (("arguments", tool.arguments), ("result", tool.result)):
        yield from (f"{tool.name}.{field}{problem}" for problem in schema_problems(schema))
    if tool.arguments.get("type") != "object":
        yield f"{tool.name}.arguments: must be a schema of an object"


def as_json(value: BaseModel) -> str:
    """A record as JSON for a bundle: readable, stable, with a final newline."""
    return json.dumps(value.model_dump(mode="json", exclude_none=True), indent=2, ensure_ascii=False) + "\n"
