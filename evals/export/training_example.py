"""A training example: messages and tools in the OpenAI format, and which messages go into the loss."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from agent_client.models.chat_messages import chat_tools
from agent_client.trace import ToolCall, Trace, Turn
from evals.rollout import Rollout
from servers.records import Record

MALFORMED = "a call whose arguments could not be read"


class TrainingExample(Record):
    """One conversation. Only assistant messages of `weight` 1 go into the loss, including their thinking."""

    name: str
    environment: str
    scenario: str
    agent: str
    reward: float
    messages: tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...]

    @property
    def signature(self) -> str:
        """A digest that is equal for examples that teach the same. It ignores call ids and thinking."""
        said = [
            (
                message["role"],
                message.get("content"),
                [call["function"] for call in message.get("tool_calls", ())],
            )
            for message in self.messages
        ]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()

    @property
    def characters(self) -> int:
        return len(json.dumps(self.messages, ensure_ascii=False)) + len(json.dumps(self.tools, ensure_ascii=False))


def example(name: str, agent: str, run: Rollout, *, with_thinking: bool, errors_in_loss: bool) -> TrainingExample:
    """The example of a rollout. The rollout must have a trace and a reward.

    Without `errors_in_loss`, a message whose calls were all answered by an error stays as context, but does not go into
    the loss.
    """
    if run.trace is None or run.reward is None:
        raise ValueError(f"{name} has no trace or no reward")
    said = list(messages(run.trace, with_thinking=with_thinking, errors_in_loss=errors_in_loss))
    while said[-1]["role"] != "assistant":  # what nobody answered teaches nothing
        said.pop()
    return TrainingExample(
        name=name,
        environment=run.environment,
        scenario=run.scenario,
        agent=agent,
        reward=run.reward,
        messages=tuple(said),
        tools=tuple(chat_tools(run.trace.tools)),
    )


def messages(trace: Trace, *, with_thinking: bool, errors_in_loss: bool) -> Iterator[dict[str, Any]]:
    """A trace as messages. Unanswered calls at the end of a cancelled episode are left out."""
    if trace.instructions:
        yield {"role": "system", "content": trace.instructions}
    yield {"role": "user", "content": trace.task}
    for turn in trace.turns:
        answered = turn.calls[: len(turn.results)]
        if not answered and not turn.text.strip():
            continue
        yield _assistant(turn, answered, with_thinking=with_thinking, errors_in_loss=errors_in_loss)
        for call, result in zip(answered, turn.results, strict=False):
            yield {"role": "tool", "tool_call_id": call.id, "content": result.text}
        if turn.user:
            yield {"role": "user", "content": turn.user}


def _assistant(
    turn: Turn, answered: Sequence[ToolCall], *, with_thinking: bool, errors_in_loss: bool
) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    if with_thinking and turn.thinking:
        message["reasoning_content"] = turn.thinking
    if answered:
        message["tool_calls"] = [_call(call) for call in answered]
    failed = bool(answered) and all(result.is_error for result in turn.results)
    message["weight"] = 0 if failed and not errors_in_loss else 1
    return message


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": arguments}}


def unusable(trace: Trace) -> str | None:
    """Why a trace cannot be written as messages faithfully. None if it can."""
    if any(call.malformed for turn in trace.turns for call in turn.calls):
        return MALFORMED
    if not any(turn.text.strip() or turn.results for turn in trace.turns):
        return "the agent said and did nothing"
    if not trace.task:
        return "it has no task"
    return None
