"""The training demo: a tiny model, a warm start, and GRPO in `parcel_room`, for some seeds.

The warm start imitates a clumsy policy (`clumsy`), which leaves something to learn from rewards. The demo measures the
mean reward on held-out scenarios, before the first step and after the last.
"""

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from registry.client import Address, FarmClient
from registry.farm import private
from rl_training.config import config_path, load_config
from rl_training.data.demonstrations import played
from rl_training.data.prepare import Collected, Measure, write_data
from rl_training.data.rows import rows, scenarios_of
from rl_training.data.selection import ScenarioSelection, split
from rl_training.demo.clumsy_policy import clumsy
from rl_training.errors import TrainingError
from rl_training.verl.trainer import command_of, environment_of, run_trainer, write_loop
from servers.bundle_library import OWN_LIBRARY
from servers.records import Record

ENVIRONMENT = "parcel_room"
MADE = ("--backward", "--seed", "1", "--commands", "1", "--tool", "send_parcel", "--no-refusals", "--no-tells")
REWARD = f"val-core/{ENVIRONMENT}/reward/mean@1"
SELECTION = ScenarioSelection(environments=(ENVIRONMENT,), split="scenario", validation_share=0.08)
SCENARIOS = 400
TIMES, ERRS = 2, 0.3
"""Demonstrations of each scenario, and the share of random arguments."""
TESTS = 4
"""Episodes for each held-out scenario, as rows of their own: verl's own repetition spends seconds on intervals."""


class DemoPlan(Record):
    """The extent of the demo. `lessons` is the number of warm-start steps, `config` one of the farm's own or a file."""

    seeds: int = 3
    steps: int = 25
    lessons: int = 500
    test_every: int = 5
    config: str = "tiny_cpu"


class Point(Record):
    """The mean reward on held-out scenarios after some steps."""

    step: int
    reward: float


class Curve(Record):
    """The points of one seed."""

    seed: int
    points: tuple[Point, ...]


class DemoOutcome(Record):
    """The curves of all seeds, and the mean reward of the demonstrations."""

    demonstrated: float
    curves: tuple[Curve, ...]


async def run_demo(
    folder: Path, plan: DemoPlan, environment: Mapping[str, str], tell: Callable[[str], None]
) -> DemoOutcome:
    """Train for each seed, one after another. A seed that is finished in this folder is skipped."""
    library = await asyncio.to_thread(make_room, folder / "library", SCENARIOS)
    tell(f"{SCENARIOS} certified scenarios made in {library}")
    async with private((library,)) as address:
        shown = folder / "demonstrations.jsonl"
        async with FarmClient(address.url, address.token) as farm:
            data, demonstrated = await _data(farm, shown)
        tell(f"the demonstrations earn {demonstrated:.2f} in the mean")
        curves: list[Curve] = []
        for seed in range(plan.seeds):
            run = folder / f"seed-{seed}"
            if not _is_done(run, plan):
                await asyncio.to_thread(_seed, run, seed, plan, data, shown, address, environment, tell)
            curves.append(Curve(seed=seed, points=tuple(points_of(run / "metrics.jsonl"))))
            tell(f"seed {seed}: {' '.join(f'{point.reward:.2f}' for point in curves[-1].points)}")
    return DemoOutcome(demonstrated=demonstrated, curves=tuple(curves))


def points_of(metrics: Path) -> list[Point]:
    """The rewards on held-out scenarios, from the trainer's log."""
    lines = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
    return [Point(step=line["step"], reward=line["data"][REWARD]) for line in lines if REWARD in line["data"]]


async def _data(farm: FarmClient, shown: Path) -> tuple[Collected, float]:
    found = split(await scenarios_of(farm, [ENVIRONMENT]), SELECTION)
    lessons = await played(farm, clumsy(found.train, times=TIMES, errs=ERRS, seed=0), instructions=False)
    earned = sum(one.reward for one in lessons) / len(lessons)
    _write(shown, "".join(one.model_dump_json() + "\n" for one in lessons))
    data = Collected(
        await rows(farm, found.train, split="train", instructions=False),
        await rows(farm, found.validation * TESTS, split="validation", instructions=False),
        found.left_out,
    )
    return data, earned


def _seed(
    run: Path,
    seed: int,
    plan: DemoPlan,
    data: Collected,
    shown: Path,
    address: Address,
    environment: Mapping[str, str],
    tell: Callable[[str], None],
) -> None:
    run.mkdir(parents=True, exist_ok=True)
    (run / "metrics.jsonl").unlink(missing_ok=True)
    lesson = taught(shown, run / "model", plan.lessons, seed)
    tell(f"seed {seed}: {lesson['parameters']:,} parameters, loss {lesson['loss']:.3f} after the warm start")
    write_data(run / "data", data, Measure(str(run / "model"), 104))
    config = load_config(config_path(plan.config, "grpo"))
    write_loop(run, config)
    settings: dict[str, Any] = {
        "actor_rollout_ref.model.path": str(run / "model"),
        "actor_rollout_ref.rollout.seed": 1000 * seed,
        "data.train_files": str(run / "data" / "train.parquet"),
        "data.val_files": str(run / "data" / "validation.parquet"),
        "data.val_batch_size": len(data.validation),
        "data.seed": seed,
        "trainer.total_training_steps": plan.steps,
        "trainer.test_freq": plan.test_every,
        "trainer.save_freq": plan.steps,
        "trainer.resume_mode": "disable",
        "trainer.rollout_data_dir": str(run / "episodes"),
        "trainer.project_name": "farm",
        "trainer.experiment_name": f"seed-{seed}",
    }
    command = command_of(config, run, settings)
    run_trainer(command, environment_of(config, address, run, environment), run / "log.txt")


def taught(shown: Path, folder: Path, steps: int, seed: int) -> dict[str, float]:
    """Write a tiny model that imitates demonstrations into a folder. Raises TrainingError if that fails."""
    command = [sys.executable, "-m", "rl_training.cpu.pretraining", str(shown), str(folder), str(steps), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise TrainingError(f"the warm start failed: {done.stderr.strip().splitlines()[-1:]}")
    return json.loads(done.stdout.splitlines()[-1])


def _is_done(run: Path, plan: DemoPlan) -> bool:
    metrics = run / "metrics.jsonl"
    found: Sequence[Point] = points_of(metrics) if metrics.exists() else ()
    return bool(found) and found[-1].step >= plan.steps


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def make_room(library: Path, count: int) -> Path:
    """Make a library with a copy of `parcel_room` and `count` certified scenarios of one parcel each.

    Existing scenarios stay.

    Raises:
        TrainingError: they could not be made.
    """
    bundle = library / ENVIRONMENT
    if not bundle.is_dir():
        library.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=library, prefix=".") as fresh:
            copy = Path(shutil.copytree(OWN_LIBRARY / ENVIRONMENT, Path(fresh) / ENVIRONMENT))
            (copy / "scenarios.jsonl").write_text("", encoding="utf-8")
            copy.rename(bundle)
    command = [sys.executable, "-m", "farm", "synth", "scenarios", str(bundle), *MADE, "--n", str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise TrainingError(f"{' '.join(command[1:])}: {(done.stderr or done.stdout).strip()}")
    return library
