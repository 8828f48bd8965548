"""An agent that is a Python function: it gets a task with a URL and a token, and returns its last words."""

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable

from agent_client.errors import AgentError, EndpointError, FarmUnreachable
from agent_client.play import EpisodeEnding
from evals.programs.agent_task import AgentTask

AgentCallable = Callable[[AgentTask], str | Awaitable[str]]


class AgentFunction:
    """Plays by calling a function, plain or async. A plain one runs in a thread of its own.

    An exception is the agent's own error, except EndpointError and FarmUnreachable of this package, and CancelledError.
    A plain function that outlasts its time cannot be ended. It is left behind, and its calls no longer count.
    """

    def __init__(self, function: AgentCallable, *, name: str = "") -> None:
        self.name = name or getattr(function, "__name__", type(function).__name__)
        self._function = function

    async def work(self, task: AgentTask) -> EpisodeEnding:
        """Call the function once, and wait for it as long as the task allows."""
        clock = asyncio.timeout(task.seconds)
        try:
            async with clock:
                return EpisodeEnding("finished", await self._answer(task))
        except TimeoutError as error:
            if not clock.expired():
                return _failed(error)
            return EpisodeEnding("time_limit", f"not finished after {task.seconds:g} s")
        except (EndpointError, FarmUnreachable) as error:
            return EpisodeEnding("infra_error", str(error))
        except Exception as error:
            return _failed(error)

    async def _answer(self, task: AgentTask) -> str:
        if inspect.iscoroutinefunction(self._function):
            said = await self._function(task)
        else:
            said = await _in_thread(self._function, task)
            if inspect.isawaitable(said):
                said = await said
        if not isinstance(said, str):
            raise AgentError(f"the agent's function returned {type(said).__name__}, and not its last words")
        return said


def _failed(error: Exception) -> EpisodeEnding:
    return EpisodeEnding("agent_error", f"{type(error).__name__}: {error}"[:2000])


async def _in_thread(function: AgentCallable, task: AgentTask) -> object:
    """Run a function in a thread that nobody waits for at the end of the program."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[object] = loop.create_future()

    def run() -> None:
        try:
            result, error = function(task), None
        except Exception as raised:
            result, error = None, raised
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle, done, result, error)

    threading.Thread(target=run, name="agent", daemon=True).start()
    return await done


def _settle(done: asyncio.Future[object], result: object, error: Exception | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(result)
    else:
        done.set_exception(error)
