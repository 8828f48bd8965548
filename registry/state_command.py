"""The commands that look into a running farm: `farm ps`, `state`, `diff`, `history`, `sql`."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.progress import track
from rich.text import Text

from registry.commands import DEFAULT_STATE, StateFolder, asked, make_sure_of
from registry.messages import Lease, Tables, WorkerCard
from servers.cli.command_options import AsJson
from servers.cli.secret_options import Token, TokenFile, token_from
from servers.errors import FarmError
from servers.messages import CallRecord
from servers.state.rows import RowChange
from servers.text.json_values import is_object
from servers.text.terminal import Listing, Terminal
from servers.text.wording import counted

if TYPE_CHECKING:  # importing it takes a second
    from registry.client import FarmClient

app = typer.Typer()
out = Terminal()
err = Terminal(stderr=True)
T = TypeVar("T")
PART = 1000
LONGEST = 200
SIGNS = {"insert": ("+", "green"), "update": ("~", "yellow"), "delete": ("−", "red")}
InstanceArgument = Annotated[str, typer.Argument(help="An instance's id; `farm instances` lists them.")]


@app.command()
def ps(
    as_json: AsJson = False, state: StateFolder = DEFAULT_STATE, token: Token = None, token_file: TokenFile = None
) -> None:
    """List the workers of the running farm, and its live instances by environment."""
    from registry.client import every_item

    async def ask(farm: "FarmClient") -> tuple[tuple[WorkerCard, ...], list[Lease]]:
        leases = await every_item(lambda offset: farm.leases(status="live", offset=offset, limit=PART))
        return (await farm.workers()).items, leases

    workers, leases = asyncio.run(asked(state, token_from(token, token_file), ask))
    live = Counter(lease.environment for lease in leases)
    if as_json:
        out.print_data({"workers": [one.model_dump(mode="json") for one in workers], "instances": dict(live)})
        return
    table = Listing("worker", "answers", "instances", "address")
    for one in workers:
        answers = "no" if not one.answers else "drains" if one.drains else "yes"
        table.add(one.name, answers, f"{one.instances} of {one.capacity}", one.url)
    out.print(table)
    if live:
        listing = Listing("instances", "environment")
        for name, count in live.most_common():
            listing.add(str(count), name)
        out.print(listing)


@app.command()
def drain(
    worker: Annotated[str, typer.Argument(help="A worker's name; `farm ps` lists them.")],
    undo: Annotated[bool, typer.Option("--undo", help="Launch on it again.")] = False,
    away: Annotated[bool, typer.Option("--move", help="Move its live instances to other workers.")] = False,
    state: StateFolder = DEFAULT_STATE,
    token: Token = None,
    token_file: TokenFile = None,
) -> None:
    """Launch nothing more on a worker of the running farm. One that joined ends when its last lease has ended."""
    if undo and away:
        raise typer.BadParameter("--undo takes the worker up again, and --move empties it: give one of them")
    control = token_from(token, token_file)
    asyncio.run(asked(state, control, lambda farm: farm.drain(worker, drains=not undo)))
    if undo:
        out.print(f"{worker} gets instances again.", markup=False)
        return
    out.print(f"{worker} gets no more instances. `farm ps` shows what it still has.", markup=False)
    if away:
        moved, stayed = asyncio.run(asked(state, control, lambda farm: _emptied(farm, worker)))
        out.print(f"{counted(moved, 'instance')} moved. Their agents need the new leases.", markup=False)
        for reason in stayed:
            err.print(reason, markup=False)
        if stayed:
            raise typer.Exit(1)


async def _emptied(farm: "FarmClient", worker: str) -> tuple[int, list[str]]:
    """Move the live instances of a worker to others. Returns how many moved, and why others did not."""
    from registry.client import every_item

    leases = await every_item(lambda offset: farm.leases(status="live", offset=offset, limit=PART))
    mine = [lease.instance for lease in leases if lease.worker == worker]
    stayed: list[str] = []
    for instance in track(mine, "moving", console=err, transient=True, disable=not err.is_terminal):
        try:
            await farm.move(instance)
        except FarmError as error:
            stayed.append(f"{instance} stays: {error}")
    return len(mine) - len(stayed), stayed


@app.command()
def move(
    instance: InstanceArgument,
    worker: Annotated[
        str | None, typer.Option("--to", help="The worker; `farm ps` lists them. Default: the one with most room.")
    ] = None,
    as_json: AsJson = False,
    state: StateFolder = DEFAULT_STATE,
    token: Token = None,
    token_file: TokenFile = None,
) -> None:
    """Move an instance to another worker. Its agent needs the new URL and token."""
    lease = _of(instance, lambda farm: farm.move(instance, worker=worker), state, token_from(token, token_file))
    if as_json:
        out.print_data(lease.model_dump(mode="json"))
    else:
        out.print(f"{instance} is on {lease.worker} now, at {lease.mcp_url}; --json shows its token.", markup=False)


@app.command()
def state(
    instance: InstanceArgument,
    table: Annotated[str | None, typer.Argument(help="Print the rows of this table.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The most rows.")] = 100,
    offset: Annotated[int, typer.Option(min=0, help="The rows to leave out.")] = 0,
    as_json: AsJson = False,
    state: StateFolder = DEFAULT_STATE,
    token: Token = None,
    token_file: TokenFile = None,
) -> None:
    """List the tables of an instance, or print the rows of one, ordered by key."""
    control = token_from(token, token_file)
    if table is None:
        tables: Tables = _of(instance, lambda farm: farm.state(instance), state, control)
        if as_json:
            out.print_data(tables.model_dump(mode="json")["items"])
            return
        listing = Listing("table", "rows", "columns")
        for one in tables.items:
            listing.add(one.name, str(one.total), ", ".join(one.columns))
        out.print(listing)
        return
    part = _of(instance, lambda farm: farm.table(instance, table, offset=offset, limit=limit), state, control)
    _print_rows(part.columns, part.rows, as_json=as_json)
    if not as_json and part.total > len(part.rows):
        out.print(f"{len(part.rows)} of {counted(part.total, 'row')}; --offset and --limit show others.")


@app.command()
def diff(
    instance: InstanceArgument,
    as_json: AsJson = False,
    state: StateFolder = DEFAULT_STATE,
    token: Token = None,
    token_file: TokenFile = None,
) -> None:
    """Print the rows of an instance that differ from its start."""
    found = _of(instance, lambda farm: farm.diff(instance), state, token_from(token, token_file)).items
    if as_json:
        out.print_data([one.model_dump(mode="json") for one in found])
    elif not found:
        out.print("Nothing differs from the start.")
    else:
        for one in found:
            out.print(_change(one), soft_wrap=True)


@app.command()
def history(
    instance: InstanceArgument,
    full: Annotated[bool, typer.Option("--full", help="Print results in full.")] = False,
    as_json: AsJson = False,
    state: StateFolder = DEFAULT_STATE,
    token: Token = None,
    token_file: TokenFile = None,
) -> None:
    """Print the calls of an instance, oldest first, with their results and the rows that they changed."""

    def ask(farm: "FarmClient") -> Awaitable[list[CallRecord]]:
        from registry.client import every_item

        return every_item(lambda offset: farm.history(instance, offset=offset, limit=PART))

    calls = _of(instance, ask, state, token_from(token, token_file))
    if as_json:
        out.print_data([one.model_dump(mode="json") for one in calls])
    elif not calls:
        out.print("No call was made yet.")
    else:
        for line in (line for call in calls for line in _call(call, full=full)):
            out.print(line, soft_wrap=True)


@app.command()
def sql(
    instance: InstanceArgument,
    query: Annotated[str, typer.Argument(help="One SELECT over `main` (now) and `start`. - reads standard input.")],
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The most rows.")] = 1000,
    as_json: AsJson = False,
    state: StateFolder = DEFAULT_STATE,
    token: Token = None,
    token_file: TokenFile = None,
) -> None:
    """Ask the state of an instance with one SELECT. It runs on a copy and changes nothing."""
    text = sys.stdin.read() if query == "-" else query
    found = _of(instance, lambda farm: farm.query(instance, text, limit=limit), state, token_from(token, token_file))
    _print_rows(found.columns, found.rows, as_json=as_json)
    if found.more and not as_json:
        out.print(f"There are more than {counted(limit, 'row')}.")


def _of(instance: str, ask: Callable[["FarmClient"], Awaitable[T]], state: Any, token: str | None) -> T:
    make_sure_of(instance)
    return asyncio.run(asked(state, token, ask))


def _print_rows(columns: tuple[str, ...], rows: tuple[tuple[Any, ...], ...], *, as_json: bool) -> None:
    if as_json:
        out.print_data([dict(zip(columns, row, strict=False)) for row in rows])
        return
    table = Listing(*columns)
    for row in rows:
        table.add(*("NULL" if value is None else _short(str(value)) for value in row))
    out.print(table)


def _call(call: CallRecord, *, full: bool) -> Iterator[Text]:
    """The lines of a call."""
    given = call.arguments if is_object(call.arguments) else {"": call.arguments}
    arguments = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in given.items())
    yield Text.assemble((f"{call.seq} ", "dim"), (call.tool, "bold cyan"), f"({arguments})")
    text = call.text if full else _short(" ".join(call.text.split()))
    yield Text(f"  {'←' if call.outcome == 'ok' else call.outcome} {text}", "dim" if call.outcome == "ok" else "red")
    yield from (Text("    ") + _change(change) for change in call.changes)


def _change(change: RowChange) -> Text:
    sign, style = SIGNS[change.operation]
    key = ", ".join(str(value) for value in change.key.values())
    told = ", ".join(_column(change, name) for name in {**change.before, **change.after})
    return Text.assemble((f"{sign} {change.table} {key}: ", f"bold {style}"), (told, style))


def _column(change: RowChange, name: str) -> str:
    before, after = (json.dumps(side.get(name), ensure_ascii=False) for side in (change.before, change.after))
    if change.operation == "update":
        return f"{name} {before} → {after}"
    return f"{name} {after if change.operation == 'insert' else before}"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
