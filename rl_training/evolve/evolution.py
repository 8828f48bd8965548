"""The rounds of an evolution: evaluate, find what is weak, make scenarios there, train.

A round is a folder, and each of its steps is noted when it is done. So an evolution that was stopped anywhere goes on
with the step that was being done. `farm eval` and `farm synth backward` go on with what they had. A training command is
run again, and should do the same.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from shlex import quote
from typing import Protocol

from evals.runs.folder import RunFolder
from evals.runs.summary import by_scenario, summaries
from rl_training.errors import TrainingError
from rl_training.evolve.orders import MakingOrder, held_out_orders, orders_of
from rl_training.evolve.page import page_of
from rl_training.evolve.plan import CommandWords, EvolutionPlan, as_toml, with_values
from rl_training.evolve.records import EvolutionRecord, MadeScenarios, RoundRecord
from rl_training.evolve.round_figures import for_the_curve, played_scenario, round_figures, told
from rl_training.evolve.scenario_parts import (
    HELD_OUT,
    SCENARIOS,
    TRAINED,
    accept,
    bundles_of,
    copy_of_bundle,
    part_out,
    training_scenarios,
)
from rl_training.evolve.weak_spots import AgentResult, weak_spots
from servers.errors import RequestError
from servers.files.atomic_write import write_whole
from servers.files.named_file import text_named
from servers.text.wording import counted

NUMBER = re.compile(r"(\d+)")
FARM = (sys.executable, "-m", "farm")
PAGE = "curve.html"
LIBRARY_READY = "parts.done"
LONGEST_NAME = 65_536
"""Bytes of a file that names a model."""


class RunStep(Protocol):
    """What runs a command to its end, with a title of what it does. Raises TrainingError if it fails."""

    def __call__(self, command: Sequence[str], log: Path, title: str) -> None: ...


@dataclass
class Evolution:
    """One evolution in its folder. The caller holds the folder's lock."""

    plan: EvolutionPlan
    run: Path
    step: RunStep
    tell: Callable[[str], None]
    record: EvolutionRecord = field(init=False)

    def __post_init__(self) -> None:
        found = EvolutionRecord.read(self.run)
        if found is not None and found.plan != self.plan.identity:
            raise RequestError(f"{self.run}: holds an evolution by another plan; choose another folder for this one")
        self.record = found or EvolutionRecord(name=self.plan.name, plan=self.plan.identity)

    def go(self) -> None:
        """Play all rounds that are missing, and evaluate the agent that came of the last one.

        Raises:
            RequestError: the plan does not fit its environments.
            TrainingError: a step failed. The same command goes on with it.
        """
        bundles = bundles_of(self.plan)
        self._make_parts(bundles)
        model = self.plan.model
        for number in range(self.plan.rounds + 1):
            one = self._round(number, model)
            if not one.figures:
                one = self._keep(self._evaluated(one))
                self.tell(told(one))
            if number == self.plan.rounds:
                return
            if one.made is None:
                one = self._keep(self._made(one, bundles))
            if one.next_model is None:
                one = self._keep(self._trained(one))
            model = one.next_model or ""

    def _round(self, number: int, model: str) -> RoundRecord:
        return (
            self.record.rounds[number] if number < len(self.record.rounds) else RoundRecord(number=number, model=model)
        )

    def _keep(self, one: RoundRecord) -> RoundRecord:
        self.record = self.record.with_round(one)
        self.record.write(self.run)
        write_whole(self.run / PAGE, page_of(self.record))
        return one

    def folder(self, number: int) -> Path:
        return self.run / f"round-{number}"

    def _make_parts(self, bundles: Mapping[str, Path]) -> None:
        """The library that is held out, and the one that is trained on."""
        if (self.run / LIBRARY_READY).exists():
            return
        part_out(self.run, self.plan)
        for order in held_out_orders(self.plan):
            self._backward(self.run / HELD_OUT / order.environment, order, self.run / "held-out.log")
        write_whole(self.run / LIBRARY_READY, "".join(f"{name}\n" for name in bundles))

    def _evaluated(self, one: RoundRecord) -> RoundRecord:
        folder, played, broken = self.folder(one.number), list[AgentResult](), 0
        rewards: dict[tuple[str, str], float] = {}
        folder.mkdir(parents=True, exist_ok=True)
        for at, perturb in enumerate(("", *self.plan.evaluation.perturb)):
            run, suite = folder / f"eval-{at}", folder / f"eval-{at}.toml"
            write_whole(suite, as_toml(self.plan.suite(one.model, perturb)))
            serve = self.plan.evaluation.serve
            command = [
                *(command_of(serve, {"model": one.model}) if serve else ()),
                *(*FARM, "eval", str(suite), "--out", str(run), "--library", str(self.run / HELD_OUT)),
            ]
            title = f"round {one.number}: evaluating{f' under {perturb}' if perturb else ''}"
            self.step(command, folder / f"eval-{at}.log", title)
            kept = RunFolder(run)
            subjects = kept.subjects()
            rollouts = summaries(kept, subjects)
            broken += sum(each.success is None for each in rollouts)
            for name, ones in by_scenario(rollouts).items():
                scenario = played_scenario(subjects[name], ones, perturb)
                rewards[name, perturb] = sum(each.reward or 0.0 for each in ones)
                played.append(scenario)
        if not any(not scenario.perturb for scenario in played):
            raise TrainingError(f"round {one.number}: no episode could be judged; {folder} has the runs")
        shown = for_the_curve({each.name for each in played}, self.plan.seed)
        figures = round_figures([each for each in played if each.name in shown], rewards)
        spots = weak_spots([each for each in played if each.name not in shown], self.plan.weak, seed=self.plan.seed)
        return one.model_copy(update={"figures": tuple(figures), "spots": tuple(spots), "broken": broken})

    def _made(self, one: RoundRecord, bundles: Mapping[str, Path]) -> RoundRecord:
        orders = orders_of(self.plan, bundles, one.number, one.weak)
        new = self.folder(one.number) / "new"
        log = self.folder(one.number) / "make.log"
        troubles: dict[int, str] = {}
        asked: dict[str, list[MakingOrder]] = {}
        for order in orders:
            asked.setdefault(order.environment, []).append(order)
            copy_of_bundle(bundles[order.environment], new / order.environment, [])
            try:
                title = f"round {one.number}: making {counted(order.n, 'scenario')}, {order.spot}"
                self._backward(new / order.environment, order, log, title)
            except TrainingError as error:
                troubles[order.seed] = str(error)
        for name, ones in asked.items():
            self._made_in_another_way(one.number, new / name, ones, log)
        made: list[MadeScenarios] = []
        for name, ones in asked.items():
            made += self._accepted(new, name, ones, troubles)
        total = training_scenarios(self.run, self.plan.environments)
        if not total:
            raise TrainingError(f"round {one.number}: there is no scenario to train on; {log} says why none was made")
        self.tell(f"round {one.number}: {counted(sum(each.made for each in made), 'new scenario')}, {total} in all")
        return one.model_copy(update={"made": tuple(made), "training_scenarios": total})

    def _accepted(
        self, new: Path, name: str, orders: Sequence[MakingOrder], troubles: Mapping[int, str]
    ) -> list[MadeScenarios]:
        taken = accept(self.run, new, name)
        ids = list(taken.ids)
        told: list[MadeScenarios] = []
        for order in orders:
            mine = [one for one in ids if _is_of(one, order)]
            ids = [one for one in ids if one not in mine]
            told.append(
                MadeScenarios(
                    spot=order.spot,
                    environment=name,
                    asked=order.n,
                    made=len(mine),
                    dropped=sum(_is_of(one, order) for one in taken.dropped),
                    trouble=troubles.get(order.seed, ""),
                )
            )
        if ids:
            told.append(MadeScenarios(spot="make.command", environment=name, asked=0, made=len(ids)))
        return told

    def _backward(self, bundle: Path, order: MakingOrder, log: Path, title: str = "making what is held out") -> None:
        command = [*FARM, "synth", "backward", str(bundle), "--n", str(order.n), "--seed", str(order.seed)]
        self.step([*command, *order.options], log, title)

    def _made_in_another_way(self, number: int, bundle: Path, orders: Sequence[MakingOrder], log: Path) -> None:
        if self.plan.make.command is None:
            return
        values = {
            "bundle": str(bundle),
            "out": str(bundle / SCENARIOS),
            "n": str(sum(order.n for order in orders)),
            "spots": "; ".join(dict.fromkeys(order.spot for order in orders)),
            "round": str(number),
        }
        self.step(command_of(self.plan.make.command, values), log, f"round {number}: making scenarios by make.command")

    def _trained(self, one: RoundRecord) -> RoundRecord:
        folder = self.folder(one.number)
        values = {
            "model": one.model,
            "round": str(one.number),
            "library": str(self.run / TRAINED),
            "new": str(folder / "new"),
            "out": str(folder / "train"),
            "perturb": next((spot.name for spot in one.weak if spot.kind == "perturbation"), ""),
            "seed": str(self.plan.seed),
        }
        (folder / "train").mkdir(parents=True, exist_ok=True)
        self.step(command_of(self.plan.train.command, values), folder / "train.log", f"round {one.number}: training")
        left = newest(with_values(self.plan.train.model, values)) if self.plan.train.model else one.model
        return one.model_copy(update={"next_model": left})


def command_of(written: CommandWords, values: Mapping[str, str]) -> list[str]:
    """The words of a command. A text is for the shell, and what is put into it is quoted."""
    if isinstance(written, str):
        return ["/bin/sh", "-c", with_values(written, {name: quote(value) for name, value in values.items()})]
    words: list[str] = with_values(list(written), values)
    return [*FARM, *words[1:]] if words[0] == "farm" else words


def newest(pattern: str) -> str:
    """The model at the last path that matches a pattern, numbers compared as numbers.

    It is the path itself. Of a file that ends in `.txt` it is the first line: a name, as of a service that trains.

    Raises:
        TrainingError: there is none.
    """
    found = sorted(glob(pattern), key=_numbers_apart)  # noqa: PTH207 - the pattern may be absolute
    if not found:
        raise TrainingError(f"the training ended, and left no model at {pattern}")
    if not found[-1].endswith(".txt"):
        return str(Path(found[-1]).resolve())
    name = text_named(Path(found[-1]), largest=LONGEST_NAME).strip().partition("\n")[0]
    if not name:
        raise TrainingError(f"the training left {found[-1]}, which names no model")
    return name


def _numbers_apart(path: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (0, part) for part in NUMBER.split(path)]


def _is_of(scenario: str, order: MakingOrder) -> bool:
    return re.fullmatch(rf"(back|hard){order.seed}_\d+", scenario) is not None
