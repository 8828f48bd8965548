"""An endpoint that answers from a recording, each time after a delay.

Run as `python -m bench.slow_endpoint PORT DELAY FILE`.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse


def app(recording: Path, delay: float) -> FastAPI:
    """The endpoint."""
    known: dict[str, Any] = {}
    for line in recording.read_text(encoding="utf-8").splitlines():
        exchange = json.loads(line)
        known[json.dumps(exchange["request"]["messages"])] = exchange["response"]
    door = FastAPI()

    @door.post("/v1/chat/completions")
    async def complete(request: Request) -> JSONResponse:
        body = await request.json()
        await asyncio.sleep(delay)
        return JSONResponse(known[json.dumps(body["messages"])])

    _ = complete
    return door


if __name__ == "__main__":
    uvicorn.run(
        app(Path(sys.argv[3]), float(sys.argv[2])),
        host="127.0.0.1",
        port=int(sys.argv[1]),
        log_level="critical",
    )
