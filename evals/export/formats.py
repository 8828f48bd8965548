"""Training examples in the formats of trainers.

- `chat`: OpenAI's, messages with tools. `weight` says which go into the loss.
- `sharegpt`: system, human, gpt and tool, calls as `<tool_call>` text (as in NousResearch's function-calling data set).
- `llamafactory`: LLaMA-Factory's ShareGPT form with tools: human and observation alternate with gpt and function_call.
- `verl`: rows for verl's multi-turn SFT data set, which masks messages whose `trainable` is false.
"""

import json
from collections.abc import Callable
from typing import Any, Literal

from agent_client.models.call_text import HERMES
from agent_client.trace import ToolCall, ToolSpec
from evals.export.training_example import TrainingExample

Format = Literal["chat", "sharegpt", "llamafactory", "verl"]
ROLES = {"system": "system", "user": "human", "assistant": "gpt", "tool": "tool"}
BETWEEN_RESULTS = "\n</tool_response>\n<tool_response>\n"
"""The separator of LLaMA-Factory's own converter between the results of parallel calls."""


def chat(example: TrainingExample) -> dict[str, Any]:
    return {"messages": list(example.messages), "tools": list(example.tools)}


def sharegpt(example: TrainingExample) -> dict[str, Any]:
    turns = [
        {"from": ROLES[message["role"]], "value": _with_thought(message, _hermes(message)), **_weight(message)}
        for message in _joined(example)
    ]
    return {"conversations": turns, "tools": json.dumps(example.tools, ensure_ascii=False)}


def llamafactory(example: TrainingExample) -> dict[str, Any]:
    """A LLaMA-Factory row. It has no place for words beside a call: `losses` counts them."""
    system = "".join(message["content"] for message in example.messages if message["role"] == "system")
    functions = [tool["function"] for tool in example.tools]
    told = [_llamafactory(message) for message in _joined(example) if message["role"] != "system"]
    return {"conversations": told, "system": system, "tools": json.dumps(functions, ensure_ascii=False)}


def verl(example: TrainingExample) -> dict[str, Any]:
    """A verl row. Tools and calls are text, as Qwen's template writes them.

    In a parquet column of structs every tool would get the arguments of all others, as nulls.
    """
    tools = [
        ToolSpec(name=one["name"], description=one["description"], arguments=one["parameters"])
        for one in _plain(example)
    ]
    rows: list[dict[str, Any]] = []
    for message in _joined(example):
        content = _with_thought(message, _hermes(message))
        if message["role"] == "system":
            content = f"{content}\n\n{HERMES.told(tools)}"
        role = "user" if message["role"] == "tool" else message["role"]
        rows.append({"role": role, "content": content, "trainable": message.get("weight") == 1})
    if rows[0]["role"] != "system":
        rows.insert(0, {"role": "system", "content": HERMES.told(tools), "trainable": False})
    return {"messages": rows, "name": example.name, "reward": example.reward}


FORMS: dict[Format, Callable[[TrainingExample], dict[str, Any]]] = {
    "chat": chat,
    "sharegpt": sharegpt,
    "llamafactory": llamafactory,
    "verl": verl,
}


def losses(form: Format, example: TrainingExample) -> dict[str, int]:
    """What a format drops of an example, counted by kind."""
    if form != "llamafactory":
        return {}
    words = sum(bool(one.get("tool_calls") and one["content"].strip()) for one in example.messages)
    masked = sum(one.get("weight") == 0 for one in example.messages)
    found = {"words beside a call": words, "messages kept out of the loss (they are in it here)": masked}
    return {kind: count for kind, count in found.items() if count}


def _plain(example: TrainingExample) -> list[dict[str, Any]]:
    return [tool["function"] for tool in example.tools]


def _joined(example: TrainingExample) -> list[dict[str, Any]]:
    """The messages, with the results of parallel calls joined into one."""
    joined: list[dict[str, Any]] = []
    for message in example.messages:
        if message["role"] == "tool" and joined[-1]["role"] == "tool":
            joined[-1] = {"role": "tool", "results": [*joined[-1]["results"], message["content"]]}
        elif message["role"] == "tool":
            joined.append({"role": "tool", "results": [message["content"]]})
        else:
            joined.append(message)
    return joined


def _hermes(message: dict[str, Any]) -> str:
    if message["role"] == "tool":
        return "\n".join(f"<tool_response>\n{result}\n</tool_response>" for result in message["results"])
    calls = [
        ToolCall(id=call["id"], tool=call["function"]["name"], arguments=json.loads(call["function"]["arguments"]))
        for call in message.get("tool_calls", ())
    ]
    return HERMES.written(message["content"], calls)


def _llamafactory(message: dict[str, Any]) -> dict[str, str]:
    if message["role"] == "tool":
        return {"from": "observation", "value": BETWEEN_RESULTS.join(message["results"])}
    if "tool_calls" not in message:
        return {"from": ROLES[message["role"]], "value": _with_thought(message, message["content"])}
    calls = [
        {"name": call["function"]["name"], "arguments": json.loads(call["function"]["arguments"])}
        for call in message["tool_calls"]
    ]
    asked = json.dumps(calls if len(calls) > 1 else calls[0], ensure_ascii=False)
    return {"from": "function_call", "value": _with_thought(message, asked)}


def _with_thought(message: dict[str, Any], text: str) -> str:
    thought = message.get("reasoning_content")
    return f"<think>\n{thought.strip()}\n</think>\n\n{text}" if thought else text


def _weight(message: dict[str, Any]) -> dict[str, int]:
    return {"weight": message["weight"]} if "weight" in message else {}
