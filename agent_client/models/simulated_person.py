"""A user that a model plays. It tells its task piece by piece, from a persona, until nothing is left to ask."""

from collections.abc import Sequence
from pathlib import Path

from agent_client.errors import AgentError, EndpointError
from agent_client.model import Instructions, Message, Model, Reply, User
from agent_client.person import Exchange, UserMessage

STOP = "[END]"
"""The signal that ends a conversation. It counts only as the last line of a message, outside of thoughts."""
GREETING = "Hello, how can I help you today?"
PROMPT = Path(__file__).with_name("simulated_person.md")
SILENCE = "You said nothing. Say your next words to the agent, or only the line [END]."


class SimulatedPerson:
    """Sees the persona, the task and the agent's messages. Never sees tools, state or checkpoints."""

    def __init__(self, model: Model, *, persona: str, task: str) -> None:
        self.name = model.name
        self._model = model
        self._instructions = PROMPT.read_text(encoding="utf-8").format(persona=persona, task=task, stop=STOP)

    async def says(self, opening: str, told: Sequence[Exchange]) -> UserMessage:
        """The next message. Raises EndpointError if the model says nothing twice, or never begins."""
        messages: list[Message] = [Instructions(self._instructions), User(GREETING)]
        if opening:
            messages.append(Reply(text=opening))
        for exchange in told:
            messages.append(User(exchange.agent))
            if exchange.user:
                messages.append(Reply(text=exchange.user))
        tokens = 0
        for _ in range(2):
            reply = await self._ask(messages)
            tokens += reply.tokens_in + reply.tokens_out
            text, over = heard(reply.text)
            if over and opening:
                return UserMessage(text, over=True, tokens=tokens)
            if text:
                return UserMessage(text, tokens=tokens)
            messages.append(User(SILENCE))
        raise EndpointError(f"the simulated user ({self.name}) said nothing, even after a reminder")

    async def _ask(self, messages: Sequence[Message]) -> Reply:
        try:
            return await self._model.reply(messages, ())
        except (AgentError, EndpointError) as error:  # of the user's model: the agent has no part in it
            raise EndpointError(f"the simulated user ({self.name}) cannot go on: {error}") from error


def heard(text: str) -> tuple[str, bool]:
    """A message without the signal, and whether the signal was its last line."""
    said = text.strip()
    *before, last = said.splitlines() or [""]
    return ("\n".join(before).strip(), True) if last.strip() == STOP else (said, False)
