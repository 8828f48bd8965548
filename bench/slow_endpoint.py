"""An endpoint that answers from a recording, each time after a delay.

Run as `python -m bench.slow_endpoint PORT DELAY FILE`.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import uvicorn


class Door:
    """A minimal ASGI server, since it shares its machine with the measured program."""

    def __init__(self, recording: Path, delay: float) -> None:
        self._delay = delay
        self._known: dict[str, bytes] = {}
        for line in recording.read_text(encoding="utf-8").splitlines():
            exchange = json.loads(line)
            self._known[_key(exchange["request"])] = json.dumps(exchange["response"]).encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One request."""
        body, more = b"", True
        while more:
            event = await receive()
            body, more = body + event["body"], event["more_body"]
        await asyncio.sleep(self._delay)
        answer = self._known[_key(json.loads(body))]
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(answer)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})


def _key(request: Any) -> str:
    return str(request["messages"][-1]["content"])


if __name__ == "__main__":
    port, delay, recording = int(sys.argv[1]), float(sys.argv[2]), Path(sys.argv[3])
    uvicorn.run(Door(recording, delay), port=port, log_level="critical", lifespan="off")
