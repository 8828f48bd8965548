"""Cancels a read-only request when its client disconnects."""

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class EndsWithClient:
    """ASGI middleware. `reads` says which requests are read-only. Any other runs to its end."""

    def __init__(self, app: ASGIApp, reads: Callable[[Scope], bool]) -> None:
        self._app = app
        self._reads = reads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._reads(scope):
            await self._app(scope, receive, send)
            return
        arrived: asyncio.Queue[Message | Exception] = asyncio.Queue(1)
        answering = asyncio.ensure_future(_run(self._app, scope, arrived, send))
        leaving = asyncio.ensure_future(_until_gone(receive, arrived))
        try:
            await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                answering.result()
        finally:
            answering.cancel()
            leaving.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)


async def _run(app: ASGIApp, scope: Scope, arrived: asyncio.Queue[Message | Exception], send: Send) -> None:
    async def receive() -> Message:
        message = await arrived.get()
        if isinstance(message, Exception):
            raise message
        return message

    await app(scope, receive, send)


async def _until_gone(receive: Receive, arrived: asyncio.Queue[Message | Exception]) -> None:
    """Pass on a client's messages and errors until it disconnects."""
    while True:
        try:
            message = await receive()
        except Exception as error:
            await arrived.put(error)
            await asyncio.Future()
        else:
            if message["type"] == "http.disconnect":
                return
            await arrived.put(message)
