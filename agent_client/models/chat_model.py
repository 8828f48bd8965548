"""A model behind an OpenAI-compatible endpoint, with function calling."""

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from agent_client.errors import EndpointDown
from agent_client.model import Message, Reply
from agent_client.models.chat_messages import chat_messages, chat_tools, read_reply
from agent_client.models.completion import Completion
from agent_client.models.endpoint import Endpoint, Retries, limit_name
from agent_client.trace import ToolSpec


class ChatModel:
    """A chat model. Enter it with `async with`, as it holds connections. It retries as `Endpoint` does.

    `return_thinking` shows the model its thoughts of earlier turns.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str = "none",
        temperature: float | None = None,
        max_tokens: int | None = None,
        return_thinking: bool = False,
        seconds: float = 300.0,
        retries: Retries = Retries(),  # noqa: B008 - it does not change
    ) -> None:
        self.name = model
        self._return_thinking = return_thinking
        settings = {"temperature": temperature, limit_name(base_url): max_tokens}
        self._settings = {name: value for name, value in settings.items() if value is not None}
        self._endpoint = Endpoint(
            base_url,
            api_key=api_key,
            seconds=seconds,
            retries=retries,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._endpoint.__aexit__(kind, error, trace)

    async def check(self) -> None:
        """Check that the endpoint answers and accepts the key. Raises EndpointError."""
        await self._endpoint.check()

    async def check_model(self) -> None:
        """Ask for one token, to check that the endpoint has the model. Raises EndpointRefused."""
        await self._endpoint.check_model(self.name)

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """Ask for the next turn. Raises EndpointError, or ConversationTooLong."""
        shown = chat_messages(messages, with_thinking=self._return_thinking)
        request: dict[str, Any] = {"model": self.name, "messages": shown, **self._settings}
        if tools:
            request["tools"] = chat_tools(tools)
        turn = 1 + sum(isinstance(message, Reply) for message in messages)
        try:
            completion = await self._endpoint.post("/chat/completions", request, Completion)
        except asyncio.CancelledError as cancelled:
            if not isinstance(cancelled.__cause__, EndpointDown):
                raise
            trouble = cancelled.__cause__
            raise EndpointDown(f"{trouble} (and it still was when the time was over)") from trouble
        return read_reply(completion, turn)
