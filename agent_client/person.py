"""The seam to whoever plays the user of a conversation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Exchange:
    """What the agent said to the user, and what the user answered; the last one waits for its answer."""

    agent: str
    user: str = ""


@dataclass(frozen=True)
class UserMessage:
    """What the user says next; `over` ends the conversation, and its text is not passed on."""

    text: str
    over: bool = False
    tokens: int = 0


class Person(Protocol):
    """Plays the user. Raises EndpointError where it cannot: that is never the agent's doing."""

    @property
    def name(self) -> str: ...

    async def says(self, opening: str, told: Sequence[Exchange]) -> UserMessage:
        """The next words, after an opening of one's own (empty at first) and what was said since."""
        ...


class ScriptedPerson:
    """Says a fixed list of things, and then ends the conversation."""

    def __init__(self, lines: Sequence[str], *, name: str = "scripted user") -> None:
        self.name = name
        self._lines = tuple(lines)

    async def says(self, opening: str, told: Sequence[Exchange]) -> UserMessage:
        number = len(told) if opening else 0
        return UserMessage(self._lines[number]) if number < len(self._lines) else UserMessage("", over=True)
