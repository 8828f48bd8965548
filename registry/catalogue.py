"""The catalogue: what can be launched, read from the library on demand."""

import asyncio
import hashlib
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from registry.messages import (
    EnvironmentCard,
    EnvironmentDetail,
    EnvironmentPart,
    ScenarioCard,
    ScenarioDetail,
    ScenarioPart,
)
from servers.bundle.environment import Environment
from servers.bundle_library import Library, Stamps
from servers.errors import BundleError, NotFound
from servers.limits.garbage_collection import at_rest
from servers.messages import Page
from servers.scenario.answer_shape import task_asking
from servers.scenario.scenario import Scenario

MOST_THREADS = 2
"""Threads that read the library. The bound leaves threads to other work, however long a read takes."""
T = TypeVar("T")


class Catalogue:
    """The environments and scenarios of a library."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._cards: dict[str, tuple[Stamps, EnvironmentCard]] = {}
        self._threads = asyncio.Semaphore(MOST_THREADS)

    async def answer(self, question: Callable[[], T]) -> T:
        """Run a question that may read bundles in a thread, and return its answer."""
        async with self._threads:
            return await asyncio.to_thread(question)

    async def read_ahead(self) -> None:
        """Read every bundle in advance. An error in a bundle is raised later, to the caller that asks for it."""
        with at_rest():
            for environment_id in await self.answer(self.library.ids):
                with suppress(BundleError, NotFound):
                    await self.answer(lambda: self.library.scenarios(environment_id))  # noqa: B023 - it is awaited

    def environments(self, page: Page, *, search: str = "") -> EnvironmentPart:
        """The environments whose id, title or description contains a text. Reads every bundle the first time.

        What a bundle's card says is remembered after its reading was freed for others.
        """
        cards: list[EnvironmentCard] = []
        broken: dict[str, str] = {}
        for environment_id in self.library.ids():
            try:
                card = self._card_of(environment_id)
            except BundleError as error:
                broken[environment_id] = self.without_folders(str(error))
                continue
            except NotFound:  # it was deleted meanwhile
                continue
            if _has(search, card.id, card.title, card.description):
                cards.append(card)
        shown = cards[page.offset : page.offset + page.limit]
        return EnvironmentPart(
            items=tuple(shown), total=len(cards), offset=page.offset, limit=page.limit, broken=broken
        )

    def _card_of(self, environment_id: str) -> EnvironmentCard:
        stamps = self.library.stamps(environment_id)
        known, card = self._cards.get(environment_id, (None, None))
        if card is not None and known == stamps:
            return card
        environment = self.library.environment(environment_id)
        is_current = self.library.current(environment_id) is environment  # else it is of older files
        card = _card(environment, self.library.number_of_scenarios(environment_id))
        if is_current:
            self._cards[environment_id] = stamps, card
        return card

    def environment(self, environment_id: str) -> EnvironmentDetail:
        """One environment.

        Raises:
            NotFound: there is no such environment.
            BundleError: it cannot be read.
        """
        environment = self.library.environment(environment_id)
        description = environment.description
        return EnvironmentDetail(
            id=environment.id,
            title=description.title,
            description=description.description,
            version=description.version,
            clock=description.clock,
            digest=environment.digest,
            policy=environment.policy,
            schema_sql=environment.schema,
            tools=description.tools,
            scenarios=self.library.number_of_scenarios(environment_id),
            provenance=description.provenance,
        )

    def scenarios(self, environment_id: str, page: Page, *, tag: str | None = None, search: str = "") -> ScenarioPart:
        """The scenarios of an environment with a tag, and with a text in their id, title or task."""
        scenarios = self.library.scenarios(environment_id)
        found = list(scenarios)
        if tag is not None or search:
            found = [one for one in found if _is_asked_for(scenarios[one], tag, search)]  # one is in memory at a time
        shown = found[page.offset : page.offset + page.limit]
        items = tuple(_scenario_card(scenarios[one]) for one in shown)
        return ScenarioPart(items=items, total=len(found), offset=page.offset, limit=page.limit)

    def scenario(self, environment_id: str, scenario_id: str) -> ScenarioDetail:
        """One scenario with its checkpoints and its solution.

        Raises:
            NotFound: there is no such scenario.
            BundleError: it cannot be read.
        """
        scenario = self.library.scenario(environment_id, scenario_id)
        return ScenarioDetail(
            environment=environment_id,
            digest=digest(scenario),
            scenario=scenario,
            agent_task=task_asking(scenario, self.library.environment(environment_id).description.clock),
        )

    def without_folders(self, text: str) -> str:
        """A finding without host paths: files are named relative to the library."""
        for folder in self.library.folders:
            text = text.replace(f"{folder}/", "")
        return text


def digest(scenario: Scenario) -> str:
    """The digest of one version of a scenario. Certificate, proof and pass rates do not count."""
    absent = {name for name, value in (("turns", scenario.turns), ("tools", scenario.tools)) if not value}
    content = scenario.model_dump_json(exclude={"certificate", "played", "provenance", "witness", *absent})
    return hashlib.sha256(content.encode()).hexdigest()


def _card(environment: Environment, scenarios: int) -> EnvironmentCard:
    description = environment.description
    return EnvironmentCard(
        id=environment.id,
        title=description.title,
        description=description.description,
        version=description.version,
        tools=len(description.tools),
        scenarios=scenarios,
        digest=environment.digest,
    )


def _scenario_card(scenario: Scenario) -> ScenarioCard:
    goals = sum(checkpoint.role == "goal" for checkpoint in scenario.judged_by)
    return ScenarioCard(
        id=scenario.id,
        title=scenario.title,
        tags=scenario.tags,
        task=scenario.task,
        checkpoints=len(scenario.judged_by),
        goals=goals,
        guards=len(scenario.judged_by) - goals,
        calls=len(scenario.solution.calls) if scenario.solution else None,
        level=scenario.level,
        second=scenario.second.environment if scenario.second else None,
    )


def _is_asked_for(scenario: Scenario, tag: str | None, search: str) -> bool:
    return (tag is None or tag in scenario.tags) and _has(search, scenario.id, scenario.title, scenario.task)


def _has(search: str, *texts: str) -> bool:
    return any(search.casefold() in text.casefold() for text in texts)
