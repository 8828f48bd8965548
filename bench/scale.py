"""The cost of many instances, environments and workers, compared with the targets."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from bench import load, processes, slices, subject
from bench.farm_process import FarmProcess, path_of, running
from bench.load import MODERN, Measured, Plan, Target, percentile
from bench.measuring import EPISODE, FORKS, called_once
from bench.table import machine

CLIENTS = 2
SHARE = 0.4
SECONDS_UNTIL_IDLE = 45.0


class Check(NamedTuple):
    """One target: the measured value, and whether it is met."""

    what: str
    found: str
    wanted: str
    met: bool


class Size(NamedTuple):
    """The number of each."""

    instances: int
    active: int
    environments: int
    repeats: int
    seconds: float


FULL = Size(instances=10_000, active=512, environments=200, repeats=50, seconds=5.0)
SMALL = Size(instances=600, active=64, environments=20, repeats=10, seconds=1.0)


def checked(folder: Path, size: Size, tell: Callable[[str], None]) -> list[Check]:
    """All checks, each on a farm of its own."""
    subject.write_bundle(folder / "one" / "store")
    for number in range(size.environments):
        subject.write_bundle(folder / "many" / f"store_{number:03}")
    tell(f"{size.environments} environments")
    with running(folder / "many", folder / "state-many") as farm:
        checks = hot(farm, size)
    tell("forks and rewinds")
    with running(folder / "one", folder / "state-one") as farm:
        checks += branching(farm, size)
    tell("two workers against one")
    checks += workers(folder, size)
    tell(f"{size.instances} instances, {size.active} active at a time")
    with running(folder / "one", folder / "state-crowd") as farm:
        checks += crowd(farm, folder / "state-crowd", size)
    return checks


def crowd(farm: FarmProcess, state: Path, size: Size) -> list[Check]:
    """Many leased instances, some active at a time, 20 calls and a reset each, from client processes.

    The farm's memory for instances in use has an upper bound, which is reached long before half of them were used.
    Growth after that is the cost of idle ones.
    """
    called_once(farm.launch("store"))
    alone = processes.memory(farm.pids)
    targets = farm.launch("store", size.instances)
    leased = (processes.memory(farm.pids) - alone) / size.instances
    half = size.instances // 2
    results = _episodes(farm, targets[:half], size.active)
    before = processes.memory(farm.pids)
    results += _episodes(farm, targets[half:], size.active)
    grown = (processes.memory(farm.pids) - before) / half
    calls, resets = sum(one.calls for one in results), sum(one.resets for one in results)
    speed = calls / sum(max(one.seconds for one in some) for some in (results[:CLIENTS], results[CLIENTS:]))
    worst = max(results, key=lambda one: one.p99 / one.p50)
    time.sleep(SECONDS_UNTIL_IDLE)
    files = processes.open_files(farm.process.pid, state.resolve() / "worker-1" / "instances")
    return [
        Check(
            f"{size.instances:,} instances, {size.active} at a time, {EPISODE} calls and a reset each",
            f"{calls:,} calls and {resets:,} resets, {speed:,.0f} calls/s",
            "none fails",
            calls == size.instances * EPISODE and resets == size.instances,
        ),
        Check(
            "p99 of a call there",
            f"{worst.p99:.0f} ms, {worst.p99 / worst.p50:.1f} times its p50; a reset {worst.reset_p99:.0f} ms",
            "under 20 times",
            worst.p99 < 20 * worst.p50,
        ),
        Check("memory of a leased instance", f"{leased / 1000:.2f} kB", "under 2 kB", leased < 2000),
        Check("memory of one more idle instance that was used", f"{grown / 1000:.2f} kB", "under 2 kB", grown < 2000),
        Check("state files open when all are idle", str(files), "0", files == 0),
    ]


def _episodes(farm: FarmProcess, targets: list[Target], active: int) -> list[Measured]:
    body, headers = load.call_request(subject.ARGUMENTS, subject.TOOL, MODERN)
    plans = [
        Plan(targets[at::CLIENTS], body, headers, active // CLIENTS, calls_each=EPISODE, control_token=farm.token)
        for at in range(CLIENTS)
    ]
    return load.put(*plans)


def hot(farm: FarmProcess, size: Size) -> list[Check]:
    """Many environments that have each just answered."""
    targets = [target for number in range(size.environments) for target in farm.launch(f"store_{number:03}")]
    body, headers = load.call_request(subject.ARGUMENTS, subject.TOOL, MODERN)
    [result] = load.put(Plan(targets, body, headers, 1, calls_each=1))
    total = processes.memory(farm.pids) / 1e9
    guests = len(farm.pids) - 2
    return [
        Check(f"`farm up` with {size.environments} bundles", f"{farm.seconds_to_answer:.2f} s", "", met=True),
        Check(
            f"{size.environments} environments hot at once ({guests} guests)",
            f"{total:.2f} GB in all",
            "under 1.2 GB",
            total < 1.2,
        ),
        Check(
            "first answer of an environment, its guest's start included",
            f"p50 {result.p50:.1f} ms, p99 {result.p99:.1f} ms",
            "under 30 ms",
            result.p50 < 30,
        ),
    ]


def branching(farm: FarmProcess, size: Size) -> list[Check]:
    """Forks and rewinds of an episode."""
    [target] = farm.launch("store")
    forks: list[float] = []
    rewinds: list[float] = []
    for _ in range(size.repeats):
        farm.play(target, EPISODE)
        fork = farm.timed("POST", f"{path_of(target)}/fork", {"count": FORKS})
        forks.append(fork.milliseconds)
        rewinds.append(farm.timed("POST", f"{path_of(target)}/rewind", {"call": EPISODE // 2}).milliseconds)
        farm.ask("POST", target.reset)
    fork_p50, rewind_p50 = percentile(forks, 0.5), percentile(rewinds, 0.5)
    return [
        Check(f"fork into {FORKS}", _of(forks), "under 20 ms", fork_p50 < 20),
        Check(f"rewind by {EPISODE // 2} calls", _of(rewinds), "under 5 ms", rewind_p50 < 5),
    ]


def workers(folder: Path, size: Size) -> list[Check]:
    """Calls a second of one worker process and of two.

    Each worker, with its guests, is limited to a share of a core if possible. Then neither the clients nor the other
    worker are the limit, and a machine of two cores shows what many would.
    """
    alone, both = (_speed_of(folder, size, count) for count in (1, 2))
    gained = both.per_second / alone.per_second
    how = (
        f"each held to {SHARE} of a core, of which it took {both.farm_cores / 2:.2f}"
        if slices.possible()
        else f"not held to a share; all {processes.cores()} cores are {both.busy:.0%} busy with farm and clients"
    )
    return [
        Check(
            "calls/s of two workers against one",
            f"{both.per_second:,.0f} against {alone.per_second:,.0f}: {gained:.2f} times; {both.micros:.0f} against"
            f" {alone.micros:.0f} µs of processor a call; {how}; clients took {both.client_cores:.2f} cores",
            "1.7 times",
            gained >= 1.7,
        )
    ]


class Speed(NamedTuple):
    """The speed of a farm with some workers, and its cost."""

    per_second: float
    micros: float
    farm_cores: float
    client_cores: float

    @property
    def busy(self) -> float:
        return (self.farm_cores + self.client_cores) / processes.cores()


def _speed_of(folder: Path, size: Size, count: int) -> Speed:
    with ExitStack() as stack:
        farm = stack.enter_context(running(folder / "one", folder / f"state-{count}", workers=count))
        targets = farm.launch("store", 32)
        called_once(targets)
        for pid in _worker_pids(farm, count) if slices.possible() else []:
            stack.enter_context(slices.held_to(SHARE, processes.tree(pid)))
        before, begin = processes.processor_seconds(farm.pids), time.perf_counter()
        results = load.put(*(_steady(targets[at::CLIENTS], size.seconds) for at in range(CLIENTS)))
        passed = time.perf_counter() - begin
        used = sum(after - before.get(pid, 0.0) for pid, after in processes.processor_seconds(farm.pids).items())
        calls, client = sum(one.calls for one in results), sum(one.client_share for one in results)
        return Speed(sum(map(_speed, results)), used / calls * 1e6, used / passed, client)


def _worker_pids(farm: FarmProcess, count: int) -> list[int]:
    """The processes that serve instances. With one worker this is the farm's own."""
    if count == 1:
        return [farm.process.pid]
    return [pid for pid in farm.pids if b"worker\0--fd" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def page(checks: list[Check]) -> str:
    """The checks as Markdown."""
    rows = [f"| {one.what} | {one.found} | {one.wanted} | {_mark(one)} |" for one in checks]
    return "\n".join([machine(), "", "| what | found | wanted | |", "|---|---|---|---|", *rows])


def _mark(check: Check) -> str:
    return ("✓" if check.met else "✗") if check.wanted else ""


def _steady(targets: list[Target], seconds: float) -> Plan:
    body, headers = load.call_request(subject.ARGUMENTS, subject.TOOL, MODERN)
    return Plan(targets, body, headers, len(targets), seconds=seconds)


def _speed(result: Measured) -> float:
    return result.per_second


def _of(values: list[float]) -> str:
    return f"p50 {percentile(values, 0.5):.1f} ms, p99 {percentile(values, 0.99):.1f} ms"
