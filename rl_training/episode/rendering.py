"""How a conversation becomes tokens: by verl's builder for the model, and nothing is rendered that was rendered before.

All episodes of a group begin with the same prompt. What a model is told later stands behind the tools, which are most
of a prompt; it is rendered without them where the model's template was seen to give the same tokens.
"""

import asyncio
import json
from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

from jinja2 import TemplateError

ChatMessage = dict[str, Any]
Kind = tuple[tuple[str, str], ...]
"""Who says what a model is told, message by message: the role, and the tool's name."""

MOST_PROMPTS = 64
MOST_TOOLS = 64
"""Prompts, and sets of tools, that are remembered: more than a worker plays at once."""


class Merged(Protocol):
    """What joining tokens gave."""

    @property
    def token_ids(self) -> list[int]: ...


class Builder(Protocol):
    """The part of verl's ContinuousTokenBuilder that is used here: it knows the glue of a model's chat template."""

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


Value = TypeVar("Value")


class Remembered(Generic[Value]):
    """So many values, those that were asked for last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[str, Value] = {}

    def find(self, key: str) -> Value | None:
        if key in self._values:
            self._values[key] = self._values.pop(key)
        return self._values.get(key)

    def keep(self, key: str, value: Value) -> Value:
        self._values[key] = value
        if len(self._values) > self._most:
            del self._values[next(iter(self._values))]
        return value


class Rendering:
    """Conversations with one set of tools."""

    def __init__(self, builder: Builder, tools: list[dict[str, Any]]) -> None:
        self._builder = builder
        self._tools = tools or None
        self._prompts: Remembered[asyncio.Future[list[int]]] = Remembered(MOST_PROMPTS)
        self._needs_tools: dict[Kind, bool] = {}

    async def prompt(self, messages: list[ChatMessage]) -> list[int]:
        """The tokens that an episode begins with."""
        key = json.dumps(messages)
        known = self._prompts.find(key)
        if known is None:
            rendering = asyncio.to_thread(self._builder.build_initial_tokens, messages, tools=self._tools)
            known = self._prompts.keep(key, asyncio.ensure_future(rendering))
        return list(await asyncio.shield(known))  # whoever is cancelled leaves it to the others

    async def told(self, before: list[ChatMessage], after: list[ChatMessage], ids: list[int]) -> Merged:
        """The tokens `ids` of the conversation `before`, joined by what the model is told since."""
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
    """The renderings of one model, by what tools there are."""

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
