"""`farm worker` as a user runs it: processes that join the registry of another process, are killed, and are drained."""

import asyncio
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from registry.client import FarmClient
from registry.messages import Lease
from servers.errors import CapacityError, InfraError
from tests.processes import Running, Started, farm, farm_up, free_ports, started
from tests.test_up import called


@asynccontextmanager
async def registry(tmp_path: Path) -> AsyncGenerator[tuple[Running, FarmClient]]:
    """A registry without workers of its own."""
    options = ("--port", "0", "--workers", "0", "--no-web", "--walls", "available")
    async with (
        farm_up(tmp_path / "registry", *options, home=tmp_path) as up,
        FarmClient(up.url, up.token) as client,
    ):
        yield up, client


async def joined(up: Running, tmp_path: Path, name: str, port: int) -> Started:
    """A worker process that has joined."""
    one = await started("worker", *options_of(up, tmp_path, name, port), home=tmp_path, leads=False)
    async with asyncio.timeout(60):
        line = (await one.out.readline()).decode()
    assert f"Worker {name} has joined {up.url}" in line, line
    return one


def options_of(up: Running, tmp_path: Path, name: str, port: int) -> tuple[str | Path, ...]:
    return (
        *("--registry", up.url, "--token-file", up.state / "join-token", "--name", name),
        *("--advertise", f"http://127.0.0.1:{port}", "--host", "127.0.0.1"),
        *("--state", tmp_path / name, "--walls-available"),
    )


async def status(client: FarmClient, lease: Lease, wanted: str) -> None:
    """Wait until a lease has a status. The lease of a worker that is away is not shown before that."""
    async with asyncio.timeout(60):
        while True:
            with suppress(CapacityError):
                if (await client.lease(lease.instance)).status == wanted:
                    return
            await asyncio.sleep(0.1)


@pytest.mark.slow
async def test_a_killed_worker_gets_no_launches_loses_its_leases_and_comes_back_with_them(tmp_path: Path) -> None:
    port = free_ports(2)
    async with registry(tmp_path) as (up, client):
        first = await joined(up, tmp_path, "first", port)
        second = await joined(up, tmp_path, "second", port + 1)
        try:
            leases = await client.launch("library_loans", "renew_before_trip", count=4)
            assert sorted(lease.worker for lease in leases) == ["first", "first", "second", "second"]
            gone, there = ([one for one in leases if one.worker == name] for name in ("first", "second"))
            for lease in leases:
                assert "books" in await called(lease, "find_books")
            first.send(signal.SIGKILL)
            assert {one.worker for one in await client.launch("library_loans", count=2)} == {"second"}
            for lease in gone:
                await status(client, lease, "lost")
            with pytest.raises(InfraError, match="its worker first has stopped answering"):
                await client.score(gone[0].instance)
            for lease in there:
                assert "books" in await called(lease, "find_books")
            await first.ended()
            first = await joined(up, tmp_path, "first", port)
            for lease in gone:
                await status(client, lease, "live")
                assert (await client.history(lease.instance)).total == 1
        finally:
            for one in (first, second):
                one.send(signal.SIGKILL)
                await one.ended()


async def test_a_drained_worker_ends_with_its_last_lease(tmp_path: Path) -> None:
    async with registry(tmp_path) as (up, client):
        one = await joined(up, tmp_path, "node3", free_ports(1))
        [lease] = await client.launch("library_loans")
        done = await farm("drain", "node3", "--state", up.state, home=tmp_path)
        assert (done.code, done.out) == (0, "node3 gets no more instances. `farm ps` shows what it still has.\n")
        assert "drains" in (await farm("ps", "--state", up.state, home=tmp_path)).out
        assert "books" in await called(lease, "find_books")
        await client.close(lease.instance)
        assert (await one.ended()).code == 0
        assert (await client.workers()).items == ()


async def test_a_worker_that_cannot_join_says_why_and_ends(tmp_path: Path) -> None:
    (tmp_path / "short").write_text("too-short\n")
    (tmp_path / "foreign").write_text("f" * 43 + "\n")
    async with registry(tmp_path) as (up, _):
        options = options_of(up, tmp_path, "node3", free_ports(1))
        for file, said in (("short", "32 characters at least"), ("foreign", "does not know the join token")):
            done = await farm("worker", *options, "--token-file", tmp_path / file, home=tmp_path)
            assert (done.code, done.out) == (2, "")
            assert said in done.err
    done = await farm("worker", "--registry", "farm.example.org", home=tmp_path)
    assert done.code == 2
    assert "http" in done.err
