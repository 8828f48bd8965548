"""The registry over HTTP: `/v1` and `/metrics`, behind one token. It is privileged: agents must not reach it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.security import HTTPBearer
from starlette.types import Lifespan, Scope

from registry.http import environment_routes, instance_routes, metrics
from registry.http.auth import Doorkeeper
from registry.http.dependencies import FarmRegistry, Watching, WorkerInPath
from registry.http.docs_page import DOCS, docs_page
from registry.http.errors import documented, name_errors
from registry.http.openapi import Published
from registry.leases import Registry
from registry.messages import DrainRequest, Health, Workers
from registry.reaper import Reaper
from servers.doors.disconnect import EndsWithClient
from servers.joining.messages import VERSION

DESCRIPTION = """
The control door of an Envfarm: what can be launched, who has which instance, and what was made of it.

Agents never come here. They get the `mcp_url` and the `token` of a lease, and talk MCP to a worker.
Every request but `/v1/health` carries `Authorization: Bearer TOKEN`. Every answer that is not a success has one body:
`{"error": {"kind": "not_found", "message": "…"}}`.
"""
TAGS = [
    {"name": "environments", "description": "What can be launched."},
    {"name": "instances", "description": "Launching, leasing and ending instances."},
    {"name": "state", "description": "Looking into an instance, and taking it back to where it was."},
    {"name": "score", "description": "Judging what was made of an instance."},
    {"name": "farm", "description": "How the farm itself is."},
]

open_routes = APIRouter(prefix="/v1", tags=["farm"])
locked_routes = APIRouter(prefix="/v1", tags=["farm"])
SENT = documented(400, 401, 404, 413, 422, 503)


def control_app(
    registry: Registry, *, token: str, reap_every_seconds: float = 3.0, loopback_only: bool = False
) -> FastAPI:
    """The registry as an ASGI application. Its lifespan runs the reaper, so a parent must enter it."""
    reaper = Reaper(registry, every_seconds=reap_every_seconds)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncGenerator[None]:
        async with reaper:
            yield

    published = Published()
    made = _routed(published, lifespan)
    made.openapi_schema = document()
    published.read(document())
    made.state.registry = registry
    made.state.reaper = reaper
    name_errors(made, registry.catalogue, registry.watch, published)
    made.add_middleware(EndsWithClient, reads=_only_reads)
    made.add_middleware(
        Doorkeeper,
        token=token,
        refused=registry.watch.refused,
        health=lambda: health_of(registry, reaper),
        loopback_only=loopback_only,
    )
    return made


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document, which is the same for every registry. The first call takes up to a second."""
    return _routed(Published()).openapi()


def _routed(published: Published, lifespan: Lifespan[FastAPI] | None = None) -> FastAPI:
    """An application with the routes of a registry, and with none yet."""
    made = FastAPI(
        title="Envfarm registry",
        version=VERSION,
        description=DESCRIPTION,
        openapi_tags=TAGS,
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a redirect would lead to whatever host the request names
        lifespan=lifespan,
    )
    # The doorkeeper holds the lock; this only tells the OpenAPI of it.
    strict = [Depends(published.nothing_else)]
    locked = [*strict, Depends(HTTPBearer(auto_error=False, description="The registry's token."))]
    made.include_router(environment_routes.routes, dependencies=locked)
    made.include_router(instance_routes.routes, dependencies=locked)
    made.include_router(locked_routes, dependencies=locked)
    made.include_router(metrics.routes, dependencies=locked)
    made.include_router(open_routes, dependencies=strict)
    made.add_api_route(DOCS, docs_page, include_in_schema=False)
    return made


def _only_reads(scope: Scope) -> bool:
    """True if a request only reads an instance. A score is not a read: it is stored."""
    path: str = scope["path"]
    return path.startswith("/v1/instances/") and (scope["method"] == "GET" or path.endswith(("/query", "/score")))


@locked_routes.get("/workers", summary="List the workers", responses=documented(401, 503))
async def workers(registry: FarmRegistry) -> Workers:
    """The URL of each worker, its number of instances, and when it last answered."""
    return Workers(items=tuple(await registry.workers()))


@locked_routes.post("/workers/{worker}/drain", summary="Drain a worker", status_code=204, responses=SENT)
async def drain(registry: FarmRegistry, worker: WorkerInPath, order: DrainRequest) -> None:
    """Launch nothing more on a worker. One that has joined ends when its last lease has ended.

    With `drains` false, it gets instances again. A worker that is lost is forgotten.
    """
    await registry.drain(worker, drains=order.drains)


@open_routes.get("/health", summary="How the farm is")
async def health(registry: FarmRegistry, reaper: Watching) -> Health:
    """Needs no token. `degraded`: leases cannot be maintained, or a worker does not answer."""
    return health_of(registry, reaper)


def health_of(registry: Registry, reaper: Reaper) -> Health:
    """The farm's health, from what is in memory."""
    seats = registry.fleet.seats.values()
    answering = sum(seat.answers for seat in seats)
    well = reaper.trouble is None and answering == len(seats) > 0
    return Health(
        status="ok" if well else "degraded",
        version=VERSION,
        workers=answering,
        instances=sum(seat.live for seat in seats),
        orphans=reaper.orphans,
    )
