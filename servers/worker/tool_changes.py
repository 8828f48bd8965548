"""Who waits to be told that the list of an instance's tools has changed.

Only benchmarks have such lists: a tool can be listed from a later turn on. A listener is told once, however often the
list changed since it last looked.
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from servers.errors import CapacityError
from servers.worker.instance import Instance

MOST_LISTENERS = 256
"""Listeners of all instances of a worker."""
MOST_LISTENERS_EACH = 4


class ToolListener:
    """One who waits for changes of one instance's tools."""

    def __init__(self) -> None:
        self._woken = asyncio.Event()
        self._over = False

    async def changed(self) -> bool:
        """Wait for the next change. False if there will be no more."""
        await self._woken.wait()
        self._woken.clear()
        return not self._over

    def tell(self) -> None:
        """Say that the tools changed."""
        self._woken.set()

    def end(self) -> None:
        """Say that they will not change any more."""
        self._over = True
        self._woken.set()


class ToolChanges:
    """The listeners of one worker."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[ToolListener]] = {}
        self._ended = False

    @contextmanager
    def listener(self, instance_id: str) -> Generator[ToolListener]:
        """A listener for an instance while the context is open.

        Raises:
            CapacityError: there are too many.
        """
        own = self._listeners.get(instance_id, [])
        if len(own) >= MOST_LISTENERS_EACH or sum(map(len, self._listeners.values())) >= MOST_LISTENERS:
            raise CapacityError(
                f"at most {MOST_LISTENERS_EACH} streams of an instance, and {MOST_LISTENERS} of all, wait to be told"
                " of changed tools; close one"
            )
        listener = ToolListener()
        if self._ended:
            listener.end()
        self._listeners.setdefault(instance_id, own).append(listener)
        try:
            yield listener
        finally:
            own.remove(listener)
            if not own:
                del self._listeners[instance_id]

    @contextmanager
    def noticing(self, instance: Instance) -> Generator[None]:
        """Tell the listeners of an instance if its list of tools is another one after the context."""
        listeners = self._listeners.get(instance.id, [])
        before = instance.listed_tools() if listeners else []
        yield
        if listeners and instance.listed_tools() != before:
            for listener in listeners:
                listener.tell()

    def end(self, instance_id: str) -> None:
        """Tell the listeners of an instance that its agent's lease is over."""
        for listener in self._listeners.get(instance_id, []):
            listener.end()

    def end_all(self) -> None:
        """Tell all listeners, also later ones, that this worker ends."""
        self._ended = True
        for instance_id in self._listeners:
            self.end(instance_id)
