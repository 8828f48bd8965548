"""The messages that a model is shown, derived from the turns so far."""

from collections.abc import Iterator, Sequence

from agent_client.model import (
    CallReply,
    Instructions,
    Message,
    Reply,
    User,
)
from agent_client.trace import Turn


def conversation(instructions: str, task: str, turns: Sequence[Turn]) -> tuple[Message, ...]:
    """Rules, task, then each turn's reply, answers and whatever the user said after it."""
    opening: tuple[Message, ...] = (Instructions(instructions), User(task)) if instructions else (User(task),)
    return (*opening, *(message for turn in turns for message in _messages(turn)))


def _messages(turn: Turn) -> Iterator[Message]:
    yield Reply(turn.text, turn.thinking, turn.calls, turn.tokens_in, turn.tokens_out)
    # An episode that was cut short has calls without a result at its end.
    yield from (CallReply(call, result) for call, result in zip(turn.calls, turn.results, strict=False))
    if turn.user:
        yield User(turn.user)
