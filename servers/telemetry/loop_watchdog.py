"""Notices that an event loop stands still, from a thread beside it, and tells the log where it stands.

It only tells. A worker process whose loop stands still is killed and started anew by its farm. A farm in one process
has nobody above it, and to end it would cost every other environment its calls.
"""

import asyncio
import logging
import sys
import threading
import traceback
from collections.abc import Generator
from contextlib import contextmanager

STALLED_SECONDS = 3.0
"""A loop that does nothing for so long stands still."""
DEEPEST_SHOWN = 12
log = logging.getLogger("farm.loop")


@contextmanager
def watched_loop(seconds: float = STALLED_SECONDS) -> Generator[None]:
    """Watch the running loop while inside."""
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
                log.error("event loop stands still", extra={"seconds": seconds, "at": _stack(thread)})
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
    """Where a thread is: the innermost functions, file and line."""
    frames = traceback.extract_stack(sys._current_frames().get(thread))  # pyright: ignore[reportPrivateUsage]
    return " < ".join(f"{frame.name} {frame.filename}:{frame.lineno}" for frame in reversed(frames[-DEEPEST_SHOWN:]))
