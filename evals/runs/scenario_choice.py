"""The scenarios that a suite selects from a farm."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from evals.runs.suite import ScenarioChoice
from registry.client import FarmClient, every_item
from registry.messages import ScenarioCard
from servers.bundle_library import Library
from servers.errors import BundleError, FarmError, RequestError
from servers.text.wording import suggestion

PART = 100


class ChosenScenario(NamedTuple):
    """A scenario of an environment."""

    environment: str
    card: ScenarioCard

    @property
    def name(self) -> str:
        return f"{self.environment}/{self.card.id}"


async def chosen(farm: FarmClient, choice: ScenarioChoice) -> list[ChosenScenario]:
    """The scenarios that pass every filter, by name, or a seeded sample of them.

    Raises:
        RequestError: no scenario passes, or an unknown environment or scenario is named.
        BundleError: an environment that may be meant cannot be read.
    """
    environments = await _environments(farm, choice)
    every = [ChosenScenario(name, card) for name in environments for card in await _cards(farm, name)]
    _scenarios_are_there(choice, [one.name for one in every])
    found = sorted((one for one in every if _passes(choice, one)), key=lambda one: one.name)
    if not found:
        raise RequestError(f"no scenario of {len(every)} passes the filters of [scenarios]: {_told(choice)}")
    if choice.sample is None or choice.sample >= len(found):
        return found
    drawn = random.Random(choice.seed).sample(found, choice.sample)  # noqa: S311
    return sorted(drawn, key=lambda one: one.name)


def check_names(choice: ScenarioChoice, library: Library) -> None:
    """Check the environments and scenarios that are named, before a farm of that library is started.

    Raises:
        RequestError: one is not there. A bundle that cannot be read is left to the farm, which says why.
    """
    _environments_are_there(choice, library.ids())
    if not choice.ids:
        return
    there: list[str] = []
    try:
        for environment in choice.environments or library.ids():
            there += [f"{environment}/{scenario}" for scenario in library.scenarios(environment)]
    except FarmError:
        return
    _scenarios_are_there(choice, there)


async def _environments(farm: FarmClient, choice: ScenarioChoice) -> list[str]:
    ids: list[str] = []
    broken: dict[str, str] = {}
    while True:
        part = await farm.environments(offset=len(ids), limit=PART)
        ids += [card.id for card in part.items]
        broken |= part.broken
        if not part.items or len(ids) >= part.total:
            break
    wanted = list(choice.environments) or [*ids, *broken]
    _environments_are_there(choice, [*ids, *broken])
    unreadable = [broken[name] for name in wanted if name in broken]
    if unreadable:
        raise BundleError(f"{'; '.join(unreadable)} (name the environments that you mean to leave it out)")
    return sorted(set(wanted))


async def _cards(farm: FarmClient, environment: str) -> list[ScenarioCard]:
    return await every_item(lambda offset: farm.scenarios(environment, offset=offset, limit=PART))


def _environments_are_there(choice: ScenarioChoice, ids: Sequence[str]) -> None:
    missing = next((name for name in choice.environments if name not in ids), None)
    if missing is not None:
        found = suggestion(missing, ids, lister="farm environments")
        raise RequestError(f"scenarios.environments: no environment {missing!r} on this farm; {found}{_here(missing)}")


def _here(environment: str) -> str:
    is_here = (Path(environment) / "environment.json").is_file()
    return "; --library . adds the bundles of this folder to a farm of the command's own" if is_here else ""


def _scenarios_are_there(choice: ScenarioChoice, names: Sequence[str]) -> None:
    """Check that each scenario, by its name with or without its environment, is one of some `ENVIRONMENT/ID`."""
    there = {*names, *(name.partition("/")[2] for name in names)}
    missing = next((name for name in choice.ids if name not in there), None)
    if missing is not None:
        found = suggestion(missing, sorted(there), lister="farm scenarios ENVIRONMENT")
        raise RequestError(f"scenarios.ids: no scenario {missing!r} among {len(names)}; {found}")


def _passes(choice: ScenarioChoice, one: ChosenScenario) -> bool:
    card = one.card
    return (
        (not choice.ids or one.name in choice.ids or card.id in choice.ids)
        and (not choice.tags or bool(set(choice.tags) & set(card.tags)))
        and not set(choice.without_tags) & set(card.tags)
        and any(choice.search.casefold() in text.casefold() for text in (card.id, card.title, card.task))
        and (choice.min_calls is None or (card.calls is not None and card.calls >= choice.min_calls))
        and (choice.max_calls is None or (card.calls is not None and card.calls <= choice.max_calls))
        and (choice.min_level is None or (card.level is not None and card.level >= choice.min_level))
        and (choice.max_level is None or (card.level is not None and card.level <= choice.max_level))
    )


def _told(choice: ScenarioChoice) -> str:
    """The filters in words."""
    given = choice.model_dump(exclude_defaults=True, exclude={"sample", "seed"})
    return ", ".join(f"{name} = {value!r}" for name, value in given.items()) or "there are no scenarios at all"
