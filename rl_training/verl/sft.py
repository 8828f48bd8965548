"""The warm start by verl's SFT trainer, from `farm export sft --format verl`: configuration and command line."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from rl_training.config import overrides, read_config
from rl_training.verl.trainer import cpu_environment
from servers.records import Record


class SftConfig(Record):
    """One warm start. `verl` is passed on unchanged, to `processes` processes of this machine."""

    extends: str | None = None
    platform: Literal["gpu", "cpu"] = "gpu"
    processes: int = Field(default=1, ge=1)
    verl: dict[str, Any] = {}


def load_sft(path: Path) -> SftConfig:
    """Read a configuration and the one that it extends. Raises TrainingError with file and field."""
    return read_config(path, SftConfig)


def sft_command(config: SftConfig, run: Path, rows: Path, model: str | None, steps: int | None) -> list[str]:
    """verl's own command, with all settings. The last checkpoint contains the model in Hugging Face's format."""
    settings = [
        *overrides(config.verl),
        *overrides({"data.train_files": str(rows.resolve()), "trainer.experiment_name": run.name}),
        *overrides({} if model is None else {"model.path": model}),
        *overrides({} if steps is None else {"trainer.total_training_steps": steps}),
        *overrides({"trainer.default_local_dir": str(run / "checkpoints")}),
        f"hydra.run.dir={run / 'hydra'}",
    ]
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(config.processes)]
    return [sys.executable, *launch, "-m", "verl.trainer.sft_trainer", *settings]


def sft_environment(config: SftConfig, run: Path, inherited: Mapping[str, str]) -> dict[str, str]:
    """The environment variables of the trainer's processes."""
    return {
        **inherited,
        **(cpu_environment(inherited) if config.platform == "cpu" else {}),
        "VERL_FILE_LOGGER_PATH": str(run / "metrics.jsonl"),
    }


def model_of(run: Path) -> Path | None:
    """The folder of the latest model of a warm start."""
    found = (run / "checkpoints").glob("global_step_*/huggingface")
    return max(found, key=lambda folder: int(folder.parent.name.rpartition("_")[2]), default=None)
