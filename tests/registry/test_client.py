"""The client: what it raises, and what it costs to import."""

import subprocess
import sys
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio
from fastapi import FastAPI

from registry.client import FarmClient
from servers.doors.server import listen, serving, url_of
from servers.errors import InfraError, RequestError
from tests.registry.farms import TOKEN, Farm


async def test_a_farm_that_is_not_there_is_said_to_be_missing() -> None:
    with listen("127.0.0.1", 0) as listening:
        url = url_of(listening)
    async with FarmClient(url, TOKEN) as client:
        with pytest.raises(InfraError, match=f"no farm answers at {url}; start one with `farm up`"):
            await client.health()


async def test_a_wrong_token_is_the_caller_s_mistake(farm: Farm) -> None:
    async with FarmClient(farm.url, "wrong") as client:
        with pytest.raises(RequestError, match="refuses the control token"):
            await client.launch("shop")


async def test_an_order_of_the_wrong_form_is_refused_before_it_is_sent() -> None:
    async with FarmClient("http://127.0.0.1:9", TOKEN) as client:
        with pytest.raises(RequestError, match="count: must be at most 1000"):
            await client.launch("shop", count=5000)


@pytest_asyncio.fixture
async def other() -> AsyncGenerator[str]:
    """Something that answers, and is no farm."""
    app = FastAPI()

    @app.get("/v1/health")
    async def health() -> str:  # pyright: ignore[reportUnusedFunction]
        return "fine"

    with listen("127.0.0.1", 0) as listening:
        async with serving(app, listening):
            yield url_of(listening)


async def test_something_else_at_the_url_is_not_taken_for_a_farm(other: str) -> None:
    async with FarmClient(other, TOKEN) as client:
        with pytest.raises(InfraError, match="is no farm of this version"):
            await client.health()
        with pytest.raises(InfraError, match="is no farm: HTTP 404"):
            await client.launch("shop")


def test_the_client_is_light_to_import() -> None:
    program = [sys.executable, "-c", "import sys, registry.client; print(*sys.modules)"]
    loaded = set(subprocess.run(program, capture_output=True, text=True, check=True).stdout.split())
    assert not loaded & {"fastapi", "sqlalchemy", "alembic", "mcp", "starlette", "uvicorn"}
