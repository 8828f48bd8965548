"""Seed: the first rows, valid, varied and linked. A program multiplies them if many are wanted."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from servers.records import Record
from servers.sandbox.guest_pool import Guests
from synth.environments.drafts.start_images import guests_here, image_of
from synth.environments.drafts.table_shapes import (
    MOST_ROWS_SHOWN,
    ColumnShape,
    ImageShape,
    TableShape,
    rows_text,
    shape_of,
)
from synth.environments.multiplication import Values, grown
from synth.environments.rules import as_text, breaches
from synth.environments.schema import Schema
from synth.environments.setting import Setting
from synth.llm.prompt import Prompt
from synth.pipeline.asker import Asker
from synth.pipeline.stage import Artefacts, Stage

PROMPT = Prompt.load(Path(__file__).with_name("seed.md"))
MORE_PROMPT = Prompt.load(Path(__file__).with_name("more_rows.md"))
FEWEST_FIXED = 2
FEWEST_VALUES = 8


class Amount(NamedTuple):
    """The wanted number of rows a table, and the minimum in all and in one table."""

    each: tuple[int, int]
    fewest_in_all: int
    """For each table."""
    fewest_in_a_table: int

    def as_text(self, tables: int) -> str:
        """The amount for a writer."""
        low, high = (tables * rows for rows in self.each)
        return (
            f"{low} to {high} rows in all {tables} tables together, most of them where things happen "
            f"(fewer than {tables * self.fewest_in_all} are refused). At least {FEWEST_FIXED} rows in every table "
            f"that you list under `fixed`, at least {self.fewest_in_a_table} in every other one."
        )


MANY = Amount(each=(12, 24), fewest_in_all=8, fewest_in_a_table=7)
AMOUNTS = {"small": Amount(each=(6, 12), fewest_in_all=4, fewest_in_a_table=4), "medium": MANY, "large": MANY}
LARGE_ROWS = 2500
PLACEHOLDERS = re.compile(r"(?i)\b(john doe|jane doe|john smith|lorem ipsum|foo|bar baz|example name|test user)\b")
NUMBERED = re.compile(r"(?i)^(user|customer|client|item|product|name|person|company|test|sample|entry)[ _-]?\d+$")


class Seed(Record):
    """What the writer gives: the rows, which tables are reference data, and further values for the others."""

    seed_sql: str
    fixed: tuple[str, ...]
    values: tuple[Values, ...]


class More(Record):
    """What the writer gives where the first rows do not suffice."""

    seed_sql: str


class Rows(Record):
    """The first rows of the environment, as in seed.sql."""

    seed_sql: str
    fixed: tuple[str, ...]
    counts: dict[str, int]


async def seed(made: Artefacts, asker: Asker) -> Rows:
    """Ask for the first rows, and multiply them for a large database. With evidence, ask for additions."""
    async with guests_here() as guests:
        if isinstance(made.before, Rows):
            fixed = made.before.fixed
            text = await _with_more(made, made.before, asker, guests) if made.evidence else made.before.seed_sql
        else:
            text, fixed = await _first(made, asker, guests)
        schema = made[Schema]
        image, _ = await image_of(guests, schema=schema.schema_sql, seed=text, clock=schema.clock)
    counts = {name: len(rows) for name, rows in shape_of(image).rows.items()}
    return Rows(seed_sql=text, fixed=fixed, counts=counts)


async def _first(made: Artefacts, asker: Asker, guests: Guests) -> tuple[str, tuple[str, ...]]:
    """The rows, and the names of the reference tables."""
    setting, schema, size = made[Setting], made[Schema], made.wishes.size
    empty, _ = await image_of(guests, schema=schema.schema_sql, clock=schema.clock)
    messages = PROMPT.fill(
        title=setting.title,
        introduction=setting.introduction,
        clock=schema.clock,
        schema=schema.schema_sql,
        rules=as_text(schema.rules),
        amount=AMOUNTS[size].as_text(len(shape_of(empty).tables)),
    )

    async def accept(answer: Seed) -> list[str]:
        return await seed_findings(answer, schema, size, guests)

    answer = await asker.ask(messages, Seed, accept)
    text = answer.seed_sql.strip() + "\n"
    if size == "large":
        text = await grown(
            guests,
            schema=schema.schema_sql,
            seed=text,
            clock=schema.clock,
            fixed=answer.fixed,
            values=answer.values,
            rows=LARGE_ROWS,
        )
    return text, answer.fixed


async def _with_more(made: Artefacts, before: Rows, asker: Asker, guests: Guests) -> str:
    """The existing rows, with additions that let failing tools succeed."""
    setting, schema = made[Setting], made[Schema]
    image, _ = await image_of(guests, schema=schema.schema_sql, seed=before.seed_sql, clock=schema.clock)
    there = shape_of(image)
    messages = MORE_PROMPT.fill(
        title=setting.title,
        introduction=setting.introduction,
        clock=schema.clock,
        schema=schema.schema_sql,
        rules=as_text(schema.rules),
        rows=rows_text(there, most=MOST_ROWS_SHOWN),
        evidence="\n".join(f"- {line}" for line in made.evidence),
    )

    async def accept(answer: More) -> list[str]:
        return await more_findings(answer, before, there, schema, guests)

    answer = await asker.ask(messages, More, accept)
    return f"{before.seed_sql}{answer.seed_sql.strip()}\n"


STAGE = Stage("seed", Rows, seed)


async def seed_findings(answer: Seed, schema: Schema, size: str, guests: Guests) -> list[str]:
    """The faults of first rows."""
    image, wrong = await image_of(guests, schema=schema.schema_sql, seed=answer.seed_sql, clock=schema.clock)
    if wrong:
        return [f"seed_sql: {wrong.removeprefix('seed.sql: ')}"]
    shape = shape_of(image)
    return [
        *_amount_findings(answer, shape, size),
        *(f"seed_sql: {finding}" for finding in breaches(schema.rules, image)),
        *(finding for table in shape.tables.values() for finding in _table_findings(table, shape, answer.fixed)),
        *_value_findings(answer.values, shape),
    ]


async def more_findings(answer: More, before: Rows, there: ImageShape, schema: Schema, guests: Guests) -> list[str]:
    """The faults of added rows."""
    both = Seed(seed_sql=f"{before.seed_sql}{answer.seed_sql}", fixed=before.fixed, values=())
    image, wrong = await image_of(guests, schema=schema.schema_sql, seed=both.seed_sql, clock=schema.clock)
    if wrong:
        return [f"seed_sql: {wrong.removeprefix('seed.sql: ')} (your rows come after those that are there)"]
    shape = shape_of(image)
    found = [
        f"seed_sql: {name}: {lost} of the rows that are there were changed or deleted; only add rows"
        for name, rows in there.rows.items()
        if (lost := sum(row not in shape.rows[name] for row in rows))
    ]
    if sum(map(len, shape.rows.values())) <= sum(map(len, there.rows.values())):
        found.append("seed_sql: adds no row")
    found += [f"seed_sql: {finding}" for finding in breaches(schema.rules, image)]
    return [*found, *(one for table in shape.tables.values() for one in _table_findings(table, shape, before.fixed))]


def _amount_findings(answer: Seed, shape: ImageShape, size: str) -> Iterator[str]:
    for name in answer.fixed:
        if name not in shape.tables:
            yield f"fixed: there is no table {name!r}"
    if len(set(answer.fixed)) > len(shape.tables) * 2 // 3:
        yield "fixed: names most of the tables; only reference data, such as kinds and tariffs, is fixed"
    total = sum(map(len, shape.rows.values()))
    amount = AMOUNTS[size]
    least = amount.fewest_in_all * len(shape.tables)
    if total < least:
        yield f"seed_sql: {total} rows in all; at least {least} are asked"
    for name, rows in shape.rows.items():
        fewest = FEWEST_FIXED if name in answer.fixed else amount.fewest_in_a_table
        if len(rows) < fewest:
            yield f"seed_sql: {name} has {len(rows)} rows; at least {fewest} are asked"


def _table_findings(table: TableShape, shape: ImageShape, fixed: Sequence[str]) -> Iterator[str]:
    rows = shape.rows[table.name]
    for column in table.columns:
        values = [row[column.name] for row in rows if row[column.name] is not None]
        yield from (f"seed_sql: {table.name}.{finding}" for finding in _column_findings(column, values, len(rows)))
    for link in table.links:
        if rows and all(row[link.columns[0]] is None for row in rows):
            yield f"seed_sql: {table.name}.{link.columns[0]}: no row points to a row of {link.parent}; let some"
    linked = {column for link in table.links for column in link.columns}
    told = [column for column in table.columns if _is_telling(column) and column.name not in linked]
    for column in told if table.name not in fixed else ():
        texts = [str(row[column.name]) for row in rows if row[column.name] is not None]
        if len(texts) >= 6 and len(set(texts)) < len(texts) * 0.6:
            common, count = Counter(texts).most_common(1)[0]
            yield f"seed_sql: {table.name}.{column.name}: {common!r} stands there {count} times; vary it"


def _column_findings(column: ColumnShape, values: list[Any], count: int) -> Iterator[str]:
    missing = [choice for choice in column.choices if choice not in values]
    if missing and count >= 2 * len(column.choices):
        yield f"{column.name}: no row has {', '.join(map(repr, missing))}; let every state occur"
    for value in values:
        if isinstance(value, str) and (PLACEHOLDERS.search(value) or NUMBERED.match(value)):
            yield f"{column.name}: {value!r} is a placeholder; write what could be real"
            return
    if not values:
        yield f"{column.name}: is NULL in every row; let some rows have a value"


def _is_telling(column: ColumnShape) -> bool:
    """True if people distinguish rows by a column."""
    words = ("name", "title", "email", "subject", "description", "address", "phone")
    return column.type == "TEXT" and not column.choices and not column.in_key and column.name.endswith(words)


def _value_findings(values: Sequence[Values], shape: ImageShape) -> Iterator[str]:
    for one in values:
        table = shape.tables.get(one.table)
        column = None if table is None else next((each for each in table.columns if each.name == one.column), None)
        if column is None:
            yield f"values: there is no column {one.table}.{one.column}"
        elif len(set(one.values)) < FEWEST_VALUES:
            yield f"values: {one.table}.{one.column}: {len(set(one.values))} different values; 12 to 40 are asked"
