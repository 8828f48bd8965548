"""The rendering of a conversation as tokens, by verl's builder for the model. Nothing is rendered twice.

All episodes of a group begin with the same prompt. Later messages follow the tools, which are most of a prompt. They
are rendered without the tools if the model's template is known to give the same tokens.
"""

import asyncio
import json
from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

from jinja2 import TemplateError

ChatMessage = dict[str, Any]
MessageKinds = tuple[tuple[str, str], ...]
"""The role of each message, and its tool's name."""

MOST_PROMPTS = 64
MOST_TOOLS = 64
"""Prompts, and sets of tools, in the cache: more than a worker plays concurrently."""


class Merged(Protocol):
    """The result of joining tokens."""

    @property
    def token_ids(self) -> list[int]: ...


class Builder(Protocol):
    """The part of verl's ContinuousTokenBuilder that is used here. It knows the separators of a chat template."""

    def build_initial_tokens(
        self, messages: list[ChatMessage], *, tools: list[dict[str, Any]] | None = None
    ) -> list[int]: ...

    def merge_context_tokens(
        self,
        previous_messages: list[ChatMessage],
        updated_messages: list[ChatMessage],
        runtime_token_ids: list[int],
        *,
        tools: list[dict[str, Any]] | None = None,
    ) -> Merged: ...

    def merge_assistant_tokens(self, runtime_token_ids: list[int], assistant_token_ids: list[int]) -> Merged: ...

    def align_response_metadata(
        self,
        merge_result: Any,
        response_mask: list[int],
        response_logprobs: list[float] | None = None,
        *,
        assistant_logprobs: list[float] | None = None,
    ) -> tuple[list[int], list[float] | None]: ...


ValueT = TypeVar("ValueT")


class Remembered(Generic[ValueT]):
    """A cache of the most recently used values."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[str, ValueT] = {}

    def find(self, key: str) -> ValueT | None:
        if key in self._values:
            self._values[key] = self._values.pop(key)
        return self._values.get(key)

    def keep(self, key: str, value: ValueT) -> ValueT:
        self._values[key] = value
        if len(self._values) > self._most:
            del self._values[next(iter(self._values))]
        return value


class Rendering:
    """Renders conversations with one set of tools."""

    def __init__(self, builder: Builder, tools: list[dict[str, Any]]) -> None:
        self._builder = builder
        self._tools = tools or None
        self._prompts: Remembered[asyncio.Future[list[int]]] = Remembered(MOST_PROMPTS)
        self._needs_tools: dict[MessageKinds, bool] = {}

    async def prompt(self, messages: list[ChatMessage]) -> list[int]:
        """The tokens of the prompt."""
        key = json.dumps(messages)
        known = self._prompts.find(key)
        if known is None:
            rendering = asyncio.to_thread(self._builder.build_initial_tokens, messages, tools=self._tools)
            known = self._prompts.keep(key, asyncio.ensure_future(rendering))
        return list(await asyncio.shield(known))  # whoever is cancelled leaves it to the others

    async def told(self, before: list[ChatMessage], after: list[ChatMessage], ids: list[int]) -> Merged:
        """The tokens `ids` of the conversation `before`, extended by new messages."""
        kind = tuple((str(one["role"]), str(one.get("name", ""))) for one in after[len(before) :])
        if self._needs_tools.get(kind) is False:
            return self._builder.merge_context_tokens(before, after, ids)  # quicker than the way to a thread
        whole = await asyncio.to_thread(self._builder.merge_context_tokens, before, after, ids, tools=self._tools)
        if kind not in self._needs_tools:
            self._needs_tools[kind] = self._without_tools(before, after, ids) != whole.token_ids
        return whole

    def _without_tools(
        self, before: list[ChatMessage], after: list[ChatMessage], ids: list[int]
    ) -> Sequence[int] | None:
        try:
            return self._builder.merge_context_tokens(before, after, ids).token_ids
        except (ValueError, TemplateError):  # a template that wants tools wherever there are results
            return None


class Renderings:
    """The renderings of one model, by set of tools."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self._known: Remembered[Rendering] = Remembered(MOST_TOOLS)

    def of(self, tools: list[dict[str, Any]]) -> Rendering:
        key = json.dumps(tools)
        return self._known.find(key) or self._known.keep(key, Rendering(self.builder, tools))


_shared: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int, Renderings]] = WeakKeyDictionary()


def shared_renderings(tokenizer: object, builder: Builder) -> Renderings:
    """The renderings that all episodes of the running event loop share. A trainer makes a builder for each episode."""
    renderings = _shared.setdefault(asyncio.get_running_loop(), {})
    return renderings.setdefault(
        id(tokenizer), Renderings(builder)
    )  # the builder keeps the tokenizer, so its id, alive
