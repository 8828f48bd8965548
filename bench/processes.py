"""The resources of processes, read from outside: processor time, memory, open files. Also starts peers."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

SECONDS_TO_START = 30.0


def tree(root: int) -> list[int]:
    """A process and its descendants, itself first."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = [root]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found


def processor_seconds(pids: list[int]) -> dict[int, float]:
    """The processor seconds of each."""
    return {pid: sum(map(_thread_seconds, _threads(pid))) for pid in pids}


def memory(pids: list[int]) -> int:
    """The bytes of all together. Shared memory counts once."""
    return sum(_proportional(pid) for pid in pids)


def open_files(pid: int, under: Path) -> int:
    """The number of files below a folder that a process has open."""
    count = 0
    for handle in Path(f"/proc/{pid}/fd").iterdir():
        try:
            count += str(handle.readlink()).startswith(str(under))
        except OSError:
            continue
    return count


@contextmanager
def started(module: str, *arguments: str, port: int) -> Generator[subprocess.Popen[bytes]]:
    """A peer's process that listens on `port`. It ends with the context."""
    process = subprocess.Popen([sys.executable, "-m", module, str(port), *arguments])
    try:
        wait_until_it_listens(process, port)
        yield process
    finally:
        process.kill()
        process.wait()


def wait_until_it_listens(process: subprocess.Popen[bytes], port: int) -> None:
    """Wait until a new process accepts connections.

    Raises:
        RuntimeError: it ended, or takes too long.
    """
    until = time.monotonic() + SECONDS_TO_START
    while not listens(port):
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"process {process.pid} does not listen on port {port}")
        time.sleep(0.002)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    """A port without a listener."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def cores() -> int:
    return len(os.sched_getaffinity(0))


def _threads(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []


def _thread_seconds(thread: Path) -> float:
    try:
        return int((thread / "schedstat").read_text().split()[0]) / 1e9
    except OSError:
        return 0.0


def _proportional(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
