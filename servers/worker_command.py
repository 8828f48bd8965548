"""The command `farm worker`: a worker process, which joins a registry. `farm up --workers N` starts it too."""

import re
import socket
import sys
from functools import partial
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from servers.bundle_library import OWN_LIBRARY
from servers.cli.command_options import Shelves, shelves
from servers.cli.secret_options import join_token_from, readable
from servers.doors.server import listen, run_served
from servers.doors.worker_process import serve_worker
from servers.errors import RequestError
from servers.joining.messages import WORKER_NAME
from servers.limits.parent_death import die_with_parent
from servers.records import checked_url
from servers.telemetry.logs import Level, to_stderr
from servers.text.terminal import Terminal
from servers.worker.capacity import usual_capacity
from servers.worker.settings import JoinSettings, WorkerOrder, WorkerSettings

app = typer.Typer()
EVERYWHERE = "0.0.0.0"  # noqa: S104 - agents of other machines come here, with a token each
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
USUAL_PORT = 8701
OWN_STATE = Path("~/.envfarm-worker")


def _registry_urls(urls: list[str] | None) -> list[str]:
    return [_registry_url(url) for url in urls or ()]


def _registry_url(url: str) -> str:
    """Refuse what is no URL of a server. Raises RequestError."""
    if not url:
        return url
    try:
        checked_url(url)
    except ValueError as error:
        raise RequestError(str(error)) from None
    if urlsplit(url).path.strip("/"):
        raise RequestError(f"{url}: a registry or worker has no path behind its host and port")
    return url


@app.command()
def worker(
    registry: Annotated[
        list[str] | None,
        typer.Option(
            callback=_registry_urls,
            help="The URL of the registry, such as http://farm.example.org:8700. Again for each replica.",
        ),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="A file with the join token: `join-token` in the state folder of `farm up`.")
    ] = None,
    advertise: Annotated[
        str,
        typer.Option(
            callback=_registry_url,
            help="The URL at which agents and the registry reach this worker. Default: this host's name, port 8701.",
        ),
    ] = "",
    name: Annotated[str, typer.Option(help="Its name in the farm. Default: this host's.")] = "",
    capacity: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1_000_000,
            help="The most instances; its share of new ones is in proportion. Default: by cores, memory and disk.",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on. Its port is the one of --advertise.")
    ] = EVERYWHERE,
    port: Annotated[int | None, typer.Option(min=0, max=65_535, help="Another port, as behind a proxy.")] = None,
    library: Shelves = None,
    state: Annotated[Path, typer.Option(help="The folder of its instances, which it comes back with.")] = OWN_STATE,
    authority: Annotated[
        Path | None, typer.Option(help="Certificates (PEM) of which one signed the registry's, for https.")
    ] = None,
    walls_required: Annotated[
        bool, typer.Option("--walls-required/--walls-available", help="Refuse to start if a wall is missing, or go on.")
    ] = True,
    calls_per_second: Annotated[
        float | None, typer.Option(min=0.001, help="The most calls a second that one instance takes.")
    ] = None,
    log_level: Annotated[Level, typer.Option(help="The least that is logged to standard error.")] = "info",
    fd: Annotated[int | None, typer.Option(hidden=True, help="The socket of a child of `farm up`.")] = None,
) -> None:
    """Serve instances for the registry of another process or machine, which it joins with a token."""
    if fd is not None:
        _as_child(fd)
        return
    if not registry or token_file is None:
        raise RequestError("a worker needs --registry URL and --token-file FILE")
    advertise = advertise or f"http://{socket.gethostname()}:{USUAL_PORT}"
    place = urlsplit(advertise)
    here = place.port or (443 if place.scheme == "https" else 80)
    folder = state.expanduser()
    order = WorkerOrder(
        state=folder,
        library=(*shelves(library), OWN_LIBRARY),
        join=JoinSettings(
            registries=tuple(registry),
            token=join_token_from(token_file) or "",
            name=_named(name),
            advertise=advertise.rstrip("/"),
            authority=readable(authority),
        ),
        loopback_only=host in LOOPBACK_HOSTS,
        log_level=log_level,
        otel=None,
        settings=WorkerSettings(
            walls_required=walls_required,
            gated=True,
            calls_per_second=calls_per_second,
            most_instances=capacity or usual_capacity(folder),
        ),
    )
    to_stderr(log_level, process=order.join.name)
    listening = listen(host, here if port is None else port)
    run_served(serve_worker(order, listening, partial(_tell_joined, order)))


def _as_child(fd: int) -> None:
    order = WorkerOrder.model_validate_json(sys.stdin.read())
    if order.parent is not None:
        die_with_parent(order.parent)
    to_stderr(order.log_level, process=order.state.name, otel=order.otel)
    run_served(serve_worker(order, socket.socket(fileno=fd)))


def _tell_joined(order: WorkerOrder) -> None:
    most = order.settings.most_instances
    Terminal().print(
        f"Worker {order.join.name} has joined {' and '.join(order.join.registries)}, at {order.join.advertise}:"
        f" {most:,} instances."
        " Ctrl-C ends it, and its next start has them again.",
        markup=False,
        soft_wrap=True,
    )


def _named(name: str) -> str:
    found = name or socket.gethostname().lower()
    if not re.fullmatch(WORKER_NAME, found):
        raise RequestError(f"--name {found}: a worker is called like a host, with lower-case letters, digits, - and .")
    return found
