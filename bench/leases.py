"""What a lease costs its registry: processor time of a launch, a heartbeat, a score and a close.

Workers are stubs that answer at once, so the registry and its ledger alone are measured. `over HTTP` is the same with
the registry's API before it and the workers' doors behind it, as requests from and to other processes.
"""

import argparse
import asyncio
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from bench.table import machine, table_of
from registry.client import FarmClient
from registry.http.app import control_app
from registry.leases import Registry
from registry.ledger.lease_clock import LeaseClock
from registry.ledger.store import KeptFarm, KeptLease, Ledger
from registry.messages import LaunchRequest
from registry.workers.fleet import Fleet, FleetMember
from registry.workers.remote_worker import RemoteWorker
from servers.bundle_library import OWN_LIBRARY, Library
from servers.doors.operations import (
    IDS,
    JUDGE,
    LEAVERS,
    OPERATIONS,
    STANDING,
    SUSPENDED,
    TICKET,
    WALLS,
    AnswerT,
    Operation,
    OrderT,
)
from servers.doors.server import listen, serving, url_of
from servers.messages import Assessment, InstanceStatus, Launch, Ticket, Verdict

ENVIRONMENT, SCENARIO = "library_loans", "renew_card"
CONTROL = "control-token-of-the-bench-0123456789"
NEVER = 1e6
AT_ONCE = 16
"""Leases that are in the middle of their life at one time."""


class Shape(NamedTuple):
    """How many workers there are, and how many leases live already."""

    workers: int
    live: int


SHAPES = (Shape(1, 1_000), Shape(200, 1_000), Shape(1, 100_000), Shape(200, 100_000))


class StubWorker:
    """A worker that answers everything at once, and has no instances."""

    def __init__(self, present: list[str]) -> None:
        self.present = present

    async def ask(self, operation: Operation[OrderT, AnswerT], order: OrderT) -> AnswerT:
        return cast("AnswerT", self.answer(operation, order))

    def answer(self, operation: Operation[Any, Any], order: Any) -> Any:
        if isinstance(order, Launch):
            return [_ticket(secrets.token_hex(8)) for _ in range(order.count)]
        answers: dict[str, Callable[[], Any]] = {
            TICKET.name: lambda: _ticket(order.instance),
            STANDING.name: lambda: _standing(order.instance),
            JUDGE.name: lambda: _assessment(order.judge.checkpoints),
            IDS.name: lambda: self.present,
            LEAVERS.name: dict[str, str],
            SUSPENDED.name: list[str],
            WALLS.name: list[str],
        }
        return answers.get(operation.name, lambda: None)()

    def cut(self, *, launches_only: bool = False) -> None:
        """Nothing waits here."""


def _ticket(instance: str) -> Ticket:
    return Ticket(instance=instance, path=f"/i/{instance}/mcp", token="t" * 32)


def _standing(instance: str) -> InstanceStatus:
    return InstanceStatus(
        instance=instance,
        environment=ENVIRONMENT,
        scenario=SCENARIO,
        seed=0,
        calls=9,
        now="2026-01-01 00:00:00",
        digest="d" * 64,
    )


def _assessment(checkpoints: Any) -> Assessment:
    verdicts = tuple(
        Verdict(checkpoint=one.id, role=one.role, question=one.question, weight=one.weight, holds=True)
        for one in checkpoints
    )
    return Assessment(verdicts=verdicts, reward=1.0, success=True)


def stub_door(worker: StubWorker) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    """The control door of a stub."""

    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        operation = OPERATIONS[scope["path"].rpartition("/")[2]]
        order = operation.order.model_validate_json(await Request(scope, receive).body())
        await Response(operation.written(worker.answer(operation, order)))(scope, receive, send)

    return door


class Cost(NamedTuple):
    """Milliseconds of processor time: of a lease without and with HTTP, and of one round of the reaper."""

    own: float
    over_http: float
    reaper: float


@asynccontextmanager
async def registry_of(shape: Shape, ledger: Ledger, stubs: str | None = None) -> AsyncGenerator[Registry]:
    """A registry with so many workers, in this process or behind a URL, and so many live leases."""
    ledger.claim(KeptFarm("bench", "/bench", "here", time.time()))
    registry = Registry(Library([OWN_LIBRARY]), ledger, Fleet(), clock=LeaseClock(time.time()))
    registry.catalogue.library.scenario(ENVIRONMENT, SCENARIO)
    names = [f"worker{number}" for number in range(shape.workers)]
    here = {name: list[str]() for name in names}
    every = [_lease(secrets.token_hex(8), names[number % len(names)]) for number in range(shape.live)]
    for kept in every:
        here[kept.worker].append(kept.instance)
    for begin in range(0, len(every), 1000):
        ledger.add(every[begin : begin + 1000])
    for name in names:
        door = StubWorker(here[name]) if stubs is None else RemoteWorker(stubs, "t" * 32)
        await registry.join(FleetMember(name, "http://127.0.0.1:9", door))
    yield registry


def _lease(instance: str, worker: str) -> KeptLease:
    now = time.time()
    path = f"/i/{instance}/mcp"
    return KeptLease(instance, worker, path, ENVIRONMENT, SCENARIO, 0, 86_400, "live", now, now + 86_400)


async def _lived(registry: Registry) -> None:
    """The whole life of one lease."""
    [lease] = await registry.launch(LaunchRequest(environment=ENVIRONMENT, scenario=SCENARIO))
    await registry.heartbeat(lease.instance)
    await registry.score(lease.instance, "Until next year.")
    await registry.close(lease.instance)


async def _lived_over(client: FarmClient) -> None:
    [lease] = await client.launch(ENVIRONMENT, SCENARIO)
    await client.heartbeat(lease.instance)
    await client.score(lease.instance, "Until next year.")
    await client.close(lease.instance)


async def _all(count: int, one: Callable[[], Awaitable[None]]) -> None:
    """So many lives, some at a time."""

    async def some() -> None:
        for _ in range(count // AT_ONCE):
            await one()

    await asyncio.gather(*(some() for _ in range(AT_ONCE)))


async def _timed(count: int, work: Awaitable[object]) -> float:
    """Milliseconds of this process for each of so many."""
    begin = time.process_time()
    await work
    return (time.process_time() - begin) / count * 1000


async def measured(shape: Shape, ledger: Ledger, count: int) -> Cost:
    """The costs with so many workers and live leases."""
    async with registry_of(shape, ledger) as registry:
        await _all(AT_ONCE * 4, lambda: _lived(registry))
        own = await _timed(count, _all(count, lambda: _lived(registry)))
        app = control_app(registry, token=CONTROL, reap_every_seconds=NEVER)
        reaper = app.state.reaper
        await reaper.reconcile()
        rounds = await _timed(1, reaper.reconcile())
        with _process("stubs", "0") as stubs:
            url = await asyncio.to_thread(_line_of, stubs)
            for seat in registry.fleet.seats.values():
                seat.door = RemoteWorker(url, "t" * 32)
            with listen("127.0.0.1", 0) as listening:
                async with app.router.lifespan_context(app), serving(app, listening):
                    over = await _over_http(url_of(listening), count)
            for seat in registry.fleet.seats.values():
                await cast("RemoteWorker", seat.door).aclose()
    return Cost(own, over, rounds)


async def _over_http(url: str, count: int) -> float:
    with _process("client", url, str(count)) as client:
        assert client.stdin is not None
        await asyncio.to_thread(_line_of, client)  # it is warm
        begin = time.process_time()
        client.stdin.write(b"go\n")
        client.stdin.flush()
        await asyncio.to_thread(_line_of, client)
        return (time.process_time() - begin) / count * 1000


@contextmanager
def _process(*arguments: str) -> Generator["subprocess.Popen[bytes]"]:
    """This program in another role."""
    command = [sys.executable, "-m", "bench.leases", "--as", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def _line_of(process: "subprocess.Popen[bytes]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().decode().strip()


async def _serve_stubs() -> None:
    with listen("127.0.0.1", 0) as listening:
        async with serving(stub_door(StubWorker([])), listening):
            print(url_of(listening), flush=True)
            await asyncio.to_thread(sys.stdin.read)


async def _be_client(url: str, count: int) -> None:
    async with FarmClient(url, CONTROL) as client:
        await _all(AT_ONCE * 4, lambda: _lived_over(client))
        print("warm", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        await _all(count, lambda: _lived_over(client))
        print("done", flush=True)


def page(costs: dict[Shape, Cost], ledger: str) -> str:
    """The figures as Markdown."""
    lines = [
        [f"{shape.workers:,}", f"{shape.live:,}", f"{cost.own:.2f}", f"{cost.over_http:.2f}", f"{cost.reaper:,.0f}"]
        for shape, cost in costs.items()
    ]
    head = ["workers", "live leases", "ms a lease", "ms a lease, over HTTP", "ms a round of the reaper"]
    return f"{machine()} Ledger: {ledger}.\n\n{table_of(head, lines)}"


async def run(ledgers: Callable[[], str], count: int) -> dict[Shape, Cost]:
    costs: dict[Shape, Cost] = {}
    for shape in SHAPES:
        ledger = Ledger.open(ledgers())
        try:
            costs[shape] = await measured(shape, ledger, count)
            print(shape, costs[shape], file=sys.stderr, flush=True)
        finally:
            ledger.close()
    return costs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leases", type=int, default=3200, help="lives that are measured of each shape")
    parser.add_argument("--ledger", help="the URL of a PostgreSQL server, in which databases farm0 to farm3 are empty")
    parser.add_argument("--as", nargs="+", dest="role", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.role and given.role[0] == "stubs":
        asyncio.run(_serve_stubs())
    elif given.role:
        asyncio.run(_be_client(given.role[1], int(given.role[2])))
    else:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            numbers = iter(range(len(SHAPES)))

            def next_ledger() -> str:
                number = next(numbers)
                return f"{given.ledger}/farm{number}" if given.ledger else f"sqlite:///{Path(folder) / str(number)}"

            costs = asyncio.run(run(next_ledger, given.leases))
        print(page(costs, "PostgreSQL" if given.ledger else "SQLite"))


if __name__ == "__main__":
    main()
