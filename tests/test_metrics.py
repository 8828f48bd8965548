"""`/metrics` of a real farm: what it says was counted is what was done."""

import asyncio
import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import pytest_asyncio
from prometheus_client.parser import text_string_to_metric_families

from agent_client.errors import FarmUnreachable
from agent_client.toolbox import connect
from registry.client import Address, FarmClient
from registry.farm import Options, running
from registry.messages import LARGEST_BODY, Lease
from registry.workers.fleet import FleetMember
from registry.workers.remote_worker import RemoteWorker
from servers.bundle_library import Library
from servers.errors import FarmError
from servers.guest.walls import WALLS
from servers.messages import Launch
from servers.worker.metrics import families_of
from servers.worker.settings import WorkerSettings
from servers.worker.worker import Worker
from tests.frail import write_frail
from tests.processes import LONG, guests, until
from tests.registry import farms
from tests.registry.farms import TOKEN, Clock

CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("find", {}, "ok"),
    ("price", {"id": "t2", "cents": 250}, "ok"),
    ("price", {"id": "nothing", "cents": 1}, "refused"),
    ("price", {"id": "t2"}, "invalid"),
    ("no_such_tool", {}, "invalid"),
    ("fail", {"word": "x"}, "failed"),
    ("leave", {}, "died"),
]
REACHED_A_TOOL = 4


class Figures(NamedTuple):
    """What one scrape said: sums over all labels that are not asked for."""

    values: dict[tuple[str, frozenset[tuple[str, str]]], float]

    def sum(self, name: str, **labels: str) -> float:
        found = [value for (one, theirs), value in self.values.items() if one == name and labels.items() <= theirs]
        return sum(found)

    def by(self, name: str, label: str) -> dict[str, float]:
        sums: Counter[str] = Counter()
        for (one, labels), value in self.values.items():
            if one == name:
                sums[dict(labels)[label]] += value  # pyright: ignore[reportArgumentType]
        return dict(sums)


@pytest_asyncio.fixture
async def frail(tmp_path: Path) -> Path:
    await write_frail(tmp_path / "shelf" / "frail")
    return tmp_path / "shelf"


async def scraped(url: str, token: str) -> Figures:
    """Read `/metrics` as Prometheus does."""
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http:
        answer = await http.get(f"{url}/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = list(text_string_to_metric_families(answer.text))
    assert len(families) == len({family.name for family in families})
    assert all(family.documentation for family in families)
    samples = [sample for family in families for sample in family.samples]
    values = {(sample.name, frozenset(sample.labels.items())): sample.value for sample in samples}
    assert len(values) == len(samples)
    return Figures(values)


async def scraped_until(address: Address, condition: Callable[[Figures], bool]) -> Figures:
    """Scrape until something is so: the end of a guest is told when it is reaped."""
    async with asyncio.timeout(LONG):
        while not condition(figures := await scraped(address.url, address.token)):  # noqa: ASYNC110 - it is asked over HTTP
            await asyncio.sleep(0.02)
    return figures


async def played(lease: Lease) -> None:
    """Make every call once, as an agent."""
    assert lease.mcp_url is not None
    assert lease.token is not None
    async with connect(lease.mcp_url, lease.token) as toolbox:
        for tool, arguments, _ in CALLS:
            await toolbox.call(tool, arguments)


@pytest.mark.parametrize("count", [1, 2])
async def test_what_was_done_is_what_was_counted(frail: Path, tmp_path: Path, count: int) -> None:
    settings = WorkerSettings(gated=False)
    options = Options(library=(frail,), state=tmp_path / "state", port=0, workers=count, worker=settings)
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        leases = await client.launch("frail", "dearer", count=4)
        for lease in leases:
            await played(lease)
        await client.reset(leases[0].instance)
        await client.rewind(leases[1].instance, 2)
        await client.fork(leases[2].instance, count=3)
        await client.close(leases[3].instance)
        assert [(await client.score(lease.instance)).reward for lease in leases[:2]] == [0.0, 1.0]
        figures = await scraped_until(address, lambda seen: seen.sum("farm_guest_deaths_total", cause="exit 3") == 8)

        workers = {f"worker-{number + 1}" for number in range(count)}
        assert figures.by("farm_worker_answers", "worker") == dict.fromkeys(workers, 1)
        assert figures.by("farm_launches_total", "worker") == dict.fromkeys(workers, 4 / count)
        assert figures.sum("farm_launches_total", environment="frail") == 4
        assert figures.sum("farm_launch_seconds_count") == count
        assert figures.sum("farm_forks_total") == 3
        assert figures.sum("farm_resets_total") == 1
        assert figures.sum("farm_rewinds_total") == 1
        assert figures.sum("farm_closes_total") == 1
        assert figures.sum("farm_instances") == 6
        assert figures.by("farm_leases", "status") == {"live": 6, "closed": 1, "expired": 0, "lost": 0}

        outcomes = Counter(outcome for _, _, outcome in CALLS)
        assert figures.by("farm_calls_total", "outcome") == {kind: 4 * times for kind, times in outcomes.items()}
        assert figures.sum("farm_calls_total", environment="frail") == 4 * len(CALLS)
        assert figures.sum("farm_call_seconds_count") == 4 * len(CALLS)
        assert figures.sum("farm_call_guest_seconds_count") == 4 * REACHED_A_TOOL
        assert 0 < figures.sum("farm_call_guest_seconds_sum") < figures.sum("farm_call_seconds_sum")
        assert figures.sum("farm_calls_in_flight") == figures.sum("farm_guest_queue") == 0
        assert figures.sum("farm_open_state_files") == 3

        assert figures.sum("farm_scores_total", environment="frail", outcome="scored") == 2
        assert figures.sum("farm_score_seconds_count") == 2
        assert figures.sum("farm_guests") == len(guests(os.getpid()))
        ended = figures.sum("farm_guest_deaths_total")
        assert figures.sum("farm_guest_starts_total") == figures.sum("farm_guests") + ended
        assert figures.by("farm_guest_deaths_total", "cause") == {"exit 3": 8, "done": ended - 8}
        for worker in workers:
            walls = {wall for wall in WALLS if figures.sum("farm_wall", wall=wall, worker=worker) == 1}
            assert walls == set(WALLS) - set(address.missing_walls)
            assert figures.sum("process_resident_memory_bytes", worker=worker) > 10_000_000
        assert figures.sum("farm_infra_errors_total") == figures.sum("farm_registry_errors_total") == 0


@pytest.mark.parametrize("count", [1, 2])
async def test_who_is_turned_away_is_counted(shelf: Path, tmp_path: Path, count: int) -> None:
    options = Options(library=(shelf,), state=tmp_path / "state", port=0, workers=count)
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        [lease] = await client.launch("shop")
        assert lease.mcp_url is not None
        async with httpx.AsyncClient() as http:
            assert (await http.post(lease.mcp_url)).status_code == 401
            assert (await http.post(lease.mcp_url.replace(lease.instance, "0" * 16))).status_code == 404
            large = {"Authorization": f"Bearer {lease.token}", "Accept": "application/json, text/event-stream"}
            body = b'"%s"' % (b"x" * 2**20)
            large["Content-Type"] = "application/json"
            assert (await http.post(lease.mcp_url, content=body, headers=large)).status_code == 413
            for path in ("/metrics", "/v1/instances"):
                assert (await http.get(f"{address.url}{path}")).status_code == 401
            for token in (lease.token, "x"):
                answer = await http.get(f"{address.url}/metrics", headers={"Authorization": f"Bearer {token}"})
                assert answer.status_code == 401
                assert "farm_" not in answer.text
            ours = {"Authorization": f"Bearer {address.token}"}
            answer = await http.post(f"{address.url}/v1/instances", content=b"x" * (LARGEST_BODY + 1), headers=ours)
            assert answer.status_code == 413
            assert (await http.get(f"{address.url}/v1/instances/{'0' * 16}", headers=ours)).status_code == 404
        figures = await scraped(address.url, address.token)
        assert figures.by("farm_refused_requests_total", "status") == {"401": 1, "404": 1, "413": 1}
        assert figures.by("farm_refused_requests_total", "door") == {"agent": 3}
        assert figures.by("farm_registry_refused_requests_total", "status") == {"401": 4, "413": 1, "404": 1}


async def test_what_the_farm_could_not_do_is_counted_by_kind(shelf: Path, tmp_path: Path) -> None:
    options = Options(library=(shelf,), state=tmp_path / "state", port=0)
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        [lease] = await client.launch("shop", "dearer")
        (options.state / "worker-1" / "instances" / f"{lease.instance}.history").write_bytes(b"not a database" * 100)
        assert lease.mcp_url is not None
        assert lease.token is not None
        with pytest.raises(FarmUnreachable):
            async with connect(lease.mcp_url, lease.token) as toolbox:
                await toolbox.call("find", {})
        with pytest.raises(FarmError):
            await client.history(lease.instance)
        assert (await client.score(lease.instance)).outcome == "infra_error"
        figures = await scraped(address.url, address.token)
        assert figures.by("farm_infra_errors_total", "kind").keys() == {"StateError"}
        assert figures.by("farm_registry_errors_total", "kind") == {"StateError": 1}
        assert figures.by("farm_scores_total", "outcome") == {"infra_error": 1}
        assert figures.by("farm_calls_total", "outcome") == {}


async def test_leases_that_nobody_closed_and_instances_that_nobody_holds_are_counted(
    shelf: Path, tmp_path: Path
) -> None:
    clock = Clock()
    async with farms.running(Library([shelf]), tmp_path / "farm", clock, keep_seconds=60) as farm:
        [late, lost, _] = await farm.client.launch("shop", count=3)
        await farm.worker.launch(Launch(environment="shop"))
        await farm.worker.close(lost.instance)
        await farm.reaper.reconcile()
        clock.now += 100
        await farm.reaper.reconcile()
        await farm.client.heartbeat((await farm.client.leases(status="live")).items[0].instance)
        clock.now += late.ttl_seconds - 50
        await farm.reaper.reap()
        figures = await scraped(farm.url, TOKEN)
        assert figures.by("farm_leases", "status") == {"live": 1, "closed": 1, "expired": 1, "lost": 0}
        assert figures.sum("farm_leases_expired_total") == 1
        assert figures.sum("farm_leases_dropped_total") == 1
        assert figures.sum("farm_strangers_closed_total") == 1
        assert figures.sum("farm_instances") == 2  # the expired one is kept for a while
        clock.now += 20
        await farm.reaper.reap()
        assert (await scraped(farm.url, TOKEN)).sum("farm_instances") == 1


async def test_a_worker_that_does_not_answer_is_told_and_the_others_are_there(shelf: Path, tmp_path: Path) -> None:
    async with farms.running(Library([shelf]), tmp_path / "farm", Clock()) as farm:
        gone = RemoteWorker("http://127.0.0.1:1", "t")
        farm.registry.fleet.seats["gone"] = FleetMember("gone", gone.url, gone)
        figures = await scraped(farm.url, TOKEN)
        await gone.aclose()
        assert figures.by("farm_worker_answers", "worker") == {"local": 1, "gone": 0}
        assert figures.by("farm_instances", "worker") == {"local": 0}


async def test_a_guest_that_is_late_and_calls_that_wait_for_it_are_counted(frail: Path, tmp_path: Path) -> None:
    async with Worker(Library([frail]), tmp_path / "state", WorkerSettings(call_seconds=0.5)) as worker:
        tickets = await worker.launch(Launch(environment="frail", count=20))
        instances = [worker.find(ticket.instance) for ticket in tickets]
        calls = [asyncio.create_task(instance.call("hang", {})) for instance in instances[:1]]
        calls += [asyncio.create_task(instance.call("find", {})) for instance in instances]
        await until(lambda: figures_of(worker).sum("farm_guest_queue") > 0, "a call waits for a guest")
        assert figures_of(worker).sum("farm_calls_in_flight") == sum(not call.done() for call in calls) > 1
        assert [outcome.kind for outcome in await asyncio.gather(*calls)] == ["timeout"] + ["ok"] * 20
        await until(lambda: "late" in worker.guests.deaths, "the late guest is reaped")
        figures = figures_of(worker)
        assert figures.by("farm_guest_deaths_total", "cause")["late"] == 1
        assert figures.by("farm_calls_total", "outcome") == {"timeout": 1, "ok": 20}
        assert figures.sum("farm_calls_in_flight") == figures.sum("farm_guest_queue") == 0


def figures_of(worker: Worker) -> Figures:
    figures = [figure for family in families_of(worker) for figure in family.figures]
    return Figures({(figure.name, frozenset(figure.labels.items())): figure.value for figure in figures})


async def test_every_figure_is_in_the_documentation(shelf: Path, tmp_path: Path) -> None:
    page = (Path(__file__).parent.parent / "docs" / "how-to" / "operating.md").read_text(encoding="utf-8")
    listed = {name for row in re.findall(r"^\| (`farm_[^|]*)", page, re.MULTILINE) for name in re.findall(r"\w+", row)}
    async with farms.running(Library([shelf]), tmp_path / "farm", Clock()) as farm:
        text = (await farm.http.get("/metrics")).text
    assert listed == {name for name in re.findall(r"^# TYPE (\w+)", text, re.MULTILINE) if name.startswith("farm_")}


async def test_two_farms_in_one_process_count_each_for_itself(shelf: Path, tmp_path: Path) -> None:
    async with (
        farms.running(Library([shelf]), tmp_path / "one", Clock()) as one,
        farms.running(Library([shelf]), tmp_path / "other", Clock()) as other,
    ):
        instance = await one.launched("dearer")
        await one.call(instance, "find")
        await one.client.score(instance)
        mine, theirs = await scraped(one.url, TOKEN), await scraped(other.url, TOKEN)
        for name in ("farm_launches_total", "farm_calls_total", "farm_scores_total", "farm_instances"):
            assert (mine.sum(name), theirs.sum(name)) == (1, 0)
