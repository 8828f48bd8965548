"""Runs `farm` in forks of one process that has imported every command: a command costs what it does, not its imports.

A command has a process of its own, as a user's has: its arguments, environment, folder, files 0 to 2 and exit code.
What the start of Python decides stays as it was here: variables named PYTHON…, and what is first on the import path.
Every command has one processor core, so what takes a process a core does without, unless it is told a number of them.
Call this file with the path of a socket to listen on. It ends when its parent closes its stdin.
"""

import atexit
import gc
import importlib
import json
import os
import random
import selectors
import signal
import socket
import struct
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, NoReturn

NUMBER = struct.Struct("!i")
FILES = 3

WORK = ("evals.judging_again", "evals.single_play", "evals.suite_play", "envfarm")
"""What commands import after their checks, and scripts at their beginning."""


class Command(NamedTuple):
    """One call of `farm`."""

    arguments: list[str]
    environment: dict[str, str]
    folder: str
    leads: bool = False
    """Whether it leads a process group of its own, as what is typed at a terminal does."""
    script: bool = False
    """Whether it is no command of `farm` but a Python script, `-` for standard input, and its arguments."""


@dataclass
class CommandServer:
    """Commands that run, and the connections on which somebody waits for the end of each."""

    listening: socket.socket
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    running: dict[int, socket.socket] = field(default_factory=dict[int, socket.socket])

    def serve(self) -> Command | None:
        """Fork for each request. Returns its command in the fork, and None here, when the parent has closed stdin."""
        self.selector.register(0, selectors.EVENT_READ)
        self.selector.register(self.listening, selectors.EVENT_READ, self._fork)
        while True:
            for key, _ in self.selector.select():
                if key.fd == 0:
                    return self._kill(*self.running)
                if command := key.data():
                    return command

    def _fork(self) -> Command | None:
        connection, _ = self.listening.accept()
        command, files = _received(connection)
        pid = os.fork()
        if pid == 0:
            for number, file in enumerate(files):
                os.dup2(file, number)
            self._close(connection, files)
            return command
        for file in files:
            os.close(file)
        with suppress(OSError):
            connection.sendall(NUMBER.pack(pid))
        self.running[pid] = connection
        end = os.pidfd_open(pid)
        self.selector.register(end, selectors.EVENT_READ, lambda: self._reap(pid, end))
        self.selector.register(connection, selectors.EVENT_READ, lambda: self._kill(pid))  # nobody waits any more
        return None

    def _close(self, connection: socket.socket, files: list[int]) -> None:
        """In a fork: leave only files 0 to 2 open."""
        ends = [key.fd for key in self.selector.get_map().values() if isinstance(key.fileobj, int) and key.fd >= FILES]
        for file in (*files, *ends):
            os.close(file)
        for one in (self.selector, self.listening, connection, *self.running.values()):
            one.close()

    def _reap(self, pid: int, end: int) -> None:
        self.selector.unregister(end)
        os.close(end)
        _, status = os.waitpid(pid, 0)
        with self.running.pop(pid) as connection, suppress(OSError):
            self.selector.unregister(connection)
            connection.sendall(NUMBER.pack(os.waitstatus_to_exitcode(status)))

    def _kill(self, *pids: int) -> None:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)


def _received(connection: socket.socket) -> tuple[Command, list[int]]:
    """A command, and its files 0 to 2."""
    head, files, _, _ = socket.recv_fds(connection, NUMBER.size, FILES)
    [length] = NUMBER.unpack(head)
    with connection.makefile("rb") as reader:
        return Command(*json.loads(reader.read(length))), files


def send(connection: socket.socket, command: Command, files: list[int]) -> None:
    """Ask for a command. The answer is its pid, and at its end its exit code, as NUMBER packs them.

    Whoever hangs up before kills the command.
    """
    text = json.dumps(command).encode()
    socket.send_fds(connection, [NUMBER.pack(len(text))], files)
    connection.sendall(text)


def place() -> int:
    """Which of the processes that run tests side by side has started this one."""
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


def _become(command: Command) -> None:
    """Make a fork what a new process is that is to run a command."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[os.getpid() % len(cores)]})  # commands that run side by side get different ones
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if command.leads:
        os.setsid()
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    os.environ.clear()
    os.environ.update(command.environment)
    tempfile.tempdir = None  # looked up in the old environment, if at all
    os.chdir(command.folder)
    sys.argv = ["farm", *command.arguments]
    random.seed()
    tempfile.tempdir = None  # it is looked up anew


def _run_script() -> None:
    """Run a script as Python does."""
    del sys.argv[0]
    [name, *_] = sys.argv
    text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    sys.path.insert(0, "" if name == "-" else str(Path(name).parent))
    main = ModuleType("__main__")
    sys.modules["__main__"] = main
    exec(compile(text, name, "exec"), main.__dict__)  # noqa: S102 - scripts of ours


def _code_of(command: Callable[[], None]) -> int:
    """Run a command to its end. What it raises is told as Python tells it."""
    try:
        command()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        sys.stderr.write(f"{end.code}\n")
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _end(code: int) -> NoReturn:
    """End a fork as Python ends, but leave the memory, much of which is shared, to the system."""
    threading._shutdown()  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main() -> None:
    """Import everything, serve, and in a fork be `farm`."""
    farm = importlib.import_module("farm")
    for name in farm.LISTED:
        farm.loaded(name)
    for name in WORK:
        importlib.import_module(name)
    importlib.import_module("registry.http.app").document()  # that every farm reads
    gc.freeze()  # what forks share stays shared
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(sys.argv[1])
    listening.listen()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    command = CommandServer(listening).serve()
    if command is not None:
        _become(command)
        sys.modules["__main__"] = farm  # for processes that the command starts
        _end(_code_of(_run_script if command.script else farm.main))


if __name__ == "__main__":
    main()
