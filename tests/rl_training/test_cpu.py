# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false
"""The means of training without a GPU: generation, a template that only appends, a warm start."""

import asyncio
import threading
import warnings
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from rl_training.cpu.generation import Generation, GenerationRequest
from rl_training.cpu.warm_start import IGNORED, Lesson, example, warm_start
from tests.processes import LONG
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


class EndlessModel:
    """A model that says when it has begun."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.config = model.config
        self.begun = threading.Event()

    def eval(self) -> "EndlessModel":
        return self

    def __call__(self, **inputs: Any) -> Any:
        self.begun.set()
        return self.model(**inputs)


async def test_an_answer_that_a_pause_cuts_is_a_part_and_is_gone_on_with_by_other_weights(tiny: Path) -> None:
    model = EndlessModel(AutoModelForCausalLM.from_pretrained(tiny).eval())
    paused = Generation(model, end=-1, seed=0)
    paused.version = 1
    endless = asyncio.create_task(paused.answer(GenerationRequest([5, 6, 7], 10**6, 1.0)))
    assert await asyncio.to_thread(model.begun.wait, LONG)
    await paused.pause()
    part = await endless
    assert (part.aborted, part.version, len(part.logprobs)) == (True, 1, len(part.token_ids))
    assert part.token_ids
    rest = asyncio.create_task(paused.answer(GenerationRequest([5, 6, 7, *part.token_ids], 3, 1.0)))
    await asyncio.sleep(0)
    async with paused.weights:
        paused.version = 2
    assert not rest.done()
    paused.resume()
    whole = await rest
    assert (whole.aborted, whole.version, len(whole.token_ids)) == (False, 2, 3)


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
