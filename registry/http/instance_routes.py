"""The routes of instances: launch, inspect, rewind, fork, score, close."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from registry.http.dependencies import After, FarmRegistry, InstanceInPath, Limit, WantedPage
from registry.http.errors import documented
from registry.messages import (
    Diff,
    ForkRequest,
    HistoryPart,
    Launched,
    LaunchRequest,
    Lease,
    LeasePart,
    LeaseStatus,
    MarkedTurn,
    MoveRequest,
    QueryRequest,
    RewindRequest,
    Score,
    ScoreRequest,
    TableCard,
    TablePart,
    Tables,
)
from servers.doors.operations import (
    DIFF,
    HISTORY,
    MARK_TURN,
    QUERY,
    REWIND,
    SNAPSHOT,
    STANDING,
    TABLE,
    TABLES,
    HistoryOrder,
    ImageResponse,
    InstanceOrder,
    QueryOrder,
    RewindOrder,
    TableOrder,
)
from servers.errors import InfraError
from servers.messages import QueryRows
from servers.records import Name, Record
from servers.state.rows import Row

ASKED = documented(401, 404, 409, 422, 503)
SENT = documented(400, 401, 404, 409, 413, 422, 503)
JSON = "application/json"
SQLITE = "application/vnd.sqlite3"
IMAGE: dict[int | str, dict[str, Any]] = {
    200: {"description": "A SQLite file.", "content": {SQLITE: {"schema": {"type": "string", "format": "binary"}}}}
}
TableInPath = Annotated[str, Path(max_length=200, description="A table's name.", examples=["loans"])]
OfStatus = Annotated[LeaseStatus | None, Query(description="Only leases of this status.")]
OfEnvironment = Annotated[Name | None, Query(description="Only leases of this one.", examples=["library_loans"])]

routes = APIRouter(prefix="/v1/instances", tags=["instances"])


@routes.post("", summary="Launch instances", status_code=201, responses=SENT)
async def launch(registry: FarmRegistry, order: LaunchRequest) -> Launched:
    """Launch up to 1,000 instances, all or none. Each has its own URL and token."""
    return Launched(items=tuple(await registry.launch(order)))


@routes.get("", summary="List leases", responses=documented(401, 422, 503))
async def list_leases(
    registry: FarmRegistry, page: WantedPage, status: OfStatus = None, environment: OfEnvironment = None
) -> LeasePart:
    """The leases, newest first, without their tokens."""
    return await registry.leases(page, status=status, environment=environment)


@routes.get("/{instance}", summary="Show a lease", responses=documented(401, 404, 422, 503))
async def show_lease(registry: FarmRegistry, instance: InstanceInPath) -> Lease:
    """One lease, with its token while it is live. A lease that has ended is still shown."""
    return await registry.find(instance)


@routes.post("/{instance}/heartbeat", summary="Prolong a lease", responses=ASKED)
async def heartbeat(registry: FarmRegistry, instance: InstanceInPath) -> Lease:
    """Start its `ttl_seconds` again. This revives an expired lease while its state is kept."""
    return await registry.heartbeat(instance)


@routes.post("/{instance}/reset", summary="Put an instance back to its start", status_code=204, responses=ASKED)
async def reset(registry: FarmRegistry, instance: InstanceInPath) -> None:
    """Restore rows and history to those after the launch. URL, token and lease stay."""
    await registry.reset(instance)


@routes.delete("/{instance}", summary="Close an instance", status_code=204, responses=ASKED)
async def close(registry: FarmRegistry, instance: InstanceInPath) -> None:
    """End the lease and delete the state, also one that is kept after expiry. A second call is a conflict."""
    await registry.close(instance)


@routes.get("/{instance}/state", tags=["state"], summary="List the tables", responses=ASKED)
async def list_tables(registry: FarmRegistry, instance: InstanceInPath) -> Tables:
    """The tables of the current state, without their rows."""
    door = await registry.reading_door(instance)
    tables = await door.ask(TABLES, InstanceOrder(instance=instance))
    return Tables(items=tuple(TableCard(name=one.name, columns=one.columns, total=one.total) for one in tables))


@routes.get(
    "/{instance}/state/{table}", tags=["state"], summary="Read a table", response_model=TablePart, responses=ASKED
)
async def read_table(
    registry: FarmRegistry, instance: InstanceInPath, table: TableInPath, page: WantedPage
) -> Response:
    """Rows of one table, ordered by key."""
    door = await registry.reading_door(instance)
    found = await door.ask(TABLE, TableOrder(instance=instance, name=table, page=page))
    _see_to_rows(found.columns, found.rows, page.limit)
    return await _told(
        TablePart(
            name=found.name,
            columns=found.columns,
            rows=found.rows,
            total=found.total,
            offset=page.offset,
            limit=page.limit,
        )
    )


@routes.get(
    "/{instance}/diff", tags=["state"], summary="Show what differs from the start", response_model=Diff, responses=ASKED
)
async def diff(registry: FarmRegistry, instance: InstanceInPath) -> Response:
    """Every row that differs from the start, with its changed columns before and after.

    The history has the diff of each call.
    """
    door = await registry.reading_door(instance)
    items = await door.ask(DIFF, InstanceOrder(instance=instance))
    return Response(b'{"items":%b}' % items, media_type=JSON)


@routes.get(
    "/{instance}/history", tags=["state"], summary="List the calls", response_model=HistoryPart, responses=ASKED
)
async def history(registry: FarmRegistry, instance: InstanceInPath, offset: After = 0, limit: Limit = 100) -> Response:
    """The agent's calls: arguments, result, changed rows, duration."""
    door = await registry.reading_door(instance)
    calls = await door.ask(HISTORY, HistoryOrder(instance=instance, after=offset, limit=limit))
    standing = await door.ask(STANDING, InstanceOrder(instance=instance))
    told = b'{"items":%b,"total":%d,"offset":%d,"limit":%d}' % (calls, standing.calls, offset, limit)
    return Response(told, media_type=JSON)


@routes.post("/{instance}/query", tags=["state"], summary="Ask the state", response_model=QueryRows, responses=SENT)
async def query(registry: FarmRegistry, instance: InstanceInPath, order: QueryRequest) -> Response:
    """Run one SELECT over `main` (now) and `start`, on a copy, for at most one second."""
    door = await registry.reading_door(instance)
    found = await door.ask(QUERY, QueryOrder(instance=instance, sql=order.sql, limit=order.limit))
    _see_to_rows(found.columns, found.rows, order.limit)
    return await _told(found)


@routes.get(
    "/{instance}/snapshot",
    tags=["state"],
    summary="Take a copy of the state",
    response_class=Response,
    responses={**ASKED, **IMAGE},
)
async def snapshot(registry: FarmRegistry, instance: InstanceInPath) -> Response:
    """The current rows as a SQLite file."""
    door = await registry.reading_door(instance)
    return ImageResponse(await door.ask(SNAPSHOT, InstanceOrder(instance=instance)), media_type=SQLITE)


@routes.post("/{instance}/rewind", tags=["state"], summary="Go back to a call", status_code=204, responses=SENT)
async def rewind(registry: FarmRegistry, instance: InstanceInPath, order: RewindRequest) -> None:
    """Undo every later call, in the rows and in the history."""
    door = await registry.door(instance)
    await door.ask(REWIND, RewindOrder(instance=instance, call=order.call))


@routes.post("/{instance}/turn", tags=["state"], summary="Mark a turn", responses=ASKED)
async def mark_turn(registry: FarmRegistry, instance: InstanceInPath) -> MarkedTurn:
    """The user begins a turn. Only an instance of a benchmark has turns: its judge and its list of tools need them."""
    door = await registry.door(instance)
    return MarkedTurn(turn=await door.ask(MARK_TURN, InstanceOrder(instance=instance)))


@routes.post("/{instance}/fork", tags=["state"], summary="Fork an instance", status_code=201, responses=SENT)
async def fork(registry: FarmRegistry, instance: InstanceInPath, order: ForkRequest) -> Launched:
    """New instances with the same state, history and remaining lease time.

    If their worker has no room, or you name another one, the state travels there, and each of its changes is verified
    anew.
    """
    return Launched(items=tuple(await registry.fork(instance, order.count, worker=order.worker)))


@routes.post("/{instance}/move", summary="Move an instance", responses=SENT)
async def move(registry: FarmRegistry, instance: InstanceInPath, order: MoveRequest) -> Lease:
    """Move an instance to another worker, with its id, state, history and lease.

    Its URL and its token are new, and the old ones are refused. The state travels, and each of its changes is verified
    anew.
    """
    return await registry.move(instance, worker=order.worker)


@routes.post("/{instance}/score", tags=["score"], summary="Judge an instance", responses=SENT)
async def score(registry: FarmRegistry, instance: InstanceInPath, order: ScoreRequest) -> Score:
    """Judge the current state by the scenario's checkpoints. Changes nothing, and can be repeated.

    With `close`, the instance is closed too. `infra_error` means that the farm could not judge: then there is no
    reward, which is not a zero, and nothing is closed.
    """
    return await registry.score(instance, order.answer, close=order.close)


def _see_to_rows(columns: Sequence[str], rows: Sequence[Row], limit: int) -> None:
    """Refuse rows of a worker that are more than was asked for, or have other columns."""
    if len(rows) > limit or any(len(row) != len(columns) for row in rows):
        raise InfraError("the worker answered with other rows than it was asked for")


async def _told(answer: Record) -> Response:
    """A possibly long value, written as JSON once, outside the event loop."""
    return Response(await asyncio.to_thread(answer.model_dump_json), media_type=JSON)
