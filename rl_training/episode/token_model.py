"""The policy in training as a model: its replies are token ids, and every one is recorded."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from typing import Any, Protocol
from uuid import uuid4

from agent_client.errors import ConversationTooLong, EndpointError
from agent_client.model import (
    CallReply,
    Message,
    Reply,
    User,
)
from agent_client.models.chat_messages import chat_tools
from agent_client.trace import ToolCall, ToolSpec
from rl_training.episode.rendering import ChatMessage
from rl_training.episode.tokens import Tokens
from rl_training.episode.tool_call_parser import Speech

STEP_KEYS = ("global_steps", "min_global_steps", "max_global_steps")


class SampledTokens(Protocol):
    """The part of verl's TokenOutput that is used here."""

    token_ids: list[int]
    log_probs: list[float] | None
    num_preempted: int | None
    extra_fields: dict[str, Any]


class Server(Protocol):
    """The part of verl's LLMServerClient that is used here."""

    async def generate(
        self, request_id: str, *, prompt_ids: list[int], sampling_params: dict[str, Any]
    ) -> SampledTokens: ...


BeforeTurn = Callable[[Sequence[Message]], Awaitable[None]]
"""What happens when the model has read the results of a turn, and before it says the next."""


class TokenModel:
    """Plays one episode. `tokens` has the result, however it ended."""

    name = "policy"

    def __init__(
        self,
        server: Server,
        tokens: Tokens,
        speech: Speech,
        *,
        request_id: str,
        sampling: Mapping[str, Any],
        turn_tokens: int,
        longest_result: int,
    ) -> None:
        self._server = server
        self._speech = speech
        self._request_id = request_id
        self._sampling = speech.with_stops(sampling)
        self._turn_tokens = turn_tokens
        self._longest_result = longest_result
        self._turns = 0
        self._has_heard = False
        self.before_turn: BeforeTurn | None = None
        self.tokens = tokens
        self.generate_seconds = 0.0
        self.preempted = -1
        self.steps: dict[str, Any] = {}

    def fork(self) -> "TokenModel":
        """The same policy at the same place, before a turn, for an episode that goes on from here by itself."""
        forked = copy(self)
        forked._request_id, forked._has_heard = uuid4().hex, True
        forked.tokens, forked.steps = self.tokens.fork(), dict(self.steps)
        forked.generate_seconds, forked.preempted, forked.before_turn = 0.0, -1, None
        return forked

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """Generate the next turn. Raises ConversationTooLong if no room is left, or a turn was cut off."""
        await self._hear(messages, tools)
        if self.before_turn is not None:
            await self.before_turn(messages)
        budget = min(self._turn_tokens, self.tokens.room)
        begun = time.perf_counter()
        said = await self._server.generate(
            self._request_id, prompt_ids=self.tokens.ids, sampling_params={**self._sampling, "max_tokens": budget}
        )
        self.generate_seconds += time.perf_counter() - begun
        self._note(said)
        if not said.token_ids:
            raise EndpointError("the model's server answered without a single token")
        token_ids = said.token_ids[:budget]
        spoken = await self._speech.read(token_ids, turn=self._turns)
        tokens_in = len(self.tokens.ids)
        self.tokens.add_said(spoken.content, token_ids, said.log_probs and said.log_probs[:budget])
        self._turns += 1
        if len(token_ids) == budget and not self._speech.ends(token_ids[-1]):
            raise ConversationTooLong(f"a turn was cut off after {budget} tokens")
        return Reply(
            text=spoken.text,
            thinking=spoken.thinking,
            calls=spoken.calls,
            tokens_in=tokens_in,
            tokens_out=len(token_ids),
        )

    async def _hear(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:
        if self._has_heard:
            self._has_heard = False
            return None
        if not self.tokens.ids:
            opening = next(message.text for message in messages if isinstance(message, User))
            return await self.tokens.begin(opening, chat_tools(tools))
        last = max(at for at, message in enumerate(messages) if isinstance(message, Reply))
        told = [self._told(message) for message in messages[last + 1 :]]
        if not await self.tokens.add_told(told):
            raise ConversationTooLong(f"what the model was told left no room among {len(self.tokens.mask)} tokens")
        return None

    def _told(self, message: Message) -> ChatMessage:
        if isinstance(message, CallReply):
            call: ToolCall = message.call
            text = shortened(message.result.text, self._longest_result)
            return {"role": "tool", "tool_call_id": call.id, "name": call.tool, "content": text}
        if not isinstance(message, User):
            raise TypeError(f"{type(message).__name__}: only results and words of the user follow a reply")
        return {"role": "user", "content": message.text}

    def _note(self, said: SampledTokens) -> None:
        """Record the version of the weights: a trainer measures the age of an episode by it."""
        if said.num_preempted is not None:
            self.preempted = max(self.preempted, 0) + said.num_preempted
        new = {key: said.extra_fields[key] for key in STEP_KEYS if said.extra_fields.get(key) is not None}
        first = self.steps.get("min_global_steps")
        self.steps |= new
        if first is not None:
            self.steps["min_global_steps"] = first


def shortened(text: str, longest: int) -> str:
    """A text without its middle if it is too long, with a note about that."""
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"
