"""Measurements of the farm and its peers, in one run on one machine."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from bench import load, processes, subject
from bench.farm_process import FarmProcess, path_of, running
from bench.load import HANDSHAKE, MODERN, Plan, Target, percentile
from bench.peers import copying_environment

MOST_CONNECTIONS = 64
EPISODE = 20
FORKS = 16
FRESH_INSTANCES = 8
FARM, BARE, FRESH, COPYING = "farm", "bare `mcp` server", "process per instance", "copying object"


class Latency(NamedTuple):
    """Milliseconds."""

    p50: float
    p99: float


class Row(NamedTuple):
    """One subject at one number of instances. Calls a second are by generation of the protocol, "" without one."""

    subject: str
    instances: int
    latencies: dict[str, Latency]
    per_second: dict[str, float]
    micros: dict[str, float]
    """Processor microseconds of a call, over all processes that answer it."""
    bytes_each: float | None


class Extent(NamedTuple):
    """The extent of the measurement."""

    sizes: tuple[int, ...]
    seconds: float
    rounds: int
    repeats: int


class Served(NamedTuple):
    """Processes that answer, and their address."""

    pids: list[int]
    targets: list[Target]


FULL = Extent(sizes=(1, 64, 512, 4096), seconds=2.0, rounds=3, repeats=60)
QUICK = Extent(sizes=(1, 64), seconds=0.7, rounds=3, repeats=15)


def measured(folder: Path, extent: Extent, tell: Callable[[str], None]) -> list[Row]:
    """All rows. Farm and bare server alternate, so that other load on the machine affects both."""
    subject.write_bundle(folder / "library" / "store")
    tell("an object that copies its state")
    rows = [copying(extent.seconds)]
    tell("a process per instance")
    rows.append(fresh(folder, extent))
    port = processes.free_port()
    bare_target = Target(f"http://127.0.0.1:{port}/mcp", "")
    with (
        running(folder / "library", folder / "state") as farm,
        processes.started("bench.peers.bare_server", port=port) as bare,
    ):
        targets = farm.launch("store")
        called_once(targets)
        alone = processes.memory(farm.pids)
        for size in extent.sizes:
            tell(f"farm and bare server, {size} instances")
            targets += farm.launch("store", size - len(targets))
            called_once(targets)
            each = (processes.memory(farm.pids) - alone) / (size - 1) if size > 1 else None
            ours, theirs = in_turns(extent, Served(farm.pids, targets), Served([bare.pid], [bare_target] * size))
            rows.append(ours._replace(latencies=ours.latencies | controlled(farm, extent.repeats), bytes_each=each))
            rows.append(theirs)
    return rows


def called_once(targets: list[Target]) -> None:
    """Make one call to each."""
    body, headers = load.call_request(subject.ARGUMENTS, subject.TOOL, MODERN)
    load.put(Plan(targets, body, headers, min(len(targets), MOST_CONNECTIONS), calls_each=1))


def in_turns(extent: Extent, farm: Served, bare: Served) -> tuple[Row, Row]:
    """Calls of both, in both generations: medians of the rounds."""
    rounds: dict[tuple[str, str], list[_Round]] = {}
    for _ in range(extent.rounds):
        for era in (MODERN, HANDSHAKE):
            for who, served in ((BARE, bare), (FARM, farm)):
                rounds.setdefault((who, era), []).append(_round(served, era, extent.seconds))
    rows = [
        Row(
            who,
            len(farm.targets),
            {"call": Latency(*(median(one.latency[at] for one in rounds[who, MODERN]) for at in (0, 1)))},
            {era: median(one.per_second for one in rounds[who, era]) for era in (MODERN, HANDSHAKE)},
            {era: median(one.micros for one in rounds[who, era]) for era in (MODERN, HANDSHAKE)},
            None,
        )
        for who in (FARM, BARE)
    ]
    return rows[0], rows[1]


class _Round(NamedTuple):
    latency: Latency
    per_second: float
    micros: float


def _round(served: Served, era: str, seconds: float) -> _Round:
    body, headers = load.call_request(subject.ARGUMENTS, subject.TOOL, era)
    connections = min(len(served.targets), MOST_CONNECTIONS)
    before = processes.processor_seconds(served.pids)
    [result] = load.put(Plan(served.targets, body, headers, connections, seconds=seconds))
    after = processes.processor_seconds(served.pids)
    used = sum(after[pid] - before[pid] for pid in served.pids)
    return _Round(Latency(result.p50, result.p99), result.per_second, used / result.calls * 1e6)


def controlled(farm: FarmProcess, repeats: int) -> dict[str, Latency]:
    """Latencies of the control door, one request after another, through the registry."""
    times: dict[str, list[float]] = {}
    [target] = farm.launch("store")
    path, launch = path_of(target), {"environment": "store", "scenario": subject.SCENARIO["id"]}

    def note(what: str, method: str, where: str, body: dict[str, Any] | None = None) -> Any:
        took, answer = farm.timed(method, where, body)
        times.setdefault(what, []).append(took / 1000)
        return answer

    for _ in range(repeats):
        farm.play(target, EPISODE)
        extra = note("launch", "POST", "/v1/instances", launch)["items"]
        note("score", "POST", f"{path}/score", {})
        extra += note("fork", "POST", f"{path}/fork", {"count": FORKS})["items"]
        note("rewind", "POST", f"{path}/rewind", {"call": EPISODE // 2})
        note("reset", "POST", f"{path}/reset")
        for lease in extra:
            farm.ask("DELETE", f"/v1/instances/{lease['instance']}")
    return {what: _latency(some) for what, some in times.items()}


def fresh(folder: Path, extent: Extent) -> Row:
    """The peer that starts a process for each instance."""
    starts: list[float] = []
    resets: list[float] = []
    servers = [_FreshServer(folder / f"fresh-{number}.db") for number in range(FRESH_INSTANCES)]
    try:
        starts += [_seconds(server.start) for server in servers]
        resets += [_seconds(server.start) for server in servers]
        pids = [server.process.pid for server in servers if server.process is not None]
        each = processes.memory(pids) / len(pids)
        targets = [Target(f"http://127.0.0.1:{server.port}/add_to_stock", "") for server in servers]
        body = json.dumps(subject.ARGUMENTS)
        headers = {"Content-Type": "application/json"}
        before = sum(processes.processor_seconds(pids).values())
        [result] = load.put(Plan(targets, body, headers, len(targets), seconds=extent.seconds))
        used = sum(processes.processor_seconds(pids).values()) - before
    finally:
        for server in servers:
            server.end()
    return Row(
        FRESH,
        FRESH_INSTANCES,
        {"launch": _latency(starts), "reset": _latency(resets), "call": Latency(result.p50, result.p99)},
        {"": result.per_second},
        {"": used / result.calls * 1e6},
        each,
    )


class _FreshServer:
    """One instance of that peer. A reset restarts it."""

    def __init__(self, database: Path) -> None:
        self.database = database
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.end()
        self.port = processes.free_port()
        command = [sys.executable, "-m", "bench.peers.fresh_server", str(self.port), str(self.database)]
        self.process = subprocess.Popen(command)
        processes.wait_until_it_listens(self.process, self.port)

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def copying(seconds: float) -> Row:
    """The peer that is an object in the caller's own process."""
    command = [sys.executable, "-m", "bench.peers.copying_environment", str(seconds)]
    result = copying_environment.Measured(**json.loads(subprocess.check_output(command)))
    return Row(
        COPYING,
        1,
        {"reset": Latency(result.reset_p50, result.reset_p99), "call": Latency(result.call_p50, result.call_p99)},
        {"": result.per_second},
        {"": 1e6 / result.per_second},
        result.bytes_each,
    )


def _seconds(run: Callable[[], object]) -> float:
    begin = perf_counter()
    run()
    return perf_counter() - begin


def _latency(seconds: Sequence[float]) -> Latency:
    return Latency(percentile(seconds, 0.5) * 1000, percentile(seconds, 0.99) * 1000)
