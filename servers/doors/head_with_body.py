"""Sends a response's head with the first piece of its body: one packet, and one system call.

ASGI has a server hold a head back until the first piece of the body.
"""

import asyncio

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle


class HeadWithBody(asyncio.Transport):
    """The transport of a request's answer, in place of its connection."""

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle = cycle
        self._connection = cycle.transport
        self._head: bytes | None = None
        self._is_sent = False

    def write(self, data: bytes) -> None:  # type: ignore[override]
        if self._is_sent or not self._cycle.response_started:  # 100 Continue goes out before any head
            self._connection.write(data)
        elif self._head is None:
            self._head = data
        else:
            self._is_sent = True
            self._connection.write(self._head + data)

    def close(self) -> None:
        if self._head is not None and not self._is_sent:
            self.write(b"")
        self._connection.close()

    def is_closing(self) -> bool:
        return self._connection.is_closing()
