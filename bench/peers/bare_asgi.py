"""A bare ASGI application on the farm's own HTTP server: it reads the request's JSON and answers some, and no more.

Run as `python -m bench.peers.bare_asgi PORT`.
"""

import asyncio
import json
import sys

from starlette.types import Message, Receive, Scope, Send

from servers.doors.server import listen, run_served, serving

RESULT = {"item_id": "item_7", "name": "Item number 7", "stock": 8}


async def answer(_scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a call as a server of tools does, without making it."""
    body, more = b"", True
    while more:
        message: Message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    result = {"content": [{"type": "text", "text": json.dumps(RESULT)}], "structuredContent": RESULT}
    text = json.dumps({"jsonrpc": "2.0", "id": json.loads(body)["id"], "result": result}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(text)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": text})


async def serve(port: int) -> None:
    """Serve until the process is ended."""
    async with serving(answer, listen("127.0.0.1", port)):
        await asyncio.Event().wait()


if __name__ == "__main__":
    run_served(serve(int(sys.argv[1])))
