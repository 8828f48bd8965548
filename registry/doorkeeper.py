"""The registry's lock: who has no token, or brings too much, is sent away before anything is read."""

import hmac
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from registry.refusals import refusal
from registry.wire import LARGEST_BODY

OPEN = {"/v1/health", "/v1/openapi.json", "/v1/docs"}
"""What anybody may read: nothing there is secret."""
LOCKED = "the registry's token goes into the header Authorization: Bearer; it is in the farm's state folder"
TOO_LARGE = f"the body is larger than {LARGEST_BODY // 1024 // 1024} MiB"


class Doorkeeper:
    """ASGI middleware that lets through who has the token, with bodies of a bounded size.

    `refused` is told the status of every answer that turns a request away, whoever gave it.
    """

    def __init__(self, app: ASGIApp, *, token: str, refused: Callable[[int], None]) -> None:
        self.app = app
        self._refused = refused
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        send = self._noticing(send)
        if scope["path"] not in OPEN and not self._opens(scope):
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
        return hmac.compare_digest(_header(scope, b"authorization"), self._expected)


def _header(scope: Scope, name: bytes) -> bytes:
    return next((value for key, value in scope["headers"] if key == name), b"")


def _announced(scope: Scope) -> int:
    length = _header(scope, b"content-length")
    return int(length) if length.isdigit() else 0


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
