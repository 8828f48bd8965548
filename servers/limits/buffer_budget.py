"""A bound on what is buffered of messages that are not complete, over all senders."""

from typing import Protocol


class Buffer(Protocol):
    """A sender's unfinished message."""

    def give_up(self) -> None:
        """Drop the buffer, and its sender with it."""
        ...


class BufferBudget:
    """What all unfinished messages may hold together. When it is exceeded, the largest buffer is given up.

    So a sender with a small message is never the victim of one with a large message.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._sizes: dict[Buffer, int] = {}
        self.total = 0

    def hold(self, buffer: Buffer, size: int) -> None:
        """Note how large a buffer is now. It, or a larger one, may be given up in this call."""
        self.total += size - self._sizes.get(buffer, 0)
        self._sizes[buffer] = size
        while self.total > self._most:
            largest = max(self._sizes, key=self._sizes.__getitem__)
            self.release(largest)
            largest.give_up()

    def release(self, buffer: Buffer) -> None:
        """Forget a buffer: its message is complete, or it was dropped."""
        self.total -= self._sizes.pop(buffer, 0)
