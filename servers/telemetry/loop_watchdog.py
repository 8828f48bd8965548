"""Detects a blocked event loop from another thread, and logs its stack.

It only logs. The farm kills and restarts a worker process with a blocked loop. A farm in one process has no supervisor,
and to end it would cost every other environment its calls.
"""

import asyncio
import logging
import sys
import threading
import traceback
from collections.abc import Generator
from contextlib import contextmanager

STALLED_SECONDS = 3.0
"""Seconds without progress after which a loop counts as blocked."""
DEEPEST_SHOWN = 12
log = logging.getLogger("farm.loop")


@contextmanager
def watched_loop(seconds: float = STALLED_SECONDS) -> Generator[None]:
    """Watch the running loop while the context is open."""
    loop, thread = asyncio.get_running_loop(), threading.get_ident()
    over, beaten = threading.Event(), threading.Event()

    def watch() -> None:
        while not over.is_set():
            beaten.clear()
            try:
                loop.call_soon_threadsafe(beaten.set)
            except RuntimeError:
                return  # the loop is closed
            if not beaten.wait(seconds) and not over.is_set():
                log.warning("event loop stands still", extra={"seconds": seconds, "stack": _stack(thread)})
                beaten.wait()
                log.warning("event loop goes on")
            over.wait(seconds / 3)

    watcher = threading.Thread(target=watch, name="loop-watch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        beaten.set()
        watcher.join()


def _stack(thread: int) -> str:
    """The stack of a thread: the innermost functions, file and line."""
    frames = traceback.extract_stack(sys._current_frames().get(thread))  # pyright: ignore[reportPrivateUsage]
    return " < ".join(f"{frame.name} {frame.filename}:{frame.lineno}" for frame in reversed(frames[-DEEPEST_SHOWN:]))
