"""Recent pass rates of scenarios, in a file that all rollout workers append to and the trainer reads.

Each episode is one line, appended in one write. A crash costs at most the line that was being written.
"""

import json
import os
from pathlib import Path
from typing import NamedTuple


class Key(NamedTuple):
    """A scenario, as a row names it."""

    environment: str
    scenario: str


def note(path: Path, key: Key, *, passed: bool) -> None:
    """Append an episode."""
    line = json.dumps({"environment": key.environment, "scenario": key.scenario, "passed": passed}) + "\n"
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)


class PassRates:
    """Reads the file as it grows. A rate is a moving mean over about `memory` episodes."""

    def __init__(self, path: Path, *, memory: int) -> None:
        self._path = path
        self._memory = memory
        self._read = 0
        self._episodes: dict[Key, int] = {}
        self._rates: dict[Key, float] = {}

    def refresh(self) -> int:
        """Read new lines. Returns the number of all episodes so far."""
        if self._path.exists():
            with self._path.open("rb") as file:
                file.seek(self._read)
                new = file.read()
            whole = new[: new.rfind(b"\n") + 1]  # the rest is still being written
            self._read += len(whole)
            for line in whole.splitlines():
                self._take(line)
        return sum(self._episodes.values())

    def of(self, key: Key) -> float | None:
        """The pass rate of a scenario. None if it was never played."""
        return self._rates.get(key)

    def _take(self, line: bytes) -> None:
        try:
            told = json.loads(line)
            key, passed = Key(told["environment"], told["scenario"]), float(bool(told["passed"]))
        except (ValueError, KeyError, TypeError):
            return  # cut short by a crash: the next one begins in the same line
        self._episodes[key] = episodes = self._episodes.get(key, 0) + 1
        before = self._rates.get(key, passed)
        self._rates[key] = before + (passed - before) / min(episodes, self._memory)
