"""The states of both sides: the attributes of the imported object, and what the mapping makes of the rewritten rows."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from servers.bundle.environment import Environment
from servers.errors import QueryError
from servers.guest.sqlite.sql_text import quoted, sql_literal
from servers.sandbox.guest_pool import Guests
from servers.scenario.scenario_file import load_scenarios
from servers.state.readonly_query import Reader
from synth.environments.drafts.start_images import image_of
from synth.environments.drafts.table_shapes import ImageShape, shape_of
from synth.relational.likeness import Likeness
from synth.relational.twin_file import MappedAttribute

CONFIG = "init_config"
"""The attribute with the constructor's configuration, which no tool shows."""
IMPORTED = "imported"
IMPORTED_TABLE = f"""
CREATE TABLE {IMPORTED} (
  attribute TEXT NOT NULL, key TEXT NOT NULL, place INTEGER NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (attribute, key)
) WITHOUT ROWID;
"""
"""The imported state for the loading script: a row for each entry of a container, and one for each other attribute."""
FIRST = ""
"""The name of the start with the environment's own first rows."""


@dataclass(frozen=True)
class HeldAttribute:
    """One attribute of the imported object: a `dict` or `list` by key, in order, or a `value` under the key ''."""

    kept: str
    entries: dict[str, Any]
    table: str = ""
    """The table of a container."""

    @property
    def value(self) -> Any:
        """The attribute as the class holds it."""
        if self.kept == "dict":
            return self.entries
        return list(self.entries.values()) if self.kept == "list" else self.entries[""]


TwinState = dict[str, HeldAttribute]


@dataclass(frozen=True)
class TwinStart:
    """Where runs of both sides begin. `clock` is None for the environment's own."""

    name: str
    imported: str
    """The setup of the imported side."""
    own: str
    clock: str | None


def imported_state(reader: Reader) -> TwinState:
    """The attributes that the rows of an imported object hold."""
    select = reader.connection.execute
    found: TwinState = {}
    tables = {str(name): str(table) for name, table in select("SELECT attribute, name FROM main.containers")}
    for name, kept, value in select("SELECT name, kept, value FROM main.attributes ORDER BY place").fetchall():
        if name == CONFIG:
            continue
        if kept == "value":
            found[str(name)] = HeldAttribute("value", {"": json.loads(str(value or "null"))})
            continue
        rows = select(f"SELECT key, value FROM main.{quoted(tables[str(name)])} ORDER BY place, key")
        entries = {str(key): json.loads(str(row)) for key, row in rows}
        found[str(name)] = HeldAttribute(str(kept), entries, tables[str(name)])
    return found


def mapped_state(reader: Reader, mapping: Sequence[MappedAttribute]) -> dict[str, dict[str, Any]]:
    """The same, from rewritten rows.

    Raises:
        QueryError: a SELECT does not run, gives other columns, a key twice, or no JSON.
    """
    found: dict[str, dict[str, Any]] = {}
    for one in mapping:
        answer = reader.select(one.sql)
        if tuple(answer.columns) != ("key", "value"):
            raise QueryError(f"{one.attribute}: gives the columns {', '.join(answer.columns)}; key, value are asked")
        try:
            entries = {str(key): json.loads(value) for key, value in answer.rows}
        except (TypeError, ValueError):
            raise QueryError(f"{one.attribute}: a value is no JSON; use json_object and the like") from None
        if len(entries) < len(answer.rows) or answer.more:
            raise QueryError(f"{one.attribute}: gives a key twice, or too many rows")
        found[one.attribute] = entries
    return found


def state_difference(imported: TwinState, own: dict[str, dict[str, Any]], likeness: Likeness) -> str:
    """Where the mapped state is not the imported one, or nothing."""
    for name, attribute in imported.items():
        if name not in own:
            return f"{name}: no SELECT of the mapping gives this attribute"
        if attribute.kept == "list":
            found = likeness.difference(list(attribute.entries.values()), list(own[name].values()), name)
        else:
            found = likeness.difference_of_entries(attribute.entries, own[name], name)
        if found:
            return found
    unknown = sorted(own.keys() - imported.keys())
    return f"{unknown[0]}: the imported object has no such attribute" if unknown else ""


def starts_of(environment: Environment) -> dict[str, tuple[str, str | None]]:
    """The setup and the clock of each start of an imported environment."""
    scenarios = load_scenarios(environment)
    return {FIRST: ("", None), **{name: (one.setup, one.clock) for name, one in scenarios.items()}}


async def imported_start(environment: Environment, setup: str, clock: str | None, guests: Guests) -> TwinState:
    """The attributes at a start. Raises QueryError if it cannot be built."""
    image, wrong = await image_of(
        guests,
        schema=environment.schema,
        seed=environment.seed,
        setup=setup,
        clock=clock or environment.description.clock,
    )
    if wrong:
        raise QueryError(f"the imported start cannot be built: {wrong}")
    reader = Reader(image, image)
    try:
        return imported_state(reader)
    finally:
        reader.close()


async def loaded(guests: Guests, *, schema: str, loading: str, state: TwinState, clock: str) -> tuple[bytes, str]:
    """An image with an imported state as rewritten rows beside it, or why there is none."""
    rows = [
        f"INSERT INTO {IMPORTED} VALUES ({sql_literal(name)}, {sql_literal(key)}, {place},"
        f" {sql_literal(json.dumps(value, ensure_ascii=False))});"
        for name, attribute in state.items()
        for place, (key, value) in enumerate(attribute.entries.items(), start=1)
    ]
    seed = "\n".join([*rows, loading])
    return await image_of(guests, schema=f"{schema}\n{IMPORTED_TABLE}", seed=seed, clock=clock)


def rows_of_state(state: TwinState) -> str:
    """SQL that replaces the rows of an imported object's containers by those of a state."""
    lines: list[str] = []
    for attribute in state.values():
        if attribute.kept == "value":
            continue
        lines.append(f"DELETE FROM {quoted(attribute.table)};")
        for place, (key, value) in enumerate(attribute.entries.items(), start=1):
            text = sql_literal(json.dumps(value, ensure_ascii=False))
            lines.append(f"INSERT INTO {quoted(attribute.table)} VALUES ({sql_literal(key)}, {place}, {text});")
    return "\n".join(lines) + "\n"


def rows_script(shape: ImageShape, *, replaces: bool) -> str:
    """The rows of an image as SQL. With `replaces` it deletes all others first."""
    tables = [table for table in shape.parents_first() if table.name != IMPORTED]
    lines = [f"DELETE FROM {table.name};" for table in reversed(tables)] if replaces else []
    for table in tables:
        for row in shape.rows[table.name]:
            values = ", ".join(map(sql_literal, row.values()))
            lines.append(f"INSERT INTO {table.name} ({', '.join(row)}) VALUES ({values});")
    return "\n".join(lines) + "\n"


async def own_rows(guests: Guests, *, schema: str, loading: str, state: TwinState, clock: str) -> str:
    """The rewritten rows of an imported state as SQL. Raises QueryError if the loading script fails."""
    image, wrong = await loaded(guests, schema=schema, loading=loading, state=state, clock=clock)
    if wrong:
        raise QueryError(wrong.removeprefix("seed.sql: "))
    return rows_script(shape_of(image), replaces=True)
