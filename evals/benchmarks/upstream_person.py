"""The users of benchmarks: one that a model plays in upstream's words, one with fixed turns, one with one answer."""

from collections.abc import Awaitable, Callable, Sequence

from agent_client.errors import AgentError, EndpointError
from agent_client.model import Instructions, Message, Model, Reply, User
from agent_client.person import Exchange, UserMessage
from servers.scenario.scenario import UpstreamUser

NAMES = ("user:", "agent:")
"""What ACEBench takes off the front of a message before the user reads it."""


class UpstreamPerson:
    """Reads what upstream's user reads: its instructions, the greeting, and the messages so far."""

    def __init__(self, model: Model, told: UpstreamUser) -> None:
        self.name = model.name
        self._model = model
        self._told = told

    async def says(self, opening: str, told: Sequence[Exchange]) -> UserMessage:
        """The next message. A message with the words that end the conversation is passed on by those who go on.

        Raises:
            EndpointError: the model cannot answer.
        """
        messages: list[Message] = [Instructions(self._told.instructions), User(self._told.greeting)]
        if opening:
            messages.append(self._own(opening))
        for exchange in told:
            messages.append(User(self._heard(exchange.agent)))
            if exchange.user:
                messages.append(self._own(exchange.user))
        try:
            reply = await self._model.reply(messages, ())
        except (AgentError, EndpointError) as error:  # of the user's model: the agent has no part in it
            raise EndpointError(f"the simulated user ({self.name}) cannot go on: {error}") from error
        over = bool(opening) and self._told.stop in reply.text
        return UserMessage(reply.text, over=over, tokens=reply.tokens_in + reply.tokens_out)

    def _own(self, text: str) -> Message:
        return Instructions(text) if self._told.role == "system" else Reply(text=text)

    def _heard(self, text: str) -> str:
        if self._told.role != "system":
            return text
        return next((text.removeprefix(name) for name in NAMES if text.startswith(name)), text)


class SameAnswer:
    """Gives the task, and then one answer to whatever the agent says."""

    name = "upstream's one answer"

    def __init__(self, task: str, answer: str) -> None:
        self._task = task
        self._answer = answer

    async def says(self, opening: str, told: Sequence[Exchange]) -> UserMessage:
        return UserMessage(self._answer if opening else self._task)


class FixedTurns:
    """Sends the messages of a task one by one. Each turn is marked before, and may bring new tools."""

    name = "fixed turns"

    def __init__(
        self, messages: Sequence[str], mark: Callable[[], Awaitable[int]], *, new_tools: frozenset[int]
    ) -> None:
        self._messages = tuple(messages)
        self._mark = mark
        self._new_tools = new_tools
        self._next = 0

    async def says(self, opening: str, told: Sequence[Exchange]) -> UserMessage:
        if self._next == len(self._messages):
            return UserMessage("", over=True)
        turn = self._next
        self._next += 1
        await self._mark()
        return UserMessage(self._messages[turn], tools_changed=turn in self._new_tools)
