"""The start of an imported environment as SQL: the tables of its containers, and the rows of each start."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from servers.guest.sqlite.sql_text import sql_literal
from servers.sandbox.guest_pool import Guests
from synth.interop.imports.class_trial import TrialError, open_trial
from synth.interop.imports.source import ClassSource

CONFIG = "init_config"
"""The attribute with the constructor's configuration. It shares values with others, and has no table."""
NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
OWN_TABLES = ("attributes", "containers")
SECONDS = 5.0

PROBE = '''

from servers.imported import moment as _moment
from servers.imported.rows import Kept as _Kept
from servers.imported.running import Imported as _Imported

_OBJECT = _Imported({name}, ({classes}))


def envfarm_shapes(db, *, config):
    """The kind of each attribute of a new object."""
    _moment.begin(db.now(), "start")
    return {{"shapes": {{name: type(value).__name__ for name, value in _OBJECT.first(config).items()}}}}


def envfarm_rows(db, *, config, containers):
    """The rows of a new object."""
    _moment.begin(db.now(), "start")
    kept = _OBJECT.rows(_OBJECT.first(config), _Kept(containers))
    return {{"attributes": kept.attributes, "tables": kept.tables}}
'''


@dataclass(frozen=True)
class Start:
    """A configuration, and the time at which an object is made of it."""

    config: Any
    clock: str


@dataclass(frozen=True)
class Begun:
    """The schema of an environment, the rows of each start, and the reasons for failed ones."""

    containers: Mapping[str, str]
    scripts: Mapping[str, str]
    reasons: Mapping[str, str]


async def begin(source: ClassSource, starts: Mapping[str, Start], guests: Guests, seconds: float = SECONDS) -> Begun:
    """Make an object for each start, in a guest, and return its rows."""
    text = source.text.rstrip() + PROBE.format(
        name=source.name, classes="".join(f"{name}, " for name in source.classes)
    )
    reasons: dict[str, str] = {}
    shapes: dict[str, dict[str, str]] = {}
    for name, start in starts.items():
        found = await _ask(text, start.clock, guests, seconds, "envfarm_shapes", config=start.config)
        if isinstance(found, str):
            reasons[name] = found
        else:
            shapes[name] = found["shapes"]
    containers = tables_of(shapes.values())
    scripts: dict[str, str] = {}
    for name in shapes:
        config, clock = starts[name].config, starts[name].clock
        found = await _ask(text, clock, guests, seconds, "envfarm_rows", config=config, containers=containers)
        if isinstance(found, str):
            reasons[name] = found
        else:
            scripts[name] = script(found, containers)
    return Begun(containers, scripts, reasons)


async def _ask(text: str, clock: str, guests: Guests, seconds: float, tool: str, **arguments: Any) -> Any:
    """The probe's answer, or the reason why there is none. Each uses a guest of its own, as one may hang."""
    try:
        async with open_trial(guests, text, clock=clock, seconds=seconds) as trial:
            return await trial.call(tool, **arguments)
    except TrialError as error:
        return str(error)


def tables_of(shapes: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The attributes that hold a dict or a list in any start, each with a table's name."""
    found: dict[str, str] = {}
    for shape in shapes:
        for attribute, kind in shape.items():
            if kind in ("dict", "list") and attribute not in found and attribute != CONFIG:
                found[attribute] = _free(attribute, set(found.values()))
    return found


def _free(attribute: str, taken: set[str]) -> str:
    name = re.sub(r"[^a-z0-9_]", "_", attribute.lower())[:50].strip("_") or "held"
    if not NAME.fullmatch(name) or name in OWN_TABLES or name.startswith("sqlite"):
        name = f"held_{name}"
    number = 2
    free = name
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free


def schema(containers: Mapping[str, str]) -> str:
    """The schema: a table for each container, one for the other attributes, and one that maps attributes to tables."""
    parts = [
        "-- Made by `farm import envscaler`: the attributes of an imported object, as rows.\n",
        """CREATE TABLE containers (
    attribute TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, place INTEGER NOT NULL
) WITHOUT ROWID;
""",
        """CREATE TABLE attributes (
    name TEXT PRIMARY KEY, place INTEGER NOT NULL, kept TEXT NOT NULL CHECK (kept IN ('value', 'dict', 'list')),
    value TEXT CHECK (value IS NULL OR json_valid(value))
) WITHOUT ROWID;
""",
    ]
    parts += [
        f"""CREATE TABLE {name} (
    key TEXT PRIMARY KEY, place INTEGER NOT NULL, value TEXT NOT NULL CHECK (json_valid(value))
) WITHOUT ROWID;
"""
        for name in containers.values()
    ]
    return "\n".join(parts)


def script(found: Mapping[str, Any], containers: Mapping[str, str]) -> str:
    """SQL that replaces the rows by those of a start."""
    lines = [f"DELETE FROM {name};" for name in (*containers.values(), *OWN_TABLES)]
    for place, (attribute, name) in enumerate(containers.items(), start=1):
        lines.append(f"INSERT INTO containers VALUES ({sql_literal(attribute)}, {sql_literal(name)}, {place});")
    for name, (place, kept, value) in found["attributes"].items():
        lines.append(
            f"INSERT INTO attributes VALUES ({sql_literal(name)}, {place}, {sql_literal(kept)}, {sql_literal(value)});"
        )
    for table, rows in found["tables"].items():
        for key, (place, value) in rows.items():
            lines.append(f"INSERT INTO {table} VALUES ({sql_literal(key)}, {place}, {sql_literal(value)});")
    return "\n".join(lines) + "\n"
