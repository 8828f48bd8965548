"""A farm in another process, as a user starts it, measured from outside."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from bench import processes
from bench.load import MODERN, Plan, Target, call_request, put
from bench.subject import ARGUMENTS, SCENARIO, TOOL

SECONDS_KEPT_ALIVE = 3.0
MOST_AT_ONCE = 1000


class Timed(NamedTuple):
    """The milliseconds of a request, and its answer."""

    milliseconds: float
    answer: Any


@dataclass
class FarmProcess:
    """A running farm and an open connection to its control door."""

    process: subprocess.Popen[bytes]
    connection: HTTPConnection
    token: str
    seconds_to_answer: float
    used: float = 0.0

    @property
    def pids(self) -> list[int]:
        """The registry's process and all its descendants."""
        return processes.tree(self.process.pid)

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send one request to the control door. Returns its answer as JSON."""
        text = self.text(path, method, body)
        return json.loads(text) if text else None

    def text(self, path: str, method: str = "GET", body: dict[str, Any] | None = None) -> str:
        """The same, as text."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if time.monotonic() - self.used > SECONDS_KEPT_ALIVE:
            self.connection.close()
        self.connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        response = self.connection.getresponse()
        text = response.read()
        self.used = time.monotonic()
        if response.status >= 400:
            raise RuntimeError(f"{method} {path}: {response.status} {text[:300]!r}")
        return text.decode()

    def launch(self, environment: str, count: int = 1) -> list[Target]:
        """Launch instances at the environment's one scenario."""
        targets: list[Target] = []
        while len(targets) < count:
            some = min(count - len(targets), MOST_AT_ONCE)
            order = {"environment": environment, "scenario": SCENARIO["id"], "count": some}
            leases = self.ask("POST", "/v1/instances", order)["items"]
            targets += [
                Target(lease["mcp_url"], lease["token"], f"/v1/instances/{lease['instance']}/reset") for lease in leases
            ]
        return targets

    def timed(self, method: str, path: str, body: dict[str, Any] | None = None) -> Timed:
        """Send one request, and time it."""
        begin = time.perf_counter()
        answer = self.ask(method, path, body)
        return Timed((time.perf_counter() - begin) * 1000, answer)

    def play(self, target: Target, calls: int) -> None:
        """Make calls on an instance."""
        body, headers = call_request(ARGUMENTS, TOOL, MODERN)
        put(Plan([target], body, headers, connections=1, calls_each=calls))


def play_here(target: Target, calls: int) -> None:
    """Make calls on an instance from this process, which is sooner done than starting a client for a few.

    Raises:
        RuntimeError: one is refused.
    """
    body, headers = call_request(ARGUMENTS, TOOL, MODERN)
    where = urlsplit(target.url)
    connection = HTTPConnection(where.hostname or "", where.port)
    with closing(connection):
        for _ in range(calls):
            connection.request("POST", where.path, body, {**headers, "Authorization": f"Bearer {target.token}"})
            response = connection.getresponse()
            text = response.read()
            if response.status != 200 or b'"isError":true' in text:
                raise RuntimeError(f"a call: {response.status} {text[:300]!r}")


def path_of(target: Target) -> str:
    """The path of an instance on the control door."""
    return target.reset.removesuffix("/reset")


@contextmanager
def running(
    library: Path, state: Path, *, workers: int = 1, program: tuple[str, ...] = (sys.executable, "-m", "farm")
) -> Generator[FarmProcess]:
    """Start `farm up`, wait until it answers, and end it afterwards."""
    port = processes.free_port()
    command = [*program, "up", "--port", str(port), "--workers", str(workers)]
    command += ["--state", str(state), "--library", str(library), "--log-level", "warning"]
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
