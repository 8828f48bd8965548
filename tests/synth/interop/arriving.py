"""Importing in a test: entries become bundles, and an instance of one is played."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from servers.bundle_library import Library
from servers.messages import Launch
from servers.sandbox.guest_pool import Guests
from servers.scenario.scenario import Scenario
from servers.worker.instance import Instance
from servers.worker.worker import Worker
from synth.interop.imports.converter import Arrival, ImportOrigin, convert
from synth.interop.imports.dataset import read
from tests.synth.interop.entries import environment, scenario, write


async def imported(folder: Path, environments: Any = None, scenarios: Any = None, **chosen: Any) -> list[Arrival]:
    """Import entries, by default the tool shed with one scenario, into `folder / "out"`."""
    paths = write(folder, environments or [environment()], [scenario()] if scenarios is None else scenarios)
    out = folder / "out"
    out.mkdir(exist_ok=True)
    origin = ImportOrigin(date="2026-11-21", licence="MIT", notice="MIT License\n", **chosen)
    async with Guests() as guests:
        return await convert(read(*paths), out, origin, guests, lambda arrival: None)


@asynccontextmanager
async def played(folder: Path, seed: int = 0) -> AsyncGenerator[tuple[Instance, Worker, Scenario]]:
    """An instance of the first imported environment, at its first scenario."""
    library = Library([folder / "out"])
    [name] = library.ids()
    first = next(iter(library.scenarios(name).values()))
    async with Worker(library, folder / f"state{seed}") as worker:
        [ticket] = await worker.launch(Launch(environment=name, setup=first.setup, seed=seed))
        yield worker.find(ticket.instance), worker, first


def rows_changed(instance: Instance) -> list[tuple[str, str, Any]]:
    """Which rows the last call changed."""
    last = instance.state.calls()[-1]
    return [
        (change.table, change.operation, change.key.get("key", change.key.get("name")))
        for change in instance.changed_rows(last.changes)
    ]
