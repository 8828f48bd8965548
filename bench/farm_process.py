"""A farm in a process of its own, as a user starts it, to be measured from outside."""

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

SECONDS_KEPT_ALIVE = 3.0


@dataclass
class FarmProcess:
    """A running farm and an open connection to its control door."""

    process: subprocess.Popen[bytes]
    connection: HTTPConnection
    token: str
    seconds_to_answer: float
    used: float = 0.0

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """One request of the control door; its answer as JSON."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if time.monotonic() - self.used > SECONDS_KEPT_ALIVE:
            self.connection.close()
        self.connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        response = self.connection.getresponse()
        text = response.read()
        self.used = time.monotonic()
        if response.status >= 400:
            raise RuntimeError(f"{method} {path}: {response.status} {text[:300]!r}")
        return json.loads(text) if text else None

    def launch(self, environment: str, count: int = 1) -> list[tuple[str, str, str]]:
        """Instances, as id, MCP URL and token."""
        leases = self.ask("POST", "/v1/instances", {"environment": environment, "count": count})["items"]
        return [(lease["instance"], lease["mcp_url"], lease["token"]) for lease in leases]

    def memory(self) -> int:
        """Bytes of memory of the farm and everything that it started; shared pages are counted once."""
        return sum(_proportional(pid) for pid in _tree(self.process.pid))


@contextmanager
def running(library: Path, state: Path, port: int, *, workers: int = 1) -> Generator[FarmProcess]:
    """Start `farm up`, wait until it answers, and end it afterwards."""
    command = [
        sys.executable,
        "-m",
        "farm",
        "up",
        "--port",
        str(port),
        "--state",
        str(state),
        "--workers",
        str(workers),
    ]
    command += ["--library", str(library)]
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        connection = HTTPConnection("127.0.0.1", port)
        while not _healthy(connection):
            if process.poll() is not None:
                raise RuntimeError(f"farm up ended with {process.returncode}")
            time.sleep(0.005)
        seconds = time.perf_counter() - begin
        token = (state / "token").read_text(encoding="utf-8").strip()
        yield FarmProcess(process, connection, token, seconds)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def _healthy(connection: HTTPConnection) -> bool:
    try:
        connection.request("GET", "/v1/health")
        response = connection.getresponse()
        response.read()
        return response.status == 200
    except OSError:
        connection.close()
        return False


def _tree(root: int) -> list[int]:
    """A process and all that came from it."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    tree = [root]
    for pid in tree:
        tree += [child for child, parent in parents.items() if parent == pid]
    return tree


def _proportional(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
