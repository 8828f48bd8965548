# pyright: basic, reportMissingImports=false
"""Supervised training of a tiny model on conversations: only the assistant's turns are learned.

For models of this folder. verl's SFT trainer warms up real ones, on the same conversations.
"""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

IGNORED = -100
ASSISTANT = "assistant"


class TokenizedExample(NamedTuple):
    """The token ids of one conversation, and a mask of those to learn."""

    token_ids: list[int]
    labels: list[int]


class Lesson(NamedTuple):
    """The number of steps and the learning rate."""

    steps: int
    batch: int = 32
    rate: float = 3e-3
    seed: int = 0


def example(tokenizer: Any, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> TokenizedExample:
    """A conversation as tokens. The template only appends, so a turn is what its rendering adds."""
    token_ids: list[int] = []
    labels: list[int] = []
    for at, message in enumerate(messages):
        learnt = message["role"] == ASSISTANT
        if learnt:
            _extend(token_ids, labels, _rendered(tokenizer, messages[:at], tools, asks=True), learnt=False)
        _extend(token_ids, labels, _rendered(tokenizer, messages[: at + 1], tools, asks=False), learnt=learnt)
    return TokenizedExample(token_ids, labels)


def _rendered(tokenizer: Any, messages: list[dict[str, Any]], tools: list[dict[str, Any]], *, asks: bool) -> list[int]:
    text = tokenizer.apply_chat_template(messages, tools=tools, tokenize=False, add_generation_prompt=asks)
    return tokenizer.encode(text, add_special_tokens=False)


def _extend(token_ids: list[int], labels: list[int], whole: list[int], *, learnt: bool) -> None:
    new = whole[len(token_ids) :]
    token_ids += new
    labels += new if learnt else [IGNORED] * len(new)


def warm_start(
    folder: Path, examples: Sequence[TokenizedExample], lesson: Lesson, on_step: Callable[[int, float], None]
) -> None:
    """Train the model of a folder on some examples, and write it back."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    chance = random.Random(lesson.seed)  # noqa: S311 - a repeatable draw
    optimizer = torch.optim.AdamW(model.parameters(), lr=lesson.rate, weight_decay=0.01)
    model.train()
    for step in range(1, lesson.steps + 1):
        for group in optimizer.param_groups:
            group["lr"] = lesson.rate * min(1.0, step / 20)
        batch = chance.sample(list(examples), min(lesson.batch, len(examples)))
        loss = model(**_padded(batch, tokenizer.pad_token_id)).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        on_step(step, loss.item())
    model.save_pretrained(folder)


def _padded(batch: Sequence[TokenizedExample], pad: int) -> dict[str, torch.Tensor]:
    longest = max(len(one.token_ids) for one in batch)
    gaps = [longest - len(one.token_ids) for one in batch]
    return {
        "input_ids": torch.tensor([one.token_ids + [pad] * gap for one, gap in zip(batch, gaps, strict=True)]),
        "attention_mask": torch.tensor(
            [[1] * len(one.token_ids) + [0] * gap for one, gap in zip(batch, gaps, strict=True)]
        ),
        "labels": torch.tensor([one.labels + [IGNORED] * gap for one, gap in zip(batch, gaps, strict=True)]),
    }
