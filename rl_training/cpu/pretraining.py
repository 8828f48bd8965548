# pyright: basic, reportMissingImports=false
"""Makes a tiny model and warms it up on demonstrations.

Run as `python -m rl_training.cpu.pretraining DEMONSTRATIONS.jsonl FOLDER STEPS SEED`; it prints what it did as JSON.
"""

import json
import sys
from pathlib import Path

import torch
from transformers import AutoTokenizer
from transformers.utils import logging

from rl_training.cpu.tiny_model import Size, make_model
from rl_training.cpu.warm_start import Lesson, example, warm_start
from rl_training.data.demonstrations import Demonstration
from servers.files.named_file import text_named

SIZE = Size(vocabulary=1024)


def teach(source: Path, folder: Path, *, steps: int, seed: int) -> dict[str, float]:
    """Write a warm-started model into a folder. Returns its number of parameters and its last loss."""
    lines = text_named(source).splitlines()
    shown = [Demonstration.model_validate_json(line) for line in lines]
    parameters = make_model(folder, [text for one in shown for text in one.texts], size=SIZE, seed=seed)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    examples = [example(tokenizer, one.messages, one.tools) for one in shown]
    losses: list[float] = []
    warm_start(folder, examples, Lesson(steps=steps, seed=seed), lambda _, loss: losses.append(loss))
    return {"parameters": parameters, "loss": losses[-1], "tokens": max(len(one.token_ids) for one in examples)}


def main(source: str, folder: str, steps: str, seed: str) -> None:
    """Run `teach` with the arguments of the command line."""
    logging.disable_progress_bar()
    torch.set_num_threads(2)
    sys.stdout.write(json.dumps(teach(Path(source), Path(folder), steps=int(steps), seed=int(seed))) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
