"""Generates scenarios without a model: an errand becomes a scenario, and a certified one is kept.

The same bundle, seed and number give the same bytes for any number of processes. Existing scenarios count, so an
interrupted run continues.
"""

import asyncio
import re
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from servers.bundle.environment import Environment
from servers.bundle.files import LARGEST_SCENARIOS, text_if_there
from servers.errors import BundleError
from servers.files.atomic_write import write_whole
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import load_scenarios
from servers.validation import first_problem
from synth.backward.bundle_view import BundleView
from synth.backward.job import (
    ErrandOutcome,
    Stretch,
    Walking,
    phrases_of,
)
from synth.backward.profile import EVERYTHING, Profile
from synth.backward.usage_counts import UsageCounts, signature
from synth.play.pinned_bundle import PinnedBundle
from synth.play.playground import Playground
from synth.processes.process_pool import PoolSettings, process_pool

MOST_BARREN = 60
"""Consecutive walks without a scenario that end the run."""
AHEAD = 12
"""Walks that may run concurrently or wait for a process."""
ID = re.compile(r"back(\d+)_(\d+)")
Walk = Callable[[Stretch], Awaitable[ErrandOutcome]]


@dataclass
class Yield:
    """The outcomes of a run's walks."""

    walks: int = 0
    told: int = 0
    twice: int = 0
    certified: int = 0
    dropped: Counter[str] = field(default_factory=Counter[str])
    rejected: Counter[str] = field(default_factory=Counter[str])
    tally: UsageCounts = field(default_factory=UsageCounts)
    unused: dict[str, str] = field(default_factory=dict[str, str])
    seconds: float = 0.0

    def take(self, attempt: ErrandOutcome) -> None:
        """Count the outcome of a walk."""
        self.walks += 1
        self.told += attempt.fate != "dropped"
        self.twice += attempt.fate == "twice"
        self.certified += attempt.fate == "certified"
        if attempt.fate == "dropped":
            self.dropped[attempt.reason] += 1
        elif attempt.fate == "rejected":
            self.rejected[attempt.reason.partition(":")[0]] += 1


class _Generation:
    """The walks of a run in order: the existing ones, the running ones, and what was learned."""

    def __init__(self, walk: Walk, known: dict[int, Scenario], tools: set[str]) -> None:
        self._walk = walk
        self._known = known
        self._tools = tools
        self._under_way: deque[asyncio.Future[ErrandOutcome]] = deque()
        self._first = max(known, default=-1) + 1
        self.tally = UsageCounts()
        self.count = 0
        for at in range(AHEAD):
            self._begin(at)
        for at in range(self._first):
            self._learn(at, known.get(at))

    async def next(self) -> ErrandOutcome:
        """The outcome of the next walk."""
        attempt = await self._under_way.popleft()
        if attempt.scenario is not None and signature(attempt.scenario) in self.tally.told:
            attempt = ErrandOutcome(attempt.at, "twice")
        self._learn(attempt.at, attempt.scenario if attempt.fate == "certified" else None)
        return attempt

    async def give_up(self) -> None:
        """Cancel the running walks."""
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    def _begin(self, at: int) -> None:
        if at >= self._first:
            self._under_way.append(asyncio.ensure_future(self._walk(Stretch(at, self.tally.copy()))))

    def _learn(self, at: int, scenario: Scenario | None) -> None:
        if scenario is not None:
            self.tally.take(scenario, self._tools)
            self.count += 1
        self._begin(at + AHEAD)


async def make_backward(
    stage: Playground,
    *,
    n: int,
    seed: int,
    there: Iterable[Scenario],
    on_certified: Callable[[Scenario], None],
    on_walk: Callable[[Yield], None],
    profile: Profile = EVERYTHING,
    pool: PoolSettings = PoolSettings(1),  # noqa: B008 - it does not change
) -> Yield:
    """Generate scenarios until there are `n` of this seed, existing ones included.

    A walk knows the outcomes of the walks up to `AHEAD` before it. So that many can run concurrently, and the result
    does not depend on how many did.

    Raises:
        BundleError: no scenario can be made of this bundle.
    """
    if not any(tool.writes for tool in stage.environment.tools.values()):
        raise BundleError(
            f"{stage.environment.id}: all of its tools only read; a scenario made backward needs one that changes rows"
        )
    phrases_of(stage)
    made = Yield()
    known = _known(there, seed)
    _same_profile(stage.environment, known.values(), profile)
    if len(known) >= n:
        return made
    walking = Walking(PinnedBundle.of(stage.folder), seed, profile)
    async with process_pool(walking, pool, most=AHEAD) as walk:
        course = _Generation(walk, known, set(stage.environment.tools))
        try:
            barren = 0
            while course.count < n and barren < MOST_BARREN:
                attempt = await course.next()
                made.take(attempt)
                barren = 0 if attempt.fate == "certified" else barren + 1
                if attempt.scenario is not None and attempt.fate == "certified":
                    on_certified(attempt.scenario)
                on_walk(made)
        finally:
            await course.give_up()
            made.tally = course.tally
    made.unused = await _unused(stage, course.tally, profile)
    if course.count == 0:
        reasons = [_reasons(made), *(f"{name}: {reason}" for name, reason in made.unused.items())]
        raise BundleError(f"{stage.environment.id}: no scenario came of {made.walks} walks: {'; '.join(reasons)}")
    return made


def _known(there: Iterable[Scenario], seed: int) -> dict[int, Scenario]:
    """The existing scenarios of this seed, by the number of their walk."""
    found = [(ID.fullmatch(scenario.id), scenario) for scenario in there]
    return {int(match[2]): scenario for match, scenario in found if match is not None and int(match[1]) == seed}


async def _unused(stage: Playground, tally: UsageCounts, profile: Profile) -> dict[str, str]:
    """The commands without a scenario, each with the reason."""
    writers = [tool.name for tool in stage.environment.tools.values() if tool.writes]
    left = [name for name in writers if not tally.tools[name] and (not profile.tools or name in profile.tools)]
    if not left:
        return {}
    setting = await BundleView.of(stage, phrases_of(stage))
    return {
        name: setting.never.get(name, "it succeeds, but no errand with it could be put into words") for name in left
    }


def _same_profile(environment: Environment, known: Iterable[Scenario], profile: Profile) -> None:
    """Refuse to continue with a seed that was used with another profile.

    Raises:
        BundleError: it was.
    """
    for scenario in known:
        commands = [tag for tag in scenario.tags if tag in environment.tools]
        if others := [name for name in commands if profile.tools and name not in profile.tools]:
            raise BundleError(
                f"{scenario.id} is about {others[0]!r}: other commands were asked for when this seed was used; take "
                "another --seed, or another --out"
            )


def _reasons(made: Yield) -> str:
    every = made.dropped + made.rejected
    return "; ".join(f"{reason} ({number})" for reason, number in every.most_common(4)) or "all were told before"


class Shelf:
    """The output file of scenarios.

    Each write replaces the whole file, so that an interrupted run leaves no partial line.
    """

    def __init__(self, path: Path, stage: Playground) -> None:
        self.path = path
        own = path == stage.environment.folder / "scenarios.jsonl"
        text = text_if_there(path, largest=LARGEST_SCENARIOS) or ""
        self._lines = text.removesuffix("\n").split("\n") if text else []
        if own:
            self.there = list(load_scenarios(stage.environment).values())
        else:
            self.there = [_read(path, number, line) for number, line in enumerate(self._lines, start=1)]

    def add(self, scenario: Scenario) -> None:
        """Add one scenario."""
        self._lines.append(line_of(scenario))
        self.write()

    def write(self) -> None:
        """Write the file."""
        write_whole(self.path, "".join(f"{line}\n" for line in self._lines))


def line_of(scenario: Scenario) -> str:
    """A scenario as a line of `scenarios.jsonl`."""
    return scenario.model_dump_json(exclude_defaults=True)


def _read(path: Path, number: int, line: str) -> Scenario:
    try:
        return Scenario.model_validate_json(line)
    except ValidationError as error:
        raise BundleError(f"{path}: line {number}: {first_problem(error)}") from None
