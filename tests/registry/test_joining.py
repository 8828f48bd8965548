"""Workers that join a farm from anywhere: who is let in, who is refused, and what happens when one is lost."""

import asyncio
import gzip
import json
import shutil
import time
from collections import Counter
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from registry.messages import Lease
from registry.workers.remote_worker import MOST_ANSWERED_VALUES
from servers.bundle_library import Library
from servers.doors.operations import (
    AT_START,
    FORK,
    IDS,
    LAUNCH,
    METRICS,
    SUSPENDED,
    TABLES,
    WALLS,
    EmptyOrder,
    Operation,
)
from servers.errors import CapacityError, Conflict, InfraError, NotFound, RequestError
from servers.joining.messages import BEAT, CHALLENGE, JOIN, VERSION, Beat, Challenge
from servers.joining.proofs import control_token, fresh_nonce, request_proof
from servers.validation import MOST_LISTED
from tests.doubles import serving
from tests.registry.farms import Farm
from tests.registry.members import JOIN_TOKEN, Joinable, Joined, joinable, worker_at


@pytest_asyncio.fixture
async def door(farm: Farm) -> AsyncGenerator[Joinable]:
    async with joinable(farm) as door:
        yield door


@pytest_asyncio.fixture
async def far(door: Joinable, library: Library, tmp_path: Path) -> AsyncGenerator[Joined]:
    """A worker that has joined."""
    async with worker_at(door.url, library, tmp_path / "far") as far:
        await far.member.join()
        yield far


async def shares(farm: Farm) -> Counter[str]:
    return Counter(lease.worker for lease in (await farm.client.leases(status="live", limit=1000)).items)


async def on_far(farm: Farm, count: int) -> list[Lease]:
    """Leases of so many instances on the far worker."""
    await farm.client.drain("local")
    leases = await farm.client.launch("shop", "dearer", count=count)
    await farm.client.drain("local", drains=False)
    assert {lease.worker for lease in leases} == {"far"}
    return leases


async def test_a_worker_joins_and_its_instances_are_reached_called_and_scored_there(farm: Farm, far: Joined) -> None:
    [lease] = await on_far(farm, 1)
    assert lease.mcp_url == f"{far.url}/i/{lease.instance}/mcp"
    await far.worker.call(lease.instance, "price", {"id": "t2", "cents": 250})
    assert (await farm.client.score(lease.instance)).reward == 1.0
    [card] = [one for one in (await farm.client.workers()).items if one.name == "far"]
    assert (card.url, card.answers, card.drains, card.instances) == (far.url, True, False, 1)


async def test_new_instances_go_where_most_of_the_capacity_is_free(
    farm: Farm, door: Joinable, library: Library, tmp_path: Path
) -> None:
    farm.registry.fleet.seats["local"].capacity = 30
    async with worker_at(door.url, library, tmp_path / "far", capacity=10) as far:
        await far.member.join()
        await farm.client.launch("shop", count=20)
        assert await shares(farm) == {"local": 15, "far": 5}
        for _ in range(8):
            await farm.client.launch("shop")
        assert await shares(farm) == {"local": 21, "far": 7}


async def test_a_registry_and_a_worker_with_different_tokens_refuse_each_other(
    door: Joinable, library: Library, tmp_path: Path
) -> None:
    async with worker_at(door.url, library, tmp_path / "far", token="f" * 40) as far:
        with pytest.raises(RequestError, match="does not know the join token"):
            await far.member.join()
    assert "far" not in door.joining.registry.fleet.seats


async def test_a_worker_believes_no_server_that_does_not_prove_itself(library: Library, tmp_path: Path) -> None:
    heard: list[bytes] = []

    async def pretends(scope: Scope, receive: Receive, send: Send) -> None:
        """A server that answers everything with the right words, and cannot prove them."""
        heard.append(await Request(scope, receive).body())
        await JSONResponse({"nonce": "1-2-3", "version": VERSION})(scope, receive, send)

    async with serving(pretends) as url, worker_at(url, library, tmp_path / "far") as far:
        with pytest.raises(RequestError, match="does not know the join token"):
            await far.member.join()
    assert len(heard) == 1  # it is told a number, and nothing of the worker
    assert Challenge.model_validate_json(heard[0]).version
    assert JOIN_TOKEN.encode() not in heard[0]


async def asked(door: Joinable, path: str, body: bytes, key: str = JOIN_TOKEN) -> httpx.Response:
    """What the door answers to a request with a proof."""
    async with httpx.AsyncClient(base_url=door.url) as http:
        return await http.post(path, content=body, headers={"Farm-Proof": request_proof(key.encode(), path, body)})


async def test_what_is_not_proved_is_not_read(door: Joinable) -> None:
    for path in (CHALLENGE, JOIN):
        assert (await asked(door, path, b"{", key="x" * 40)).status_code == 401
    assert (await asked(door, BEAT, Beat(name="nobody", number=1).model_dump_json().encode())).status_code == 404
    assert (await asked(door, BEAT, b"[]")).status_code == 404


async def test_a_worker_of_another_version_is_refused(door: Joinable) -> None:
    body = Challenge(nonce=fresh_nonce(), version="0.0.7").model_dump_json().encode()
    answer = await asked(door, CHALLENGE, body)
    assert answer.status_code == 409
    assert "this worker has version 0.0.7" in answer.json()["error"]["message"]


@pytest.mark.parametrize(("ahead", "said"), [(600, "600 s behind"), (-600, "600 s ahead of")])
async def test_a_worker_with_another_time_is_refused(
    farm: Farm, library: Library, tmp_path: Path, ahead: int, said: str
) -> None:
    async with (
        joinable(farm, wall=lambda: time.time() + ahead) as door,
        worker_at(door.url, library, tmp_path / "far") as far,
    ):
        with pytest.raises(RequestError, match=f"{said} the registry's.*NTP"):
            await far.member.join()


async def test_a_worker_with_other_bundles_is_refused(door: Joinable, shelf: Path, tmp_path: Path) -> None:
    shutil.copytree(shelf, tmp_path / "other")
    policy = tmp_path / "other" / "shop" / "policy.md"
    policy.write_text(policy.read_text() + "Be kind.\n")
    async with worker_at(door.url, Library([tmp_path / "other"]), tmp_path / "far") as far:
        with pytest.raises(RequestError, match="other files than the registry of: shop"):
            await far.member.join()


async def test_a_name_is_given_once_but_to_the_same_worker_again(
    farm: Farm, door: Joinable, far: Joined, library: Library, tmp_path: Path
) -> None:
    async with worker_at(door.url, library, tmp_path / "second") as second:
        with pytest.raises(RequestError, match=f"the name far is taken by the worker at {far.url}"):
            await second.member.join()
        await far.member.join()
        await door.silence(12)
        await second.member.join()
        assert farm.registry.fleet.seats["far"].url == second.url


async def test_an_address_that_the_registry_cannot_reach_is_told_at_once(
    door: Joinable, far: Joined, library: Library, tmp_path: Path
) -> None:
    for address, reason in (
        ("http://127.0.0.1:9", "nobody answers there"),
        (door.url, "another server answers there"),
        (far.url, "another worker answers there"),
    ):
        async with worker_at(door.url, library, tmp_path / "second", name="second", advertise=address) as second:
            with pytest.raises(RequestError, match=f"cannot reach this worker at {address}: {reason}"):
                await second.member.join()


async def compressed(scope: Scope, receive: Receive, send: Send) -> None:
    """Kilobytes that would be megabytes."""
    body = gzip.compress(b" " * 1_000_000)
    await Response(body, headers={"content-encoding": "gzip"})(scope, receive, send)


async def without_end(scope: Scope, receive: Receive, send: Send) -> None:
    async def pieces() -> AsyncGenerator[bytes]:
        while True:
            yield b" " * 65536
            await asyncio.sleep(0)  # or nobody would see that the client has gone

    await StreamingResponse(pieces())(scope, receive, send)


async def says_nothing(_scope: Scope, receive: Receive, _send: Send) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def many_values(scope: Scope, receive: Receive, send: Send) -> None:
    await Response(b"[" + b"0," * MOST_ANSWERED_VALUES + b"0]")(scope, receive, send)


async def many_faults(scope: Scope, receive: Receive, send: Send) -> None:
    await Response(json.dumps({str(number): 0 for number in range(MOST_LISTED)}))(scope, receive, send)


@pytest.mark.parametrize(
    ("odd", "said"), [(many_values, "it has more than 600,000 values"), (many_faults, "has 10,003 problems")]
)
async def test_an_answer_of_a_worker_that_is_nothing_but_faults_is_not_listed(
    farm: Farm, door: Joinable, library: Library, tmp_path: Path, odd: ASGIApp, said: str
) -> None:
    async with worker_at(door.url, library, tmp_path / "far", odd={"query": odd}) as far:
        await far.member.join()
        [lease] = await on_far(farm, 1)
        with pytest.raises(InfraError, match=f"answered query with what is no answer: .*{said}"):
            await farm.client.query(lease.instance, "SELECT 1")


@pytest.mark.parametrize("operation", [IDS, WALLS, METRICS, LAUNCH, FORK, SUSPENDED, AT_START, TABLES])
def test_a_list_of_a_worker_ends_with_its_first_fault(operation: Operation[Any, Any]) -> None:
    with pytest.raises(ValidationError) as refused:
        operation.read(b"[0, 0, 0]")
    assert refused.value.error_count() == 1


@pytest.mark.parametrize(("odd", "said"), [(compressed, "is compressed"), (without_end, "is larger than")])
async def test_an_answer_of_a_worker_is_read_up_to_a_size_and_never_unpacked(
    farm: Farm, door: Joinable, library: Library, tmp_path: Path, odd: ASGIApp, said: str
) -> None:
    async with worker_at(door.url, library, tmp_path / "odd", name="odd", odd={"here": odd}) as far:
        with pytest.raises(RequestError, match=said):
            await far.member.join()
    async with worker_at(door.url, library, tmp_path / "far", odd={"tables": odd}) as far:
        await far.member.join()
        [lease] = await on_far(farm, 1)
        with pytest.raises(InfraError, match=f"answered tables with what is no answer: its answer {said}"):
            await farm.client.state(lease.instance)


@pytest.mark.parametrize("odd", [compressed, without_end])
async def test_a_worker_reads_no_more_of_a_server_than_a_registry_says(
    library: Library, tmp_path: Path, odd: ASGIApp, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(odd) as url, worker_at(url, library, tmp_path / "far") as far:
        joining = asyncio.create_task(far.member.join())
        while "cannot join yet" not in caplog.text:  # noqa: ASYNC110 - it is told in the log alone
            await asyncio.sleep(0.01)
        joining.cancel()
    assert any("its answer is" in str(record.__dict__.get("error")) for record in caplog.records)


async def test_a_worker_that_tells_nothing_keeps_no_other_from_coming_and_going(
    farm: Farm, door: Joinable, far: Joined, library: Library, tmp_path: Path
) -> None:
    async with (
        worker_at(door.url, library, tmp_path / "odd", name="odd", odd={"walls": says_nothing}) as odd,
        worker_at(door.url, library, tmp_path / "third", name="third") as third,
    ):
        joining = asyncio.create_task(odd.member.join())
        while not await asyncio.to_thread(farm.registry.ledger.worker, "odd"):  # noqa: ASYNC110 - it is in the ledger
            await asyncio.sleep(0.01)
        await third.member.join()
        await door.silence(12)
        assert farm.registry.fleet.seats["far"].lost
        assert farm.registry.fleet.seats["third"].lost
        assert not joining.done()
        joining.cancel()


def ticket(instance: str, path: str = "") -> dict[str, str]:
    return {"instance": instance, "path": path or f"/i/{instance}/mcp", "token": "t" * 32}


@pytest.mark.parametrize(
    ("tickets", "said"),
    [
        ([], "was asked for 2 instances and made 0"),
        ([ticket("a" * 16), ticket("a" * 16)], "was asked for 2 instances and made 1, of which it named some twice"),
        ([ticket("a" * 16), ticket("b" * 16), ticket("c" * 16)], "was asked for 2 instances and made 3"),
        ([ticket("a" * 16), ticket("b" * 16, f"/i/{'a' * 16}/mcp")], "the path is not that of the instance"),
        ([ticket("a" * 16), ticket("b" * 16, "@elsewhere.example/i/x/mcp")], "answered launch with what is no answer"),
    ],
)
async def test_what_a_worker_says_that_it_launched_is_checked(
    farm: Farm, door: Joinable, library: Library, tmp_path: Path, tickets: list[dict[str, str]], said: str
) -> None:
    async with worker_at(door.url, library, tmp_path / "far", odd={"launch": JSONResponse(tickets)}) as far:
        await far.member.join()
        await farm.client.drain("local")
        with pytest.raises(InfraError, match=said):
            await farm.client.launch("shop", count=2)
        assert (await farm.client.leases(status="live")).total == 0


async def test_a_worker_whose_time_is_no_number_is_refused(door: Joinable) -> None:
    body = json.dumps({"session": "x", "name": "far", "identity": "a" * 32, "url": "http://127.0.0.1:9"})
    body = body[:-1] + f', "version": "{VERSION}", "at": NaN, "capacity": 1, "bundles": {{}}}}'
    answer = await asked(door, JOIN, body.encode())
    assert (answer.status_code, answer.json()["error"]["message"][:4]) == (422, "at: ")


async def test_nothing_of_a_worker_can_be_said_again_by_others(farm: Farm, door: Joinable, far: Joined) -> None:
    seat = farm.registry.fleet.seats["far"]
    key = control_token(JOIN_TOKEN.encode(), seat.session, "far", far.worker.identity)
    beat = Beat(name="far", number=5).model_dump_json().encode()
    assert (await asked(door, BEAT, beat, key=key)).status_code == 200
    assert (await asked(door, BEAT, beat, key=key)).status_code == 409
    with pytest.raises(RequestError, match="used before"):
        door.joining.see_to_nonce(seat.session)
    with pytest.raises(RequestError, match="did not give that nonce"):
        door.joining.see_to_nonce(seat.session[:-1] + ("0" if seat.session[-1] != "0" else "1"))


async def test_a_lost_worker_ends_its_leases_and_the_registry_says_so(farm: Farm, door: Joinable, far: Joined) -> None:
    [lease] = await on_far(farm, 1)
    await door.silence(3)
    assert {one.worker for one in await farm.client.launch("shop", count=3)} == {"local"}
    assert (await farm.client.lease(lease.instance)).status == "live"
    await door.silence(9)
    shown = await farm.client.lease(lease.instance)
    assert (shown.status, shown.mcp_url, shown.token) == ("lost", None, None)
    for ask in (farm.client.heartbeat, farm.client.score, farm.client.state):
        with pytest.raises(InfraError, match="is lost: its worker far has stopped answering"):
            await ask(lease.instance)
    assert [one.instance for one in (await farm.client.leases(status="lost")).items] == [lease.instance]
    assert (await farm.client.health()).status == "degraded"


async def test_a_worker_that_was_cut_off_comes_back_with_its_leases_but_not_with_closed_ones(
    farm: Farm, door: Joinable, far: Joined
) -> None:
    kept, closed = await on_far(farm, 2)
    await door.silence(12)
    await farm.client.close(closed.instance)
    await far.worker.call(kept.instance, "price", {"id": "t2", "cents": 250})  # its agent goes on
    beating = asyncio.create_task(far.member.beat())
    async with asyncio.timeout(30):
        while (await farm.client.lease(kept.instance)).status != "live":  # noqa: ASYNC110 - by a heartbeat
            await asyncio.sleep(0.05)
    beating.cancel()
    assert (await farm.client.score(kept.instance)).reward == 1.0
    with pytest.raises(Conflict, match="closed"):
        await farm.client.score(closed.instance)
    await farm.reaper.reconcile()
    farm.clock.now += 61
    await farm.reaper.reconcile()
    assert far.worker.ids() == [kept.instance]


async def test_a_worker_comes_back_with_its_instances_after_a_restart(
    farm: Farm, door: Joinable, library: Library, tmp_path: Path
) -> None:
    async with worker_at(door.url, library, tmp_path / "far") as far:
        await far.member.join()
        [lease] = await on_far(farm, 1)
        await far.worker.call(lease.instance, "price", {"id": "t2", "cents": 250})
    await door.silence(12)
    async with worker_at(door.url, library, tmp_path / "far") as far:
        await far.member.join()
        again = await farm.client.lease(lease.instance)
        assert (again.status, again.token) == ("live", lease.token)
        assert again.mcp_url == f"{far.url}/i/{lease.instance}/mcp"
        assert (await farm.client.score(lease.instance)).reward == 1.0


async def test_who_asked_a_worker_before_it_joined_anew_may_go_on_asking(farm: Farm, far: Joined) -> None:
    [lease] = await on_far(farm, 1)
    before = farm.registry.fleet.seats["far"].door
    for _ in range(2):
        await far.member.join()
    assert await before.ask(IDS, EmptyOrder()) == [lease.instance]


async def test_a_registry_that_starts_again_knows_its_workers_by_their_next_heartbeat(
    farm: Farm, door: Joinable, far: Joined
) -> None:
    [lease] = await on_far(farm, 1)
    del farm.registry.fleet.seats["far"]  # what a registry keeps in memory alone
    async with joinable(farm) as again:
        with pytest.raises(CapacityError, match="wait until it has"):
            await farm.client.heartbeat(lease.instance)
        kept = farm.ledger.worker("far")
        assert kept is not None
        key = control_token(JOIN_TOKEN.encode(), kept.session, "far", far.worker.identity)
        beat = Beat(name="far", number=1).model_dump_json().encode()
        assert (await asked(again, BEAT, beat, key=key)).status_code == 200
        assert (await farm.client.heartbeat(lease.instance)).mcp_url == lease.mcp_url


async def test_a_drained_worker_gets_nothing_and_leaves_with_its_last_lease(
    farm: Farm, door: Joinable, far: Joined
) -> None:
    [lease] = await on_far(farm, 1)
    await farm.client.drain("far")
    assert {one.worker for one in await farm.client.launch("shop", count=3)} == {"local"}
    beating = asyncio.create_task(far.member.beat())
    assert not (await asyncio.wait([beating], timeout=2.5))[0]
    await farm.client.close(lease.instance)
    async with asyncio.timeout(30):
        await beating
    assert [one.name for one in (await farm.client.workers()).items] == ["local"]
    with pytest.raises(NotFound, match="no worker 'far'"):
        await farm.client.drain("far")


async def test_a_lost_worker_that_is_drained_is_forgotten(farm: Farm, door: Joinable, far: Joined) -> None:
    assert far.worker.identity
    await door.silence(12)
    assert (await farm.client.health()).status == "degraded"
    await farm.client.drain("far")
    assert (await farm.client.health()).status == "ok"
