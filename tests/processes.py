"""`farm` as a user runs it: a command that ends, or a farm that stays; and what is left of either afterwards."""

import asyncio
import atexit
import ctypes
import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple

import pytest

from servers.limits.process_clock import cpu_seconds
from tests.command_server import NUMBER, Command, place, send

ROOT = Path(__file__).parent.parent
LONG = 180.0
"""Seconds that bound every wait here, also on a machine with much else to do. They measure nothing."""
PR_SET_CHILD_SUBREAPER = 36
TELLS_ITS_URL = re.compile(r"Farm at (http://\S+)")

WITHOUT_RIGHTS = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if os.geteuid() == 0 else ()
"""Before a command: root may then write no more than anybody else."""
AS_ANYBODY = pytest.mark.skipif(
    bool(WITHOUT_RIGHTS) and not shutil.which("setpriv"), reason="root, and no setpriv to be less"
)
"""For tests of what may not be written."""

XDIST = {name: os.environ[name] for name in ("PYTEST_XDIST_WORKER",) if name in os.environ}
"""Which of the processes that run tests side by side this one is."""

FORKED = """\
#!{python} -IS
import os, socket, sys
sys.path.insert(0, {root!r})
from tests.command_server import NUMBER, Command, place, send
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect({socket!r})
    send(connection, Command(sys.argv[1:], dict(os.environ), os.getcwd(), script={script}), [0, 1, 2])
    connection.recv(NUMBER.size)
    [code] = NUMBER.unpack(connection.recv(NUMBER.size))
sys.exit(code)
"""


class Done(NamedTuple):
    """What a command that has ended left: its exit code, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        """What it logged, line by line. Raises ValueError where a line is no event: a traceback, a warning."""
        return [json.loads(line) for line in self.err.splitlines()]


@dataclass(frozen=True)
class Started:
    """A process of `farm`. What it logs goes into a file, for a pipe that nobody reads would stop it."""

    pid: int
    out: asyncio.StreamReader
    err: IO[bytes]
    end: asyncio.Task[int]

    @property
    def runs(self) -> bool:
        return not self.end.done()

    def send(self, number: signal.Signals) -> None:
        """Send a signal. Not through asyncio, which would take the exit code of a process that has just ended."""
        with suppress(ProcessLookupError):
            if self.runs:
                os.kill(self.pid, number)

    async def ended(self) -> Done:
        """Wait for the end."""
        async with asyncio.timeout(LONG):
            out = await self.out.read()
            code = await self.end
        with self.err as err:
            err.seek(0)
            return Done(code, out.decode(), err.read().decode())


async def started(
    *arguments: str | Path,
    home: Path,
    launcher: tuple[str, ...] = (),
    cold: bool = False,
    leads: bool = False,
    **environment: str,
) -> Started:
    """Start `farm` in a home of its own, and wait for nothing. See `farm` for `cold`.

    One that leads has a process group of its own, unless it is `cold`.
    """
    err = tempfile.TemporaryFile()  # noqa: SIM115 - it is read when the process has ended
    command = Command([*map(str, arguments)], {**environment_of(home), **environment}, str(home), leads)
    if cold or launcher:
        return await _executed(command, launcher, err)
    reading, writing = os.pipe()
    out = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(out), os.fdopen(reading, "rb", buffering=0)
    )
    with tempfile.TemporaryFile() as nothing, os.fdopen(writing, "wb") as ours:
        connection = _asked(command, [nothing.fileno(), ours.fileno(), err.fileno()])
    pid = await _number(connection)
    return Started(pid, out, err, asyncio.create_task(_code(connection)))


async def _executed(command: Command, launcher: tuple[str, ...], err: IO[bytes]) -> Started:
    process = await asyncio.create_subprocess_exec(
        *(*launcher, sys.executable, "-m", "farm", *command.arguments),
        cwd=command.folder,
        env=command.environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=err,
    )
    assert process.stdout is not None
    return Started(process.pid, process.stdout, err, asyncio.create_task(process.wait()))


async def farm(
    *arguments: str | Path,
    home: Path,
    launcher: tuple[str, ...] = (),
    cold: bool = False,
    typed: str = "",
    **environment: str,
) -> Done:
    """Run `farm` to its end, in a fork of a process that has imported everything.

    `cold` starts Python for it, as a shell does: for tests of what is imported, or of Python's own start. `typed` is
    its standard input, unless it is `cold`.
    """
    if cold or launcher:
        return await (
            await started(*arguments, home=home, launcher=launcher, cold=True, leads=False, **environment)
        ).ended()
    command = Command([*map(str, arguments)], {**environment_of(home), **environment}, str(home))
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        tempfile.TemporaryFile() as given,
    ):
        given.write(typed.encode())
        given.seek(0)
        connection = _asked(command, [given.fileno(), out.fileno(), err.fileno()])
        async with asyncio.timeout(LONG):
            await _number(connection)
            code = await _code(connection)
        for one in (out, err):
            one.seek(0)
        return Done(code, out.read().decode(), err.read().decode())


def _asked(command: Command, files: list[int]) -> socket.socket:
    """Ask the server for a command."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(command_server().socket))
    send(connection, command, files)
    connection.setblocking(False)
    return connection


async def _code(connection: socket.socket) -> int:
    """The exit code of a command. Who does not wait for it any more kills the command."""
    with connection:
        return await _number(connection)


async def _number(connection: socket.socket) -> int:
    [number] = NUMBER.unpack(await asyncio.get_running_loop().sock_recv(connection, NUMBER.size))
    return int(number)


def environment_of(home: Path) -> dict[str, str]:
    """The variables that every command here is started with."""
    return {"PATH": os.defpath, "HOME": str(home), "LANG": "C.UTF-8", "COLUMNS": "200"}


class Server(NamedTuple):
    """The process that `farm` is forked from."""

    pid: int
    socket: Path


@cache
def command_server() -> Server:
    """Start the server of commands, once, for as long as these tests run."""
    folder = Path(tempfile.mkdtemp(prefix="farm-"))
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.command_server", folder / "socket"],
        cwd=ROOT,
        env={**environment_of(folder), **XDIST},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    atexit.register(_stop, process, folder)
    assert process.stdout.readline() == b"ready\n"
    return Server(process.pid, folder / "socket")


def write_forked_programs(folder: Path) -> None:
    """Write programs `farm` and `python` that have the server run what they are told to.

    They are for shells that have the folder first on their PATH. The `python` runs scripts, and what it is typed.
    """
    folder.mkdir(parents=True)
    for name in ("farm", "python"):
        text = FORKED.format(
            python=sys.executable, root=str(ROOT), socket=str(command_server().socket), script=name == "python"
        )
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)


def _stop(process: subprocess.Popen[bytes], folder: Path) -> None:
    process.communicate()
    shutil.rmtree(folder)


async def side_by_side(*runs: Coroutine[Any, Any, Done]) -> list[Done]:
    """What some commands leave; two run at a time."""
    room = asyncio.Semaphore(2)  # protects the machine, which may have no more cores

    async def one(run: Coroutine[Any, Any, Done]) -> Done:
        async with room:
            return await run

    return await asyncio.gather(*map(one, runs))


@dataclass(frozen=True)
class Running:
    """A farm in a process of its own."""

    started: Started
    url: str
    state: Path

    @property
    def pid(self) -> int:
        return self.started.pid

    @property
    def token(self) -> str:
        return (self.state / "token").read_text().strip()

    def kill(self) -> None:
        """kill -9."""
        self.started.send(signal.SIGKILL)

    async def ended_by(self, number: signal.Signals) -> Done:
        """Send a signal, and wait for the end."""
        self.started.send(number)
        return await self.started.ended()


@asynccontextmanager
async def farm_up(
    state: Path,
    *arguments: str | Path,
    home: Path,
    launcher: tuple[str, ...] = (),
    cold: bool = False,
    **environment: str,
) -> AsyncGenerator[Running]:
    """A farm that answers while inside; on leaving it is killed, if it has not ended."""
    one = await started(
        "up", "--state", state, *arguments, home=home, launcher=launcher, cold=cold, leads=False, **environment
    )
    try:
        yield Running(one, await _told_url(one), state)
    finally:
        if not one.err.closed:
            one.send(signal.SIGKILL)
            await one.ended()


async def _told_url(one: Started) -> str:
    async with asyncio.timeout(LONG):
        line = (await one.out.readline()).decode()
    told = TELLS_ITS_URL.match(line)
    if told is None:
        raise AssertionError(f"no farm has started: {line}{await one.ended()}")
    return told[1]


MOST_PORTS = 8
PORTS_EACH = 1000
"""Ports of each of the processes that run tests side by side."""
TURNS = itertools.count(os.getpid())


def free_ports(count: int) -> int:
    """The first of so many ports in a row that are free now, and that nobody is given who asks for any port.

    Between this and the start of a farm a connection of another test would take one of the others.
    """
    assert count <= MOST_PORTS
    given_to_anybody = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    begin = max(given_to_anybody, 20_000) - PORTS_EACH * (1 + place() % 16)
    while True:
        first = begin + next(TURNS) * MOST_PORTS % PORTS_EACH
        with ExitStack() as stack, suppress(OSError):
            for port in range(first, first + count):
                stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first


def seconds_used(pid: int) -> float:
    """The processor seconds of a process. 0 if it has ended, as a guest may while others are looked at."""
    try:
        return cpu_seconds(pid)
    except OSError:
        return 0.0


async def until(condition: Callable[[], bool], what: str) -> None:
    """Wait until something is so."""
    try:
        async with asyncio.timeout(LONG):
            while not condition():  # noqa: ASYNC110 - what is waited for is in another process
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"after {LONG:g} s it is not so that {what}") from None


class Process(NamedTuple):
    """A line of the process table."""

    pid: int
    parent: int
    is_zombie: bool
    command: str


def processes() -> dict[int, Process]:
    """All processes of this machine, by pid."""
    found: dict[int, Process] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            after_name = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue  # it has ended meanwhile
        found[int(folder.name)] = Process(int(folder.name), int(after_name[1]), after_name[0] == "Z", command)
    return found


def offspring(pid: int) -> list[Process]:
    """The children of a process, and theirs, that run."""
    table = processes()
    found: list[Process] = []
    parents = {pid}
    while parents:
        children = [one for one in table.values() if one.parent in parents]
        found += [child for child in children if not child.is_zombie]
        parents = {child.pid for child in children}
    return found


def zygotes(pid: int) -> list[Process]:
    """The zygotes below a process."""
    return [one for one in offspring(pid) if "servers.guest.zygote" in one.command and not _is_guest(one)]


def guests(pid: int) -> list[Process]:
    """The guests below a process."""
    return [one for one in offspring(pid) if _is_guest(one)]


def workers(pid: int) -> list[Process]:
    """The worker processes below a farm."""
    return [one for one in offspring(pid) if " worker --fd " in one.command]


def _is_guest(process: Process) -> bool:
    """A guest is a fork of its zygote, so both have the same command line."""
    parent = processes().get(process.parent)
    return parent is not None and "servers.guest.zygote" in process.command and parent.command == process.command


@contextmanager
def watching_for_orphans() -> Generator[Callable[[], list[Process]]]:
    """Gives what tells which processes were started since, however far from us, and still run.

    Inside, a process whose parent dies becomes a child of ours, so none can get out of sight.
    """
    before = {one.pid for one in offspring(os.getpid())}
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield lambda: [one for one in offspring(os.getpid()) if one.pid not in before and not is_server(one)]
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 0)
        for one in processes().values():
            if one.parent == os.getpid() and one.is_zombie and one.pid not in before:
                os.waitpid(one.pid, os.WNOHANG)


def is_server(process: Process) -> bool:
    """Whether it is the server of commands, which stays."""
    return process.parent == os.getpid() and " tests.command_server " in process.command


async def kill_next_guests(pid: int, count: int, begun: asyncio.Event) -> None:
    """kill -9 to each of the next guests below a process. `begun` is set once those that are there are known."""
    known = {one.pid for one in guests(pid)}
    begun.set()
    for _ in range(count):
        await until(lambda: any(one.pid not in known for one in guests(pid)), "a guest is there")
        for new in {one.pid for one in guests(pid)} - known:
            known.add(new)
            with suppress(ProcessLookupError):
                os.kill(new, signal.SIGKILL)
