"""A farm with one instance, and a toolbox connected to it."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from tests.doubles import Farm


@pytest.fixture
def farm() -> Farm:
    return Farm()


@pytest_asyncio.fixture
async def url(farm: Farm) -> AsyncGenerator[str]:
    async with farm.serve() as url:
        yield url
