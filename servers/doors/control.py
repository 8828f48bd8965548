"""The control door of a worker process: the registry's operations, each as `POST /w/{operation}`.

It has a token of its own, which no agent ever has. A worker in the registry's own process is called directly.
"""

import hmac
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeVar

from pydantic import Field, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from servers.doors.request import bearer, headers_of, misled
from servers.errors import BundleError, CapacityError, FarmError, NotFound, RequestError
from servers.messages import (
    Assessment,
    InstanceId,
    InstanceStatus,
    Judge,
    Launch,
    Page,
    QueryRows,
    TableRows,
    Ticket,
)
from servers.records import Record
from servers.validation import problems
from servers.worker.metrics import Family, families_of
from servers.worker.worker import Worker

LARGEST_BODY = 16 * 1024 * 1024


class Nothing(Record):
    """A request without content."""


class Of(Record):
    """A request about one instance."""

    instance: InstanceId


class RewindTo(Of):
    call: int = Field(ge=0)


class ForkInto(Of):
    count: int = Field(ge=1, le=1000)


class TableOf(Of):
    name: str
    page: Page


class HistoryOf(Of):
    after: int = Field(ge=0)
    limit: int = Field(ge=1, le=1000)


class QueryOf(Of):
    sql: str
    limit: int = Field(ge=1, le=10_000)


class JudgeOf(Of):
    order: Judge


class Operation(NamedTuple):
    """One operation: its request, its answer, and the worker's method."""

    order: type[Record]
    answer: TypeAdapter[Any]
    run: Callable[[Worker, Any], Awaitable[Any]]


OrderT = TypeVar("OrderT", bound=Record)


def _operation(order: type[OrderT], answer: Any, run: Callable[[Worker, OrderT], Awaitable[Any]]) -> Operation:
    return Operation(order, TypeAdapter(answer), run)


async def _ids(worker: Worker, _order: Nothing) -> list[str]:
    return worker.ids()


async def _metrics(worker: Worker, _order: Nothing) -> list[Family]:
    return families_of(worker)


async def _ticket(worker: Worker, order: Of) -> Ticket:
    return worker.ticket(order.instance)


OPERATIONS: dict[str, Operation] = {
    "ids": _operation(Nothing, list[str], _ids),
    "walls": _operation(Nothing, list[str], lambda worker, _order: worker.walls()),
    "metrics": _operation(Nothing, list[Family], _metrics),
    "ticket": _operation(Of, Ticket, _ticket),
    "launch": _operation(Launch, list[Ticket], lambda worker, order: worker.launch(order)),
    "standing": _operation(Of, InstanceStatus, lambda worker, order: worker.standing(order.instance)),
    "reset": _operation(Of, None, lambda worker, order: worker.reset(order.instance)),
    "rewind": _operation(RewindTo, None, lambda worker, order: worker.rewind(order.instance, order.call)),
    "fork": _operation(ForkInto, list[Ticket], lambda worker, order: worker.fork(order.instance, order.count)),
    "close": _operation(Of, None, lambda worker, order: worker.close(order.instance)),
    "suspend": _operation(Of, None, lambda worker, order: worker.suspend(order.instance)),
    "resume": _operation(Of, None, lambda worker, order: worker.resume(order.instance)),
    "suspended": _operation(Nothing, list[str], lambda worker, _order: worker.suspended()),
    "tables": _operation(Of, list[TableRows], lambda worker, order: worker.tables(order.instance)),
    "table": _operation(TableOf, TableRows, lambda worker, order: worker.table(order.instance, order.name, order.page)),
    "diff": _operation(Of, bytes, lambda worker, order: worker.diff(order.instance)),
    "history": _operation(
        HistoryOf,
        bytes,
        lambda worker, order: worker.history(order.instance, order.after, order.limit),
    ),
    "query": _operation(QueryOf, QueryRows, lambda worker, order: worker.query(order.instance, order.sql, order.limit)),
    "judge": _operation(JudgeOf, Assessment, lambda worker, order: worker.judge(order.instance, order.order)),
}
SNAPSHOT = "snapshot"
READING = frozenset({"tables", "table", "diff", "history", "query", "judge", SNAPSHOT})
"""The read-only operations. They end when the registry disconnects."""


def only_reads(scope: Scope) -> bool:
    """True if a request at the control door only reads."""
    return scope["path"].removeprefix("/w/") in READING


class ControlDoor:
    """An ASGI application that answers the registry."""

    def __init__(self, worker: Worker, token: str, *, loopback_only: bool = False) -> None:
        self._worker = worker
        self._loopback_only = loopback_only
        self._expected = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        wrong = misled(headers_of(scope)) if self._loopback_only else None
        if wrong is not None:
            response: Response = _error(wrong[0], "RequestError", wrong[1])
        elif not scope["path"].startswith("/w/"):
            response = _error(404, "NotFound", "there is nothing here")
        elif not hmac.compare_digest(bearer(headers_of(scope)), self._expected):
            self._worker.watch.refused("control", 401)
            response = _error(401, "Unauthorized", "this door opens for the registry's token alone")
        elif request.method != "POST":
            response = _error(405, "RequestError", "orders are posted")
        else:
            response = await self._answered(scope["path"].removeprefix("/w/"), request)
        await response(scope, receive, send)

    async def _answered(self, name: str, request: Request) -> Response:
        try:
            body = await _bounded(request)
            if name == SNAPSHOT:
                order = Of.model_validate_json(body, strict=True)
                return Response(await self._worker.snapshot(order.instance), media_type="application/vnd.sqlite3")
            if name not in OPERATIONS:
                return _error(404, "NotFound", f"no operation {name!r}")
            operation = OPERATIONS[name]
            answer = await operation.run(self._worker, operation.order.model_validate_json(body, strict=True))
            told = answer if isinstance(answer, bytes) else operation.answer.dump_json(answer)
            return Response(told, media_type="application/json")
        except ValidationError as error:
            return _error(422, "RequestError", "; ".join(problems(error)))
        except FarmError as error:
            return _error(_status(error), type(error).__name__, str(error))


async def _bounded(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_BODY:
            raise RequestError(f"an order of more than {LARGEST_BODY} bytes")
    return bytes(body)


def _status(error: FarmError) -> int:
    if isinstance(error, NotFound):
        return 404
    if isinstance(error, RequestError | BundleError):
        return 422
    return 503 if isinstance(error, CapacityError) else 500


def _error(status: int, kind: str, message: str) -> JSONResponse:
    return JSONResponse({"error": {"kind": kind, "message": message}}, status_code=status)
