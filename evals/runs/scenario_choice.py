"""The scenarios that a suite selects from a farm."""

import random
from typing import NamedTuple

from evals.runs.suite import ScenarioChoice
from registry.client import FarmClient, every_item
from registry.messages import ScenarioCard
from servers.errors import BundleError, RequestError
from servers.text.wording import suggestion

PART = 100


class Chosen(NamedTuple):
    """A scenario of an environment."""

    environment: str
    card: ScenarioCard

    @property
    def name(self) -> str:
        return f"{self.environment}/{self.card.id}"


async def chosen(farm: FarmClient, choice: ScenarioChoice) -> list[Chosen]:
    """The scenarios that pass every filter, by name, or a seeded sample of them.

    Raises:
        RequestError: no scenario passes, or an unknown environment or scenario is named.
        BundleError: an environment that may be meant cannot be read.
    """
    environments = await _environments(farm, choice)
    every = [Chosen(name, card) for name in environments for card in await _cards(farm, name)]
    _all_named_are_there(choice, every)
    found = sorted((one for one in every if _passes(choice, one)), key=lambda one: one.name)
    if not found:
        raise RequestError(f"no scenario of {len(every)} passes the filters of [scenarios]: {_told(choice)}")
    if choice.sample is None or choice.sample >= len(found):
        return found
    drawn = random.Random(choice.seed).sample(found, choice.sample)  # noqa: S311
    return sorted(drawn, key=lambda one: one.name)


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
    missing = [name for name in wanted if name not in ids and name not in broken]
    if missing:
        found = suggestion(missing[0], ids, lister="farm environments")
        raise RequestError(f"scenarios.environments: no environment {missing[0]!r} on this farm; {found}")
    unreadable = [broken[name] for name in wanted if name in broken]
    if unreadable:
        raise BundleError(f"{'; '.join(unreadable)} (name the environments that you mean to leave it out)")
    return sorted(set(wanted))


async def _cards(farm: FarmClient, environment: str) -> list[ScenarioCard]:
    return await every_item(lambda offset: farm.scenarios(environment, offset=offset, limit=PART))


def _all_named_are_there(choice: ScenarioChoice, every: list[Chosen]) -> None:
    there = {one.name for one in every} | {one.card.id for one in every}
    missing = [name for name in choice.ids if name not in there]
    if missing:
        found = suggestion(missing[0], sorted(there), lister="farm scenarios ENVIRONMENT")
        raise RequestError(f"scenarios.ids: no scenario {missing[0]!r} among {len(every)}; {found}")


def _passes(choice: ScenarioChoice, one: Chosen) -> bool:
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
