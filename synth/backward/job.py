"""The job of a process that generates scenarios: it plays an errand and certifies its scenario."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import Literal, NamedTuple

from servers.bundle.phrases import Phrases, read_phrases
from servers.errors import BundleError
from servers.scenario.scenario import Scenario
from synth.backward.bundle_view import BundleView
from synth.backward.profile import EVERYTHING, Profile
from synth.backward.scenario_builder import told
from synth.backward.usage_counts import UsageCounts, signature
from synth.certify.certifier import examine
from synth.play.pinned_bundle import PinnedBundle
from synth.play.playground import Playground


class Stretch(NamedTuple):
    """One walk to take: its number, and the usage counts so far."""

    at: int
    tally: UsageCounts


class ErrandOutcome(NamedTuple):
    """The outcome of a walk: nothing, a duplicate, a scenario without a certificate, or one with it."""

    at: int
    fate: Literal["dropped", "twice", "rejected", "certified"]
    reason: str = ""
    scenario: Scenario | None = None


@dataclass(frozen=True)
class Walking:
    """Walks through one bundle."""

    bundle: PinnedBundle
    seed: int
    profile: Profile = EVERYTHING

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Callable[[Stretch], Awaitable[ErrandOutcome]]]:
        """Open the playground."""
        async with AsyncExitStack() as stack:
            with self.bundle.on_worker():
                stage = await stack.enter_async_context(Playground(self.bundle.folder))
                setting = await BundleView.of(stage, phrases_of(stage))

            async def walk(stretch: Stretch) -> ErrandOutcome:
                with self.bundle.on_worker():
                    return await self._walked(stage, setting, stretch)

            yield walk

    async def _walked(self, stage: Playground, setting: BundleView, stretch: Stretch) -> ErrandOutcome:
        random = Random(f"{self.seed}/{stretch.at}")  # noqa: S311 - to be repeated
        scenario = await told(setting, self.profile.wish(self.seed, stretch.at), stretch.tally, random)
        if isinstance(scenario, str):
            return ErrandOutcome(stretch.at, "dropped", scenario)
        if signature(scenario) in stretch.tally.told:
            return ErrandOutcome(stretch.at, "twice")
        seen = await examine(stage, scenario)
        if seen.certificate is None:
            return ErrandOutcome(stretch.at, "rejected", seen.findings[0], scenario)
        whole = scenario.model_copy(update={"certificate": seen.certificate})
        return ErrandOutcome(stretch.at, "certified", scenario=whole)


def phrases_of(stage: Playground) -> Phrases:
    """The phrases of a bundle.

    Raises:
        BundleError: they have a fault.
    """
    problems, phrases = read_phrases(stage.environment.folder, stage.environment)
    if problems:
        raise BundleError(problems[0])
    return phrases or Phrases()
