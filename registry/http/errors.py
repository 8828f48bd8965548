"""Error answers: one body for all of them, and their place in the OpenAPI document."""

import json
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.types import Scope

from registry.catalogue import Catalogue
from registry.events import RegistryEvents
from registry.http.openapi import Published
from registry.messages import LARGEST_BODY, Error, ErrorKind
from servers.doors.json_rpc import REFUSED, MessageProblem, error_body
from servers.doors.request import header, headers_of, is_json
from servers.errors import BundleError, CapacityError, Conflict, FarmError, InfraError, NotFound, RequestError
from servers.validation import MOST, place_of, reason_of

RETRY_SECONDS = 5
SHOWN = 2000
NOTHING_HERE = "there is nothing here; /v1/docs describes the API"
AGENTS_TRY = {"", "/mcp", "/sse"}
"""Paths to which an agent is sent by mistake."""
NO_DOOR = "there is no MCP server here: an agent connects to the mcp_url of its lease, which `farm launch` prints"

STATUS: dict[int, tuple[ErrorKind, str, str]] = {
    400: ("invalid", "The body is not JSON.", "the body is not JSON: Expecting value at character 0"),
    401: (
        "unauthorized",
        "The token is missing or wrong.",
        "the registry's token goes into the header Authorization: Bearer TOKEN",
    ),
    404: ("not_found", "It is not there.", "there is no instance 'a3f09c51e77b2d40'; it was never launched"),
    409: ("conflict", "It is there, but this cannot be done now.", "the lease of instance a3f09c51e77b2d40 is expired"),
    413: ("too_large", "The body is too large.", f"the body is larger than {LARGEST_BODY} bytes"),
    422: (
        "invalid",
        "The request, or (`bundle`) the bundle that it names, is wrong.",
        "body.count: must be at least 1",
    ),
    503: (
        "capacity",
        "No room now (`capacity`), or the farm failed (`infra`); try again.",
        "no room for 8 more",
    ),
}
KINDS: tuple[tuple[type[FarmError], int, ErrorKind], ...] = (
    (NotFound, 404, "not_found"),
    (Conflict, 409, "conflict"),
    (RequestError, 422, "invalid"),
    (BundleError, 422, "bundle"),
    (CapacityError, 503, "capacity"),
    (InfraError, 503, "infra"),
)
OF_HTTP: dict[int, ErrorKind] = {
    400: "invalid",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
}


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route for its OpenAPI document."""
    found: dict[int | str, dict[str, Any]] = {}
    for status in statuses:
        kind, description, message = STATUS[status]
        example = {"error": {"kind": kind, "message": message}}
        found[status] = {
            "model": Error,
            "description": description,
            "content": {"application/json": {"example": example}},
        }
    return found


def refusal(status: int, kind: ErrorKind, message: str) -> Response:
    """An error answer."""
    text = message if len(message) <= SHOWN else message[:SHOWN] + "…"
    headers: dict[str, str] = {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    elif status == 503:
        headers["Retry-After"] = str(RETRY_SECONDS)
    body = json.dumps({"error": {"kind": kind, "message": text}})  # ASCII: a text of theirs may be no Unicode
    return Response(body, status_code=status, headers=headers, media_type="application/json")


def nothing_at(scope: Scope) -> Response:
    """The answer at a path that leads nowhere, to an agent's client that was sent there as an error of MCP."""
    is_json_post = scope["method"] == "POST" and is_json(header(headers_of(scope), b"content-type"))
    if not is_json_post or scope["path"].rstrip("/") not in AGENTS_TRY:
        return refusal(404, "not_found", NOTHING_HERE)
    problem = MessageProblem(None, REFUSED, NO_DOOR)
    body = error_body(problem, {"kind": "not_found"})
    return Response(body, status_code=404, media_type="application/json")


def refusal_of(error: FarmError) -> Response:
    """The answer to an error of the farm."""
    status, kind = _answer_to(error)
    return refusal(status, kind, str(error))


def name_errors(app: FastAPI, catalogue: Catalogue, watch: RegistryEvents, published: Published) -> None:
    """Make an app answer the errors of its routes with that body."""

    async def farm_error(request: Request, error: Exception) -> Response:
        status, kind = _answer_to(error)
        if isinstance(error, InfraError):
            watch.failed_at(request.url.path, error)
        return refusal(status, kind, catalogue.without_folders(str(error)))

    async def http_error(request: Request, error: Exception) -> Response:
        answer = _http_error(error)
        if answer.status_code == 404:
            return refusal(404, "not_found", _no_path(request.url.path, published))
        if answer.status_code == 405 and (methods := ", ".join(published.methods(request.url.path))):
            answer = refusal(405, "method_not_allowed", f"{request.method} does nothing here; there is {methods}")
            answer.headers["Allow"] = methods
        return answer

    app.add_exception_handler(FarmError, farm_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(Exception, _fault)


def _answer_to(error: Exception) -> tuple[int, ErrorKind]:
    return next((status, kind) for one, status, kind in KINDS if isinstance(error, one))


async def _invalid(request: Request, error: Exception) -> Response:
    problems: Sequence[Any] = error.errors() if isinstance(error, RequestValidationError) else []
    if any(problem["type"] == "json_invalid" for problem in problems):
        problem = problems[0]
        return refusal(
            400, "invalid", f"the body is not JSON: {problem['ctx']['error']} at character {problem['loc'][-1]}"
        )
    if any(problem["loc"] == ("body",) for problem in problems) and not is_json(
        request.headers.get("content-type", "")
    ):
        return refusal(422, "invalid", "the body needs the header Content-Type: application/json")
    said = [f"{place_of(problem['loc'])}: {reason_of(problem)}" for problem in problems[:MOST]]
    return refusal(422, "invalid", "; ".join(said))


def _http_error(error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = str(error.detail) if isinstance(error, HTTPException) else ""
    answer = refusal(status, OF_HTTP.get(status, "infra"), detail)
    if isinstance(error, HTTPException) and error.headers:
        answer.headers.update(error.headers)
    return answer


def _no_path(path: str, published: Published) -> str:
    """Why there is nothing at a path, and where to look."""
    bare = path.rstrip("/")
    if bare != path and published.methods(bare):
        return f"there is nothing at {path}; without the slash at its end, {bare} is a path of the API"
    return f"there is nothing at {path}; /v1/docs lists the paths of the API"


async def _fault(_request: Request, _error: Exception) -> Response:
    """An unforeseen error. The server logs it, and the caller learns no details."""
    return refusal(500, "infra", "the registry failed at this request; its log says why")
