"""Notes how much processor time a training has used at each of its steps, from outside.

It counts this process and all that it started: the farm, the trainer, its workers, the model.
"""

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from bench.processes import tree

LOOK_SECONDS = 1.0
TICKS = os.sysconf("SC_CLK_TCK")


class ProcessorTime:
    """The processor time of a process and its descendants, also of those that ended. It grows with each look."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._seen: dict[tuple[int, str], float] = {}

    def look(self) -> float:
        """All seconds up to now. Of a process that ended it is what the last look saw."""
        for pid in tree(self._root):
            try:
                words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            self._seen[pid, words[19]] = (int(words[11]) + int(words[12])) / TICKS
        return sum(self._seen.values())


@contextmanager
def watched(noted: Path, metrics: Path) -> Generator[None]:
    """Write the processor seconds so far whenever the trainer has written the figures of another step."""
    noted.unlink(missing_ok=True)
    over = Event()
    watcher = Thread(target=_watch, args=(noted, metrics, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _watch(noted: Path, metrics: Path, over: Event) -> None:
    time, last = ProcessorTime(os.getpid()), -1
    while True:
        ended = over.wait(LOOK_SECONDS)
        seconds, step = time.look(), last_step(metrics)
        if step > last:
            with noted.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"step": step, "seconds": round(seconds, 2)}) + "\n")
            last = step
        if ended:
            return


def last_step(metrics: Path) -> int:
    """The last step with figures. -1 if there is none yet."""
    if not metrics.is_file():
        return -1
    whole = [line for line in metrics.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]
    return json.loads(whole[-1])["step"] if whole else -1
