"""A farm, and the clock that it goes by."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from servers.bundle_library import Library
from tests.registry.farms import Clock, Farm, running


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def library(shelf: Path) -> Library:
    return Library([shelf])


@pytest_asyncio.fixture
async def farm(library: Library, tmp_path: Path, clock: Clock) -> AsyncGenerator[Farm]:
    async with running(library, tmp_path / "farm", clock) as farm:
        yield farm
