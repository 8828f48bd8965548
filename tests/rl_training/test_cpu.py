# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false
"""The means of training without a GPU: generation, a template that only appends, a warm start."""

import warnings
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from rl_training.cpu.generation import Generation, GenerationRequest
from rl_training.cpu.warm_start import IGNORED, Lesson, example, warm_start
from tests.rl_training.texts import DEARER, TASK

pytestmark = pytest.mark.rl

MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": TASK},
    {"role": "assistant", "content": DEARER},
    {"role": "tool", "content": "{}"},
    {"role": "assistant", "content": "Done."},
]


@pytest.fixture(scope="module")
def generation(tiny: Path) -> Generation:
    return Generation(AutoModelForCausalLM.from_pretrained(tiny), end=2, seed=0)


PROMPTS = [[5, 6, 7] * (1 + number % 5) for number in range(9)]


def test_what_is_told_about_a_token_is_its_log_probability(generation: Generation) -> None:
    answers = generation.together([GenerationRequest(prompt, 12, 1.0) for prompt in PROMPTS])
    for prompt, answer in zip(PROMPTS, answers, strict=True):
        whole = torch.tensor([prompt + answer.token_ids])
        scores = torch.log_softmax(generation.model(whole).logits[0].float(), -1)
        expected = [scores[len(prompt) - 1 + at, token].item() for at, token in enumerate(answer.token_ids)]
        assert answer.logprobs == pytest.approx(expected, abs=1e-5)


def test_an_answer_does_not_depend_on_who_else_asks(generation: Generation) -> None:
    cold = [GenerationRequest(prompt, 8, 0.0) for prompt in PROMPTS]
    assert [one.token_ids for one in generation.together(cold)] == [
        generation.together([one])[0].token_ids for one in cold
    ]


def test_an_answer_ends_at_its_end_or_its_limit(generation: Generation) -> None:
    answers = generation.together([GenerationRequest(PROMPTS[0], limit, 1.0) for limit in (1, 3, 400)])
    assert [len(answers[0].token_ids), len(answers[1].token_ids) <= 3] == [1, True]
    assert len(answers[2].token_ids) == 400 or answers[2].token_ids[-1] == 2
    assert all(2 not in answer.token_ids[:-1] for answer in answers)


def test_what_is_learnt_is_what_the_assistant_says(tiny: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(tiny)
    made = example(tokenizer, MESSAGES, [])
    learnt = tokenizer.decode([label for label in made.labels if label != IGNORED])
    assert learnt == f"{DEARER}<|im_end|>\nDone.<|im_end|>\n"
    assert tokenizer.decode(made.token_ids) == tokenizer.apply_chat_template(MESSAGES, tokenize=False)


def test_a_warm_start_learns(tiny: Path, tmp_path: Path) -> None:
    folder = Path(copytree(tiny, tmp_path / "model"))
    losses: list[float] = []
    with warnings.catch_warnings(action="ignore"):
        made = example(AutoTokenizer.from_pretrained(folder), MESSAGES, [])
        warm_start(folder, [made] * 4, Lesson(steps=60, batch=4, rate=1e-2), lambda _, loss: losses.append(loss))
    assert losses[-1] < losses[0] / 4
