"""Where the processor time of a call goes, part by part, and what the farm's protections cost of it."""

import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench import load, processes, subject
from bench.farm_process import FarmProcess, running
from bench.load import MODERN, Plan, Target
from bench.measuring import MOST_CONNECTIONS, called_once
from bench.table import machine, table_of

SIZES = (1, 64)
NOTHING = "nothing"
LEFT_OUT = ("walls", "history", "metrics")
QUIET_SECONDS = 0.03
MOST_WAITS = 60

LOOP = "HTTP, event loop, connections"
DOOR = "token, lease, the request's JSON, the answer's"
ARGUMENTS = "arguments: JSON and schema"
ASKING = "asking the guest, and its answer"
RESULT = "the result's JSON"
VERIFYING = "verification of the changes"
HISTORY = "history and index"
METRICS = "metrics and log"
PARTS = (LOOP, DOOR, ARGUMENTS, ASKING, RESULT, VERIFYING, HISTORY, METRICS)
TOOL = "guest: the tool, its transaction, its changes"
GUEST = "guest: socket, JSON, the rest"
FUNCTIONS = {
    "instance.py:_checked": ARGUMENTS,
    "instance.py:_as_json": ARGUMENTS,
    "instance.py:_believed": RESULT,
    "instance.py:_object": RESULT,
    "instance.py:_keep": HISTORY,
    "instance.py:_told": METRICS,
    "instance.py:_asked": ASKING,
    "instance.py:_answered": ASKING,
}
FILES = {
    "bundle/call_arguments.py": ARGUMENTS,
    "bundle/whole_numbers.py": ARGUMENTS,
    "guest/frames.py": ASKING,
    "guest/json_writer.py": ASKING,
    "limits/process_clock.py": ASKING,
    "limits/turn_queue.py": ASKING,
    "sandbox/guest_pool.py": ASKING,
    "state/changeset_verification.py": VERIFYING,
    "guest/changeset_verifier.py": VERIFYING,
    "sqlite/tables.py": VERIFYING,
    "sqlite/changeset.py": VERIFYING,
    "sqlite/image.py": VERIFYING,
    "sqlite/clock.py": VERIFYING,
    "state/state_file.py": HISTORY,
    "state/state_index.py": HISTORY,
    "telemetry/worker_events.py": METRICS,
    "telemetry/counters.py": METRICS,
    "doors/http_limits.py": LOOP,
    "doors/known_heads.py": LOOP,
    "doors/whole_exchange.py": LOOP,
    "doors/mcp.py": DOOR,
    "doors/fast_path.py": DOOR,
    "doors/request.py": DOOR,
    "worker/instance.py": DOOR,
    "worker/worker.py": DOOR,
}
"""The part of each file that a call passes through, unless the function says more. All else is the loop's."""


class Budget(NamedTuple):
    """The processor microseconds of a call by part, at some number of instances."""

    instances: int
    parts: dict[str, float]

    @property
    def total(self) -> float:
        return sum(self.parts.values())


class Cost(NamedTuple):
    """What a call costs with everything, and how much less without one protection: processor microseconds."""

    what: str
    whole: float
    saved: float


def part_of(stack: list[str]) -> str:
    """The part of a call that a stack belongs to, innermost frame first."""
    for frame in stack:
        path, _, function = frame.rpartition(":")
        folder, _, file = path.rpartition("/")
        named = f"{file}:{function}"
        if named in FUNCTIONS:
            return FUNCTIONS[named]
        known = FILES.get(f"{folder.rpartition('/')[2]}/{file}")
        if known is not None:
            return known
    return LOOP


def budgets(folder: Path, seconds: float, tell: Callable[[str], None]) -> list[Budget]:
    """The budget of a call at each size."""
    subject.write_bundle(folder / "library" / "store")
    out = folder / "samples.json"
    program = (sys.executable, "-m", "bench.sampled_farm", str(out), NOTHING)
    with running(folder / "library", folder / "state", program=program) as farm:
        targets: list[Target] = []
        found: list[Budget] = []
        for size in SIZES:
            tell(f"where a call's time goes, {size} instances")
            targets += farm.launch("store", size - len(targets))
            called_once(targets)
            wait_until_quiet(farm)
            found.append(_budget(farm, targets, out, seconds))
    return found


def _budget(farm: FarmProcess, targets: list[Target], out: Path, seconds: float) -> Budget:
    main, *others = farm.pids
    before, tool_before = processes.processor_seconds(farm.pids), _tool_seconds(farm)
    out.unlink(missing_ok=True)
    os.kill(main, signal.SIGUSR1)
    calls = _load(targets, seconds)
    os.kill(main, signal.SIGUSR2)
    after, tool = processes.processor_seconds([main, *others]), _tool_seconds(farm) - tool_before
    while not out.exists():
        farm.ask("GET", "/v1/health")  # it looks at its signals when it has something to do
        time.sleep(0.05)
    samples: list[tuple[list[str], int]] = json.loads(out.read_text(encoding="utf-8"))
    seen: Counter[str] = Counter()
    for stack, count in samples:
        seen[part_of(stack)] += count
    own = (after[main] - before[main]) / calls * 1e6
    guests = sum(after[pid] - before[pid] for pid in others) / calls * 1e6
    inside = min(tool / calls * 1e6, guests)
    parts = {part: own * seen[part] / max(seen.total(), 1) for part in PARTS}
    return Budget(len(targets), {**parts, TOOL: inside, GUEST: guests - inside})


def costs(folder: Path, seconds: float, rounds: int, tell: Callable[[str], None]) -> list[Cost]:
    """What each protection costs of a call of 64 instances: farms with and without it take turns."""
    subject.write_bundle(folder / "costs" / "store")
    with ExitStack() as stack:
        farms: dict[str, tuple[FarmProcess, list[Target]]] = {}
        for what in (NOTHING, *LEFT_OUT):
            tell(f"a farm that leaves out {what}")
            program = (sys.executable, "-m", "bench.sampled_farm", os.devnull, what)
            farm = stack.enter_context(running(folder / "costs", folder / f"state-{what}", program=program))
            farms[what] = farm, farm.launch("store", SIZES[-1])
            called_once(farms[what][1])
            wait_until_quiet(farm)
        found: dict[str, list[float]] = {what: [] for what in farms}
        for number in range(rounds):
            tell(f"what protections cost, round {number + 1} of {rounds}")
            for what, (farm, targets) in farms.items():
                before = processes.processor_seconds(farm.pids)
                calls = _load(targets, seconds)
                after = processes.processor_seconds(list(before))
                found[what].append(sum(after[pid] - before[pid] for pid in before) / calls * 1e6)
    whole = found[NOTHING]
    return [
        Cost(what, median(whole), median(one - other for one, other in zip(whole, found[what], strict=True)))
        for what in LEFT_OUT
    ]


def _load(targets: list[Target], seconds: float) -> int:
    body, headers = load.call_request(subject.ARGUMENTS, subject.TOOL, MODERN)
    [result] = load.put(Plan(targets, body, headers, min(len(targets), MOST_CONNECTIONS), seconds=seconds))
    return result.calls


def _tool_seconds(farm: FarmProcess) -> float:
    """The seconds for which tools ran, as guests tell."""
    lines = farm.text("/metrics").splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("farm_call_guest_seconds_sum"))


def wait_until_quiet(farm: FarmProcess) -> None:
    """Wait until a farm that has just started does nothing any more."""
    for _ in range(MOST_WAITS):
        before = processes.processor_seconds(farm.pids)
        time.sleep(1.0)
        after = processes.processor_seconds(list(before))
        if sum(after[pid] - before[pid] for pid in before) < QUIET_SECONDS:
            return


def _shown(one: Budget, part: str) -> str:
    return f"{one.parts[part]:.0f} ({one.parts[part] / one.total:.0%})"


def page(found: list[Budget], trust: list[Cost]) -> str:
    """Both as Markdown."""
    head = ["part of a call", *(f"{one.instances} instance{'s' if one.instances > 1 else ''}" for one in found)]
    lines = [[part, *(_shown(one, part) for one in found)] for part in (*PARTS, TOOL, GUEST)]
    lines.append(["all", *(f"{one.total:.0f}" for one in found)])
    lost = [[one.what, f"{one.whole:.0f}", f"{one.saved:.0f}"] for one in trust]
    return "\n\n".join(
        [
            f"{machine()} µs of processor time for a call, with the system calls of each part:",
            table_of(head, lines),
            f"What protections cost of a call of {SIZES[-1]} instances, in µs: medians of farms that took turns.",
            table_of(["without", "a call with everything", "less without it"], lost),
        ]
    )
