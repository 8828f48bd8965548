"""Authentication: a request without the token, or with too large a body, is refused before anything is read.

Health is answered here, before routing, because it must be quick on a busy farm and needs no token.
"""

import hmac
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from registry.http.errors import nothing_at, refusal
from registry.messages import HEALTH, LARGEST_BODIES, LARGEST_BODY, LARGEST_ORDER, MOST_VALUES, Health
from servers.doors.request import TooLarge, again, bearer, body_of, headers_of, is_encoded, misled
from servers.doors.whole_exchange import send_json
from servers.limits.json_size import has_more_values, key_twice_in

OPEN = {HEALTH, "/v1/openapi.json", "/v1/docs"}
"""Paths that need no token. Nothing there is secret."""
LOCKED = "the registry's token goes into the header Authorization: Bearer TOKEN"
ENCODED = "a body is sent without Content-Encoding"
TOO_MANY = f"the body holds more than {MOST_VALUES:,} values"


class Doorkeeper:
    """ASGI middleware that requires the control token and bounds the size of bodies.

    `refused` is called with the status of every answer that refuses a request.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        token: str,
        refused: Callable[[int], None],
        health: Callable[[], Health],
        loopback_only: bool = False,
    ) -> None:
        self.app = app
        self._refused = refused
        self._health = health
        self._loopback_only = loopback_only
        if not token:
            raise ValueError("without a token, a request without one would be let in")
        self._expected = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        send = self._noticing(send)
        wrong = misled(headers_of(scope)) if self._loopback_only else None
        if wrong is not None:
            await refusal(wrong[0], "misled", wrong[1])(scope, receive, send)
        elif not _is_ours(scope["path"]):
            await nothing_at(scope)(scope, receive, send)
        elif scope["path"] not in OPEN and not self._opens(scope):
            await refusal(401, "unauthorized", LOCKED)(scope, receive, send)
        elif scope["path"] == HEALTH and scope["method"] in ("GET", "HEAD") and not scope["query_string"]:
            await send_json(scope, send, self._health().model_dump_json().encode())
        else:
            await self._with_body(scope, receive, send)

    async def _with_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on once its body is complete, if it is no larger than its route allows."""
        if is_encoded(headers_of(scope)):
            await refusal(415, "invalid", ENCODED)(scope, receive, send)
            return
        largest = largest_body(scope["method"], scope["path"])
        try:
            body = await body_of(scope, receive, largest)
        except TooLarge:
            await refusal(413, "too_large", f"the body is larger than {_told(largest)}")(scope, receive, send)
            return
        if body is None:
            return
        if has_more_values(body, MOST_VALUES):
            await refusal(413, "too_large", TOO_MANY)(scope, receive, send)
            return
        twice = key_twice_in(body)
        if twice is not None:
            text = f"the body has the key {twice!r} twice in one object"
            await refusal(400, "invalid", text)(scope, receive, send)
            return
        await self.app(scope, again(body, receive), send)

    def _noticing(self, send: Send) -> Send:
        async def noticing(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= 400:
                self._refused(message["status"])
            await send(message)

        return noticing

    def _opens(self, scope: Scope) -> bool:
        return hmac.compare_digest(bearer(headers_of(scope)), self._expected)


def _is_ours(path: str) -> bool:
    """True if a path can lead to a route. Other paths are 404 without a token."""
    return path == "/metrics" or path.startswith("/v1/")


def largest_body(method: str, path: str) -> int:
    """The most bytes of a request's body at a path."""
    if method != "POST":
        return LARGEST_ORDER
    return LARGEST_BODIES.get(path.rpartition("/")[2], LARGEST_ORDER)


def _told(size: int) -> str:
    return f"{size // 1024} KiB" if size < LARGEST_BODY else f"{size // 1024 // 1024} MiB"
