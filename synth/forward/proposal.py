"""A proposed scenario: a variation of the first rows and a task; and its faults."""

import re
from collections.abc import Iterator, Sequence

from pydantic import Field

from servers.errors import BundleError
from servers.records import Record
from servers.state.readonly_query import Reader
from servers.state.rows import RowChange
from synth.environments.mining.similarity import cosine, vectors
from synth.environments.seed import PLACEHOLDERS
from synth.play.playground import Playground
from synth.solutions.plausible_values import RowSample

SHORTEST_TASK = 80
LONGEST_TASK = 1500
MOST_ROWS = 60
MOST_ALIKE = 0.75
FEWEST_CALLS = 4


class Proposal(Record):
    """`setup` runs after the first rows. `steps` are the tools that a careful agent would call, in order."""

    title: str = Field(min_length=8, max_length=90)
    setup: str
    task: str
    steps: tuple[str, ...]
    why: str = Field(min_length=1, description="What makes it hard, and why it can be done in one way only.")

    @property
    def id(self) -> str:
        """The scenario's id, from its title."""
        return "fwd_" + re.sub(r"[^a-z0-9]+", "_", self.title.lower()).strip("_")[:44].rstrip("_")


async def proposal_findings(proposal: Proposal, stage: Playground, tasks: Sequence[str]) -> list[str]:
    """The faults of a proposal, for its writer. `tasks` are the existing ones."""
    found = [*_task_findings(proposal, stage, tasks), *_step_findings(proposal, stage)]
    return [f"{proposal.title!r}: {one}" for one in [*found, *await _setup_findings(proposal, stage)]]


def _task_findings(proposal: Proposal, stage: Playground, tasks: Sequence[str]) -> Iterator[str]:
    task = proposal.task
    if not SHORTEST_TASK <= len(task) <= LONGEST_TASK:
        yield f"task: {len(task)} characters; {SHORTEST_TASK} to {LONGEST_TASK} are asked"
    for name in tools_in(task, stage):
        yield f"task: names the tool {name}; say what is wanted, not how it is done"
    every = vectors([task, *tasks])
    for other, vector in zip(tasks, every[1:], strict=True):
        if cosine(every[0], vector) > MOST_ALIKE:
            yield f"task: nearly the same as one that there is: {other[:100]!r}"
            return


def _step_findings(proposal: Proposal, stage: Playground) -> Iterator[str]:
    tools = stage.environment.tools
    unknown = sorted({name for name in proposal.steps if name not in tools})
    if unknown:
        yield f"steps: there is no tool {unknown[0]!r}"
        return
    writing = [name for name in proposal.steps if tools[name].writes]
    if len(proposal.steps) < FEWEST_CALLS or len(proposal.steps) - len(writing) < 2:
        yield f"steps: too easy: {FEWEST_CALLS} calls and two queries among them are the least"
    if not writing:
        yield "steps: no command among them, so nothing would change"


async def _setup_findings(proposal: Proposal, stage: Playground) -> list[str]:
    """The faults of the rows, found by running them in a guest."""
    plain = await stage.launch()
    async with plain.reading() as reader:
        before = reader.connection.serialize("main")
    await plain.close()
    try:
        scene = await stage.launch(setup=proposal.setup)
    except BundleError as error:
        return [f"setup: does not run: {str(error).partition(': ')[2] or error}"]
    try:
        async with scene.reading() as reader:
            after = reader.connection.serialize("main")
    finally:
        await scene.close()
    reader = Reader(after, before)
    try:
        return list(_row_findings(proposal, RowSample(reader), reader.changes()))
    finally:
        reader.close()


def _row_findings(proposal: Proposal, rows: RowSample, changes: Sequence[RowChange]) -> Iterator[str]:
    if not changes:
        yield "setup: changes no row; vary the first rows so that this task has a world of its own"
    if len(changes) > MOST_ROWS:
        yield f"setup: changes {len(changes)} rows; {MOST_ROWS} are the most"
    for change in changes:
        name = f"{change.table} {', '.join(map(str, change.key.values()))}"
        texts = [str(value) for value in change.after.values() if isinstance(value, str)]
        if any(map(PLACEHOLDERS.search, texts)):
            yield f"setup: {name}: a placeholder; write what could be real"
        if change.operation == "insert" and not _is_linked(change, rows):
            yield f"setup: {name}: no row refers to it, and it refers to none"
    for value in keys_in(proposal.task, rows):
        yield f"task: gives the key {value}; say what a person would say, for it can be looked up"


def tools_in(text: str, stage: Playground) -> list[str]:
    """The tools that a text names."""
    return [name for name in stage.environment.tools if "_" in name and name in text]


def keys_in(text: str, rows: RowSample) -> list[str]:
    """The keys in a text that no person would know."""
    return [
        value
        for value in rows.tables_of
        if isinstance(value, str) and "_" in value and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text)
    ]


def _is_linked(change: RowChange, rows: RowSample) -> bool:
    if any(change.after.get(column) is not None for column in rows.parents[change.table]):
        return True
    key = next(iter(change.key.values()))
    return any(
        row[column] == key
        for table, columns in rows.parents.items()
        for column, parent in columns.items()
        if parent == change.table
        for row in rows.rows[table]
    )
