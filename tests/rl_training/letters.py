"""A model whose tokens are letters: template, parser and server of an episode where verl is not installed."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Messages = list[dict[str, Any]]


@dataclass
class Joined:
    token_ids: list[int]
    new: int = 0
    said: bool = False


class Letters:
    """A template whose tokens are letters; it counts what it rendered with tools, and what without.

    `tool_glue`: it shows behind each result how many tools there are; without any it refuses results.
    """

    def __init__(self, *, tool_glue: bool = False) -> None:
        self.tool_glue = tool_glue
        self.prompts = 0
        self.with_tools = 0
        self.without_tools = 0

    def build_initial_tokens(self, messages: Messages, *, tools: Messages | None = None) -> list[int]:
        self.prompts += 1
        return self._letters(f"{tools}{messages}")

    def merge_context_tokens(
        self,
        previous_messages: Messages,
        updated_messages: Messages,
        runtime_token_ids: list[int],
        *,
        tools: Messages | None = None,
    ) -> Joined:
        told = updated_messages[len(previous_messages) :]
        if tools is None:
            self.without_tools += 1
        else:
            self.with_tools += 1
        if self.tool_glue and tools is None and told[0]["role"] == "tool":
            raise ValueError("results, and no tools")
        glue = f"of {len(tools or [])}" if self.tool_glue and told[0]["role"] == "tool" else ""
        new = self._letters(f"{told}{glue}")
        return Joined([*runtime_token_ids, *new], len(new))

    def merge_assistant_tokens(self, runtime_token_ids: list[int], assistant_token_ids: list[int]) -> Joined:
        return Joined([*runtime_token_ids, *assistant_token_ids], len(assistant_token_ids), said=True)

    def align_response_metadata(
        self,
        merge_result: Any,
        response_mask: list[int],
        response_logprobs: list[float] | None = None,
        *,
        assistant_logprobs: list[float] | None = None,
    ) -> tuple[list[int], list[float] | None]:
        return [*response_mask, *[int(merge_result.said)] * merge_result.new], response_logprobs

    def _letters(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]


@dataclass
class LetterTokenizer:
    """Its tokens are the letters' numbers; 0 ends a turn."""

    eos_token_id: int | None = 0

    def decode(self, token_ids: list[int], *, skip_special_tokens: bool = False) -> str:
        return "".join(chr(one) for one in token_ids if one or not skip_special_tokens)


@dataclass
class WrittenCall:
    name: str
    arguments: str


class LetterParser:
    """Reads calls that stand in <tool_call> as JSON."""

    stop_token_ids: list[int] = []

    async def extract_tool_calls(self, responses_ids: list[int]) -> tuple[str, Sequence[WrittenCall]]:
        text = LetterTokenizer().decode(responses_ids, skip_special_tokens=True)
        calls = [json.loads(one) for one in re.findall(r"<tool_call>(.*?)</tool_call>", text, re.DOTALL)]
        return text, [WrittenCall(one["name"], json.dumps(one["arguments"])) for one in calls]


@dataclass
class LetterSaid:
    token_ids: list[int]
    log_probs: list[float] | None = None
    num_preempted: int | None = None
    extra_fields: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass
class LetterServer:
    """Says the same turns in every episode."""

    script: Sequence[str]
    said: dict[str, int] = field(default_factory=dict[str, int])

    async def generate(self, request_id: str, *, prompt_ids: list[int], sampling_params: dict[str, Any]) -> LetterSaid:
        assert prompt_ids, "a prompt has tokens"
        assert sampling_params["max_tokens"] > 0, "there is room for a turn"
        number = self.said.get(request_id, 0)
        self.said[request_id] = number + 1
        return LetterSaid([*map(ord, self.script[number]), 0])
