"""The registry's lock: who has no token, or brings too much, is sent away before anything is read."""

import hmac
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from registry.refusals import refusal
from registry.wire import LARGEST_BODY
from servers.doors.http import bearer, header, misled

OPEN = {"/v1/health", "/v1/openapi.json", "/v1/docs"}
"""What anybody may read: nothing there is secret."""
LOCKED = "the registry's token goes into the header Authorization: Bearer TOKEN"
NOTHING_HERE = "there is nothing here"
TOO_LARGE = f"the body is larger than {LARGEST_BODY // 1024 // 1024} MiB"


class Doorkeeper:
    """ASGI middleware that lets through who has the token, with bodies of a bounded size.

    `refused` is told the status of every answer that turns a request away, whoever gave it.
    """

    def __init__(
        self, app: ASGIApp, *, token: str, refused: Callable[[int], None], loopback_only: bool = False
    ) -> None:
        self.app = app
        self._refused = refused
        self._loopback_only = loopback_only
        self._expected = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        send = self._noticing(send)
        wrong = misled(scope) if self._loopback_only else None
        if wrong is not None:
            await refusal(wrong[0], "misled", wrong[1])(scope, receive, send)
        elif not _is_ours(scope["path"]):
            await refusal(404, "not_found", NOTHING_HERE)(scope, receive, send)
        elif scope["path"] not in OPEN and not self._opens(scope):
            await refusal(401, "unauthorized", LOCKED)(scope, receive, send)
        elif _announced(scope) > LARGEST_BODY:
            await refusal(413, "too_large", TOO_LARGE)(scope, receive, send)
        else:
            await self.app(scope, _bounded(receive), send)

    def _noticing(self, send: Send) -> Send:
        async def noticing(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= 400:
                self._refused(message["status"])
            await send(message)

        return noticing

    def _opens(self, scope: Scope) -> bool:
        return hmac.compare_digest(bearer(scope), self._expected)


def _is_ours(path: str) -> bool:
    """Whether a path may lead anywhere. Where none does, no token is asked for: whoever comes is at the wrong door."""
    return path == "/metrics" or path.startswith("/v1/")


def _announced(scope: Scope) -> int:
    length = header(scope, b"content-length")
    return int(length[:19]) if length.isdecimal() else 0


def _bounded(receive: Receive) -> Receive:
    """The same body, until it is more than it may be."""
    left = LARGEST_BODY

    async def bounded() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise HTTPException(413, TOO_LARGE)
        return message

    return bounded
