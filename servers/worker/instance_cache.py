"""The open instances of a worker: few of them, and the least recently used are closed first.

A closed instance uses no memory, and opening it again reads its history. So the cache grows while closed ones keep
coming back.
"""

import resource
import time
from collections import OrderedDict
from collections.abc import Callable, Collection

from servers.errors import StateError
from servers.sandbox.guest_pool import Guests
from servers.telemetry.worker_events import WorkerEvents
from servers.worker.instance import Instance
from servers.worker.settings import MOST_HELD

LEAST_HELD = 256
MORE_HELD = 8
"""The growth of the cache for each instance that comes back."""
FILES_EACH = 3
"""Open files for each instance: its state file, a connection, and that of its start, which may be its own."""
MOST_ROOM = 432 * 1024 * 1024
"""Bytes of rows in the memory of all guests, when the cache has its largest size."""


class InstanceCache:
    """Instances in use, by their id."""

    def __init__(self, guests: Guests, watch: WorkerEvents, most: int = MOST_HELD) -> None:
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._ceiling = max(LEAST_HELD, min(most, files // FILES_EACH))
        self._guests = guests
        self._watch = watch
        self._held: OrderedDict[str, Instance] = OrderedDict()
        self._let_go: OrderedDict[str, None] = OrderedDict()
        self._revisions: OrderedDict[str, str] = OrderedDict()
        self._most = LEAST_HELD

    def all(self) -> Collection[Instance]:
        return self._held.values()

    def find(self, instance_id: str) -> Instance | None:
        """An open instance, which becomes the most recently used one."""
        instance = self._held.get(instance_id)
        if instance is not None:
            self._held.move_to_end(instance_id)
        return instance

    def hold(self, instance: Instance) -> None:
        """Add an instance, and close others for it.

        One that comes back keeps the name of its rows, so a guest that still has them need not load them again.
        """
        instance.state.revision = self._revisions.pop(instance.id, instance.state.revision)
        if instance.id in self._let_go:
            del self._let_go[instance.id]
            self._hold_at_most(self._most + MORE_HELD)
        self._let_go_until(self._most - 1)  # before this one is among them: nobody is using it yet
        self._held[instance.id] = instance

    def give_up(self, instance_id: str) -> Instance | None:
        """Remove an instance without closing it."""
        self._let_go.pop(instance_id, None)
        self._revisions.pop(instance_id, None)
        return self._held.pop(instance_id, None)

    def let_go_of_idle(self, seconds: float) -> None:
        """Close instances that were not used for `seconds`."""
        old = time.monotonic() - seconds
        for instance in list(self._held.values()):
            if instance.used < old and not instance.busy:
                self._shut(instance)
        if len(self._held) < LEAST_HELD:
            self._let_go.clear()
            self._hold_at_most(LEAST_HELD)

    def let_go_of_others(self, is_kept: Callable[[Instance], bool]) -> None:
        """Close instances that are not used and not kept."""
        for instance in list(self._held.values()):
            if not instance.busy and not is_kept(instance):
                self._shut(instance)

    def close(self) -> None:
        """Close all, even those in use."""
        for instance in self._held.values():
            instance.state.close()
        self._held.clear()

    def _hold_at_most(self, most: int) -> None:
        self._most = min(most, self._ceiling)
        self._guests.room = MOST_ROOM * (self._most - LEAST_HELD) // MOST_HELD

    def _let_go_until(self, most: int) -> None:
        for instance in list(self._held.values()) if len(self._held) > most else ():
            if len(self._held) <= most:
                break
            if not instance.busy:
                self._shut(instance)
                self._let_go[instance.id] = None
        while len(self._let_go) > self._ceiling:
            self._let_go.popitem(last=False)

    def _shut(self, instance: Instance) -> None:
        """Close an unused instance."""
        del self._held[instance.id]
        self._revisions[instance.id] = instance.state.revision
        while len(self._revisions) > self._ceiling:
            self._revisions.popitem(last=False)
        try:
            instance.state.close()
        except StateError as error:
            self._watch.could_not("close a state file", error, instance=instance.id)
