"""How long a farm waits for a worker of its own to join: by the processor time that the worker uses."""

import itertools
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

import pytest

from registry.workers import worker_process
from registry.workers.worker_process import WorkerProcess
from servers.errors import InfraError
from servers.worker.settings import ORDINARY, JoinSettings, WorkerOrder


class Timed(WorkerProcess):
    """A worker process that was not started. A test says what processor time it has used at each look."""

    def __init__(self, used: Iterable[float], folder: Path) -> None:
        join = JoinSettings(registries=("http://one",), token="t" * 32, name="worker-1", advertise="http://two")
        order = WorkerOrder(
            state=folder, library=(), join=join, loopback_only=True, log_level="info", otel=None, settings=ORDINARY
        )
        super().__init__(order, cast("socket.socket", None))
        self.used: Iterator[float] = iter(used)

    @property
    def processor_seconds(self) -> float:
        return next(self.used)


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_process, "PATIENCE_TO_JOIN", 0.5)
    monkeypatch.setattr(worker_process, "LOOK_SECONDS", 0.01)


async def test_a_worker_on_a_busy_machine_is_waited_for(tmp_path: Path) -> None:
    looks = 100  # twice the patience on the wall clock, at a fifth of its processor time
    seats: set[str] = set()

    def slowly() -> Iterator[float]:
        yield from (look / 1000 for look in range(looks))
        seats.add("worker-1")
        yield looks / 1000

    await Timed(slowly(), tmp_path).joined(seats)


@pytest.mark.parametrize(
    ("used", "why"),
    [
        (itertools.repeat(0.1), "used 0.1 s of processor time, and none for the last 0.5 s"),
        (itertools.count(step=0.1), "used 0.5 s of processor time"),
        (itertools.cycle([0.1, 0.2]), "used 0.5 s of processor time"),
    ],
    ids=["it sleeps", "it works without an end", "it dies and is started again"],
)
async def test_a_worker_that_does_not_join_is_given_up(tmp_path: Path, used: Iterable[float], why: str) -> None:
    with pytest.raises(InfraError, match=f"worker-1 has not joined: it {why}"):
        await Timed(used, tmp_path).joined(())
