"""A model without function calling: tools are described in the prompt, and calls are parsed from the text."""

from collections.abc import Iterator, Sequence

from agent_client.model import (
    CallReply,
    Instructions,
    Message,
    Model,
    Reply,
    User,
)
from agent_client.models.call_text import CallText
from agent_client.models.chat_messages import without_thinking
from agent_client.trace import ToolCall, ToolResult, ToolSpec


class PromptedModel:
    """Wraps another model. Its replies are like any other's: calls are parsed from the text, thinking is kept apart."""

    def __init__(self, model: Model, text: CallText) -> None:
        self.name = model.name
        self._model = model
        self._text = text

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """Ask for the next turn. Raises the wrapped model's errors."""
        turn = 1 + sum(isinstance(message, Reply) for message in messages)
        told = list(self._in_words(messages, tools))
        reply = await self._model.reply(told, ())
        text, thinking = without_thinking(reply.text)
        said = self._text.read(text, turn)
        return Reply(
            text=said.text,
            thinking=reply.thinking or thinking,
            calls=said.calls,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            final=reply.final,
        )

    def _in_words(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Iterator[Message]:
        """The conversation with calls and results as text. All results of a turn form one user message."""
        rules = "\n\n".join(message.text for message in messages if isinstance(message, Instructions))
        told = self._text.told(tools) if tools else ""
        if rules or told:
            yield Instructions("\n\n".join(part for part in (rules, told) if part))
        answered: list[tuple[ToolCall, ToolResult]] = []
        for message in messages:
            if isinstance(message, CallReply):
                answered.append((message.call, message.result))
                continue
            if answered:
                yield User(self._text.results(answered))
                answered = []
            if isinstance(message, Reply):
                yield Reply(text=self._text.written(message.text, message.calls), thinking=message.thinking)
            elif isinstance(message, User):
                yield message
        if answered:
            yield User(self._text.results(answered))
