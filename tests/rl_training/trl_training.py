# type: ignore  # It runs in a virtual environment of its own, with TRL, whose types are not installed here.
"""TRL's GRPOTrainer in the parcel room, on a CPU. Run as `python trl_training.py URL FOLDER`; token: FARM_TOKEN."""

import json
import os
import sys
from pathlib import Path

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_template

from rl_training.cpu.pretraining import teach
from rl_training.trl.environments import TrlEnvironments


def main(url: str, folder: Path) -> None:
    """Train, and print what was measured."""
    torch.set_num_threads(1)
    teach(folder / "demonstrations.jsonl", folder / "model", steps=150, seed=0)
    tokenizer = AutoTokenizer.from_pretrained(folder / "model", padding_side="left")
    tokenizer.response_template = qwen3_template  # calls are written as Qwen3 writes them; TRL knows models by template
    with TrlEnvironments(url, os.environ["FARM_TOKEN"]) as farm:
        rows = farm.rows(["parcel_room"], instructions=False)[:2]
        trainer = GRPOTrainer(
            model=AutoModelForCausalLM.from_pretrained(folder / "model"),
            processing_class=tokenizer,
            reward_funcs=[farm.reward],
            train_dataset=Dataset.from_list(rows),
            environment_factory=farm.factories(["parcel_room"]),
            args=GRPOConfig(
                output_dir=str(folder / "out"),
                max_steps=2,
                per_device_train_batch_size=8,
                num_generations=4,
                max_completion_length=160,
                max_tool_calling_iterations=6,
                learning_rate=1e-4,
                logging_steps=1,
                save_strategy="no",
                report_to=[],
                use_cpu=True,
                bf16=False,
            ),
        )
        trainer.train()
        sys.stdout.write(json.dumps({"log": trainer.state.log_history}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
