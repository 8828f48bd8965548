"""The interface of a user in a conversation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Exchange:
    """A message of the agent to the user, and the user's answer. The last one has no answer yet."""

    agent: str
    user: str = ""


@dataclass(frozen=True)
class UserMessage:
    """The user's next message. `over` ends the conversation, and its text is not passed on.

    `tools_changed` says that the agent may have other tools from this message on.
    """

    text: str
    over: bool = False
    tokens: int = 0
    tools_changed: bool = False


class Person(Protocol):
    """Plays the user. Raises EndpointError if it cannot, which is never the agent's fault."""

    @property
    def name(self) -> str: ...

    async def says(self, opening: str, told: Sequence[Exchange]) -> UserMessage:
        """The next message, given its own opening (empty at first) and the exchanges so far."""
        ...


class ScriptedPerson:
    """Sends a fixed list of messages, and then ends the conversation."""

    def __init__(self, lines: Sequence[str], *, name: str = "scripted user") -> None:
        self.name = name
        self._lines = tuple(lines)

    async def says(self, opening: str, told: Sequence[Exchange]) -> UserMessage:
        number = len(told) if opening else 0
        return UserMessage(self._lines[number]) if number < len(self._lines) else UserMessage("", over=True)
