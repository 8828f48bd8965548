"""A worker that has joined and lies: what it costs the registry, other workers and their leases. Nothing."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from pydantic import ValidationError
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from registry.workers.remote_worker import RemoteWorker
from servers.bundle_library import Library
from servers.doors.operations import IDS, SUSPENDED, WALLS, EmptyOrder, Operation
from servers.errors import CapacityError, InfraError
from servers.worker.settings import MOST_INSTANCES
from tests.registry.farms import Farm
from tests.registry.members import Joinable, joinable, worker_at

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
ENDLESS = {
    "says something before its answer": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
    "comes in too many small pieces": (CHUNKED, b"1\r\n \r\n" * 1000),
}


@pytest_asyncio.fixture
async def door(farm: Farm) -> AsyncGenerator[Joinable]:
    async with joinable(farm) as door:
        yield door


@asynccontextmanager
async def saying(first: bytes, again: bytes, *, every_seconds: float = 0.0) -> AsyncGenerator[str]:
    """A server that answers anything with these bytes, the second ones for as long as anybody listens."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(first)
            while not writer.is_closing():
                writer.write(again)
                await writer.drain()
                await asyncio.sleep(every_seconds)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize(("said", "endless"), ENDLESS.items())
async def test_what_costs_time_and_is_no_answer_is_read_no_further(
    said: str, endless: tuple[bytes, bytes], library: Library, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither by a registry that asks a worker, nor by a worker that asks what stands in a registry's place."""
    async with saying(*endless) as url, worker_at(url, library, tmp_path / "far") as far:
        worker = RemoteWorker(url, "token")
        with pytest.raises((InfraError, CapacityError), match=said):
            await worker.ask(WALLS, EmptyOrder())
        assert said in str(await worker.reach())
        await worker.aclose()
        joining = asyncio.create_task(far.member.join())
        while "cannot join yet" not in caplog.text:  # noqa: ASYNC110 - it is told in the log alone
            await asyncio.sleep(0.01)
        joining.cancel()
    assert any(said in str(record.__dict__.get("error")) for record in caplog.records)


async def test_an_answer_that_trickles_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("registry.workers.remote_worker.SECONDS", 0.1)
    async with saying(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b" " * 300, every_seconds=0.01) as url:
        worker = RemoteWorker(url, "token")
        with pytest.raises(CapacityError, match=r"did not answer walls within 0\.1 s"):
            await worker.ask(WALLS, EmptyOrder())
        await worker.aclose()


async def test_an_error_that_tells_nothing_is_one_of_the_worker(
    farm: Farm, door: Joinable, library: Library, tmp_path: Path
) -> None:
    bodies = [b"[" * 100_000, b'{"error": {"kind": [], "message": 1}}', b"{}", b""]

    async def tells_nothing(scope: Scope, receive: Receive, send: Send) -> None:
        await Response(bodies[0], status_code=500)(scope, receive, send)

    async with worker_at(door.url, library, tmp_path / "far", odd={"reset": tells_nothing}) as far:
        await far.member.join()
        await farm.client.drain("local")
        instance = await farm.launched()
        while bodies:
            with pytest.raises(InfraError, match="answered reset with 500"):
                await farm.client.reset(instance)
            del bodies[0]


async def test_an_instance_that_is_leased_already_is_not_leased_again_and_lives_on(
    farm: Farm, door: Joinable, library: Library, tmp_path: Path
) -> None:
    named: list[str] = []

    async def names_another(scope: Scope, receive: Receive, send: Send) -> None:
        tickets = [{"instance": one, "path": f"/i/{one}/mcp", "token": "t" * 32} for one in named]
        await JSONResponse(tickets)(scope, receive, send)

    async with worker_at(door.url, library, tmp_path / "far", odd={"fork": names_another}) as far:
        others = await farm.launched("dearer")
        await far.member.join()
        await farm.client.drain("local")
        own = await farm.launched("dearer")
        for one in (own, others):
            named[:] = [one]
            with pytest.raises(InfraError, match="far: says that it launched an instance which is leased already"):
                await farm.client.fork(own)
        assert (await farm.client.leases(status="live")).total == 2
        assert far.worker.has(own)
        assert farm.worker.has(others)


async def test_verdicts_over_anything_but_what_was_asked_are_no_score(
    farm: Farm, door: Joinable, library: Library, tmp_path: Path
) -> None:
    [asked] = library.scenario("shop", "dearer").checkpoints
    honest = {"checkpoint": asked.id, "role": asked.role, "question": asked.question, "weight": asked.weight}
    verdict = {**honest, "holds": True}
    lies = [[], [verdict, verdict], [verdict | {"weight": 1e308}], [verdict | {"role": "guard"}], [verdict]]

    async def judges(scope: Scope, receive: Receive, send: Send) -> None:
        await JSONResponse({"verdicts": lies[0], "reward": 0.5, "success": False})(scope, receive, send)

    async with worker_at(door.url, library, tmp_path / "far", odd={"judge": judges}) as far:
        await far.member.join()
        await farm.client.drain("local")
        instance = await farm.launched("dearer")
        while len(lies) > 1:
            score = await farm.client.score(instance)
            assert (score.outcome, score.reward) == ("infra_error", None)
            assert "verdicts over other checkpoints" in str(score.error)
            del lies[0]
        assert (await farm.client.score(instance)).reward == 1.0


@pytest.mark.parametrize("odd", [["ab/../cd"], ["a" * 16] * (MOST_INSTANCES + 1)])
@pytest.mark.parametrize("operation", [IDS, SUSPENDED])
def test_the_instances_of_a_worker_are_so_many_and_have_names(operation: Operation[Any, Any], odd: list[str]) -> None:
    with pytest.raises(ValidationError):
        operation.read(json.dumps(odd).encode())


async def says_nothing(_scope: Scope, receive: Receive, _send: Send) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def test_a_worker_that_ends_no_instance_keeps_no_other_lease_from_ending(
    farm: Farm, door: Joinable, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.reaper.SECONDS_TO_ANSWER", 0.2)
    async with worker_at(door.url, library, tmp_path / "far", odd={"suspend": says_nothing}) as far:
        await far.member.join()
        local = await farm.launched(ttl_seconds=60)
        await farm.client.drain("local")
        await farm.launched(ttl_seconds=60)
        farm.clock.now += 60
        assert await farm.reaper.reap() == 2
        assert await farm.worker.suspended() == [local]


async def test_a_worker_that_cannot_be_checked_keeps_no_other_from_it(
    farm: Farm, door: Joinable, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.reaper.SECONDS_TO_ANSWER", 0.2)
    async with worker_at(door.url, library, tmp_path / "far", odd={"suspended": says_nothing}) as far:
        await far.member.join()
        gone = await farm.launched()
        await farm.worker.close(gone)
        assert (await farm.reaper.reconcile()).dropped == 1
        assert not farm.registry.fleet.seats["far"].answers
