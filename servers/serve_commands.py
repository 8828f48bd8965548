"""The command `farm serve`, which serves one instance."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import typer

from servers.bundle_library import Library
from servers.cli.command_options import Bundle, bundle_of
from servers.doors.mcp import AgentDoor, serve_stdio
from servers.doors.server import listen, run_served, serving, url_of
from servers.doors.stdio import standard_streams
from servers.doors.worker_process import ending_on_signals
from servers.errors import RequestError
from servers.files.scratch_folder import scratch_folder
from servers.messages import Launch, Ticket
from servers.text.terminal import Terminal
from servers.worker.settings import WorkerSettings
from servers.worker.worker import Worker

app = typer.Typer()
err = Terminal(stderr=True)


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
        run_served(_serve(folder, scenario, seed, lambda worker, ticket: _over_http(worker, ticket, port)))
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
        with ending_on_signals() as told:
            err.print(f"{url_of(listening)}{ticket.path}\nAuthorization: Bearer {ticket.token}", soft_wrap=True)
            await told.wait()


async def _serve(
    folder: Path, scenario_id: str | None, seed: int, serve_it: Callable[[Worker, Ticket], Awaitable[None]]
) -> None:
    library = Library([folder.parent])
    launch = Launch(environment=folder.name, seed=seed)
    if scenario_id is not None:
        scenario = library.scenario(folder.name, scenario_id)
        if scenario.second is not None:
            raise RequestError(
                f"{scenario_id} is over two environments, and this serves one; `farm up` serves both, and "
                f"`farm connect --lease` prints the configuration"
            )
        launch = launch.model_copy(update={"setup": scenario.setup, "clock": scenario.clock})
    with scratch_folder("state") as state:
        async with Worker(library, state, WorkerSettings(gated=True)) as worker:
            [ticket] = await worker.launch(launch)
            await serve_it(worker, ticket)
