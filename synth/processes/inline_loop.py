"""An event loop for a process with nothing else to do: work for threads runs inline.

Judging a small state takes less time than handing it to a thread.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

import uvloop

P = ParamSpec("P")
T = TypeVar("T")


class AtOnce(ThreadPoolExecutor):
    """A pool of threads of which none is ever started. An event loop takes no other kind of executor."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        """Do it now."""
        done: Future[T] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done


def run_alone(work: Coroutine[Any, Any, T]) -> T:
    """What `work` comes to, on such a loop."""
    with asyncio.Runner(loop_factory=_loop) as runner:
        return runner.run(work)


def _loop() -> asyncio.AbstractEventLoop:
    loop = uvloop.new_event_loop()
    loop.set_default_executor(AtOnce())
    return loop
