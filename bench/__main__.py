"""Measure the farm on this machine, beside a peer in the same run: `python -m bench`. Writes bench/README.md."""

import argparse
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from bench import load, subject
from bench.farm_process import FarmProcess, free_port, running

ERAS = ("2026-07-28", "2025-11-25")
CONNECTIONS = 16


class Line(NamedTuple):
    """One row of the table."""

    what: str
    farm: str
    peer: str
    wanted: str
    met: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="how long each load runs")
    parser.add_argument("--rounds", type=int, default=3, help="how often farm and peer take turns")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        lines = measured(Path(folder), options.seconds, options.rounds)
    text = table(lines)
    print(text)
    page = Path(__file__).parent / "README.md"
    page.write_text(f"{HEAD}\n{text}\n\n{machine()}\n", encoding="utf-8")
    sys.exit(0 if all(line.met for line in lines) else 1)


def measured(folder: Path, seconds: float, rounds: int) -> list[Line]:
    """All measurements, each with the farm's own figure and the peer's where there is one."""
    subject.write_bundle(folder / "one" / "store")
    for number in range(200):
        subject.write_bundle(folder / "many" / f"store_{number:03}")
    lines: list[Line] = []
    with running(folder / "many", folder / "state-many", free_port()) as farm:
        lines.append(_line("`farm up` with 200 bundles, until it answers, s", farm.seconds_to_answer, 2.0))
    with running(folder / "one", folder / "state", free_port()) as farm:
        farm.launch("store")
        lines += [launching(farm), resetting(farm), remembering(farm)]
        for era in ERAS:
            lines.append(calling(farm, era, seconds, rounds))
    return lines


def launching(farm: FarmProcess) -> Line:
    """One launch after another over one connection."""
    times = [_milliseconds(lambda: farm.launch("store")) for _ in range(300)]
    return _line("launch through the registry, median, ms", statistics.median(times), 5.0)


def resetting(farm: FarmProcess) -> Line:
    """Resets of an instance on which five calls were made each time."""
    [(instance, url, token)] = farm.launch("store")
    times: list[float] = []
    for _ in range(100):
        loaded(url, token, ERAS[0], 0.02, 1)
        times.append(_milliseconds(lambda: farm.ask("POST", f"/v1/instances/{instance}/reset")))
    return _line("reset through the registry, median, ms", statistics.median(times), 3.0)


def remembering(farm: FarmProcess) -> Line:
    """1,000 instances that have each answered a call, against one."""
    before = farm.memory()
    targets = [(url, token) for _, url, token in farm.launch("store", 1000)]
    answered = loaded_all(targets, ERAS[0], 3.0, 1000)
    grown = (farm.memory() - before) / 1e6
    return _line(f"1,000 live instances more ({answered['calls']} calls made), MB", grown, 60.0)


def calling(farm: FarmProcess, era: str, seconds: float, rounds: int) -> Line:
    """One SELECT and one UPDATE a call, over HTTP MCP, farm and bare server in turn."""
    targets = [(url, token) for _, url, token in farm.launch("store", CONNECTIONS)]
    port = free_port()
    bare = subprocess.Popen([sys.executable, "-m", "bench.peers.bare_server", str(port)])
    try:
        while not _listens(port):
            time.sleep(0.02)
        ratios: list[float] = []
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(rounds):
            theirs.append(loaded_all([(f"http://127.0.0.1:{port}/mcp", "")], era, seconds, CONNECTIONS)["per_second"])
            ours.append(loaded_all(targets, era, seconds, CONNECTIONS)["per_second"])
            ratios.append(ours[-1] / theirs[-1])
    finally:
        bare.kill()
        bare.wait()
    ratio = statistics.median(ratios)
    return Line(
        f"tool calls a second, {era}",
        f"{statistics.median(ours):,.0f}",
        f"{statistics.median(theirs):,.0f} (bare `mcp` server)",
        f"at least 0.70 of the peer's: {ratio:.2f}",
        ratio >= 0.70,
    )


def loaded(url: str, token: str, era: str, seconds: float, connections: int) -> dict[str, Any]:
    return loaded_all([(url, token)], era, seconds, connections)


def loaded_all(targets: list[tuple[str, str]], era: str, seconds: float, connections: int) -> dict[str, Any]:
    """Put load on MCP URLs from a process of its own.

    Raises:
        RuntimeError: a call failed.
    """
    body, headers = load.call_request(subject.ARGUMENTS, "add_to_stock", era)
    plan = load.Plan(targets, body, headers, seconds, connections)
    command = [sys.executable, "-m", "bench.load"]
    done = subprocess.run(command, input=json.dumps(plan._asdict()).encode(), capture_output=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    if result["failed"]:
        raise RuntimeError(f"{result['failed']} calls failed")
    return result


def table(lines: list[Line]) -> str:
    rows = [f"| {line.what} | {line.farm} | {line.peer} | {line.wanted} {'✓' if line.met else '✗'} |" for line in lines]
    return "\n".join(["| what | farm | peer | wanted |", "|---|---|---|---|", *rows])


HEAD = """# Speed

`python -m bench` measures the farm beside a peer in the same run and writes this page. The ratios matter; the figures
are one machine's, on one day. The peer is a bare low-level `mcp` server that does the same SELECT and UPDATE in its own
process: no guest, no history, no token.
"""


def machine() -> str:
    cores = len(os.sched_getaffinity(0))
    return f"Measured on {time.strftime('%Y-%m-%d')}: {cores} cores, Linux, Python {platform.python_version()}."


def _line(what: str, value: float, most: float) -> Line:
    return Line(what, f"{value:.2f}", "", f"under {most:g}", value < most)


def _milliseconds(run: Callable[[], object]) -> float:
    begin = time.perf_counter()
    run()
    return (time.perf_counter() - begin) * 1000


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


if __name__ == "__main__":
    main()
