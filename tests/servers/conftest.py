"""A bundle of tools that break every rule."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bundles import write_bundle
from tests.servers.odd_tools import ODD_TOOLS


@pytest.fixture(scope="session")
def odd_shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("odd")
    asyncio.run(write_bundle(folder / "odd", tools=ODD_TOOLS, scenarios=()))
    return folder


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(["mount", *options], capture_output=True, check=False).returncode != 0:
        pytest.skip("only root mounts a file system")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
