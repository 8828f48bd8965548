"""The commands about bundles: `farm check`, `farm derive`, `farm serve`."""

import asyncio
import json
import socket
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from servers import check as checking
from servers.agent_door import AgentDoor, serve_stdio
from servers.bundle import Environment, load, load_scenarios
from servers.bundle_files import text_of, write_text
from servers.certified import is_current
from servers.doors.stdio import standard_streams
from servers.errors import BundleError, NotFound, RequestError
from servers.guest.walls import WALLS
from servers.guests import Guests
from servers.library import OWN_LIBRARY, Library
from servers.logs import Level, to_stderr
from servers.orders import Launch, Ticket
from servers.scenario import Scenario
from servers.serving import listen, run, serving, url_of
from servers.terminal import Terminal
from servers.worker import Worker
from servers.worker_process import die_with_parent, until_told_to_stop
from servers.worker_process import serve as serve_worker

app = typer.Typer()
Bundle = Annotated[Path, typer.Argument(help="A bundle's folder, or the id of one of the farm's own environments.")]
out = Terminal()
err = Terminal(stderr=True)


@app.command()
def environments(
    library: Annotated[list[Path] | None, typer.Option(help="Folders of bundles, beside the farm's own.")] = None,
) -> None:
    """List the environments that there are."""
    shelf = Library([*shelves(library), OWN_LIBRARY])
    table = Table("environment", "tools", "scenarios", "what it is")
    for name in shelf.ids():
        environment = shelf.environment(name)
        scenarios = str(len(shelf.scenarios(name)))
        table.add_row(name, str(len(environment.tools)), scenarios, environment.description.description)
    out.print(table)


@app.command()
def scenarios(bundle: Bundle) -> None:
    """List the scenarios of an environment, the shortest solution first."""
    folder = bundle_of(bundle)
    library = Library([folder.parent])
    environment = library.environment(folder.name)
    table = Table("scenario", "calls", "goals", "guards", "kill score", "changes", "task")
    for scenario in sorted(library.scenarios(folder.name).values(), key=_length):
        roles = [checkpoint.role for checkpoint in scenario.checkpoints]
        calls = str(len(scenario.solution.calls)) if scenario.solution else "none shown"
        score, tables = _certified(environment, scenario)
        table.add_row(
            scenario.id, calls, str(roles.count("goal")), str(roles.count("guard")), score, tables, scenario.task
        )
    out.print(table)


def _certified(environment: Environment, scenario: Scenario) -> tuple[str, str]:
    """What a scenario's certificate says: the kill score, and the tables that the reference changes."""
    if scenario.certificate is None:
        return "-", ""
    score = f"{scenario.certificate.kill_score:.2f}" if is_current(environment, scenario) else "out of date"
    return score, ", ".join(scenario.certificate.difficulty.tables)


def _length(scenario: Scenario) -> tuple[bool, int]:
    """By calls; what nobody has shown a solution of comes last."""
    return scenario.solution is None, len(scenario.solution.calls) if scenario.solution else 0


@app.command()
def check(bundles: Annotated[list[Path], typer.Argument(help="Bundles' folders, or ids of the farm's own.")]) -> None:
    """Print everything that is wrong with bundles. Exit code 1 when anything is."""
    found = asyncio.run(_check([folder_of(bundle) for bundle in bundles]))
    if found:
        raise typer.Exit(1)


async def _check(folders: list[Path]) -> int:
    total = 0
    async with Guests() as guests:
        for folder in folders:
            found = await checking.findings(folder, guests)
            for finding in found:
                out.print(finding, markup=False, soft_wrap=True)
            if not found:
                environment = load(folder)
                scenarios = len(load_scenarios(environment))
                out.print(f"{environment.id}: sound ({len(environment.tools)} tools, {scenarios} scenarios)")
            total += len(found)
    return total


@app.command()
def derive(
    bundle: Bundle,
    write: Annotated[bool, typer.Option("--write", help="Write the schemas into environment.json.")] = False,
) -> None:
    """Derive the tool schemas of a bundle from the signatures and docstrings of its tools.py."""
    folder = folder_of(bundle)
    tools = [tool.model_dump() for tool in asyncio.run(_derive(folder))]
    if not write:
        out.print_json(json.dumps(tools))
        return
    path = folder / "environment.json"
    try:
        description = json.loads(text_of(path))
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{path}: cannot be read: {error}") from None
    if not isinstance(description, dict):
        raise BundleError(f"{path}: the whole: is not an object")
    write_text(path, json.dumps({**description, "tools": tools}, indent=2, ensure_ascii=False) + "\n")
    out.print(f"{path}: {len(tools)} tools written")


async def _derive(folder: Path) -> list[checking.Tool]:
    async with Guests() as guests:
        return await checking.derived(folder, guests)


@app.command()
def serve(
    bundle: Bundle,
    scenario: Annotated[str | None, typer.Option(help="Start from this scenario's setup.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the ids that the instance makes.")] = 0,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Serve over HTTP on this port of this machine.")
    ] = None,
) -> None:
    """Serve one fresh instance of a bundle to one MCP client: over stdio, or over HTTP with --port."""
    folder = bundle_of(bundle)
    if port is not None:
        run(_serve(folder, scenario, seed, lambda worker, ticket: _over_http(worker, ticket, port)))
        return
    if sys.stdin.isatty():
        err.print("Waiting for an MCP client on standard input. `farm connect` prints the configuration of one.")
    asyncio.run(_serve(folder, scenario, seed, _over_stdio))


async def _over_stdio(worker: Worker, ticket: Ticket) -> None:
    with standard_streams() as (incoming, outgoing):
        await serve_stdio(worker, ticket.instance, incoming, outgoing)


async def _over_http(worker: Worker, ticket: Ticket, port: int) -> None:
    door = AgentDoor(worker, loopback_only=True)
    listening = listen("127.0.0.1", port)
    async with door.running(), serving(door, listening):
        err.print(f"{url_of(listening)}{ticket.path}\nAuthorization: Bearer {ticket.token}", soft_wrap=True)
        await until_told_to_stop()


async def _serve(
    folder: Path, scenario_id: str | None, seed: int, serve_it: Callable[[Worker, Ticket], Awaitable[None]]
) -> None:
    library = Library([folder.parent])
    launch = Launch(environment=folder.name, seed=seed)
    if scenario_id is not None:
        scenario = library.scenario(folder.name, scenario_id)
        launch = launch.model_copy(update={"setup": scenario.setup, "clock": scenario.clock})
    with tempfile.TemporaryDirectory(prefix="farm-") as state:
        async with Worker(library, Path(state)) as worker:
            [ticket] = await worker.launch(launch)
            await serve_it(worker, ticket)


@app.command(hidden=True)
def worker(
    state: Annotated[Path, typer.Option(help="The folder of this worker's instances.")],
    fd: Annotated[int, typer.Option(help="The listening socket, inherited from `farm up`.")],
    parent: Annotated[int, typer.Option(help="The process of `farm up`, with which this one ends.")],
    library: Annotated[list[Path], typer.Option(help="Folders of bundles.")],
    loopback_only: Annotated[bool, typer.Option(help="Answer only requests to loopback names.")] = False,
    walls_required: Annotated[bool, typer.Option(help="Refuse to start when a wall is missing.")] = False,
    calls_per_second: Annotated[float | None, typer.Option(help="The most that an instance takes.")] = None,
    log_level: Annotated[Level, typer.Option(help="The least that is logged.")] = "info",
) -> None:
    """Run one worker of a farm, started by `farm up --workers N`.

    The first line of its input is its control token, the second where spans go, which may hold a password.
    """
    die_with_parent(parent)
    token, otel = sys.stdin.readline().strip(), sys.stdin.readline().strip()
    to_stderr(log_level, process=state.name, otel=otel or None)
    listening = socket.socket(fileno=fd)
    worker_served = serve_worker(
        Library(library),
        state,
        listening,
        token=token,
        loopback_only=loopback_only,
        walls_required=walls_required,
        calls_per_second=calls_per_second,
    )
    run(worker_served)


@app.command()
def doctor() -> None:
    """Say which walls stand around guests on this machine. Exit code 1 when one is missing."""
    standing = asyncio.run(_walls())
    for wall, promise in WALLS.items():
        out.print(
            f"[green]stands [/]  {wall:10}  {promise}" if wall in standing else f"[red]missing[/]  {wall:10}  {promise}"
        )
    if set(WALLS) - set(standing):
        raise typer.Exit(1)


async def _walls() -> tuple[str, ...]:
    async with Guests() as guests:
        return await guests.walls()


def shelves(given: list[Path] | None) -> list[Path]:
    """The folders of bundles that `--library` names.

    Raises:
        RequestError: one of them is not there.
    """
    for folder in given or []:
        if not folder.is_dir():
            raise RequestError(f"--library {folder}: no such folder")
    return given or []


def folder_of(bundle: Path) -> Path:
    """The folder of a bundle that is named by path, or by the id of one of the farm's own.

    Raises:
        NotFound: there is no such folder.
    """
    for folder in (bundle, OWN_LIBRARY / bundle):
        if folder.is_dir():
            return folder.resolve()
    own = ", ".join(Library([OWN_LIBRARY]).ids())
    raise NotFound(f"{bundle}: no such bundle; give a folder, or one of: {own}")


def bundle_of(bundle: Path) -> Path:
    """The folder of a bundle that is to be used, not looked at for what it lacks.

    Raises:
        NotFound: there is no such folder, or it is of something else.
    """
    folder = folder_of(bundle)
    if not (folder / "environment.json").is_file():
        raise NotFound(f"{bundle}: no bundle: it has no environment.json")
    return folder
