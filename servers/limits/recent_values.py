"""Values that are kept because they may be asked for again: the last ones, up to a number and a size."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def _nothing(_value: object) -> int:
    return 0


class RecentValues(Generic[K, V]):
    """A cache of at most `most` values and `most_bytes` bytes. Those that were not asked for longest go first.

    A value that is larger than `most_bytes` is not kept. Threads may share it.
    """

    def __init__(self, most: int, most_bytes: int = 0, size_of: Callable[[V], int] = _nothing) -> None:
        self.most = most
        self.most_bytes = most_bytes
        self.held = 0
        self._size_of = size_of
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = Lock()  # protects the values, their order and their size

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def find(self, key: K) -> V | None:
        """The value of a key, which is then the last that was asked for."""
        with self._lock:
            kept = self._values.get(key)
            if kept is None:
                return None
            self._values.move_to_end(key)
            return kept[0]

    def keep(self, key: K, value: V) -> None:
        """Keep a value, in place of an older one of its key."""
        size = self._size_of(value)
        with self._lock:
            self._drop(key)
            if size > self.most_bytes:
                return
            self._values[key] = (value, size)
            self.held += size
            while len(self._values) > self.most or self.held > self.most_bytes:
                self._drop(next(iter(self._values)))

    def _drop(self, key: K) -> None:
        kept = self._values.pop(key, None)
        self.held -= 0 if kept is None else kept[1]
