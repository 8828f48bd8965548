"""The rules of a benchmark's own harness, where it plays an episode otherwise than the farm does."""

from typing import Literal

from agent_client.trace import TraceRecord

LimitsOf = Literal["official", "paper"]
"""Whose limits a benchmark has: those of its own code, or those of EnvScaler's paper, where reaching one is a 0."""


class Rules(TraceRecord):
    """How an episode is played. The defaults are the farm's own way."""

    one_call: bool = False
    """Of a reply's calls, only the first is made, and the others are forgotten."""
    steps_of_turn: int | None = None
    """The most replies with calls between two messages of the user."""
    last_tools: tuple[str, ...] = ()
    """Tools whose call ends a conversation."""
    end_words: str = ""
    """Words of the agent that end the episode, wherever they stand in a message."""
    ends_from: int = 1
    """The number of the reply from which on words can end the episode, the user's too."""
    silence_counts: bool = False
    """An empty reply goes to the user like any other. By default the model is reminded of it once."""
    unreadable: Literal["told", "ends turn", "ends episode"] = "told"
    """What comes of a call with arguments that cannot be read."""
    unfinished_is_zero: bool = False
    """An episode that reaches a limit has reward 0, whatever its state."""


OWN = Rules()
