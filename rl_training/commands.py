"""The commands of training: `farm rl prepare`, `farm rl train`, `farm rl sft`, `farm rl serve`, `farm rl demo`."""

import asyncio
import json
import os
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rl_training.data.selection import Band, ScenarioSelection
from servers.bundle_library import OWN_LIBRARY
from servers.cli.command_options import shelves
from servers.errors import RequestError
from servers.records import AnswerFormat
from servers.text.terminal import Terminal
from servers.text.wording import counted

if TYPE_CHECKING:  # importing these takes two seconds
    from rl_training.config import TrainConfig
    from rl_training.data.prepare import Collected, Packed

app = typer.Typer()
rl = typer.Typer(no_args_is_help=True, help="Train agents on the farm with verl.")
app.add_typer(rl, name="rl")
out = Terminal()

SplitKind = Literal["environment", "scenario"]
FarmUrl = Annotated[str | None, typer.Option("--farm", help="A farm that runs; its token is in FARM_TOKEN.")]
Libraries = Annotated[
    list[Path] | None, typer.Option("--library", help="A folder of bundles, beside the farm's own; not with --farm.")
]


@rl.command()
def prepare(
    folder: Annotated[Path, typer.Option("--out", help="Where train.parquet and validation.parquet go.")],
    farm: FarmUrl = None,
    library: Libraries = None,
    environment: Annotated[list[str] | None, typer.Option(help="Only this environment; may be repeated.")] = None,
    tag: Annotated[str | None, typer.Option(help="Only scenarios with this tag.")] = None,
    calls: Annotated[str | None, typer.Option(help="Only so long reference solutions, as LOW..HIGH.")] = None,
    level: Annotated[str | None, typer.Option(help="Only of these levels, as LOW..HIGH between 1 and 5.")] = None,
    pass_rate: Annotated[str | None, typer.Option(help="Only so difficult, as LOW..HIGH between 0 and 1.")] = None,
    kill_score: Annotated[float | None, typer.Option(min=0, max=1, help="Only proved at least so well.")] = None,
    split: Annotated[
        Literal["environment", "scenario"], typer.Option(help="What is kept apart whole.")
    ] = "environment",
    validation: Annotated[list[str] | None, typer.Option(help="Keep this environment apart; may be repeated.")] = None,
    validation_share: Annotated[float, typer.Option(min=0, max=0.99, help="Else: keep this share apart.")] = 0.1,
    tokenizer: Annotated[str, typer.Option(help="The model's folder or name, to measure prompts by.")] = "",
    max_prompt_tokens: Annotated[int | None, typer.Option(min=1, help="Leave out longer prompts, with tools.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the split.")] = 0,
    answers: Annotated[
        AnswerFormat, typer.Option(help="In free text, or as JSON with a key for each value that is asked for.")
    ] = "text",
) -> None:
    """Write training and validation data from the scenarios of a farm. No answer is in them."""
    shelf = _shelf(farm, library)
    if max_prompt_tokens is not None and not tokenizer:
        raise RequestError("--max-prompt-tokens needs --tokenizer, to measure by")
    selection = ScenarioSelection(
        environments=tuple(environment or ()),
        tag=tag,
        calls=_band("--calls", calls),
        level=_band("--level", level),
        pass_rate=_band("--pass-rate", pass_rate),
        kill_score=kill_score,
        split=split,
        validation_environments=tuple(validation or ()),
        validation_share=validation_share,
        seed=seed,
    )
    from rl_training.data.prepare import Measure, write_data
    from rl_training.verl.trainer import need_verl

    need_verl()
    data = asyncio.run(_collected(farm, shelf, selection, answers))
    done = write_data(folder, data, Measure(tokenizer, max_prompt_tokens))
    out.print(f"train: {_told(done.train)}\nvalidation: {_told(done.validation)}\nnot selected: {done.left_out}")


@rl.command()
def train(
    config: Annotated[str, typer.Argument(help="A TOML file, or the name of one of the farm's own.")],
    run: Annotated[Path, typer.Option("--run", help="The folder of this run; given again, the run goes on.")],
    model: Annotated[str | None, typer.Option(help="The model, if not the config's.")] = None,
    data: Annotated[Path | None, typer.Option(help="The folder that `farm rl prepare` wrote.")] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Steps in all, if not the config's.")] = None,
    farm: FarmUrl = None,
    library: Libraries = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show verl's command, and start nothing.")] = False,
) -> None:
    """Train with verl, with a farm started beside it or one that runs elsewhere."""
    from rl_training.config import config_path, load_config
    from rl_training.verl.trainer import command_of, need_verl

    settings = load_config(config_path(config, "grpo"))
    shelf = _shelf(farm or settings.farm.url, library) or shelves([Path(folder) for folder in settings.farm.library])
    more: dict[str, str | int] = {"trainer.project_name": "farm", "trainer.experiment_name": run.name}
    if model is not None:
        more["actor_rollout_ref.model.path"] = model
    if data is not None:
        more |= {f"data.{kind}_files": str((data / f"{name}.parquet").resolve()) for kind, name in FILES}
    if steps is not None:
        more["trainer.total_training_steps"] = steps
    command = command_of(settings, run.resolve(), more)
    if dry_run:
        out.print("\n".join(command), markup=False, soft_wrap=True)
        return
    need_verl()
    out.print(f"The trainer's log is {run / 'log.txt'}, its figures {run / 'metrics.jsonl'}.", soft_wrap=True)
    asyncio.run(_train(settings, command, run.resolve(), farm or settings.farm.url, shelf))


@rl.command()
def sft(
    config: Annotated[str, typer.Argument(help="A TOML file, or the name of one of the farm's own (sft_qwen3_4b).")],
    run: Annotated[Path, typer.Option("--run", help="The folder of this run; given again, the run goes on.")],
    data: Annotated[Path, typer.Option(help="The folder that `farm export sft --format verl` wrote.")],
    model: Annotated[str | None, typer.Option(help="The model, if not the config's.")] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Steps in all, if not the config's.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show verl's command, and start nothing.")] = False,
) -> None:
    """Warm a model up on exported data with verl's SFT trainer."""
    from rl_training.config import config_path
    from rl_training.verl.sft import load_sft, model_of, sft_command, sft_environment
    from rl_training.verl.trainer import log_kept, need_verl, run_trainer

    settings = load_sft(config_path(config, "sft"))
    command = sft_command(settings, run.resolve(), data / "train.parquet", model, steps)
    if dry_run:
        out.print("\n".join(command), markup=False, soft_wrap=True)
        return
    if not (data / "train.parquet").is_file():
        raise RequestError(f"--data {data}: no train.parquet in it; `farm export sft --format verl` writes one")
    need_verl()
    run.mkdir(parents=True, exist_ok=True)
    with log_kept(run) as log:
        run_trainer(command, sft_environment(settings, run.resolve(), os.environ), log)
    out.print(f"The model: {model_of(run)}", soft_wrap=True)


@rl.command()
def serve(
    model: Annotated[Path, typer.Argument(help="The model's folder, such as …/global_step_25/actor/huggingface.")],
    command: Annotated[
        list[str] | None, typer.Argument(help="After `--`: a command to run with this endpoint, which ends with it.")
    ] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="By default 8000; with a command a free one.")] = (
        None
    ),
    temperature: Annotated[float, typer.Option(min=0, max=10, help="Of requests that say none.")] = 0.7,
    reply_tokens: Annotated[int, typer.Option(min=1, help="Most tokens of a reply, if a request says none.")] = 256,
    seed: Annotated[int, typer.Option(min=0, help="Of the draws.")] = 0,
) -> None:
    """Serve a small checkpoint on this machine's CPU as an OpenAI-compatible endpoint, for any evaluation."""
    if not (model / "config.json").is_file():
        raise RequestError(f"{model}: no model in it (config.json); a checkpoint has one in actor/huggingface")
    from rl_training.verl.trainer import need_verl

    need_verl()
    from rl_training.cpu.endpoint import CheckpointModel, endpoint_app, serve_checkpoint

    loaded = CheckpointModel(model, temperature=temperature, reply_tokens=reply_tokens, seed=seed)
    app = endpoint_app(loaded, name=model.name)
    wanted = port if port is not None else 0 if command else 8000
    progress = Terminal(stderr=True)
    status = asyncio.run(serve_checkpoint(app, wanted, command or [], os.environ, progress.print))
    raise typer.Exit(status)


@rl.command()
def demo(
    run: Annotated[Path, typer.Option("--run", help="The folder of this run; given again, it goes on.")],
    seeds: Annotated[int, typer.Option(min=1, help="How often to train, each time from another chance.")] = 3,
    steps: Annotated[int, typer.Option(min=1, help="Steps of GRPO.")] = 25,
    lessons: Annotated[int, typer.Option(min=1, help="Steps of the warm start before.")] = 500,
    test_every: Annotated[int, typer.Option(min=1, help="Steps between two measurements.")] = 5,
    config: Annotated[str, typer.Option(help="How to train: a TOML file, or one of the farm's own.")] = "tiny_cpu",
) -> None:
    """Train a tiny model on this machine's CPU in a small environment, and show whether it learns."""
    from rl_training.demo.demo import DemoPlan, run_demo
    from rl_training.verl.trainer import need_verl

    need_verl()
    plan = DemoPlan(seeds=seeds, steps=steps, lessons=lessons, test_every=test_every, config=config)
    begun = time.monotonic()
    outcome = asyncio.run(run_demo(run.resolve(), plan, os.environ, out.print))
    seconds = time.monotonic() - begun
    result = {"plan": plan.model_dump(), "seconds": seconds, **outcome.model_dump()}
    (run / "result.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    first, last = ([one.points[at].reward for one in outcome.curves] for at in (0, -1))
    out.print(
        f"Mean reward on held-out scenarios: {_spread(first)} after the warm start, {_spread(last)} at the end"
        f" ({counted(len(first), 'seed')}, mean and standard error; {seconds / 60:.0f} min)."
        f" Written: {run / 'result.json'}",
        soft_wrap=True,
    )


def _spread(values: list[float]) -> str:
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.2f} ± {error:.2f}"


FILES = (("train", "train"), ("val", "validation"))
"""verl's name for each file, and ours."""


async def _train(settings: "TrainConfig", command: list[str], run: Path, url: str | None, shelf: list[Path]) -> None:
    from registry.client import Address, FarmClient
    from registry.farm import private
    from rl_training.verl.trainer import environment_of, log_kept, run_trainer, write_loop

    write_loop(run, settings)
    with log_kept(run) as log:
        if url is not None:
            where = Address(url, _token())
            async with FarmClient(where.url, where.token) as client:
                await client.health()
            return await asyncio.to_thread(run_trainer, command, environment_of(settings, where, run, os.environ), log)
        async with private((*shelf, OWN_LIBRARY)) as where:
            return await asyncio.to_thread(run_trainer, command, environment_of(settings, where, run, os.environ), log)


async def _collected(
    url: str | None, shelf: list[Path], selection: ScenarioSelection, answers: AnswerFormat
) -> "Collected":
    from registry.client import FarmClient
    from registry.farm import private
    from rl_training.data.prepare import collected

    if url is not None:
        async with FarmClient(url, _token()) as farm:
            return await collected(farm, selection, answers=answers)
    async with private((*shelf, OWN_LIBRARY)) as address, FarmClient(address.url, address.token) as farm:
        return await collected(farm, selection, answers=answers)


def _shelf(url: str | None, library: list[Path] | None) -> list[Path]:
    if url is not None and library:
        raise RequestError("--farm is a farm that runs already: --library is for a farm of its own")
    return shelves(library)


def _token() -> str:
    token = os.environ.get("FARM_TOKEN")
    if not token:
        raise RequestError("a farm elsewhere needs its control token in FARM_TOKEN")
    return token


def _band(option: str, text: str | None) -> Band | None:
    if text is None:
        return None
    low, dots, high = text.partition("..")
    try:
        return Band(low=float(low), high=float(high if dots else low))
    except ValueError:
        raise RequestError(f"{option} is LOW..HIGH, as in 2..8, not {text!r}") from None


def _told(packed: "Packed") -> str:
    longest = counted(packed.longest_prompt, "token")
    return f"{counted(packed.rows, 'row')}, the longest prompt {longest}, {packed.too_long} left out as too long"
