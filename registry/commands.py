"""The commands of a running farm: `farm up`, `launch`, `score`, `close`, `instances`, `connect`."""

import asyncio
import json
import os
import shlex
import shutil
import sys
import webbrowser
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import typer

from registry.client_file import configuration, followed, keep_out_of_git, merge, refuse_tracked
from registry.messages import KEEP_SECONDS, Lease, LeaseStatus
from servers.bundle.card import hidden_in
from servers.bundle_library import OWN_LIBRARY, Library
from servers.cli.command_options import AsJson, PerturbOption, bundle_of, shelves
from servers.cli.secret_options import (
    Token,
    TokenFile,
    is_on_the_command_line,
    join_token_from,
    readable,
    token_from,
    without_password,
)
from servers.errors import FarmError, NotFound, RequestError
from servers.limits.garbage_collection import settle
from servers.messages import INSTANCE_ID
from servers.telemetry.logs import Level, to_stderr
from servers.text.terminal import Listing, Terminal, marked
from servers.text.wording import counted, noun

if TYPE_CHECKING:  # importing these takes two seconds
    from registry.client import Address, FarmClient
    from registry.farm import Options

app = typer.Typer()
out = Terminal()
err = Terminal(stderr=True)
T = TypeVar("T")


def _from_home(folder: Path) -> Path:
    """Expand `~` to the user's home folder."""
    return folder.expanduser()


StateFolder = Annotated[
    Path,
    typer.Option(envvar="FARM_STATE", callback=_from_home, help="The folder of everything that the farm keeps."),
]
SECRETS = ("FARM_TOKEN", "FARM_LEDGER", "OPENAI_API_KEY", "USER_OPENAI_API_KEY")
MOST_KEPT = 31_536_000
PART = 1000
DEFAULT_STATE = Path("~/.envfarm")
RUNS = Path("runs")
A_DAY = 86_400
"""Seconds without a heartbeat after which an instance of `farm connect` ends. MCP clients send no heartbeats."""


class Walls(StrEnum):
    """What to do if a wall around guests is missing. Default: `required` unless the address is a loopback one."""

    required = "required"
    available = "available"


class WorkerPlace(StrEnum):
    """Where the workers of a farm run."""

    processes = "processes"
    ray = "ray"


@app.command()
def up(
    context: typer.Context,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="The port; workers take the next ones. 0: any free one.")
    ] = 8700,
    workers: Annotated[
        int,
        typer.Option(min=0, max=64, help="Worker processes. 1: everything in this process. 0: those that join alone."),
    ] = 1,
    library: Annotated[list[Path] | None, typer.Option(help="Folders of bundles, beside the farm's own.")] = None,
    state: StateFolder = DEFAULT_STATE,
    ledger: Annotated[
        str | None,
        typer.Option(
            envvar="FARM_LEDGER",
            callback=without_password,
            help="SQLAlchemy URL of the ledger; SQLite in the state folder.",
        ),
    ] = None,
    keep: Annotated[
        int, typer.Option(min=0, max=MOST_KEPT, help="Seconds for which the state of an expired lease is kept.")
    ] = KEEP_SECONDS,
    token: Token = None,
    token_file: TokenFile = None,
    walls: Annotated[
        Walls | None, typer.Option(help="When one is missing: refuse to start, or go on and say so.")
    ] = None,
    gate: Annotated[
        bool, typer.Option(help="Launch only tools that the gate of `farm check` lets pass. The walls stand anyway.")
    ] = True,
    calls_per_second: Annotated[
        float | None,
        typer.Option(min=0.001, help="The most calls a second that one instance takes. Default: no limit."),
    ] = None,
    join_token_file: Annotated[
        Path | None,
        typer.Option(help="A file with the token of workers that join. Default: `join-token` in the state folder."),
    ] = None,
    replica: Annotated[
        bool, typer.Option("--replica", help="Be one of several registries of a farm, on one ledger in PostgreSQL.")
    ] = False,
    authority: Annotated[
        Path | None, typer.Option(help="Certificates (PEM) of which one signed those of workers with an https URL.")
    ] = None,
    engine: Annotated[
        WorkerPlace, typer.Option(help="processes: workers of this machine. ray: one on each node of a Ray cluster.")
    ] = WorkerPlace.processes,
    address: Annotated[
        str, typer.Option(envvar="RAY_ADDRESS", help="With --engine ray: the cluster's address. Default: a local one.")
    ] = "",
    cores_per_worker: Annotated[
        int | None, typer.Option(min=1, help="With --engine ray: a worker for so many cores of a node.")
    ] = None,
    public_host: Annotated[str | None, typer.Option(help="The name under which agents reach this machine.")] = None,
    web: Annotated[bool, typer.Option(help="Serve pages for a browser, which `farm open` opens.")] = True,
    runs: Annotated[
        list[Path] | None, typer.Option(help="Folders whose runs the pages show. Default: `runs` here, if it is there.")
    ] = None,
    log_level: Annotated[
        Level | None,
        typer.Option(
            help="The least that is logged to standard error; debug: every call. Default: info, on a terminal warning."
        ),
    ] = None,
    otel: Annotated[
        str | None,
        typer.Option(
            envvar="OTEL_EXPORTER_OTLP_ENDPOINT",
            callback=without_password,
            help="An OTLP endpoint that gets spans of the calls.",
        ),
    ] = None,
) -> None:
    """Start a farm: the registry and its workers. Ctrl-C ends it, and the next start has its instances again."""
    from registry.farm import Options
    from servers.doors.server import run_served
    from servers.worker.settings import WorkerSettings

    for secret in SECRETS:  # no child of the farm needs them
        os.environ.pop(secret, None)
    least: Level = log_level or ("warning" if sys.stderr.isatty() else "info")
    to_stderr(least, process="farm", otel=otel)
    options = Options(
        library=(*shelves(library), OWN_LIBRARY),
        state=state,
        host=host,
        port=port,
        workers=workers,
        ledger=ledger,
        token=token_from(token, token_file),
        join_token=join_token_from(join_token_file),
        replica=replica,
        authority=readable(authority),
        public_host=public_host,
        engine=engine.value,
        address=address if engine is WorkerPlace.ray or is_on_the_command_line(context, "address") else "",
        cores_each=cores_per_worker,
        worker=WorkerSettings(
            walls_required=None if walls is None else walls is Walls.required,
            gated=gate,
            calls_per_second=calls_per_second,
        ),
        log_level=least,
        otel=otel,
        keep_seconds=keep,
        web=web,
        runs=_shelves_of_runs(runs),
    )
    run_served(_up(options))


def _shelves_of_runs(given: list[Path] | None) -> tuple[Path, ...]:
    """The folders with runs. Raises RequestError for one that is not there."""
    if given is None:
        return (RUNS,) if RUNS.is_dir() else ()
    for path in given:
        if not path.is_dir():
            raise RequestError(
                f"--runs {path}: there is no such folder; `farm eval SUITE --out {path}/first` makes one"
            )
    return tuple(given)


async def _up(options: "Options") -> None:
    from registry.farm import running
    from servers.doors.worker_process import ending_on_signals

    async with running(options) as address:
        settle()
        with ending_on_signals() as told:
            _show(options, address)
            await told.wait()
        out.print("Closing: calls under way are finished.")


def _show(options: "Options", address: "Address") -> None:
    """Say where the farm is, and what about it may surprise."""
    bundles = len(Library(list(options.library)).ids())
    kept = "as given" if options.token else f"in {options.state / 'token'}"
    workers = "workers on a Ray cluster" if options.engine == "ray" else counted(options.workers, "worker")
    size = f"{workers}, {counted(bundles, 'environment')}"
    out.print(marked("Farm at [bold]{}[/]  ({}, token {})", address.url, size, kept), soft_wrap=True)
    if options.nameless and options.own_workers:
        warning = "[red]Leases name 127.0.0.1, where only this machine finds them[/]; others need --public-host."
        out.print(marked(warning))
    if address.missing_walls:
        missing = ", ".join(address.missing_walls)
        out.print(marked("[red]Missing walls around guests: {}[/]; `farm doctor` says more.", missing))
    for line in hidden_in(options.library):
        out.print(line, soft_wrap=True)
    if options.web:
        out.print("`farm open` opens its pages in a browser.")
    out.print(f"API and its description: {address.url}/v1/docs. Ctrl-C ends it.")


@app.command("open")
def open_(
    just_print: Annotated[
        bool, typer.Option("--print", help="Print the link and open no browser: for a browser of another machine.")
    ] = False,
    state: StateFolder = DEFAULT_STATE,
    token: Token = None,
    token_file: TokenFile = None,
) -> None:
    """Open the pages of the running farm in a browser, with a link that lets it in once, within two minutes."""
    from registry.client import address_of
    from registry.web.session import one_time_link

    address = address_of(state, token_from(token, token_file))
    asyncio.run(asked(state, token_from(token, token_file), _make_sure_of_pages))
    link = one_time_link(address.url, address.token)
    if just_print:
        out.print(link, markup=False, soft_wrap=True)
    elif not webbrowser.open(link):
        out.print("No browser can be opened here. This link lets one in, once, within two minutes:")
        out.print(link, markup=False, soft_wrap=True)


async def _make_sure_of_pages(farm: "FarmClient") -> None:
    """Refuse a farm without pages, or another token. Raises RequestError or InfraError."""
    await farm.workers()
    if not await farm.has_pages():
        raise RequestError(f"the farm at {farm.url} has no pages; start it without --no-web")


@app.command()
def launch(
    environment: Annotated[str, typer.Argument(help="An environment's id.")],
    scenario: Annotated[
        str | None, typer.Option(help="A scenario's id; without one there is nothing to score.")
    ] = None,
    count: Annotated[int, typer.Option(min=1, max=1000, help="How many instances.")] = 1,
    ttl: Annotated[
        int, typer.Option(min=10, max=604_800, help="Seconds without a heartbeat until they end, such as 7200.")
    ] = 3600,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the ids that the instances make.")] = 0,
    perturb: PerturbOption = None,
    state: StateFolder = DEFAULT_STATE,
    token: Token = None,
    token_file: TokenFile = None,
) -> None:
    """Launch instances on the running farm, and print their leases (URL and token) as JSON.

    The task, and how an instance is scored, go to standard error.
    """
    line = perturb or ""
    launching = partial(
        _launched, environment=environment, scenario=scenario, count=count, ttl=ttl, seed=seed, perturb=line
    )
    control = token_from(token, token_file)
    launched = asyncio.run(asked(state, control, launching))
    with _handed_over(launched, state, control):
        out.print_json(json.dumps([lease.model_dump(mode="json") for lease in launched.leases]))
    _tell_what_next(err, launched, state)


class LaunchedLeases(NamedTuple):
    """New leases, and the task of their scenario, if they have one."""

    leases: list[Lease]
    task: str | None


async def _launched(
    farm: "FarmClient", *, environment: str, scenario: str | None, count: int, ttl: int, seed: int, perturb: str
) -> LaunchedLeases:
    _make_sure_it_is_no_folder(environment)
    try:
        leases = await farm.launch(
            environment, scenario, count=count, ttl_seconds=ttl, seed=seed, perturb=perturb, pairs=True
        )
    except NotFound as error:
        if not (Path(environment) / "environment.json").is_file() or await _is_served(farm, environment):
            raise
        raise NotFound(f"{error}; `farm up --library .` serves the bundle {environment} of this folder") from None
    task = None if scenario is None else (await farm.scenario(environment, scenario)).told
    return LaunchedLeases(leases, task)


@contextmanager
def _handed_over(launched: LaunchedLeases | None, state: Path, token: str | None) -> Generator[None]:
    """End leases that their user does not get, as on a full disk: nobody else knows their tokens.

    SystemExit is what a pipe brings that nobody reads any more.
    """
    try:
        yield
    except (FarmError, OSError, SystemExit, KeyboardInterrupt):
        if launched is not None:
            instances = [lease.instance for lease in launched.leases]
            asyncio.run(asked(state, token, lambda farm: _closed(farm, instances)))
        raise


def _tell_what_next(console: Terminal, launched: LaunchedLeases, state: Path) -> None:
    """Print the next steps: give the agent the task, then score the instance."""
    usual = Path(os.environ.get("FARM_STATE") or DEFAULT_STATE).expanduser()
    option = "" if state == usual else f" --state {shlex.quote(str(state))}"
    say = partial(console.print, markup=False, soft_wrap=True)
    instance = launched.leases[0].instance
    if launched.task is None:
        say(f"Instance {instance} has no scenario, so there is nothing to score.")
    else:
        say(f"The agent's task: {launched.task}")
        say(f'To score instance {instance}: farm score {instance}{option} --answer "the agent\'s last words"')
    say(f"To end it: farm close {' '.join(lease.instance for lease in launched.leases)}{option}")


@app.command()
def score(
    instance: Annotated[str, typer.Argument(help="An instance's id.")],
    answer: Annotated[str, typer.Option(help="The agent's last words.")] = "",
    state: StateFolder = DEFAULT_STATE,
    token: Token = None,
    token_file: TokenFile = None,
) -> None:
    """Judge an instance of the running farm by its scenario's checkpoints, and print the score as JSON."""
    make_sure_of(instance)
    scored = asyncio.run(asked(state, token_from(token, token_file), lambda farm: farm.score(instance, answer)))
    out.print_json(scored.model_dump_json())
    if scored.outcome == "infra_error":
        raise typer.Exit(1)


@app.command()
def close(
    instances: Annotated[list[str], typer.Argument(help="Instances' ids.")],
    state: StateFolder = DEFAULT_STATE,
    token: Token = None,
    token_file: TokenFile = None,
) -> None:
    """End instances of the running farm, and delete their state."""
    failures = asyncio.run(asked(state, token_from(token, token_file), lambda farm: _closed(farm, instances)))
    for failure in failures:
        err.print(f"farm: {failure}", markup=False)
    if failures:
        raise typer.Exit(2 if all(isinstance(failure, RequestError) for failure in failures) else 1)


@app.command()
def instances(
    environment: Annotated[str | None, typer.Option(help="Only instances of this environment.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Also those whose lease is over.")] = False,
    as_json: AsJson = False,
    state: StateFolder = DEFAULT_STATE,
    token: Token = None,
    token_file: TokenFile = None,
) -> None:
    """List the live instances of the running farm, the newest first."""
    status = None if every else "live"
    answer = asked(state, token_from(token, token_file), lambda farm: _leases(farm, environment, status))
    leases = asyncio.run(answer)
    if as_json:
        out.print_data([lease.model_dump(mode="json", exclude={"token"}) for lease in leases])
    elif not leases:
        out.print("None; `farm launch ENVIRONMENT --scenario ID` launches one.")
    else:
        table = Listing("instance", "environment", "status", "until", "scenario")
        for lease in leases:
            until = lease.expires_at.astimezone().strftime("%Y-%m-%d %H:%M")
            table.add(lease.instance, lease.environment, lease.status, until, lease.scenario or "-")
        out.print(table)


async def _leases(farm: "FarmClient", environment: str | None, status: LeaseStatus | None) -> list[Lease]:
    """All leases of a farm, page by page. Raises NotFound for an unknown environment or instance."""
    from registry.client import every_item

    leases = await every_item(
        lambda offset: farm.leases(status=status, environment=environment, offset=offset, limit=PART)
    )
    if not leases and environment is not None:
        await farm.environment(environment)
    return leases


async def _is_served(farm: "FarmClient", environment: str) -> bool:
    try:
        await farm.environment(environment)
    except NotFound:
        return False
    return True


def _make_sure_it_is_no_folder(environment: str) -> None:
    if "/" in environment:
        raise RequestError(
            f"{environment}: here goes the id of an environment that the running farm serves, not a folder; "
            f"`farm up --library {Path(environment).parent}` serves it, and its id is {Path(environment).name}"
        )


def make_sure_of(instance: str) -> None:
    if not INSTANCE_ID.fullmatch(instance):
        raise RequestError(f"{instance}: not the id of an instance; `farm launch` prints it as `instance`")


async def _closed(farm: "FarmClient", instances: list[str]) -> list[FarmError]:
    """Close every instance that can be closed. Returns the errors of the others."""
    failures: list[FarmError] = []
    for instance in instances:
        try:
            make_sure_of(instance)
            await farm.close(instance)
        except FarmError as error:
            failures.append(error)
    return failures


async def asked(state: Path, token: str | None, ask: Callable[["FarmClient"], Awaitable[T]]) -> T:
    from registry.client import TOKEN_FILE, URL_FILE, FarmClient, WrongToken, address_of

    address = address_of(state, token)
    async with FarmClient(address.url, address.token) as farm:
        try:
            return await ask(farm)
        except WrongToken as error:
            given = "FARM_TOKEN or --token-file" if token else str(state / TOKEN_FILE)
            raise RequestError(f"{error} of {given}; its address stands in {state / URL_FILE}") from None


class Client(StrEnum):
    """The MCP client that the configuration is for."""

    claude = "claude"
    desktop = "desktop"
    json = "json"


@app.command()
def connect(
    client: Annotated[
        Client,
        typer.Argument(
            help="claude: .mcp.json here; desktop: Claude Desktop's file; json: one entry, for any other client."
        ),
    ],
    environment: Annotated[str, typer.Argument(help="A bundle's folder, or the id of one of the farm's own.")],
    scenario: Annotated[str | None, typer.Option(help="Start from this scenario's setup.")] = None,
    lease: Annotated[bool, typer.Option(help="Lease an instance of the running farm, which can be scored.")] = False,
    write: Annotated[bool, typer.Option("--write", help="Merge it into the client's file.")] = False,
    state: StateFolder = DEFAULT_STATE,
    token: Token = None,
    token_file: TokenFile = None,
) -> None:
    """Print the configuration with which Claude, or another MCP client, connects to an environment."""
    if lease and client is Client.desktop:
        raise RequestError("Claude Desktop starts its servers itself, over stdio; leave --lease out")
    if lease:
        _make_sure_it_is_no_folder(environment)
    name = bundle_of(Path(environment)).name if not lease else environment
    if scenario is not None and not lease:
        _refuse_two(bundle_of(Path(environment)), scenario)
    path = Path(".mcp.json") if client is Client.claude else desktop_file()
    if write and client is not Client.json:
        path = followed(path)
        configuration(path)  # before an instance is leased for it
        if lease:
            refuse_tracked(path)
    launched = None
    control = token_from(token, token_file) if lease else None
    if lease:
        launching = partial(
            _launched, environment=environment, scenario=scenario, count=1, ttl=A_DAY, seed=0, perturb=""
        )
        launched = asyncio.run(asked(state, control, launching))
    entries = {name: _own_entry(environment, scenario)} if launched is None else _leased_entries(launched.leases[0])
    with _handed_over(launched, state, control):
        if write and client is not Client.json:
            _write_entries(path, entries, client, secret=lease)
        else:
            is_one = client is Client.json and len(entries) == 1
            out.print_json(json.dumps(entries[name] if is_one else {"mcpServers": entries}))
    if launched is not None:
        _tell_what_next(err, launched, state)


def _write_entries(path: Path, entries: dict[str, dict[str, Any]], client: Client, *, secret: bool) -> None:
    """Merge entries into a client's file, and tell what was done."""
    ignored = keep_out_of_git(path) if secret else ""
    replaced = [name for name, entry in entries.items() if merge(path, name, entry, secret=secret)]
    then = "restart Claude Desktop" if client is Client.desktop else "in Claude Code choose it under /mcp, and allow it"
    told = f"{' and '.join(entries)} {noun(len(entries), 'is', 'are')} there now"
    out.print(f"{path}: {told}; {then}")
    if replaced:
        out.print(f"another entry of that name was replaced: {', '.join(replaced)}")
    if secret:
        out.print(f"{path} holds a token that opens the instance: only you can read it, and {ignored}")


def _refuse_two(folder: Path, scenario: str) -> None:
    """Refuse a scenario over two environments, which a client cannot start by itself. Raises RequestError."""
    if Library([folder.parent]).scenario(folder.name, scenario).second is not None:
        raise RequestError(f"{scenario} is over two environments, which a farm serves: `farm up`, and --lease here")


def _own_entry(environment: str, scenario: str | None) -> dict[str, Any]:
    """An entry for stdio: the client starts its own instance, and no farm has to run."""
    path = Path(environment)
    own = Path(sys.executable).with_name("farm")  # this one, whichever else is on PATH
    command = str(own) if own.exists() else shutil.which("farm") or str(own)
    arguments = ["serve", str(path.resolve()) if path.is_dir() else environment]
    if scenario is not None:
        arguments += ["--scenario", scenario]
    return {"type": "stdio", "command": command, "args": arguments, "env": {}}


def _leased_entries(lease: Lease) -> dict[str, dict[str, Any]]:
    """The entries for HTTP: the client uses an instance of the running farm, or two of them."""
    return {
        one.environment: {"type": "http", "url": one.mcp_url, "headers": {"Authorization": f"Bearer {one.token}"}}
        for one in (lease, lease.second)
        if one is not None
    }


def desktop_file() -> Path:
    """The configuration file of Claude Desktop on this system."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "Claude" / "claude_desktop_config.json"
    if sys.platform == "win32":
        return Path.home() / "AppData" / "Roaming" / "Claude" / "claude_desktop_config.json"
    return Path.home() / ".config" / "Claude" / "claude_desktop_config.json"
