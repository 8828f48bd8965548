"""Scenarios of a bundle made without a model: walks become stories, stories scenarios, and what is certified is kept.

The same bundle, seed and number give the same bytes. What is there already is counted, so an interrupted run goes on.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from servers.bundle import load_scenarios
from servers.errors import BundleError
from servers.phrases import Phrases, read_phrases
from servers.scenario import Scenario
from synth.proving.stage import Stage
from synth.scenarios.certify import Examined, examine
from synth.scenarios.setting import Setting
from synth.scenarios.story import told
from synth.scenarios.tally import Tally, Wish, signature

LENGTHS = (1, 2, 3, 2, 4, 3, 1, 2, 5, 3)
"""How many commands are wished for, one walk after another."""
EVERY_REFUSAL = 5
MOST_BARREN = 60
"""So many walks in a row from which no scenario comes, and the run ends."""
ID = re.compile(r"back(\d+)_(\d+)")


@dataclass
class Yield:
    """What became of the walks of a run."""

    walks: int = 0
    told: int = 0
    twice: int = 0
    certified: int = 0
    dropped: Counter[str] = field(default_factory=Counter[str])
    rejected: Counter[str] = field(default_factory=Counter[str])
    seconds: float = 0.0


async def backward(
    stage: Stage,
    *,
    n: int,
    seed: int,
    there: Iterable[Scenario],
    on_certified: Callable[[Scenario, Examined], None],
    on_walk: Callable[[Yield], None],
) -> Yield:
    """Make scenarios until there are `n` of this seed, those that are there already included.

    Raises:
        BundleError: no scenario can be made of this bundle.
    """
    phrases = _phrases(stage)
    tools = stage.environment.tools
    if not any(tool.writes for tool in tools.values()):
        raise BundleError(
            f"{stage.environment.id}: all of its tools only read; a scenario made backward needs one that changes rows"
        )
    made = Yield()
    tally = Tally(dropped=made.dropped)
    count, at = _gone_on(there, seed, tally, tools)
    setting = await Setting.of(stage, phrases)
    barren = 0
    while count < n and barren < MOST_BARREN:
        scenario = await told(setting, _wish(seed, at), tally, Random(f"{seed}/{at}"))  # noqa: S311 - to be repeated
        at, made.walks, barren = at + 1, made.walks + 1, barren + 1
        if scenario is not None:
            made.told += 1
            if signature(scenario) in tally.told:
                made.twice += 1
            elif (seen := await examine(stage, scenario)).certificate is None:
                made.rejected.update([seen.findings[0].partition(":")[0]])
            else:
                whole = scenario.model_copy(update={"certificate": seen.certificate})
                tally.take(whole, tools)
                count, made.certified, barren = count + 1, made.certified + 1, 0
                on_certified(whole, seen)
        on_walk(made)
    if count == 0:
        raise BundleError(f"{stage.environment.id}: no scenario came of {made.walks} walks: {_reasons(made)}")
    return made


def _phrases(stage: Stage) -> Phrases:
    problems, phrases = read_phrases(stage.environment.folder, stage.environment)
    if problems:
        raise BundleError(problems[0])
    return phrases or Phrases()


def _wish(seed: int, at: int) -> Wish:
    refusal = at % EVERY_REFUSAL == EVERY_REFUSAL - 1
    return Wish(f"back{seed}_{at:04d}", LENGTHS[at % len(LENGTHS)], refusal)


def _gone_on(there: Iterable[Scenario], seed: int, tally: Tally, tools: Iterable[str]) -> tuple[int, int]:
    """How many scenarios of this seed there are, and the number of the next walk."""
    count, at = 0, 0
    for scenario in there:
        found = ID.fullmatch(scenario.id)
        if found is None or int(found[1]) != seed:
            continue
        count, at = count + 1, max(at, int(found[2]) + 1)
        tally.take(scenario, set(tools))
    return count, at


def _reasons(made: Yield) -> str:
    every = made.dropped + made.rejected
    return "; ".join(f"{reason} ({number})" for reason, number in every.most_common(4)) or "all were told before"


class Shelf:
    """The file that scenarios are written to, whole each time: a run that is stopped leaves no half of a line."""

    def __init__(self, path: Path, stage: Stage) -> None:
        self.path = path
        own = path == stage.environment.folder / "scenarios.jsonl"
        self._lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        if own:
            self.there = list(load_scenarios(stage.environment).values())
        else:
            self.there = [_read(path, number, line) for number, line in enumerate(self._lines, start=1)]

    def add(self, scenario: Scenario) -> None:
        """Write one scenario more."""
        self._lines.append(line_of(scenario))
        self.write()

    def write(self) -> None:
        """Write the file."""
        part = self.path.with_suffix(".part")
        part.write_text("".join(f"{line}\n" for line in self._lines), encoding="utf-8")
        part.replace(self.path)


def line_of(scenario: Scenario) -> str:
    """A scenario as a line of `scenarios.jsonl`."""
    return scenario.model_dump_json(exclude_defaults=True)


def _read(path: Path, number: int, line: str) -> Scenario:
    try:
        return Scenario.model_validate_json(line)
    except ValueError as error:
        raise BundleError(f"{path}: line {number}: {error}") from None
