"""The processes that run untrusted code: forked, killed, forked again."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import pytest_asyncio

from servers.bundle_library import Library
from servers.errors import GuestDied, GuestLate, StateError
from servers.files.spooled import SpooledBytes
from servers.limits.memory import BufferBudget, excess
from servers.messages import Launch
from servers.sandbox.guest_pool import LARGEST_CALL_REPLY, Guest, Guests
from servers.worker.instance import Instance
from servers.worker.worker import Worker
from tests.bundles import TOOLS, write_bundle
from tests.processes import offspring, until
from tests.told import history_of


@pytest_asyncio.fixture
async def worker(own_worker: Worker) -> Worker:
    """A worker of one test, which is counted on or hurt."""
    return own_worker


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


async def test_a_guest_that_is_killed_is_replaced_within_the_call(instance: Instance, worker: Worker) -> None:
    for number in range(5):
        assert (await instance.call("make", {"name": f"thing {number}"})).kind == "ok"
        assert instance.guest is not None
        os.kill(instance.guest.pid, signal.SIGKILL)
    assert [call.outcome for call in await history_of(worker, instance.id)] == ["ok"] * 5
    assert len((await worker.query(instance.id, "SELECT * FROM things")).rows) == 8


async def test_when_the_parent_of_all_guests_is_killed_another_is_started(instance: Instance, worker: Worker) -> None:
    for number in range(3):
        assert (await instance.call("make", {"name": f"thing {number}"})).kind == "ok"
        assert instance.guest is not None
        os.kill(parent_of(instance.guest.pid), signal.SIGKILL)
    assert (await instance.call("find", {"text": "thing"})).kind == "ok"
    assert [call.outcome for call in await history_of(worker, instance.id)] == ["ok"] * 4


async def test_a_parent_of_guests_that_is_killed_at_the_start_is_started_again() -> None:
    before = {one.pid for one in offspring(os.getpid())}

    def parents() -> list[int]:
        return [one.pid for one in offspring(os.getpid()) if one.pid not in before and one.parent == os.getpid()]

    async with Guests() as guests:
        starting = asyncio.create_task(guests.walls())
        await until(lambda: bool(parents()), "the parent is there")
        os.kill(parents()[0], signal.SIGKILL)
        assert await starting


async def test_guests_of_ordinary_code_lack_what_only_code_from_elsewhere_may_import() -> None:
    source = b"import shlex, servers.imported.running"
    async with Guests() as guests:
        async with guests.fresh() as guest:
            reply, _ = await guest.ask({"do": "load"}, b"import statistics", seconds=10)
            assert "error" not in reply
            reply, _ = await guest.ask({"do": "load"}, source, seconds=10)
            assert "error" in reply
        reply, _ = await guests.job({"do": "describe"}, source, seconds=10)
        assert "error" not in reply
        async with guests.fresh() as guest:
            reply, _ = await guest.ask({"do": "load"}, source, seconds=10)
            assert "error" not in reply


async def test_a_fork_that_nobody_waits_for_any_more_is_not_taken_for_another() -> None:
    async with Guests() as guests:
        os.kill((await guests.fork()).pid, signal.SIGKILL)  # it only warms the parent up
        for steps in range(20):
            forking = asyncio.create_task(guests.fork())
            for _ in range(steps):
                await asyncio.sleep(0)
            forking.cancel()
            with suppress(asyncio.CancelledError):
                os.kill((await forking).pid, signal.SIGKILL)
            guest = await guests.fork()
            async with guest.turn():
                head, _ = await guest.ask({"do": "describe"}, b"import os; raise ValueError(os.getpid())", seconds=5)
            assert head["findings"][0].endswith(f"ValueError: {guest.pid}")
            os.kill(guest.pid, signal.SIGKILL)


def started(command: list[str], *files: int) -> subprocess.Popen[bytes]:
    """A process that stands for a guest."""
    return subprocess.Popen(command, pass_fds=files)


async def test_a_guest_that_never_says_that_its_walls_stand_is_not_waited_for() -> None:
    ours, theirs = socket.socketpair()
    with theirs, started(["sleep", "600"]) as process:
        guest = Guest(process.pid, BufferBudget(1_000_000))
        with pytest.raises(GuestLate, match="waited for something else than 'its first word'"):
            await guest.open(ours)
        assert process.wait(10) == -signal.SIGKILL


RESTLESS = """
import socket, sys
from servers.guest.frames import packed, receive
channel = socket.socket(fileno=int(sys.argv[1]))
channel.sendall(packed({"walls": []}))
head, _ = receive(channel)
channel.sendall(packed({"nonce": head["nonce"]}))
while True:
    pass
"""


async def test_a_guest_that_uses_the_processor_after_its_answer_is_ended() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        process = started([sys.executable, "-c", RESTLESS, str(theirs.fileno())], theirs.fileno())
    guest = Guest(process.pid, BufferBudget(1_000_000))
    await guest.open(ours)
    async with guest.turn():
        await guest.ask({"do": "describe"}, seconds=60)

    def is_ended() -> bool:
        guest.end_if_restless()
        return guest.cause == "restless"

    await until(is_ended, "it is ended")
    assert process.wait(10) == -signal.SIGKILL


RESTLESS_TOOLS = '''

def linger(db: Database) -> dict:
    """Answer, and go on afterwards."""
    from servers.guest import process

    def receive(connection):
        while True:
            pass

    process.receive = receive
    return {"done": True}
'''


async def test_a_guest_of_a_worker_that_goes_on_after_its_answer_is_ended(tmp_path: Path) -> None:
    """Such tools have defeated the gate: they replace what waits for the next request."""
    await write_bundle(tmp_path / "shelf" / "shop", tools=TOOLS + RESTLESS_TOOLS, scenarios=())
    async with Worker(Library([tmp_path / "shelf"]), tmp_path / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
        instance = worker.find(ticket.instance)
        assert (await instance.call("linger", {})).kind == "ok"
        await until(lambda: "restless" in worker.guests.deaths, "its guest is ended")
        assert (await instance.call("find", {})).kind == "ok"
        assert [call.outcome for call in await history_of(worker, instance.id)] == ["ok", "ok"]


# memory


class Sender:
    """A buffer that remembers that it was given up."""

    def __init__(self) -> None:
        self.given_up = False

    def give_up(self) -> None:
        self.given_up = True


def test_the_largest_of_unfinished_messages_is_given_up_when_all_are_too_large_together() -> None:
    budget = BufferBudget(10)
    small, middle, large = Sender(), Sender(), Sender()
    for sender, size in ((large, 6), (middle, 3), (small, 1)):
        budget.hold(sender, size)
    assert not any(sender.given_up for sender in (small, middle, large))
    budget.hold(small, 2)
    assert (small.given_up, middle.given_up, large.given_up) == (False, False, True)
    assert budget.total == 5
    budget.release(middle)
    assert budget.total == 2


def describing(answer: str) -> bytes:
    """A tools.py that says something on its guest's socket when it is loaded, and then does nothing."""
    return f"""
import struct, sys, time
serve = sys._getframe()
while "connection" not in serve.f_locals:
    serve = serve.f_back
channel = serve.f_locals["connection"]
{answer}
time.sleep(60)
""".encode()


async def asked(guest: Guest, source: bytes) -> None:
    async with guest.turn():
        await guest.ask({"do": "describe"}, source, seconds=60)


async def test_the_guest_with_the_longest_unfinished_reply_is_ended_and_nothing_of_it_is_kept() -> None:
    partial = "channel.sendall(struct.pack('!II', 10, {}) + bytes({}))"
    async with Guests(most_buffered=3_000_000) as guests:
        short, long = await guests.fork(), await guests.fork()
        waiting = asyncio.create_task(asked(short, describing(partial.format(3_000_000, 1_000_000))))
        with pytest.raises(GuestDied, match="had sent the most"):
            await asked(long, describing(partial.format(3_000_000, 2_500_000)))
        assert short.ended is None
        await until(lambda: guests.buffered >= 900_000, "the other's beginning is there")
        short.kill("done", "the test is over")
        with pytest.raises(GuestDied):
            await waiting
        assert guests.buffered == 0


async def test_a_reply_to_a_call_is_bounded_more_tightly_than_an_image() -> None:
    announce = f"channel.sendall(struct.pack('!II', 10, {LARGEST_CALL_REPLY + 1}))"
    async with Guests() as guests:
        guest = await guests.fork()
        async with guest.turn():
            with pytest.raises(GuestDied, match="announced"):
                await guest.ask({"do": "load"}, describing(announce), seconds=60)


EARLY = """
import signal, socket, sys
from servers.guest.frames import packed
channel = socket.socket(fileno=int(sys.argv[1]))
channel.sendall(packed({"walls": []}))
channel.recv(1000)
channel.sendall(packed({}))
channel.recv(1000, socket.MSG_PEEK)
signal.pause()
"""


async def test_a_guest_that_answers_before_it_was_told_everything_is_ended() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        process = started([sys.executable, "-c", EARLY, str(theirs.fileno())], theirs.fileno())
    guest = Guest(process.pid, BufferBudget(1_000_000))
    await guest.open(ours)
    async with guest.turn():
        with pytest.raises(GuestDied, match="spoke without being asked"):
            await guest.ask({"do": "describe"}, b"x" * 8_000_000, seconds=60)
    assert process.wait(10) == -signal.SIGKILL


BUILD = (
    {"do": "build", "now": "2026-01-05 08:00:00"},
    b"CREATE TABLE t (a INTEGER PRIMARY KEY, b);",
    b"INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
    b" SELECT i, printf('%0900d', i) FROM n",
    b"",
)


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_a_long_image_arrives_in_a_file_without_a_name(tmp_path: Path) -> None:
    async with Guests(folder=tmp_path) as guests:
        head, image = await guests.image_job(*BUILD, seconds=60)
    assert (head["findings"], type(image), files_in(tmp_path)) == ([], SpooledBytes, [])
    assert image[:6] == b"SQLite"
    assert len(image) == int.from_bytes(image[28:32], "big") * 1024


async def test_an_image_for_which_the_disk_has_no_room_is_nobodys_fault(small_disk: Path) -> None:
    async with Guests(folder=small_disk) as guests:
        with pytest.raises(StateError, match="the state folder takes no image: No space left on device"):
            await guests.image_job(*BUILD, seconds=60)
    assert guests.deaths.get("lied") is None


def test_idle_guests_with_more_than_their_share_are_ended_first() -> None:
    sizes = {1: 900, 2: 500, 3: 400, 4: 10}
    assert excess(sizes, idle={2, 3, 4}, most=2000) == []
    assert excess(sizes, idle={2, 3, 4}, most=1400) == [2]
    assert excess(sizes, idle={2, 3, 4}, most=1000) == [2, 3]
    assert excess(sizes, idle={2, 3, 4}, most=800) == [2, 3, 1]
    assert excess(sizes, idle=set(), most=1000) == [1]


async def test_an_idle_guest_that_holds_much_memory_is_ended(instance: Instance, worker: Worker) -> None:
    assert (await instance.call("find", {})).kind == "ok"
    assert instance.guest is not None
    worker.guests.end_excess()
    assert instance.guest.ended is None
    assert worker.guests.memory > 0
    worker.guests.end_excess(most=worker.guests.memory // 2)
    assert (instance.guest.cause, instance.guest.ended is None) == ("memory", False)
    assert (await instance.call("find", {})).kind == "ok"


async def test_a_worker_that_closes_leaves_no_process(instance: Instance, worker: Worker) -> None:
    assert (await instance.call("find", {})).kind == "ok"
    assert instance.guest is not None
    zygote = parent_of(instance.guest.pid)
    await worker.guests.close()
    assert not exists(zygote)
    assert (await instance.call("find", {})).kind == "ok"  # and another is started when it is needed
