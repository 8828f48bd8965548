"""A farm from `farm up` to its end: what it serves, what it keeps, what it refuses, and that nothing is left of it."""

import asyncio
import json
import os
import re
import shutil
import signal
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent_client.errors import FarmUnreachable
from agent_client.play import Limits, play
from agent_client.scripted_model import ScriptedCall, ScriptedModel
from agent_client.toolbox import connect
from registry.client import FarmClient, address_of
from registry.farm import Options, private, running
from registry.messages import Lease
from servers.bundle_library import OWN_LIBRARY, Library
from servers.errors import BundleError, NotFound, RequestError
from servers.worker.settings import WorkerSettings
from tests.bundles import SOUND_SCENARIO, TOOLS, with_description, write, write_bundle
from tests.processes import (
    AS_ANYBODY,
    LONG,
    WITHOUT_RIGHTS,
    farm,
    farm_up,
    free_ports,
    guests,
    seconds_used,
    started,
    until,
    watching_for_orphans,
    workers,
)


async def called(lease: Lease, tool: str, **arguments: object) -> str:
    """Make one call as an agent: with the URL and the token of a lease, and nothing else."""
    assert lease.mcp_url is not None
    assert lease.token is not None
    async with connect(lease.mcp_url, lease.token) as toolbox:
        return (await toolbox.call(tool, arguments)).text


@pytest.mark.parametrize("count", [1, 2])
async def test_an_agent_plays_and_the_registry_judges(shelf: Path, tmp_path: Path, count: int) -> None:
    options = Options(library=(shelf, OWN_LIBRARY), state=tmp_path / "state", port=0, workers=count)
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        assert [card.id for card in (await client.environments()).items] == sorted(
            [*Library([OWN_LIBRARY]).ids(), "shop"]
        )
        [lease] = await client.launch("shop", "dearer")
        assert (await client.score(lease.instance)).reward == 0
        model = ScriptedModel([ScriptedCall(tool="price", arguments={"id": "t2", "cents": 250})], "Done.")
        assert lease.mcp_url is not None
        assert lease.token is not None
        async with connect(lease.mcp_url, lease.token) as toolbox:
            trace = await play(model, toolbox, "Please let the bell cost 2.50.", limits=Limits())
        assert (trace.end, trace.calls) == ("finished", 1)
        score = await client.score(lease.instance, trace.answer)
        assert (score.outcome, score.reward, score.success) == ("scored", 1.0, True)
        health = await client.health()
        assert (health.status, health.workers, health.instances) == ("ok", count, 1)


async def test_the_token_is_kept_for_its_owner_alone_and_used_again(shelf: Path, tmp_path: Path) -> None:
    options = Options(library=(shelf,), state=tmp_path / "state", port=0)
    async with running(options) as first:
        assert stat.S_IMODE((options.state / "token").stat().st_mode) == 0o600
        kept = address_of(options.state)
        assert (kept.url, kept.token) == (first.url, first.token)
    async with running(options) as second:
        assert second.token == first.token
        assert len(second.token) >= 32
        async with FarmClient(second.url, first.token) as client:
            assert (await client.workers()).items[0].answers


async def test_a_secret_that_was_not_written_to_its_end_is_made_anew(shelf: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    write(state, {"token": ""})
    write(state / "worker-1", {"secret": ""})
    async with (
        running(Options(library=(shelf,), state=state, port=0)) as address,
        FarmClient(address.url, address.token) as client,
    ):
        assert len(address.token) >= 32
        assert (state / "worker-1" / "secret").stat().st_size == 32
        [lease] = await client.launch("shop")
        assert "anvil" in await called(lease, "find")


async def test_a_token_that_is_given_is_used_and_not_written_down(shelf: Path, tmp_path: Path) -> None:
    options = Options(library=(shelf,), state=tmp_path / "state", port=0, token="a token of my own")
    async with running(options) as address, FarmClient(address.url, "a token of my own") as client:
        assert (await client.leases()).total == 0
    for path in options.state.rglob("*"):
        assert path.is_dir() or b"a token of my own" not in path.read_bytes()


async def test_a_name_of_this_machine_for_others_is_in_what_agents_get(shelf: Path, tmp_path: Path) -> None:
    anywhere = Options(library=(shelf,), state=tmp_path / "state", host="0.0.0.0", port=0, workers=2)  # noqa: S104
    options = replace(anywhere, public_host="localhost", worker=WorkerSettings(walls_required=False))
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        assert address.url.startswith("http://localhost:")
        for lease in await client.launch("shop", count=2):
            assert (lease.mcp_url or "").startswith("http://localhost:")
            assert "anvil" in await called(lease, "find")


async def test_what_is_raised_inside_a_farm_comes_out_as_it_is(shelf: Path) -> None:
    with pytest.raises(NotFound, match="no environment 'zoo'"):
        async with private((shelf,)) as address, FarmClient(address.url, address.token) as client:
            await client.environment("zoo")


async def test_a_private_farm_leaves_nothing_behind(shelf: Path) -> None:
    with watching_for_orphans() as left:
        async with private((shelf,)) as address, FarmClient(address.url, address.token) as client:
            [lease] = await client.launch("shop")
            await called(lease, "find")
            assert len(guests(os.getpid())) == 1
        await until(lambda: not left(), "all processes of the farm are gone")


async def test_a_folder_where_no_farm_was_started_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no farm was started on"):
        address_of(tmp_path)


@pytest.mark.parametrize("name", ["url", "token"])
def test_what_is_no_file_in_a_state_folder_is_not_waited_for(tmp_path: Path, name: str) -> None:
    (tmp_path / "url").write_text("http://127.0.0.1:1")
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(NotFound, match=f"{name}: cannot be read: it is a pipe"):
        address_of(tmp_path)
    (tmp_path / name).unlink()
    (tmp_path / name).write_bytes(b"\xff")
    with pytest.raises(NotFound, match=f"{name}: cannot be read: not UTF-8 at byte 0"):
        address_of(tmp_path)


async def test_a_second_farm_on_the_same_folder_says_so(shelf: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with running(Options(library=(shelf,), state=state, port=0)) as address:
        holder = f"process {os.getpid()}"
        for port in ("0", address.url.rpartition(":")[2]):  # its own port is no better reason
            done = await farm("up", "--state", state, "--port", port, home=tmp_path)
            assert done == (
                2,
                "",
                f"farm: another farm uses the state folder {state} ({holder}); stop it, or choose another folder\n",
            )
        assert address_of(state).url == address.url


async def test_a_second_farm_on_a_busy_port_says_so(shelf: Path, tmp_path: Path) -> None:
    async with running(Options(library=(shelf,), state=tmp_path / "state", port=0)) as address:
        port = address.url.rpartition(":")[2]
        done = await farm("up", "--state", tmp_path / "other", "--port", port, home=tmp_path)
    said = f"farm: cannot listen on 127.0.0.1:{port}: Address already in use; choose another with --port\n"
    assert done == (2, "", said)


async def test_a_port_of_a_worker_that_is_busy_ends_the_farm_before_it_began(shelf: Path, tmp_path: Path) -> None:
    port = free_ports(3)
    async with running(Options(library=(shelf,), state=tmp_path / "one", port=port + 2)):
        with watching_for_orphans() as left:
            with pytest.raises(RequestError, match=f"cannot listen on 127.0.0.1:{port + 2}"):
                async with running(Options(library=(shelf,), state=tmp_path / "two", port=port, workers=2)):
                    raise AssertionError("it has begun")
            await until(lambda: not left(), "the first worker is gone")


async def test_a_library_that_is_not_there_says_so(tmp_path: Path) -> None:
    done = await farm("up", "--state", tmp_path / "state", "--port", "0", "--library", tmp_path / "no", home=tmp_path)
    assert done == (2, "", f"farm: --library {tmp_path / 'no'}: no such folder\n")


@AS_ANYBODY
async def test_a_state_folder_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    for state in (locked, locked / "state"):
        done = await farm("up", "--state", state, "--port", "0", home=tmp_path, launcher=WITHOUT_RIGHTS)
        assert done == (2, "", f"farm: the state folder {state} cannot be used: Permission denied\n")


@AS_ANYBODY
async def test_a_umask_that_takes_files_from_their_owner_breaks_no_command(tmp_path: Path) -> None:
    launcher = (*WITHOUT_RIGHTS, "sh", "-c", 'umask 777; exec "$@"', "sh")
    made = await farm("new", "shop", home=tmp_path, launcher=launcher)
    assert (made.code, made.err) == (0, "")
    served = await farm("serve", "./shop", home=tmp_path, launcher=launcher)  # its client is gone at once
    assert "Traceback" not in served.err
    assert served.code == 0, served.err
    assert (tmp_path / "shop").stat().st_mode & 0o777 == 0o700


async def test_a_file_in_place_of_the_state_folder_is_an_error(shelf: Path, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    for state in (tmp_path / "state", tmp_path / "state" / "below"):
        with pytest.raises(RequestError, match=f"cannot be used: {tmp_path}/state is a file; choose a folder"):
            async with running(Options(library=(shelf,), state=state, port=0)):
                raise AssertionError("it has begun")
    with pytest.raises(NotFound, match="state is a file; the state of a farm is a folder"):
        address_of(tmp_path / "state")


async def test_a_broken_bundle_does_not_stop_the_farm(shelf: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    for name in ("shop", "half_written", "not_json", "cannot_run"):
        shutil.copytree(shelf / "shop", library / name)
        with_description(library / name, id=name)
    (library / "half_written" / "policy.md").unlink()
    write(library / "not_json", {"environment.json": "{"})
    write(library / "cannot_run", {"tools.py": "def find(:"})
    async with (
        running(Options(library=(library,), state=tmp_path / "state", port=0)) as address,
        FarmClient(address.url, address.token) as client,
    ):
        found = await client.environments()
        assert found.broken.keys() >= {"half_written", "not_json"}
        assert (await client.health()).status == "ok"
        [lease] = await client.launch("shop")
        assert "anvil" in await called(lease, "find")


async def test_a_library_of_200_bundles_is_served(shelf: Path, tmp_path: Path) -> None:
    for number in range(200):
        folder = shutil.copytree(shelf / "shop", tmp_path / "library" / f"shop_{number}")
        with_description(folder, id=folder.name)
    async with (
        farm_up(tmp_path / "state", "--port", "0", "--library", tmp_path / "library", home=tmp_path) as up,
        FarmClient(up.url, up.token) as client,
    ):
        assert (await client.health()).status == "ok"
        assert (await client.environments()).total == 200 + len(Library([OWN_LIBRARY]).ids())
        [lease] = await client.launch("shop_199")
        assert "anvil" in await called(lease, "find")


@pytest.mark.parametrize(("number", "count"), [(signal.SIGINT, 1), (signal.SIGTERM, 2)])
async def test_a_signal_ends_a_farm_cleanly(tmp_path: Path, number: signal.Signals, count: int) -> None:
    with watching_for_orphans() as left:
        async with farm_up(tmp_path / "state", "--port", "0", "--workers", str(count), home=tmp_path) as up:
            async with FarmClient(up.url, up.token) as client, httpx.AsyncClient(base_url=up.url) as idle:
                await idle.get("/v1/health")
                for lease in await client.launch("library_loans", count=2):
                    await called(lease, "find_books")
            assert len(guests(up.pid)) == count
            assert len(workers(up.pid)) == (0 if count == 1 else count)
            done = await up.ended_by(number)
        assert done.code == 0
        assert {event["level"] for event in done.events} <= {"info"}
        assert done.out.endswith("Closing: calls under way are finished.\n")
        await until(lambda: not left(), "all processes of the farm are gone")


def is_told_to_end(pid: int) -> bool:
    """Whether a SIGTERM waits for a process that is stopped."""
    [pending] = re.findall(r"^ShdPnd:\t(\w+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return bool(int(pending, 16) & 1 << (signal.SIGTERM - 1))


async def test_worker_processes_are_ended_side_by_side(tmp_path: Path) -> None:
    async with farm_up(tmp_path / "state", "--port", "0", "--workers", "2", home=tmp_path) as up:
        slow = [one.pid for one in workers(up.pid)]
        for one in slow:
            os.kill(one, signal.SIGSTOP)
        os.kill(up.pid, signal.SIGTERM)
        await until(lambda: all(map(is_told_to_end, slow)), "both are told to end while neither has ended")
        for one in slow:
            os.kill(one, signal.SIGCONT)
        assert (await up.started.ended()).code == 0


@pytest.mark.parametrize("count", [1, 2])
async def test_instances_tokens_and_states_are_there_after_a_restart(shelf: Path, tmp_path: Path, count: int) -> None:
    port = free_ports(count + 1)
    options = Options(library=(shelf,), state=tmp_path / "state", port=port, workers=count)
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        leases = await client.launch("shop", "dearer", count=3)
        for number, lease in enumerate(leases):
            await called(lease, "price", id="t2", cents=250 + number)
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        for number, lease in enumerate(leases):
            again = await client.lease(lease.instance)
            assert again.expires_at > lease.expires_at  # while the farm was down, no time passed
            assert again.model_copy(update={"expires_at": lease.expires_at}) == lease
            assert (await client.history(lease.instance)).total == 1
            assert f'"cents": {250 + number}' in await called(lease, "find", text="bell")
        rewards = [(await client.score(lease.instance)).reward for lease in leases]
        assert rewards == [1.0, 0.0, 0.0]
        for lease in leases:
            await client.close(lease.instance)
        with pytest.raises(FarmUnreachable, match="it was closed"):
            await called(leases[0], "find")


async def test_a_worker_that_a_farm_no_longer_has_is_listed_while_it_has_instances(shelf: Path, tmp_path: Path) -> None:
    two = Options(library=(shelf,), state=tmp_path / "state", port=0, workers=2)
    async with running(two) as address, FarmClient(address.url, address.token) as client:
        leases = await client.launch("shop", count=2)
    one = replace(two, workers=1)
    async with running(one) as address, FarmClient(address.url, address.token) as client:
        seen = [(worker.name, worker.answers, worker.instances) for worker in (await client.workers()).items]
        assert seen == [("worker-1", True, 1), ("worker-2", False, 1)]
        for lease in leases:
            await client.close(lease.instance)
    async with running(one) as address, FarmClient(address.url, address.token) as client:
        assert [worker.name for worker in (await client.workers()).items] == ["worker-1"]


async def test_instances_are_spread_over_workers_and_reached_at_their_own(shelf: Path, tmp_path: Path) -> None:
    options = Options(library=(shelf,), state=tmp_path / "state", port=0, workers=2)
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        leases = await client.launch("shop", count=6)
        urls = {worker.name: worker.url for worker in (await client.workers()).items}
        assert len({address.url, *urls.values()}) == 3
        for name, url in urls.items():
            mine = [lease for lease in leases if lease.worker == name]
            assert len(mine) == 3
            for lease in mine:
                assert lease.mcp_url == f"{url}/i/{lease.instance}/mcp"
                assert "anvil" in await called(lease, "find")
        [lease, other] = [next(one for one in leases if one.worker == name) for name in urls]
        elsewhere = lease.model_copy(update={"mcp_url": f"{urls[other.worker]}/i/{lease.instance}/mcp"})
        with pytest.raises(FarmUnreachable, match="no instance"):
            await called(elsewhere, "find")
        [fork] = await client.fork(lease.instance)
        assert fork.worker == lease.worker


async def test_each_door_of_a_worker_opens_for_its_own_token_alone(shelf: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    options = Options(library=(shelf,), state=state, port=0, workers=2)
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        leases = await client.launch("shop", count=4)
        url = (await client.workers()).items[0].url
        lease = next(one for one in leases if one.worker == "worker-1")
        for token in (*(one.token for one in leases), address.token, "x"):
            async with httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {token}"}) as http:
                for order in ("ids", "launch", "snapshot", "nothing"):
                    answer = await http.post(f"/w/{order}", json={"instance": lease.instance})
                    assert answer.status_code == 401
                assert (await http.get("/v1/health")).status_code == 404
        for token in (address.token, "x", *(one.token for one in leases if one != lease)):
            with pytest.raises(FarmUnreachable, match="refused the token"):
                await called(lease.model_copy(update={"token": token}), "find")
        for one in leases:
            async with FarmClient(address.url, one.token or "") as intruder:
                with pytest.raises(RequestError, match="refuses the control token"):
                    await intruder.score(one.instance)


async def test_workers_end_with_a_farm_that_is_killed_before_they_answer(tmp_path: Path) -> None:
    with watching_for_orphans() as left:
        up = await started("up", "--state", tmp_path / "state", "--port", "0", "--workers", "2", home=tmp_path)
        await until(lambda: bool(workers(up.pid)), "a worker is started")
        up.send(signal.SIGKILL)
        await up.ended()
        await until(lambda: not left(), "the worker is gone")


@pytest.mark.slow
async def test_a_worker_that_hangs_does_not_keep_a_farm_from_ending(tmp_path: Path) -> None:
    with watching_for_orphans() as left:
        async with farm_up(tmp_path / "state", "--port", "0", "--workers", "2", home=tmp_path) as up:
            os.kill(workers(up.pid)[0].pid, signal.SIGSTOP)
            done = await up.ended_by(signal.SIGTERM)
        assert done.code == 0
        await until(lambda: not left(), "all processes of the farm are gone")


ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
ENDLESS_CHECKPOINTS: list[dict[str, Any]] = [
    *(
        {"id": f"sql_{n}", "role": "goal", "question": "Ends it?", "kind": "sql", "sql": ENDLESS, "expect": [[1]]}
        for n in range(20)
    ),
    {
        "id": "python",
        "role": "goal",
        "question": "Ends it?",
        "kind": "python",
        "python": "def check(start, final, answer, calls):\n    while True:\n        pass\n",
    },
]


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2])
async def test_a_farm_ends_in_time_whatever_is_judged_and_logs_no_traceback(tmp_path: Path, count: int) -> None:
    """Some clients have gone away, and others still wait when it is told to end."""
    scenarios = [
        {**SOUND_SCENARIO, "id": name, "checkpoints": checkpoints}
        for name, checkpoints in (("sql", ENDLESS_CHECKPOINTS), ("python", ENDLESS_CHECKPOINTS[-1:]))
    ]
    await write_bundle(tmp_path / "shelf" / "shop", scenarios=scenarios)
    options = ("--port", "0", "--library", tmp_path / "shelf", "--workers", str(count))
    with watching_for_orphans() as left:
        async with farm_up(tmp_path / "state", *options, home=tmp_path) as up, FarmClient(up.url, up.token) as client:
            instances = [(await client.launch("shop", name))[0].instance for name in ("sql", "python") * 4]
            headers = {"Authorization": f"Bearer {up.token}"}
            async with httpx.AsyncClient(base_url=up.url, headers=headers, timeout=LONG) as http:
                asking = [
                    asyncio.create_task(http.post(f"/v1/instances/{instance}/{what}", json=body))
                    for instance in instances
                    for what, body in (("score", {}), ("query", {"sql": ENDLESS}))
                ]
                await until(lambda: any(seconds_used(guest.pid) > 0.5 for guest in guests(up.pid)), "they are judged")
                for task in asking[::2]:
                    task.cancel()
                done = await up.ended_by(signal.SIGTERM)
                await asyncio.gather(*asking, return_exceptions=True)
        assert done.code == 0
        assert not [event for event in done.events if "Traceback" in json.dumps(event)]
        await until(lambda: not left(), "all processes of the farm are gone")


STUCK = """
import asyncio, threading
from servers.doors.worker_process import ending_on_signals

async def main():
    task = asyncio.create_task(asyncio.to_thread(threading.Event().wait))
    with ending_on_signals(seconds_to_end=0.1) as told:
        print("begun")
        await told.wait()

asyncio.run(main())
"""


async def test_a_process_that_does_not_end_by_itself_is_ended() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-u", "-c", STUCK, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    await process.stdout.readline()
    process.terminate()
    async with asyncio.timeout(LONG):
        assert await process.wait() == 1


TOLD_EARLY = """
import asyncio, os, signal
from servers.doors.worker_process import ending_on_signals

async def main():
    with ending_on_signals() as told:
        os.kill(os.getpid(), signal.SIGTERM)  # before anybody waits
        await told.wait()

asyncio.run(main())
"""


async def test_a_signal_between_the_first_line_and_the_wait_ends_a_process_in_order() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", TOLD_EARLY)
    async with asyncio.timeout(LONG):
        assert await process.wait() == 0


async def test_a_farm_launches_no_tools_that_the_gate_refuses(tmp_path: Path) -> None:
    """What `typing` remembers of one instance's call, another instance's could find."""
    keeps = "import typing\n\n\ndef _keep(text: str) -> None:\n    typing.overload(lambda: text)\n"
    folder = await write_bundle(tmp_path / "shelf" / "shop", tools=keeps + TOOLS, scenarios=())
    options = Options(library=(folder.parent,), state=tmp_path / "state", port=0)
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        with pytest.raises(BundleError, match=r"tools\.py: .*overload"):
            await client.launch("shop")
    async with (
        running(replace(options, worker=WorkerSettings(gated=False))) as address,
        FarmClient(address.url, address.token) as client,
    ):
        assert len(await client.launch("shop")) == 1
