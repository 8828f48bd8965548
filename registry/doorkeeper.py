"""The registry's lock: who has no token is sent away before anything is read."""

import hmac

from starlette.types import ASGIApp, Receive, Scope, Send

from registry.refusals import refusal

OPEN = {"/v1/health", "/v1/openapi.json", "/v1/docs"}
"""What anybody may read: nothing there is secret."""


class Doorkeeper:
    """ASGI middleware that lets through who has the token."""

    def __init__(self, app: ASGIApp, *, token: str) -> None:
        self.app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in OPEN and not self._opens(scope):
            answer = refusal(
                401,
                "unauthorized",
                "the registry's token goes into the header Authorization: Bearer; it is in the farm's state folder",
            )
            await answer(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _opens(self, scope: Scope) -> bool:
        given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        return hmac.compare_digest(given, self._expected)
