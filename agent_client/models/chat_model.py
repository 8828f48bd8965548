"""A model behind an OpenAI-compatible endpoint, with function calling."""

import asyncio
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from agent_client.errors import EndpointDown
from agent_client.model import EPISODE_CLOCK, Message, Reply
from agent_client.models.chat_messages import chat_messages, chat_tools, read_reply
from agent_client.models.completion import Completion
from agent_client.models.endpoint import NO_KEY, Endpoint, NamedKey, Retries, limit_name
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
        api_key: str | NamedKey = NO_KEY,
        temperature: float | None = None,
        max_tokens: int | None = None,
        return_thinking: bool = False,
        seconds: float = 300.0,
        retries: Retries = Retries(),  # noqa: B008 - it does not change
    ) -> None:
        self.name = model
        self._base_url = base_url
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
        """Ask for one token, to check that the endpoint has the model and works. Raises EndpointError."""
        await self._endpoint.check_model(self.name)

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """Ask for the next turn. Raises EndpointError, or ConversationTooLong.

        If the time of an episode ends before the first answer, the endpoint is to blame: the model gave no turn.
        """
        shown = chat_messages(messages, with_thinking=self._return_thinking)
        request: dict[str, Any] = {"model": self.name, "messages": shown, **self._settings}
        if tools:
            request["tools"] = chat_tools(tools)
        turn = 1 + sum(isinstance(message, Reply) for message in messages)
        began = time.monotonic()
        try:
            completion = await self._endpoint.post("/chat/completions", request, Completion)
        except asyncio.CancelledError as cancelled:
            trouble = cancelled.__cause__
            if isinstance(trouble, EndpointDown):
                raise EndpointDown(f"{trouble} (and it still was when the time was over)") from trouble
            clock = EPISODE_CLOCK.get()
            if turn == 1 and clock is not None and clock.expired():
                raise EndpointDown(
                    f"{self._base_url} did not answer the first request in {time.monotonic() - began:.0f} s, and then"
                    " the time was over; is the model's server stuck, or the limit of seconds too short for it?"
                ) from cancelled
            raise
        return read_reply(completion, turn)
