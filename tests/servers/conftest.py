"""A bundle of tools that break every rule."""

import asyncio
from pathlib import Path

import pytest

from tests.bundles import write_bundle
from tests.servers.odd_tools import ODD_TOOLS


@pytest.fixture(scope="session")
def odd_shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("odd")
    asyncio.run(write_bundle(folder / "odd", tools=ODD_TOOLS, scenarios=()))
    return folder
