"""An event loop for a process with nothing else to do: jobs for threads run inline.

Judging a small state takes less time than a thread hop.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

import uvloop

P = ParamSpec("P")
T = TypeVar("T")


class AtOnce(ThreadPoolExecutor):
    """A thread pool without threads. An event loop accepts no other kind of executor."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        """Run it now."""
        done: Future[T] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done


def run_alone(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` on such a loop, and return its result."""
    with asyncio.Runner(loop_factory=_loop) as runner:
        return runner.run(work)


def _loop() -> asyncio.AbstractEventLoop:
    loop = uvloop.new_event_loop()
    loop.set_default_executor(AtOnce())
    return loop
