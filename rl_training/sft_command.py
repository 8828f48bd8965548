"""The command `farm rl sft`: a warm start on exported data with verl's SFT trainer."""

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rl_training.config import config_path
from rl_training.sft import load_sft, model_of, sft_command, sft_environment
from rl_training.trainer import log_kept, need_verl, train
from servers.errors import RequestError

out = Console(highlight=False)


def sft(
    config: Annotated[str, typer.Argument(help="A TOML file, or the name of one of the farm's own (sft_qwen3_4b).")],
    run: Annotated[Path, typer.Option("--run", help="The folder of this run; given again, the run goes on.")],
    data: Annotated[Path, typer.Option(help="The folder that `farm export sft --format verl` wrote.")],
    model: Annotated[str | None, typer.Option(help="The model, if not the config's.")] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Steps in all, if not the config's.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show verl's command, and start nothing.")] = False,
) -> None:
    """Warm a model up on exported data with verl's SFT trainer."""
    settings = load_sft(config_path(config, "sft"))
    rows = data / "train.parquet"
    more: dict[str, str | int] = {"data.train_files": str(rows.resolve()), "trainer.experiment_name": run.name}
    if model is not None:
        more["model.path"] = model
    if steps is not None:
        more["trainer.total_training_steps"] = steps
    command = sft_command(settings, run.resolve(), more)
    if dry_run:
        out.print("\n".join(command), markup=False, soft_wrap=True)
        return
    need_verl()
    if not rows.is_file():
        raise RequestError(f"--data {data}: no train.parquet in it; `farm export sft --format verl` writes one")
    run.mkdir(parents=True, exist_ok=True)
    with log_kept(run) as log:
        train(command, sft_environment(settings, run.resolve(), os.environ), log)
    out.print(f"The model: {model_of(run)}", soft_wrap=True)
