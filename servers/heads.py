"""HTTP whose requests' heads are bounded in size and time, before anybody's token has been seen.

Uvicorn keeps all of a head that has not ended, and reads a long header again with each piece of it.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD = 64 * 1024
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class BoundedHeads(HttpToolsProtocol):
    """Closes a connection whose request's head is too long, or does not end in time."""

    seconds = 30.0

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._pending = 0
        self._whole = False
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        begun = self._whole
        super().data_received(data)
        if self._whole:
            self._pending = 0
            return
        self._wait()
        if not begun:  # what came with the end of the request before is not counted
            self._pending += len(data)
        if self._pending > LARGEST_HEAD and not self.transport.is_closing():
            self.transport.write(TOO_LARGE)
            self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._whole = False

    def on_headers_complete(self) -> None:
        self._whole = True
        self._wait_no_more()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._patience is None:
            self._patience = self.loop.call_later(self.seconds, self.transport.close)

    def _wait_no_more(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
