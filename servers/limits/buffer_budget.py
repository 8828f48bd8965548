"""A bound on the buffers of incomplete messages, over all senders."""

from typing import Protocol


class Buffer(Protocol):
    """A sender's incomplete message."""

    def give_up(self) -> None:
        """Drop the buffer and its sender."""
        ...


class BufferBudget:
    """The budget of all incomplete messages. When it is exceeded, the largest buffer is dropped.

    So a sender with a small message is never the victim of one with a large message.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._sizes: dict[Buffer, int] = {}
        self.total = 0

    def hold(self, buffer: Buffer, size: int) -> None:
        """Set the size of a buffer. This may drop it, or a larger one."""
        self.total += size - self._sizes.get(buffer, 0)
        self._sizes[buffer] = size
        while self.total > self._most:
            largest = max(self._sizes, key=self._sizes.__getitem__)
            self.release(largest)
            largest.give_up()

    def release(self, buffer: Buffer) -> None:
        """Remove a buffer: its message is complete, or it was dropped."""
        self.total -= self._sizes.pop(buffer, 0)
