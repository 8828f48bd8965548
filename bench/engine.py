"""What an engine of instances has to reach: speed beside peers, flatness in the size of the state, what trust costs.

All rows are of one run. Subjects that are compared take turns, so that other load on the machine meets all of them.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench import load, processes, subject
from bench.budget import SIZES, Cost, costs, wait_until_quiet
from bench.farm_process import FarmProcess, path_of, play_here, running
from bench.load import MODERN, Plan, Target, percentile
from bench.measuring import FORKS, MOST_CONNECTIONS, called_once
from bench.scale import Check

MB = 1_000_000
STATES = {"store_50kb": 0, "store_1mb": MB, "store_10mb": 10 * MB, "store_50mb": 50 * MB}
"""The bytes of rows beside those of the smallest environment, by its id."""
SMALLEST, MIDDLE, LARGEST = "store_50kb", "store_10mb", "store_50mb"
ACTIVE = 64
CHANGES = 10
PASSES = 3
"""Calls to each instance before it is measured: a worker that sees them come back holds more of them open."""
ASGI, SDK, FARM = "a bare ASGI application on the farm's server", "the bare SDK server", "the farm"
Tell = Callable[[str], None]


class Extent(NamedTuple):
    """How long and how often."""

    seconds: float
    rounds: int
    repeats: int
    leases: int
    crowd: int


FULL = Extent(seconds=1.0, rounds=7, repeats=40, leases=10_000, crowd=4096)
QUICK = Extent(seconds=0.3, rounds=3, repeats=8, leases=1_000, crowd=256)


class Speed(NamedTuple):
    """One round of calls: how many a second, and the processor microseconds of each in all serving processes."""

    per_second: float
    micros: float


def checked(folder: Path, extent: Extent, tell: Tell) -> list[Check]:
    """All rows."""
    library = folder / "library"
    for name, size in STATES.items():
        subject.write_bundle(library / name, size)
    checks = beside_peers(folder, extent, tell)
    with running(library, folder / "state") as farm:
        checks += sizes(farm, folder / "state", extent, tell)
    with running(library, folder / "state-shared") as farm:
        checks.append(shared_pages(farm, tell))
    with running(library, folder / "state-leases") as farm:
        checks.append(many_leases(farm, folder / "state-leases", extent, tell))
    return checks + [trusted(cost) for cost in costs(folder, extent.seconds / 2, extent.rounds, tell)]


def beside_peers(folder: Path, extent: Extent, tell: Tell) -> list[Check]:
    """Calls of one instance, of 64, and of many in turn, beside the peers."""
    with ExitStack() as stack:
        pids: dict[str, list[int]] = {}
        peers: dict[str, Target] = {}
        for what, module in ((SDK, "bench.peers.bare_server"), (ASGI, "bench.peers.bare_asgi")):
            port = processes.free_port()
            process = stack.enter_context(processes.started(module, port=port))
            peers[what], pids[what] = Target(f"http://127.0.0.1:{port}/mcp", ""), [process.pid]
        farm = stack.enter_context(running(folder / "library", folder / "state-peers"))
        targets: list[Target] = []
        seen: dict[int, dict[str, list[Speed]]] = {}
        for size in (*SIZES, extent.crowd):
            targets += farm.launch(SMALLEST, size - len(targets))
            for _ in range(PASSES):
                called_once(targets)
            wait_until_quiet(farm)
            tell(f"calls beside peers, instances: {len(targets):,}")
            pids[FARM] = farm.pids
            subjects = {FARM: targets, **{what: [target] * size for what, target in peers.items()}}
            seen[size] = in_turns(subjects, pids, extent)
    one, many, crowd = (seen[size] for size in (*SIZES, extent.crowd))
    micros = median(speed.micros for speed in many[FARM])
    return [
        ratio("calls a second of one instance, against the bare SDK server", one, FARM, SDK, 0.9),
        ratio(f"the same of {SIZES[-1]} instances", many, FARM, SDK, 0.9),
        ratio(f"the same of {extent.crowd:,} instances in turn", crowd, FARM, SDK, 0.95),
        ratio(f"calls a second of {SIZES[-1]} instances, against {ASGI}", many, FARM, ASGI, 0.5),
        Check(
            f"processor time of a call of {SIZES[-1]} instances, in all processes",
            f"{micros:.0f} µs; {median(speed.micros for speed in many[SDK]):.0f} of the SDK server,"
            f" {median(speed.micros for speed in many[ASGI]):.0f} of the ASGI application",
            "at most 250 µs",
            micros <= 250,
        ),
    ]


def in_turns(subjects: dict[str, list[Target]], pids: dict[str, list[int]], extent: Extent) -> dict[str, list[Speed]]:
    """Rounds of calls to each, one subject after another."""
    rounds: dict[str, list[Speed]] = {what: [] for what in subjects}
    for _ in range(extent.rounds):
        for what, targets in subjects.items():
            rounds[what].append(_speed(targets, pids[what], extent.seconds))
    return rounds


def ratio(what: str, rounds: dict[str, list[Speed]], ours: str, theirs: str, wanted: float) -> Check:
    """The calls a second of one subject as a share of another's: the median of rounds that followed each other."""
    pairs = list(zip(rounds[ours], rounds[theirs], strict=True))
    share = median(one.per_second / other.per_second for one, other in pairs)
    speeds = [median(speed.per_second for speed in rounds[who]) for who in (ours, theirs)]
    return Check(what, f"{share:.2f} ({speeds[0]:,.0f} and {speeds[1]:,.0f})", f"at least {wanted:g}", share >= wanted)


def sizes(farm: FarmProcess, state: Path, extent: Extent, tell: Tell) -> list[Check]:
    """What launch, reset, fork, calls and an idle instance cost as the state grows."""
    first: dict[str, float] = {}
    instances: dict[str, list[Target]] = {}
    for name in STATES:
        tell(f"the first launch of {name}")
        first[name] = farm.timed("POST", "/v1/instances", _order(name)).milliseconds
        instances[name] = farm.launch(name, ACTIVE)
        called_once(instances[name])
    wait_until_quiet(farm)
    took: dict[str, dict[str, list[float]]] = {name: {} for name in STATES}
    for number in range(extent.repeats):
        tell(f"launch, reset and fork, round {number + 1} of {extent.repeats}")
        for name in STATES:
            _controlled(farm, name, instances[name][0], took[name])
    disk = {name: _disk_of_an_idle_instance(farm, state, name) for name in STATES}
    tell("calls at each size of the state")
    speeds = in_turns(instances, dict.fromkeys(STATES, farm.pids), extent)
    launches = {name: percentile(took[name]["launch"], 0.5) for name in STATES}
    resets = {name: percentile(took[name]["reset"], 0.5) for name in STATES}
    fork = percentile(took[LARGEST]["fork"], 0.5)
    slowest = max(launches.values())
    return [
        Check("launch through the registry", _by_size(launches, " ms"), "at most 3 ms", slowest <= 3),
        _flat("launch, the largest state against the smallest", launches),
        Check("reset", _by_size(resets, " ms"), "at most 3 ms", max(resets.values()) <= 3),
        _flat("reset, the largest state against the smallest", resets),
        Check(
            f"fork into {FORKS}",
            _by_size({name: percentile(took[name]["fork"], 0.5) for name in STATES}, " ms"),
            "under 10 ms at 50 MB",
            fork < 10,
        ),
        Check(
            f"disk of an idle instance that changed {CHANGES} rows",
            _by_size({name: size / 1000 for name, size in disk.items()}, " kB"),
            "under 32 kB",
            max(disk.values()) < 32_000,
        ),
        Check(
            "first launch, which builds the start",
            _by_size({name: one / 1000 for name, one in first.items()}, " s"),
            "under 10 s at 50 MB",
            first[LARGEST] < 10_000,
        ),
        _flat_calls(speeds),
        Check(
            "processor time of a call at each size",
            _by_size({name: median(one.micros for one in speeds[name]) for name in STATES}, " µs"),
            "",
            met=True,
        ),
    ]


def shared_pages(farm: FarmProcess, tell: Tell) -> Check:
    """The memory of 64 active instances of one start, beside 64 copies of it."""
    tell(f"{ACTIVE} active instances of 10 MB")
    called_once(farm.launch(MIDDLE, 1))
    wait_until_quiet(farm)
    alone = processes.memory(farm.pids)
    called_once(farm.launch(MIDDLE, ACTIVE))
    grown = processes.memory(farm.pids) - alone
    copies = ACTIVE * STATES[MIDDLE]
    return Check(
        f"memory of {ACTIVE} active instances of 10 MB",
        f"{processes.memory(farm.pids) / MB:.0f} MB in all, {grown / MB:.0f} MB more than with one",
        f"under {copies / MB / 4:.0f} MB more; copies are {copies / MB:.0f}",
        grown < copies / 4,
    )


def many_leases(farm: FarmProcess, state: Path, extent: Extent, tell: Tell) -> Check:
    """The disk of many leases of a large environment."""
    tell(f"{extent.leases:,} leases of 10 MB")
    farm.launch(MIDDLE, extent.leases)
    used = _disk(state)
    return Check(
        f"disk of {extent.leases:,} leases of a 10 MB environment",
        f"{used / MB:,.0f} MB",
        "under 1,000 MB",
        used < 1000 * MB,
    )


def trusted(cost: Cost) -> Check:
    """What a protection costs, as a row."""
    share = cost.saved / cost.whole
    return Check(
        f"what {cost.what} cost of a call", f"{cost.saved:.0f} of {cost.whole:.0f} µs ({share:.0%})", "", met=True
    )


def _controlled(farm: FarmProcess, name: str, target: Target, took: dict[str, list[float]]) -> None:
    """Launch, reset and fork once, and close what came of it."""
    path = path_of(target)
    launch = farm.timed("POST", "/v1/instances", _order(name))
    reset = farm.timed("POST", f"{path}/reset")
    play_here(target, CHANGES)
    fork = farm.timed("POST", f"{path}/fork", {"count": FORKS})
    for what, timed in (("launch", launch), ("reset", reset), ("fork", fork)):
        took.setdefault(what, []).append(timed.milliseconds)
    for lease in (*launch.answer["items"], *fork.answer["items"]):
        farm.ask("DELETE", f"/v1/instances/{lease['instance']}")


def _disk_of_an_idle_instance(farm: FarmProcess, state: Path, name: str) -> int:
    """The bytes on disk of one instance that changed some rows."""
    [target] = farm.launch(name)
    play_here(target, CHANGES)
    instance = path_of(target).rpartition("/")[2]
    return sum(_on_disk(path) for path in state.rglob(f"{instance}*"))


def _speed(targets: Sequence[Target], pids: list[int], seconds: float) -> Speed:
    body, headers = load.call_request(subject.ARGUMENTS, subject.TOOL, MODERN)
    before = processes.processor_seconds(pids)
    [result] = load.put(Plan([*targets], body, headers, min(len(targets), MOST_CONNECTIONS), seconds=seconds))
    after = processes.processor_seconds(pids)
    return Speed(result.per_second, sum(after[pid] - before[pid] for pid in pids) / result.calls * 1e6)


def _order(name: str) -> dict[str, str]:
    return {"environment": name, "scenario": str(subject.SCENARIO["id"])}


def _flat(what: str, values: dict[str, float]) -> Check:
    times = values[LARGEST] / values[SMALLEST]
    return Check(what, f"{times:.2f} times", "at most 1.3 times", times <= 1.3)


def _flat_calls(rounds: dict[str, list[Speed]]) -> Check:
    pairs = zip(rounds[LARGEST], rounds[SMALLEST], strict=True)
    share = median(large.per_second / small.per_second for large, small in pairs)
    speeds = {name: median(one.per_second for one in rounds[name]) for name in STATES}
    return Check(
        f"calls a second of {ACTIVE} instances, the largest state against the smallest",
        f"{share:.2f} times; {_by_size(speeds, '')}",
        "within 10 %",
        abs(share - 1) <= 0.1,
    )


def _by_size(values: dict[str, float], unit: str) -> str:
    shown = (f"{value:,.0f}" if value >= 100 else f"{value:.2f}" for value in values.values())
    return f"{' / '.join(shown)}{unit}"


def _disk(folder: Path) -> int:
    return sum(_on_disk(Path(root, name)) for root, _, names in os.walk(folder) for name in names)


def _on_disk(path: Path) -> int:
    return path.stat().st_blocks * 512
