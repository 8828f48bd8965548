"""A step of an evolution as a process: it writes a log, and ends with all that it started.

Run as a module it is the step's guard. It starts the command in a process group of its own, and ends that group when it
is told to, also when whoever started it was killed.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

from rl_training.errors import TrainingError
from servers.files.named_file import opened_by_name
from servers.limits.parent_death import die_with_parent

STOPPING_SECONDS = 30.0
"""How long a group may take to end before it is killed."""
LOOK_SECONDS = 0.25
LAST_BYTES = 4096
PR_SET_CHILD_SUBREAPER = 36
LONGEST_LINE = 500


def run_step(command: Sequence[str], log: Path, on_line: Callable[[str], None]) -> None:
    """Run a command to its end, with the variables of this process.

    `on_line` gets the last line of its log from time to time.

    Raises:
        TrainingError: it failed. The message has its log's path and last line.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file:
        guard = subprocess.Popen(
            [sys.executable, "-m", "rl_training.evolve.step_process", str(os.getpid()), *command],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            while guard.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    guard.wait(LOOK_SECONDS)
                on_line(last_line(log))
        except BaseException:
            guard.terminate()
            guard.wait()
            raise
    if guard.returncode != 0:
        raise TrainingError(f"{command[0]} ended with {guard.returncode}; {log} says: {last_line(log) or 'nothing'}")


def last_line(log: Path) -> str:
    """The last line of a log with anything on it."""
    with opened_by_name(log, largest=2**40) as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - LAST_BYTES))
        text = file.read(LAST_BYTES).decode(errors="replace")
    lines = [line.strip() for line in text.replace("\r", "\n").splitlines() if line.strip()]
    return lines[-1][-LONGEST_LINE:] if lines else ""


def main() -> None:
    """Guard a command. The first argument is the process that must live."""
    signal.signal(signal.SIGTERM, _raise_interrupt)
    signal.signal(signal.SIGINT, _raise_interrupt)
    try:
        die_with_parent(int(sys.argv[1]))
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # so that orphans of the command are reaped here
        try:
            process = subprocess.Popen(sys.argv[2:], start_new_session=True)
        except OSError as error:
            sys.stderr.write(f"{sys.argv[2]}: cannot be run: {error.strerror}\n")
            sys.exit(127)
        try:
            code = process.wait()
        finally:
            _end(process)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(code if code >= 0 else 128 - code)


def _raise_interrupt(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the group of a process, kindly at first."""
    until = time.monotonic() + STOPPING_SECONDS
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM)
        while time.monotonic() < until:
            _reap()
            os.killpg(process.pid, 0)
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


if __name__ == "__main__":
    main()
