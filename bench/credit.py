"""Compares ways to credit turns: GRPO, GRPO with progress, GRPO with branches.

Run as `python -m bench.credit --out DIR`. All train the demo's tiny model on the same scenarios, from the same warm
starts. Each run is a folder. A run that is finished is left as it is, so the same command goes on after an
interruption. They are compared at equal numbers of generated tokens (those of branches count) and at equal seconds of
training steps (the time of tests does not count).

Two things are held out: scenarios like those that are trained on, and a level that is not: tasks of two parcels.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any, NamedTuple

from bench.processor_watch import watched
from registry.client import Address, FarmClient
from registry.farm import private
from registry.messages import ScenarioDetail
from rl_training.config import CONFIGS, load_config
from rl_training.data.demonstrations import played
from rl_training.data.prepare import Collected, Measure, write_data
from rl_training.data.rows import DatasetRow, rows, scenarios_of
from rl_training.data.selection import split
from rl_training.demo.clumsy_policy import clumsy
from rl_training.demo.demo import ENVIRONMENT, ERRS, SELECTION, TESTS, TIMES, make_room, taught
from rl_training.verl.trainer import command_of, environment_of, run_trainer, write_loop

ARMS = {"GRPO": "tiny_cpu", "progress": "tiny_cpu_progress", "branching": "tiny_cpu_branching"}
LONGER = """extends = "{config}"

[episodes]
turns = 10

[verl.data]
max_prompt_length = {prompt}
max_response_length = 320
"""
"""The demo's configs, with room for tasks of two parcels. It is the same for all."""
PROMPT = 224
HARDER = "2"
HARD_ID = "back2_"
HELD_OUT = ("scenarios", "level")
BUDGETS = ("tokens", "processor")
METRICS = "metrics.jsonl"
PROCESSOR_TIMES = "processor.jsonl"
LEVELS = 32
"""The number of held-out tasks of two parcels."""


class Plan(NamedTuple):
    """The extent of the comparison."""

    seeds: int
    steps: int
    scenarios: int
    lessons: int
    test_every: int
    tests: int
    arms: tuple[str, ...]


class Held(NamedTuple):
    """A test: after how many tokens, seconds and processor seconds of training it was made, and the mean rewards."""

    step: int
    tokens: float
    seconds: float
    processor: float
    rewards: dict[str, float]


async def compare(folder: Path, plan: Plan) -> None:
    """Train what is missing, and write the result, its table and its picture."""
    library = make_room(folder / "library", plan.scenarios)
    make_harder(library)
    async with private((library,)) as address:
        async with FarmClient(address.url, address.token) as farm:
            data = await collected(farm, folder / "demonstrations.jsonl", plan.tests)
        for seed in range(plan.seeds):
            model = folder / f"model-{seed}"
            if not (folder / f"data-{seed}" / "validation.parquet").is_file():
                await asyncio.to_thread(taught, folder / "demonstrations.jsonl", model, plan.lessons, seed)
                write_data(folder / f"data-{seed}", data, Measure(str(model), PROMPT))
            for arm in plan.arms:
                run = folder / f"{arm}-{seed}"
                if not is_done(run, plan.steps):
                    await asyncio.to_thread(train, run, arm, seed, plan, data, model, address)
                tell(f"{arm}, seed {seed}: {' '.join(f'{one.rewards[HELD_OUT[0]]:.2f}' for one in read_tests(run))}")
                write_result(folder, plan)


def make_harder(library: Path) -> None:
    """Add the tasks of a level that is not trained on."""
    bundle = library / ENVIRONMENT
    made = ("--seed", HARDER, "--commands", "2", "--tool", "send_parcel", "--no-refusals", "--no-tells")
    command = [sys.executable, "-m", "farm", "synth", "backward", str(bundle), *made, "--n", str(LEVELS)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


async def collected(farm: FarmClient, shown: Path, times: int) -> Collected:
    """The rows, and the demonstrations of the warm start. Those of the other level are validated alone."""
    every = await scenarios_of(farm, [ENVIRONMENT])
    hard = [one for one in every if one.scenario.id.startswith(HARD_ID)]
    found = split([one for one in every if one not in hard], SELECTION)
    if not shown.is_file():  # noqa: ASYNC240 - a few small files, and nobody else waits
        lessons = await played(farm, clumsy(found.train, times=TIMES, errs=ERRS, seed=0), instructions=False)
        part = shown.with_suffix(".part")
        part.write_text("".join(one.model_dump_json() + "\n" for one in lessons), encoding="utf-8")
        part.replace(shown)
    tests = [*await named(farm, found.validation * times, HELD_OUT[0]), *await named(farm, hard * times, HELD_OUT[1])]
    return Collected(await rows(farm, found.train, split="train", instructions=False), tests, found.left_out)


async def named(farm: FarmClient, details: Sequence[ScenarioDetail], name: str) -> list[DatasetRow]:
    """Rows of what is held out, whose rewards verl tells under a name of their own."""
    made = await rows(farm, details, split="validation", instructions=False)
    return [{**row, "data_source": name} for row in made]


def train(run: Path, arm: str, seed: int, plan: Plan, data: Collected, model: Path, address: Address) -> None:
    """One training, from its beginning."""
    run.mkdir(parents=True, exist_ok=True)
    (run / METRICS).unlink(missing_ok=True)
    (run / "config.toml").write_text(
        LONGER.format(config=CONFIGS / f"{ARMS[arm]}.toml", prompt=PROMPT), encoding="utf-8"
    )
    config = load_config(run / "config.toml")
    write_loop(run, config)
    settings: dict[str, Any] = {
        "actor_rollout_ref.model.path": str(model),
        "actor_rollout_ref.rollout.seed": 1000 * seed,
        "data.train_files": str(run.parent / f"data-{seed}" / "train.parquet"),
        "data.val_files": str(run.parent / f"data-{seed}" / "validation.parquet"),
        "data.val_batch_size": len(data.validation),
        "data.seed": seed,
        "trainer.total_training_steps": plan.steps,
        "trainer.test_freq": plan.test_every,
        "trainer.save_freq": -1,
        "trainer.resume_mode": "disable",
        "trainer.project_name": "farm",
        "trainer.experiment_name": f"{arm}-{seed}",
    }
    with watched(run / PROCESSOR_TIMES, run / METRICS):
        run_trainer(
            command_of(config, run, settings), environment_of(config, address, run, os.environ), run / "log.txt"
        )


def is_done(run: Path, steps: int) -> bool:
    found = read_tests(run)
    return bool(found) and found[-1].step >= steps


def read_tests(run: Path) -> list[Held]:
    """The tests of a run in their order, from the trainer's log."""
    found: list[Held] = []
    tokens = seconds = 0.0
    steps: dict[int, dict[str, float]] = {}
    if (run / METRICS).is_file():
        for line in (run / METRICS).read_text(encoding="utf-8").splitlines():
            told = json.loads(line)
            steps.setdefault(told["step"], {}).update(told["data"])
    a_step = processor_time_of_a_step(run, [step for step in steps if steps[step].get("timing_s/testing")])
    for step in sorted(steps):
        figures = steps[step]
        tokens += figures.get("farm/tokens", 0.0)
        seconds += figures.get("timing_s/step", 0.0)  # verl times tests apart
        rewards = {name: figures.get(f"val-core/{name}/reward/mean@1") for name in HELD_OUT}
        if all(reward is not None for reward in rewards.values()):
            held = {name: reward or 0.0 for name, reward in rewards.items()}
            found.append(Held(step, tokens, seconds, step * a_step, held))
    return found


def processor_time_of_a_step(run: Path, tested: Sequence[int]) -> float:
    """The median processor seconds of a step without a test. 0 if nothing was noted.

    A few steps cost thrice as much as the others on a crowded machine, and the median does not see them.
    """
    if not (run / PROCESSOR_TIMES).is_file():
        return 0.0
    lines = (run / PROCESSOR_TIMES).read_text(encoding="utf-8").splitlines()
    noted: dict[int, float] = {one["step"]: one["seconds"] for one in map(json.loads, lines)}
    taken = [noted[step] - noted[step - 1] for step in noted if step - 1 in noted and step not in tested]
    return median(taken) if taken else 0.0


def reward_at(tests: Sequence[Held], budget: float, axis: str, name: str) -> float | None:
    """The reward at a budget of `tokens` or `processor` time, between the tests before and after.

    None if none is after.
    """
    for before, after in pairwise(tests):
        low, high = getattr(before, axis), getattr(after, axis)
        if low <= budget <= high and high > low:
            share = (budget - low) / (high - low)
            return before.rewards[name] + share * (after.rewards[name] - before.rewards[name])
    return None


def write_result(folder: Path, plan: Plan) -> None:
    """The result so far: figures (JSON), a table (Markdown), and a picture (SVG) if matplotlib is there."""
    runs = {
        arm: [tests for seed in range(plan.seeds) if len(tests := read_tests(folder / f"{arm}-{seed}")) > 1]
        for arm in ARMS
    }
    runs = {arm: ones for arm, ones in runs.items() if ones}
    if not runs:
        return
    budgets = {axis: min(getattr(tests[-1], axis) for ones in runs.values() for tests in ones) for axis in BUDGETS}
    result = {
        "plan": plan._asdict(),
        "budgets": budgets,
        "runs": {arm: [[one._asdict() for one in tests] for tests in ones] for arm, ones in runs.items()},
    }
    (folder / "result.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    (folder / "table.md").write_text(table(runs, budgets), encoding="utf-8")
    drawing = [sys.executable, "-m", "bench.credit_plot", str(folder / "result.json"), str(folder / "curves.svg")]
    if subprocess.run(drawing, check=False, capture_output=True).returncode:
        tell("no picture: matplotlib is not installed; later, `python -m bench.credit_plot result.json curves.svg`")


def table(runs: dict[str, list[list[Held]]], budgets: dict[str, float]) -> str:
    """Mean rewards and their standard errors over seeds, at equal budgets."""
    tokens, processor = budgets["tokens"], budgets["processor"]
    lines = [
        "| | seeds | tokens a step | processor seconds a step | held-out scenarios, at the start |"
        f" after {tokens:,.0f} tokens | after {processor:,.0f} processor s |"
        f" held-out level, at the start | after {tokens:,.0f} tokens | after {processor:,.0f} processor s |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for arm, ones in runs.items():
        cells = [
            cell
            for name in HELD_OUT
            for cell in (
                spread([tests[0].rewards[name] for tests in ones]),
                *(spread([reward_at(tests, budgets[axis], axis, name) for tests in ones]) for axis in BUDGETS),
            )
        ]
        last = [tests[-1] for tests in ones]
        said = fmean(one.tokens / one.step for one in last)
        used = fmean(one.processor / one.step for one in last)
        lines.append(f"| {arm} | {len(ones)} | {said:,.0f} | {used:.1f} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def spread(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    error = f" ± {stdev(known) / len(known) ** 0.5:.2f}" if len(known) > 1 else ""
    return f"{fmean(known):.2f}{error}"


def tell(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> None:
    """Compare what the command line asks for."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--out", type=Path, required=True)
    asked.add_argument("--seeds", type=int, default=3)
    asked.add_argument("--steps", type=int, default=40)
    asked.add_argument("--scenarios", type=int, default=400)
    asked.add_argument("--lessons", type=int, default=500, help="steps of the warm start")
    asked.add_argument("--test-every", type=int, default=5)
    asked.add_argument("--tests", type=int, default=TESTS, help="episodes of each held-out scenario in a test")
    asked.add_argument("--arm", choices=tuple(ARMS), action="append", help="only this one; may be repeated")
    given = asked.parse_args()
    arms = tuple(given.arm or ARMS)
    plan = Plan(given.seeds, given.steps, given.scenarios, given.lessons, given.test_every, given.tests, arms)
    asyncio.run(compare(given.out.resolve(), plan))
    tell((given.out / "table.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
