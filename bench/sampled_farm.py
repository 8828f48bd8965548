"""`farm up` in a process that notes where its processor time goes, or that leaves a protection out.

Run as `python -m bench.sampled_farm OUT LEFT_OUT up ...`. SIGUSR1 begins to sample, SIGUSR2 writes the samples to OUT:
a JSON list of stacks, innermost frame first, each with its number. The kernel's clock ticks some hundred times in a
second of processor time. LEFT_OUT is `nothing`, or what the farm does without: no option of `farm up` does that.
"""

import json
import signal
import sys
from collections import Counter
from pathlib import Path
from types import FrameType

import farm
from servers.sandbox import guest_pool
from servers.state.state_file import StateFile
from servers.telemetry.worker_events import WorkerEvents
from servers.worker.instance_cache import InstanceCache

TICK = 0.001
DEEPEST = 40


class Samples:
    """The stacks that were seen, and how often."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._seen: Counter[tuple[str, ...]] = Counter()

    def begin(self, *_: object) -> None:
        self._seen.clear()
        signal.setitimer(signal.ITIMER_PROF, TICK, TICK)

    def note(self, _number: int, frame: FrameType | None) -> None:
        """What runs now. What ran outside of Python is noted at the next Python that runs."""
        stack: list[str] = []
        while frame is not None and len(stack) < DEEPEST:
            code = frame.f_code
            stack.append(f"{code.co_filename}:{code.co_name}")
            frame = frame.f_back
        self._seen[tuple(stack)] += 1

    def end(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        part = self._out.with_suffix(".part")
        part.write_text(json.dumps([[stack, count] for stack, count in self._seen.items()]), encoding="utf-8")
        part.replace(self._out)


def _nothing(*_: object, **__: object) -> None:
    pass


def leave_out(what: str) -> None:
    """Do without one protection in this process and its guests."""
    if what == "walls":
        guest_pool.ZYGOTE = "bench.open_zygote"
    elif what == "history":
        StateFile._append = _nothing  # pyright: ignore[reportPrivateUsage]
        InstanceCache.let_go_of_idle = _nothing  # its state is in memory alone
    elif what == "metrics":
        WorkerEvents.called = _nothing


if __name__ == "__main__":
    samples = Samples(Path(sys.argv[1]))
    leave_out(sys.argv[2])
    signal.signal(signal.SIGPROF, samples.note)
    signal.signal(signal.SIGUSR1, samples.begin)
    signal.signal(signal.SIGUSR2, samples.end)
    sys.argv = ["farm", *sys.argv[3:]]
    farm.main()
