"""Connections that many agents share: as many as are needed at once, no more than may be, used again."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx2
import pytest
from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse

from agent_client.connections import Connections
from agent_client.errors import EndpointDown
from agent_client.models.completion import AnyCompletion
from agent_client.models.endpoint import LARGEST_ANSWER, Endpoint, Retries
from agent_client.wire import shared_http
from tests.doubles import serving


def counting(peers: set[int], wait: Callable[[], Awaitable[None]]) -> FastAPI:
    """An app that keeps from which ports it was asked."""
    app = FastAPI()

    async def answer(request: Request) -> str:
        assert request.client is not None
        peers.add(request.client.port)
        await wait()
        return "x" * 100_000

    app.add_api_route("/", answer)
    return app


async def test_one_request_after_another_uses_one_connection() -> None:
    peers: set[int] = set()
    async with serving(counting(peers, lambda: asyncio.sleep(0))) as url, shared_http(10) as http:
        said = [(await http.get(url)).json() for _ in range(5)]
    assert {len(text) for text in said} == {100_000}
    assert len(peers) == 1


async def test_no_more_connections_than_may_be() -> None:
    peers: set[int] = set()
    inside = most = 0

    async def wait() -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        for _ in range(5):
            await asyncio.sleep(0)
        inside -= 1

    async with serving(counting(peers, wait)) as url, shared_http(3) as http:
        await asyncio.gather(*(http.get(url) for _ in range(12)))
    assert len(peers) == 3
    assert most <= 3


@pytest.mark.parametrize(("encoding", "why"), [("identity", "larger than"), ("gzip", "compressed")])
async def test_an_answer_that_is_too_large_or_compressed_is_not_read(encoding: str, why: str) -> None:
    app = FastAPI()
    asked: list[str] = []

    async def long() -> AsyncIterator[bytes]:
        for _ in range(LARGEST_ANSWER // 1_000_000 + 2):
            yield b"[" * 1_000_000
            await asyncio.sleep(0)

    async def answer(request: Request) -> Response:
        asked.append(request.headers["accept-encoding"])
        return StreamingResponse(long(), headers={"Content-Encoding": encoding})

    app.add_api_route("/", answer, methods=["GET"])
    app.add_api_route("/chat/completions", answer, methods=["POST"])
    async with serving(app) as url:
        async with httpx2.AsyncClient(transport=Connections(1, largest=10_000)) as http:
            with pytest.raises(httpx2.RemoteProtocolError, match=why):
                await http.get(url)
        async with Endpoint(url, retries=Retries(1)) as endpoint:
            with pytest.raises(EndpointDown, match=f"its answer is {why}"):
                await endpoint.post("/chat/completions", {}, AnyCompletion)
    assert set(asked) == {"identity"}


async def test_who_gives_up_gives_the_connection_back() -> None:
    peers: set[int] = set()
    asked, never = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        if not asked.is_set():
            asked.set()
            await never.wait()

    async with serving(counting(peers, wait)) as url, shared_http(1) as http:
        given_up = asyncio.create_task(http.get(url))
        await asked.wait()
        given_up.cancel()
        await asyncio.gather(given_up, return_exceptions=True)
        assert len((await http.get(url)).json()) == 100_000


async def test_what_was_never_used_can_be_closed() -> None:
    await Connections(5).aclose()
