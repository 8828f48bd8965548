"""A model behind an OpenAI-compatible endpoint, with function calling."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, Self

import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI
from pydantic import ValidationError

from agent_client.chat_messages import chat_messages, chat_tools, read_reply
from agent_client.completion import Completion
from agent_client.errors import ConversationTooLong, EndpointError
from agent_client.model import Message, Reply
from agent_client.trace import ToolSpec

LONGEST_WAIT = 60.0  # seconds; an endpoint that asks for more is refused, before an agent is blamed for the time
TOO_LONG = ("context_length_exceeded", "maximum context length", "context window", "too many tokens")
OUT_OF_MONEY = "insufficient_quota"
HINTS = {
    401: "the key is wrong",
    403: "the key may not use this model",
    404: "no such model, or the base URL lacks its /v1",
}


class PassingError(EndpointError):
    """Trouble that may pass; `wait` is how long the endpoint asked us to wait."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class ChatModel:
    """Enter it with `async with`: it holds connections.

    Rate limits, server errors and broken connections are tried again, `attempts` times in all; `backoff` seconds
    are the first wait, and each next one is twice as long. A refusal is final at once. `return_thinking` shows the
    model what it thought in earlier turns.
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
        attempts: int = 6,
        backoff: float = 1.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.name = model
        self._base_url = base_url
        self._settings = _settings(base_url, temperature, max_tokens)
        self._return_thinking = return_thinking
        self._attempts = attempts
        self._backoff = backoff
        self._sleep = sleep
        self._client = AsyncOpenAI(base_url=base_url, api_key=api_key, max_retries=0, timeout=seconds)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.close()

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """Ask for the next turn. Raises EndpointError, or ConversationTooLong."""
        shown = chat_messages(messages, with_thinking=self._return_thinking)
        request: dict[str, Any] = {"model": self.name, "messages": shown, **self._settings}
        if tools:
            request["tools"] = chat_tools(tools)
        turn = 1 + sum(isinstance(message, Reply) for message in messages)
        return read_reply(await self._patiently(request), turn)

    async def _patiently(self, request: dict[str, Any]) -> Completion:
        trouble: PassingError | None = None
        try:
            for attempt in range(self._attempts):
                if trouble is not None:
                    await self._sleep(self._wait(attempt, trouble))
                try:
                    return await self._ask(request)
                except PassingError as error:
                    trouble = error
        except asyncio.CancelledError:
            if trouble is None:
                raise
            raise EndpointError(f"{trouble} (and it still was when the time was over)") from trouble
        raise EndpointError(f"{trouble} ({self._attempts} attempts)") from trouble

    def _wait(self, attempt: int, trouble: PassingError) -> float:
        if trouble.wait is not None:
            return trouble.wait
        # Spread out, or many agents that were refused together come back together.
        return self._backoff * 2 ** (attempt - 1) * (0.5 + random.random() / 2)  # noqa: S311

    async def _ask(self, request: dict[str, Any]) -> Completion:
        try:
            # The bytes: the library's own types promise what not every endpoint keeps.
            response = await self._client.post("/chat/completions", cast_to=httpx2.Response, body=request)
            return Completion.model_validate_json(response.content)
        except APIConnectionError as error:
            raise PassingError(f"cannot reach {self._base_url}: {str(error.__cause__ or '') or error}") from error
        except APIStatusError as error:
            raise self._refusal(error) from error
        except ValidationError as error:
            raise PassingError(f"{self._base_url} answered no chat completion: {_brief(error)}") from error

    def _refusal(self, error: APIStatusError) -> EndpointError | ConversationTooLong:
        status, said = error.status_code, f"{self._base_url} answered HTTP {error.status_code}: {error.message[:300]}"
        if status in (400, 413) and any(sign in f"{error.code} {error.message}".lower() for sign in TOO_LONG):
            return ConversationTooLong(f"the conversation no longer fits the model: {error.message[:300]}")
        if status in (408, 409, 429) or status >= 500:
            wait = _asked_wait(error)
            if error.code == OUT_OF_MONEY or (wait or 0) > LONGEST_WAIT:
                return EndpointError(f"{said}; it will not pass soon" + (f": retry in {wait:g} s" if wait else ""))
            return PassingError(said, wait)
        return EndpointError(f"{said}; {HINTS.get(status, 'the endpoint does not take such a request')}")


def _settings(base_url: str, temperature: float | None, max_tokens: int | None) -> dict[str, Any]:
    # OpenAI's reasoning models refuse the old name; many other endpoints silently pass over the new one.
    limit = "max_completion_tokens" if "api.openai.com" in base_url else "max_tokens"
    settings = {"temperature": temperature, limit: max_tokens}
    return {name: value for name, value in settings.items() if value is not None}


def _asked_wait(error: APIStatusError) -> float | None:
    """Retry-After in seconds; the date form is rare among these endpoints and read as no wish."""
    asked = error.response.headers.get("retry-after", "")
    try:
        return max(0.0, float(asked))
    except ValueError:
        return None


def _brief(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(str(step) for step in first['loc'])}: {first['msg']}" if first["loc"] else first["msg"]
