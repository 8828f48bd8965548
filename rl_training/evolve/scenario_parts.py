"""The scenarios of an evolution: those held out, those trained on, and those made in each round.

Each part is a library of its own in the folder of the evolution. So a training command never sees what is held out.
"""

import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from rl_training.evolve.plan import EvolutionPlan
from servers.bundle.environment import load
from servers.bundle_library import OWN_LIBRARY
from servers.errors import RequestError
from servers.files.atomic_write import write_whole
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import lines_of, load_scenarios
from servers.text.wording import suggestion

HELD_OUT, TRAINED = "held-out", "library"
SCENARIOS = "scenarios.jsonl"
FEWEST_HELD_OUT = 2


class Accepted(NamedTuple):
    """The ids of a round's scenarios that are trained on now, and of those that were there before or are held out."""

    ids: list[str]
    dropped: list[str]


def bundles_of(plan: EvolutionPlan) -> dict[str, Path]:
    """The folders of the plan's environments.

    Raises:
        RequestError: there is no such environment.
    """
    shelves = [*map(Path, plan.library), OWN_LIBRARY]
    found: dict[str, Path] = {}
    for name in plan.environments:
        folders = [shelf / name for shelf in shelves if (shelf / name / "environment.json").is_file()]
        if not folders:
            there = sorted({path.parent.name for shelf in shelves for path in shelf.glob("*/environment.json")})
            hint = suggestion(name, there, lister="farm environments")
            raise RequestError(f"environments: no environment {name!r}; {hint}")
        found[name] = folders[0]
    return found


def part_out(run: Path, plan: EvolutionPlan) -> None:
    """Write the library that is held out and the one that is trained on. Those that are there stay.

    Raises:
        RequestError: an environment has too few scenarios to hold some out.
        BundleError: a bundle cannot be read.
    """
    for name, bundle in bundles_of(plan).items():
        scenarios = _single(bundle)
        ordered = sorted(scenarios, key=lambda one, name=name: drawn(plan.seed, f"{name}/{one.id}"))
        count = round(len(ordered) * plan.held_out.share)
        if len(ordered) - count < 0 or count + plan.held_out.make < FEWEST_HELD_OUT:
            raise RequestError(
                f"held_out: {name} has {len(ordered)} scenarios, of which {count} would be held out; at least "
                f"{FEWEST_HELD_OUT} are needed: raise held_out.share, or have some made by held_out.make"
            )
        kept = {one.id for one in ordered[:count]}
        copy_of_bundle(bundle, run / HELD_OUT / name, [one for one in scenarios if one.id in kept])
        copy_of_bundle(bundle, run / TRAINED / name, [one for one in scenarios if one.id not in kept])


def copy_of_bundle(bundle: Path, target: Path, scenarios: Sequence[Scenario]) -> None:
    """Copy a bundle, with other scenarios. A copy that is there stays."""
    if target.is_dir():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=target.parent, prefix=".") as fresh:
        copy = Path(shutil.copytree(bundle, Path(fresh) / target.name))
        write_whole(copy / SCENARIOS, lines_of(scenarios))
        copy.rename(target)


def accept(run: Path, new: Path, name: str) -> Accepted:
    """Add what was made in a round to what is trained on. Done twice, it changes nothing more.

    A scenario that is held out or was there before is removed, and so is one without a certificate.
    """
    made = _single(new / name)
    held, trained = _single(run / HELD_OUT / name), _single(run / TRAINED / name)
    mine = {one.id: essence(one) for one in made}
    known = {essence(one) for one in held}
    known |= {essence(one) for one in trained if mine.get(one.id) != essence(one)}
    taken = {one.id for one in (*held, *trained) if mine.get(one.id) != essence(one)}
    kept: list[Scenario] = []
    for one in made:
        if one.certificate is not None and one.id not in taken and essence(one) not in known:
            known.add(essence(one))
            kept.append(one)
    ids = {one.id for one in kept}
    write_whole(run / TRAINED / name / SCENARIOS, lines_of([*(one for one in trained if one.id not in ids), *kept]))
    write_whole(new / name / SCENARIOS, lines_of(kept))
    return Accepted([one.id for one in kept], [one.id for one in made if one.id not in ids])


def training_scenarios(run: Path, names: Sequence[str]) -> int:
    """The number of scenarios that are trained on."""
    return sum(len(_single(run / TRAINED / name)) for name in names)


def essence(scenario: Scenario) -> str:
    """What makes two scenarios the same, in whatever words they ask: their start, and the calls that solve them."""
    solution = scenario.solution
    does = (
        [[call.tool, call.arguments] for call in solution.calls]
        if solution is not None
        else [one.model_dump(mode="json") for one in scenario.checkpoints]
    )
    return json.dumps([scenario.setup, scenario.clock, does], sort_keys=True)


def drawn(seed: int, name: str) -> str:
    """A place in an order by chance that is the same each time."""
    return hashlib.sha256(f"{seed} {name}".encode()).hexdigest()


def _single(bundle: Path) -> list[Scenario]:
    """The scenarios of a bundle over one environment. Those of public benchmarks are none: nothing trains on them."""
    found = load_scenarios(load(bundle)).values()
    return [one for one in found if one.second is None and not one.is_of_benchmark]
