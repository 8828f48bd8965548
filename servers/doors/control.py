"""The control door of a worker process: the registry's operations, each as `POST /w/{operation}`.

It has a token of its own, which no agent ever has. A worker in the registry's own process is called directly.
"""

import asyncio

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from servers.doors.operations import OPERATIONS, ImageResponse, OrderT
from servers.doors.request import bearer, headers_of, misled
from servers.errors import BundleError, CapacityError, FarmError, NotFound, RequestError
from servers.joining.messages import HERE, HereAnswer, HereOrder
from servers.joining.proofs import ControlTokens
from servers.validation import problems
from servers.worker.worker import Worker

LARGEST_BODY = 16 * 1024 * 1024
LARGEST_QUESTION = 1024
LONG_BODY = 256 * 1024
"""Bytes of an order that is read on the event loop."""
NOTHING_HERE = "there is nothing here: a worker's port has the agents' doors alone, and the API is at the farm's URL"


def only_reads(scope: Scope) -> bool:
    """True if a request at the control door only reads."""
    operation = OPERATIONS.get(scope["path"].removeprefix("/w/"))
    return operation is not None and operation.only_reads


class ControlDoor:
    """An ASGI application that answers the registry.

    A refusal at the door has a kind of the API, as anybody may read it. The error of an operation has its class, which
    the registry raises again.
    """

    def __init__(self, worker: Worker, tokens: ControlTokens, *, loopback_only: bool = False) -> None:
        self._worker = worker
        self._loopback_only = loopback_only
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        wrong = misled(headers_of(scope)) if self._loopback_only else None
        if wrong is not None:
            response: Response = _error(wrong[0], "misled", wrong[1])
        elif not scope["path"].startswith("/w/"):
            response = _error(404, "not_found", NOTHING_HERE)
        elif scope["path"] == HERE and request.method == "POST":
            response = await self._here(request)
        elif not self._tokens.open_to(bearer(headers_of(scope))):
            self._worker.watch.refused("control", 401)
            response = _error(401, "unauthorized", "this door opens for the registry's token alone")
        elif request.method != "POST":
            response = _error(405, "method_not_allowed", "orders are posted")
        else:
            response = await self._answered(scope["path"].removeprefix("/w/"), request)
        await response(scope, receive, send)

    async def _here(self, request: Request) -> Response:
        """Prove that this is the worker that joins: a registry asks before it sends the token to an address."""
        try:
            order = HereOrder.model_validate_json(await _bounded(request, LARGEST_QUESTION), strict=True)
        except (ValidationError, RequestError):
            return _error(422, "RequestError", "a nonce is needed here")
        return Response(HereAnswer(proof=self._tokens.answer(order.nonce)).model_dump_json())

    async def _answered(self, name: str, request: Request) -> Response:
        try:
            body = await _bounded(request)
            operation = OPERATIONS.get(name)
            if operation is None:
                return _error(404, "NotFound", f"no operation {name!r}")
            answer = await operation.run(self._worker, await _read(operation.order, body))
            return ImageResponse(answer) if operation.is_image else Response(operation.written(answer))
        except ValidationError as error:
            return _error(422, "RequestError", "; ".join(problems(error)))
        except FarmError as error:
            return _error(_status(error), type(error).__name__, str(error))


async def _read(order: type[OrderT], body: bytes) -> OrderT:
    """An order that was sent. A thread reads a long one."""
    if len(body) <= LONG_BODY:
        return order.model_validate_json(body, strict=True)
    return await asyncio.to_thread(order.model_validate_json, body, strict=True)


async def _bounded(request: Request, largest: int = LARGEST_BODY) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > largest:
            raise RequestError(f"an order of more than {largest} bytes")
    return bytes(body)


def _status(error: FarmError) -> int:
    if isinstance(error, NotFound):
        return 404
    if isinstance(error, RequestError | BundleError):
        return 422
    return 503 if isinstance(error, CapacityError) else 500


def _error(status: int, kind: str, message: str) -> JSONResponse:
    return JSONResponse({"error": {"kind": kind, "message": message}}, status_code=status)
