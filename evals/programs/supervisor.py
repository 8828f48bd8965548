"""A process that starts an agent's program, watches all that comes of it, and ends every process of it.

It is the parent of orphans below it, so nothing that the program forks can leave it. It reads its order from standard
input, and ends the program when that is closed: also when whoever ordered it was killed. It imports nothing heavy,
because it is started for each episode.
"""

import ctypes
import json
import os
import select
import signal
import sys
import time
from contextlib import suppress
from typing import Any

from evals.programs.agent_walls import raise_walls
from servers.guest.walls import die_with_parent

PR_SET_CHILD_SUBREAPER = 36
LOOK_SECONDS = 0.1
CANNOT_START = 127
PAGE = os.sysconf("SC_PAGE_SIZE")
MIB = 1024 * 1024


def main() -> None:
    """Carry out one order, and tell its end as one line of JSON on the given descriptor."""
    order: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    tells: int = order["tells"]
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FARM_")}
    environment |= order["environment"]
    try:
        program, trouble = _start(order, environment)
        end = _watch(program, processes=order["processes"], memory=order["memory"])
    finally:
        _end_all()
    with suppress(OSError):  # nobody may be there to read it
        os.write(tells, json.dumps({"not_started": trouble} if trouble else end).encode() + b"\n")


def _start(order: dict[str, Any], environment: dict[str, str]) -> tuple[int, str]:
    """Fork the program, and return its process and why it could not be started, if so.

    Its input is empty, its output goes where this process's goes.
    """
    fails, told = os.pipe()  # both are closed when the program starts
    program = os.fork()
    if program:
        os.close(told)
        with open(fails, "rb") as file:  # noqa: PTH123 - a descriptor
            return program, file.read().decode()
    try:
        os.setsid()
        die_with_parent()
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        if order["walls"] is not None:
            raise_walls(**order["walls"])
        for handle in os.listdir("/proc/self/fd"):  # noqa: PTH208
            if int(handle) > 2:
                with suppress(OSError):
                    os.set_inheritable(int(handle), False)
        os.execvpe(order["command"][0], order["command"], environment)  # noqa: S606 - the user's own agent
    except OSError as error:
        os.write(told, (error.strerror or error.args[0]).encode())
    finally:
        os._exit(CANNOT_START)


def _watch(program: int, *, processes: int, memory: int) -> dict[str, Any]:
    """Wait for the program's end, for the end of the order, or for too many processes or bytes."""
    poll = select.poll()
    ended = os.pidfd_open(program)
    for handle in (ended, 0):
        poll.register(handle, select.POLLIN | select.POLLHUP)
    try:
        while True:
            ready = {handle for handle, _ in poll.poll(LOOK_SECONDS * 1000)}
            status = _collect().get(program)
            if status is not None:
                return {"exit": os.waitstatus_to_exitcode(status)}
            if 0 in ready:
                return {"stopped": True}
            below = _below(os.getpid())
            if len(below) > processes:
                return {"limit": f"it had more than {processes} processes"}
            if sum(below.values()) > memory:
                return {"limit": f"it held more than {memory // MIB} MiB of memory"}
    finally:
        os.close(ended)


def _end_all() -> None:
    """Kill all processes below this one, until there is none. They are stopped first, so that none forks on."""
    while below := _below(os.getpid()):
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in below:
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
        _collect()
        time.sleep(0.001)


def _collect() -> dict[int, int]:
    """The processes below this one that have ended since the last time, with their status."""
    found: dict[int, int] = {}
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            found[pid] = status
    return found


def _below(root: int) -> dict[int, int]:
    """The living processes below one, with the bytes of memory that each holds."""
    parents: dict[int, int] = {}
    held: dict[int, int] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit():
            with suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                fields = file.read().rpartition(b")")[2].split()
                parents[int(name)], held[int(name)] = int(fields[1]), int(fields[21]) * PAGE
                if fields[0] == b"Z":
                    held[int(name)] = -1
    found: set[int] = set()
    last = {root}
    while last:
        last = {pid for pid, parent in parents.items() if parent in last and pid not in found}
        found |= last
    return {pid: held[pid] for pid in found if held[pid] >= 0}


if __name__ == "__main__":
    main()
