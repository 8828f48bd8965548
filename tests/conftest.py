"""What most tests need: a library of one small bundle, a worker that serves it, and an instance."""

import asyncio
import gc
import os
import signal
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
import pytest_asyncio
from hypothesis import settings

from servers.bundle_library import OWN_LIBRARY, Library
from servers.messages import Launch
from servers.worker.instance import Instance
from servers.worker.worker import Worker
from tests.bundles import write_bundle

settings.register_profile("same", derandomize=True, database=None)
settings.register_profile("wide", max_examples=1000)
settings.load_profile("same")  # the same examples in every run; `--hypothesis-profile wide` tries many, and new ones


def pytest_xdist_auto_num_workers() -> int:
    """Three processes for two cores: a third of the time of these tests is waiting."""
    cores = len(os.sched_getaffinity(0))
    return cores + cores // 2


def pytest_configure() -> None:
    """Processes that tests start hear Ctrl-C, also where the caller ignores it, as a shell's background jobs do."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Leave out of every later search for garbage what was imported: it takes a third of a second, and stays."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def collected() -> Generator[None]:
    """Collect garbage between modules, not at a random moment: what a test forgot to close is told beside it."""
    gc.disable()
    yield
    gc.collect()
    gc.enable()


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of bundles with `shop` in it. Not to be written to."""
    folder = tmp_path_factory.mktemp("shelf")
    asyncio.run(write_bundle(folder / "shop"))
    return folder


@pytest.fixture(scope="module")
def library(shelf: Path) -> Library:
    return Library([shelf, OWN_LIBRARY])


@pytest_asyncio.fixture(scope="module")
async def worker(library: Library, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Worker]:
    """A worker of all tests of a module. For tests of instances, that leave the worker itself alone."""
    async with Worker(library, tmp_path_factory.mktemp("worker")) as worker:
        yield worker


@pytest_asyncio.fixture
async def own_worker(library: Library, tmp_path: Path) -> AsyncGenerator[Worker]:
    """A worker of one test."""
    async with Worker(library, tmp_path / "state") as worker:
        yield worker


@pytest_asyncio.fixture
async def instance(worker: Worker) -> Instance:
    """An instance of `shop`."""
    [ticket] = await worker.launch(Launch(environment="shop"))
    return worker.find(ticket.instance)
