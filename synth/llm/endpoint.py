"""A writer and an embedding model behind an OpenAI-compatible endpoint: OpenAI, vLLM, any other."""

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from agent_client.errors import ConversationTooLong, EndpointDown, EndpointRefused
from agent_client.models.completion import Completion
from agent_client.models.endpoint import Endpoint, limit_name
from synth.llm.cache import Cache
from synth.llm.exchange import Recorder, answer_in, kept, response_format, sent
from synth.llm.writer import (
    PromptTooLong,
    Sampling,
    WriterAnswer,
    WriterMessage,
    WriterRefused,
    WriterUnreachable,
)

NOT_TAKEN = (400, 422, 501)
"""Error texts of endpoints without structured outputs."""


def request_body(
    model: str, messages: Sequence[WriterMessage], schema: dict[str, Any], sampling: Sampling, base_url: str
) -> dict[str, Any]:
    """The body of a request, in a form that every endpoint accepts."""
    settings = sampling.model_dump(exclude_none=True)
    if "max_tokens" in settings:
        settings[limit_name(base_url)] = settings.pop("max_tokens")
    return {"model": model, "messages": sent(messages, schema), **settings}


class EndpointWriter:
    """An endpoint as a writer. Enter it with `async with`. At most `at_once` requests run concurrently.

    It asks for structured output by default. If an endpoint refuses that, later requests are without.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        *,
        sampling: Sampling = Sampling(),  # noqa: B008 - it does not change
        cache: Cache | None = None,
        recorder: Recorder | None = None,
        at_once: int = 64,
        structured: bool = True,
    ) -> None:
        self._endpoint = endpoint
        self._model = model
        self._sampling = sampling
        self._cache = cache
        self._recorder = recorder
        self._room = asyncio.Semaphore(at_once)  # protects the endpoint
        self.is_structured = structured

    async def __aenter__(self) -> Self:
        await self._endpoint.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._endpoint.__aexit__(kind, error, trace)

    async def ask(self, messages: Sequence[WriterMessage], schema: dict[str, Any], *, label: str) -> WriterAnswer:
        """Raises WriterUnreachable, WriterRefused, or BadAnswer."""
        request = request_body(self._model, messages, schema, self._sampling, self._endpoint.base_url)
        found = self._cache.find(request) if self._cache else None
        completion = found or await self._fresh(request, schema, label)
        if self._recorder is not None:
            self._recorder.keep(request, kept(completion))
        return answer_in(completion, messages, schema, cached=found is not None)

    async def _fresh(self, request: dict[str, Any], schema: dict[str, Any], label: str) -> Completion:
        try:
            async with self._room:
                completion = await self._post(request, schema)
        except EndpointDown as error:
            raise WriterUnreachable(f"{label}: {error}") from error
        except EndpointRefused as error:
            raise WriterRefused(f"{label}: {error}") from error
        except ConversationTooLong as error:
            raise PromptTooLong(f"{label}: {error}") from error
        if self._cache is not None and completion.choices[0].message.content:
            self._cache.keep(request, kept(completion))
        return completion

    async def _post(self, request: dict[str, Any], schema: dict[str, Any]) -> Completion:
        if self.is_structured:
            try:
                shaped = {**request, "response_format": response_format(schema)}
                return await self._endpoint.post("/chat/completions", shaped, Completion)
            except EndpointRefused as error:
                if error.status not in NOT_TAKEN:
                    raise
        completion = await self._endpoint.post("/chat/completions", request, Completion)
        self.is_structured = False  # what it refused before was the wish, for without it the request was taken
        return completion


class Embedder:
    """An embedding model of an endpoint, which the caller has entered."""

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self._endpoint = endpoint
        self.model = model

    async def vectors(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """A vector for each text. Raises WriterUnreachable, WriterRefused, or PromptTooLong."""
        try:
            return await self._endpoint.embed(self.model, texts)
        except EndpointDown as error:
            raise WriterUnreachable(f"--embeddings {self.model}: {error}") from error
        except EndpointRefused as error:
            raise WriterRefused(f"--embeddings {self.model}: {error}") from error
        except ConversationTooLong as error:
            raise PromptTooLong(f"--embeddings {self.model}: {error}") from error
