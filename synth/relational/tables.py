"""The first stages of a rewriting: the imported bundle, its tables with a mapping to the imported state, its rows."""

import json
from pathlib import Path

from pydantic import ConfigDict

from servers.bundle.environment import Environment, load
from servers.bundle.files import SERVED_FILES
from servers.errors import QueryError
from servers.files.named_file import text_named
from servers.records import Record
from servers.sandbox.guest_pool import Guests
from servers.state.readonly_query import Reader
from synth.environments.drafts.start_images import guests_here, image_of
from synth.environments.drafts.table_shapes import shape_of
from synth.environments.rules import Rule, breaches, rule_findings
from synth.environments.schema import Schema
from synth.environments.seed import Rows
from synth.environments.setting import Setting
from synth.llm.prompt import Prompt
from synth.pipeline.artefact import Topic
from synth.pipeline.asker import Asker
from synth.pipeline.stage import Artefacts, Stage
from synth.relational.likeness import Likeness
from synth.relational.states import (
    FIRST,
    TwinState,
    imported_start,
    loaded,
    mapped_state,
    rows_script,
    starts_of,
    state_difference,
)
from synth.relational.twin_file import MappedAttribute, Twin, imported_digest

PROMPT = Prompt.load(Path(__file__).with_name("tables.md"))
LICENCE_FILE = "LICENSE"
SCENARIOS_FILE = "scenarios.jsonl"
RUNTIME = "# From here on: one function per tool"
"""Where the class of an imported `tools.py` ends."""
MOST_STARTS_SHOWN = 2


class ImportedCopy(Record):
    """The copy of the imported bundle in the environment's folder, and where it came from."""

    id: str
    source: str
    licence: str
    digest: str
    scenarios: tuple[str, ...]


class RelationalTables(Record):
    """What the writer gives: the schema, a script that loads an imported state, the way back, the policy and rules."""

    model_config = ConfigDict(title="Tables")

    schema_sql: str
    loading_sql: str
    state: tuple[MappedAttribute, ...]
    policy_md: str
    rules: tuple[Rule, ...]


async def copy_imported(made: Artefacts, _asker: Asker) -> ImportedCopy:
    """Copy the bundle that is to be rewritten."""
    folder = Path(made[Topic].imported)
    environment = load(folder)
    more = [name for name in (SCENARIOS_FILE, LICENCE_FILE) if (folder / name).exists()]
    names = [*SERVED_FILES, *more]
    for name in names:
        made.write(f"imported/{environment.id}/{name}", text_named(folder / name))
    provenance = environment.description.provenance
    return ImportedCopy(
        id=environment.id,
        source=provenance.source,
        licence=provenance.licence,
        digest=imported_digest(environment),
        scenarios=tuple(name for name in starts_of(environment) if name != FIRST),
    )


async def its_setting(made: Artefacts, _asker: Asker) -> Setting:
    """The setting that the imported bundle tells."""
    told = imported_in(made).description
    return Setting(title=told.title, introduction=told.description, scope="")


async def tables(made: Artefacts, asker: Asker) -> RelationalTables:
    """Ask for the tables, and for the mapping to and from the imported state."""
    environment = imported_in(made)
    async with guests_here() as guests:
        states = {
            name: await imported_start(environment, setup, clock, guests)
            for name, (setup, clock) in starts_of(environment).items()
        }
        messages = PROMPT.fill(
            title=environment.description.title,
            introduction=environment.description.description,
            policy=environment.policy,
            source=class_text(environment),
            state="\n\n".join(
                f"{'The first rows' if name == FIRST else f'The start {name}'}:\n{state_text(state)}"
                for name, state in list(states.items())[:MOST_STARTS_SHOWN]
            ),
            starts=str(len(states)),
        )

        async def accept(answer: RelationalTables) -> list[str]:
            return await table_findings(answer, states, environment.description.clock, guests)

        return await asker.ask(messages, RelationalTables, accept)


async def its_schema(made: Artefacts, _asker: Asker) -> Schema:
    """The schema, the policy and the rules, at the clock of the imported environment."""
    given = made[RelationalTables]
    clock = imported_in(made).description.clock
    return Schema(clock=clock, schema_sql=given.schema_sql, policy_md=given.policy_md, rules=given.rules)


async def its_rows(made: Artefacts, _asker: Asker) -> Rows:
    """The first rows, loaded from those of the imported environment."""
    environment, given = imported_in(made), made[RelationalTables]
    clock = environment.description.clock
    async with guests_here() as guests:
        state = await imported_start(environment, "", None, guests)
        image, _ = await loaded(guests, schema=given.schema_sql, loading=given.loading_sql, state=state, clock=clock)
    seed = rows_script(shape_of(image), replaces=False)
    counts = {name: len(rows) for name, rows in shape_of(image).rows.items() if name != "imported"}
    return Rows(seed_sql=seed, fixed=(), counts=counts)


STAGES = (
    Stage("imported", ImportedCopy, copy_imported, needs_model=False),
    Stage("setting", Setting, its_setting, needs_model=False),
    Stage(
        "tables",
        RelationalTables,
        tables,
        counts=lambda value: {"tables": value.schema_sql.upper().count("CREATE TABLE")},
    ),
    Stage("schema", Schema, its_schema, needs_model=False),
    Stage("rows", Rows, its_rows, needs_model=False),
)


def imported_in(made: Artefacts) -> Environment:
    """The copy of the imported bundle."""
    return load(imported_folder(made))


def imported_folder(made: Artefacts) -> Path:
    """Its folder."""
    return made.folder / "imported" / made[ImportedCopy].id


def twin_so_far(made: Artefacts) -> Twin:
    """The twin file without differences."""
    copy, given = made[ImportedCopy], made[RelationalTables]
    return Twin(
        imported=copy.id,
        source=copy.source,
        digest=copy.digest,
        loading_sql=given.loading_sql,
        state=given.state,
    )


def class_text(environment: Environment) -> str:
    """The imported class, without the farm's functions around it."""
    return environment.source.partition(RUNTIME)[0].rstrip()


def state_text(state: TwinState) -> str:
    """A state for a writer, as JSON."""
    told = {name: attribute.value for name, attribute in state.items()}
    return json.dumps(told, ensure_ascii=False, indent=1)


async def table_findings(
    answer: RelationalTables, states: dict[str, TwinState], clock: str, guests: Guests
) -> list[str]:
    """The faults of tables and mapping: every start must load, keep the rules, and come back as it was."""
    image, wrong = await image_of(guests, schema=answer.schema_sql, clock=clock)
    if wrong:
        return [f"schema_sql: {wrong.removeprefix('schema.sql: ')}"]
    shape = shape_of(image)
    found = rule_findings(answer.rules, answer.policy_md, shape)
    if "imported" in shape.tables:
        return ["schema_sql: the name `imported` is taken: the loading script reads the table of that name"]
    for name, state in states.items():
        where = f"the start {name}" if name != FIRST else "the first rows"
        image, wrong = await loaded(
            guests, schema=answer.schema_sql, loading=answer.loading_sql, state=state, clock=clock
        )
        if wrong:
            found.append(f"loading_sql: {where}: {wrong.removeprefix('seed.sql: ')}")
            continue
        found += [f"{where}: {finding}" for finding in breaches(answer.rules, image)]
        finding = _returned(answer, image, state)
        if finding:
            found.append(f"state: {where}: {finding}")
    return found


def _returned(answer: RelationalTables, image: bytes, state: TwinState) -> str:
    """How the mapped rows differ from the state that they were loaded from."""
    reader = Reader(image, image)
    likeness = Likeness()
    likeness.see({name: attribute.entries for name, attribute in state.items()})
    try:
        return state_difference(state, mapped_state(reader, answer.state), likeness)
    except QueryError as error:
        return str(error)
    finally:
        reader.close()
