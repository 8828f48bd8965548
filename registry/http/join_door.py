"""The door at which workers join, in front of the API. Every request and every answer carries a proof.

The control token does not open it, and it opens nothing else.
"""

import asyncio
from collections.abc import Awaitable, Callable

from pydantic import ValidationError
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from registry.http.errors import refusal, refusal_of
from registry.joining import Joining
from registry.messages import HEALTH
from servers.doors.operations import ImageResponse
from servers.doors.request import TooLarge, body_of, header, headers_of, misled
from servers.errors import FarmError
from servers.joining.messages import (
    BEAT,
    BUNDLE,
    CHALLENGE,
    JOIN,
    LARGEST_MESSAGE,
    LEAVE,
    Beat,
    BundleOrder,
    Challenge,
    JoinOrder,
)
from servers.joining.proofs import PROOF_HEADER, answer_proof, proves, request_proof
from servers.records import Record
from servers.validation import first_problem

PATHS = (CHALLENGE, JOIN, BUNDLE, BEAT, LEAVE)
BY_JOIN_TOKEN = (CHALLENGE, JOIN, BUNDLE)
NOT_PROVED = "the proof of the join token is missing or wrong"


class JoinDoor:
    """ASGI middleware. Until `opened` is set, requests that are no worker's wait: the farm's own workers come first."""

    def __init__(self, app: ASGIApp, joining: Joining, opened: asyncio.Event, *, loopback_only: bool = False) -> None:
        self._app = app
        self._joining = joining
        self._opened = opened
        self._loopback_only = loopback_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in PATHS:
            if not self._opened.is_set() and scope.get("path") != HEALTH:
                await self._opened.wait()
            await self._app(scope, receive, send)
            return
        response = await self._answered(scope, receive)
        if response is not None:
            await response(scope, receive, send)

    async def _answered(self, scope: Scope, receive: Receive) -> Response | None:
        wrong = misled(headers_of(scope)) if self._loopback_only else None
        if wrong is not None:
            return refusal(wrong[0], "misled", wrong[1])
        if scope["method"] != "POST":
            return refusal(405, "method_not_allowed", "workers join by POST")
        try:
            body = await body_of(scope, receive, LARGEST_MESSAGE)
        except TooLarge:
            return refusal(413, "too_large", f"the body is larger than {LARGEST_MESSAGE} bytes")
        return None if body is None else await self._proved(scope, body)

    async def _proved(self, scope: Scope, body: bytes) -> Response:
        """The answer to a request that is proved, with a proof of its own. That of a bundle is its digest."""
        path: str = scope["path"]
        try:
            key = await self._key(path, body)
        except FarmError as error:
            return refusal_of(error)
        if key is None:
            return refusal(404, "not_found", "this registry knows no such worker; it has to join")
        if not proves(header(headers_of(scope), PROOF_HEADER), key, "request", path, body):
            self._joining.registry.watch.refused(401)
            return refusal(401, "unauthorized", NOT_PROVED)
        response = await self._done(path, body)
        mine = answer_proof(key, request_proof(key, path, body), response.status_code, bytes(response.body))
        response.headers[PROOF_HEADER.decode()] = mine
        return response

    async def _key(self, path: str, body: bytes) -> bytes | None:
        """What the proof of a request is made with: the join token, or the token of a worker that has joined."""
        if path in BY_JOIN_TOKEN:
            return self._joining.key
        try:
            return await self._joining.key_of(Beat.model_validate_json(body).name)
        except ValidationError:
            return None

    async def _done(self, path: str, body: bytes) -> Response:
        try:
            if path == BUNDLE:
                return ImageResponse(await self._joining.bundle(BundleOrder.model_validate_json(body, strict=True)))
            return Response((await self._doing(path)(body)).model_dump_json(), media_type="application/json")
        except ValidationError as error:
            return refusal(422, "invalid", first_problem(error))
        except FarmError as error:
            return refusal_of(error)

    def _doing(self, path: str) -> Callable[[bytes], Awaitable[Record]]:
        joining = self._joining
        if path == CHALLENGE:
            return lambda body: _now(joining.challenge, Challenge.model_validate_json(body, strict=True))
        if path == JOIN:
            return lambda body: joining.join(JoinOrder.model_validate_json(body, strict=True))
        answer = joining.beat if path == BEAT else joining.leave
        return lambda body: answer(Beat.model_validate_json(body, strict=True))


async def _now(answer: Callable[[Challenge], Record], order: Challenge) -> Record:
    return answer(order)
