"""Writes a benchmark's bundle whole: in a hidden folder first, started once in a guest, and then renamed."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from servers.bundle.description import BenchmarkOrigin, Description, ImportedOrigin, Provenance, Tool
from servers.bundle.environment import as_json, load
from servers.bundle.files import LARGEST
from servers.errors import BundleError, RequestError
from servers.files.trouble import trouble
from servers.guest.sqlite.sql_text import sql_literal
from servers.sandbox.guest_pool import Guests
from servers.sandbox.source_inspection import agree
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import lines_of, load_scenarios
from servers.state.start_images import built

CLOCK = "2024-05-15 15:00:00"
UPSTREAM_TABLE = """\
CREATE TABLE upstream (
    path TEXT PRIMARY KEY, text TEXT NOT NULL
) WITHOUT ROWID;
"""
FORMER = ".former"
RESULT: dict[str, Any] = {
    "type": "object",
    "properties": {"result": {"type": "string"}},
    "required": ["result"],
    "additionalProperties": False,
}
"""The result schema of every tool of a benchmark: upstream's text."""


@dataclass(frozen=True)
class BenchmarkBundle:
    """All that goes into the folder of a bundle."""

    id: str
    title: str
    about: str
    policy: str
    tools: tuple[Tool, ...]
    source: str
    schema: str
    seed: str
    scenarios: Sequence[Scenario]
    benchmark: BenchmarkOrigin
    licence: str
    notices: Mapping[str, str]
    """File name → text."""


async def write(bundle: BenchmarkBundle, out: Path, guests: Guests) -> Path:
    """Write a bundle and start it once. An existing one is replaced only by a whole one.

    Raises:
        RequestError: the folder cannot be written, or a file would be larger than a bundle's may be.
        BundleError: it cannot be started.
    """
    folder = out / bundle.id
    part = out / f".{bundle.id}.part" / bundle.id
    try:
        shutil.rmtree(part.parent, ignore_errors=True)
        part.mkdir(parents=True)
        try:
            for name, text in _texts(bundle).items():
                _refuse_large(name, text)
                (part / name).write_text(text, encoding="utf-8")
            await _start(part, guests)
            if folder.exists():  # moved as a whole: who is killed in the middle leaves no half of it there
                folder.rename(part.parent / FORMER)
            part.rename(folder)
        finally:
            shutil.rmtree(part.parent, ignore_errors=True)
    except OSError as error:
        raise RequestError(f"--out {out}: cannot be written: {trouble(error)}") from None
    return folder


def upstream_rows(files: Mapping[str, str]) -> str:
    """The statements that put a benchmark's files into the table `upstream`."""
    return "".join(
        f"INSERT INTO upstream VALUES ({sql_literal(path)}, {sql_literal(text)});\n"
        for path, text in sorted(files.items())
    )


def entity_table(name: str) -> str:
    """The table of a dict of entities."""
    return f"""
CREATE TABLE "{name}" (
    place INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value TEXT NOT NULL CHECK (json_valid(value))
);
"""


def entity_rows(table: str, texts: Iterable[tuple[str, str]]) -> str:
    """The statements that fill such a table. `texts` are keys with the JSON of their values."""
    return "".join(
        f'INSERT INTO "{table}" VALUES ({place}, {sql_literal(key)}, {sql_literal(text)});\n'
        for place, (key, text) in enumerate(texts, start=1)
    )


def _texts(bundle: BenchmarkBundle) -> dict[str, str]:
    """The files of a bundle. Raises RequestError: what was read has a character or a value that no file can have."""
    try:
        found = _files(bundle)
        for text in found.values():
            text.encode()
    except ValueError as error:
        raise RequestError(f"{bundle.benchmark.name}: cannot be a bundle: {error}") from None
    return found


def _files(bundle: BenchmarkBundle) -> dict[str, str]:
    description = Description(
        id=bundle.id,
        title=bundle.title,
        description=bundle.about,
        version="1.0.0",
        clock=CLOCK,
        tools=bundle.tools,
        provenance=Provenance(
            source=f"{bundle.benchmark.name} ({bundle.benchmark.version}), {bundle.benchmark.part};"
            f" checker {bundle.benchmark.checker}",
            licence=bundle.licence,
            date=datetime.now(UTC).date().isoformat(),
            notes="Imported by `farm import`: a public benchmark, for evaluation and not for training.",
        ),
        imported=ImportedOrigin(schemas="kept"),
        benchmark=bundle.benchmark,
    )
    return {
        "policy.md": bundle.policy,
        "schema.sql": bundle.schema,
        "seed.sql": bundle.seed,
        "tools.py": bundle.source,
        "scenarios.jsonl": lines_of(bundle.scenarios),
        "environment.json": as_json(description),
        **bundle.notices,
    }


def _refuse_large(name: str, text: str) -> None:
    most = LARGEST.get(name)
    if most is not None and len(text.encode()) > most:
        raise RequestError(f"{name}: would be larger than {most // 1024 // 1024} MiB, the most that a bundle's may be")


async def _start(folder: Path, guests: Guests) -> None:
    """Read the bundle as a farm does, and build its first state."""
    environment = load(folder)
    await agree(environment, guests, gated=True)
    _, wrong = await built(environment, "", environment.description.clock, guests)
    if wrong:
        raise BundleError(f"{folder.name}: cannot be started: {wrong}")
    load_scenarios(environment)
