"""The pages of what can be launched: the gallery, an environment with its exchanges, a scenario with its answers."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from starlette.responses import Response

from registry.catalogue import Catalogue
from registry.messages import EnvironmentCard
from registry.web.app import PageView, Visit
from registry.web.bundle_facts import BundleFacts, FactsCache, SynthesisExchange
from registry.web.pages.run_questions import RunQuestion, RunReaderProcess
from registry.web.scenario_lines import ListedScenarios
from registry.web.table_diagram import diagram
from servers.errors import BundleError, FarmError, NotFound
from servers.messages import Page, StartTable
from servers.scenario.difficulty import RATINGS
from servers.scenario.scenario import rating_of
from servers.scenario.scenario_file import is_current

SCENARIOS_A_PAGE = 25
MADE = ("hand-written", "synthesised", "imported", "benchmark")
FURTHEST = 100_000
LONGEST = 200
"""Characters of a digest or of a model's name that are looked for."""


class GalleryCard(NamedTuple):
    """An environment in the gallery."""

    card: EnvironmentCard
    facts: BundleFacts
    model: str


class CataloguePages:
    """The pages of one library."""

    def __init__(self, catalogue: Catalogue, reader: RunReaderProcess) -> None:
        self._catalogue = catalogue
        self._reader = reader
        self._facts = FactsCache(catalogue.library)
        self._lines = ListedScenarios(catalogue.library)

    def routes(self) -> dict[str, PageView]:
        return {
            "GET /": self.gallery,
            "GET /environments/{environment}": self.environment,
            "GET /environments/{environment}/scenarios/{scenario}": self.scenario,
            "GET /environments/{environment}/exchanges/{number}": self.exchange,
        }

    async def gallery(self, visit: Visit) -> Response:
        """All environments as cards."""
        asked = {name: visit.asked(name) for name in ("q", "made", "rating", "sort")}
        cards, broken, total = await self._catalogue.answer(lambda: self._cards(asked["q"][:200]))
        shown = [one for one in cards if _fits(one, asked)]
        shown.sort(key=_sorting(asked["sort"]))
        return await visit.drawn(
            "gallery.html", cards=shown, total=total, broken=broken, asked=asked, made=MADE, ratings=RATINGS
        )

    def _cards(self, search: str) -> tuple[list[GalleryCard], dict[str, str], int]:
        """The cards that fit, the bundles that cannot be read, and the number of all environments."""
        part = self._catalogue.environments(Page(limit=1000), search=search)
        broken, cards = dict(part.broken), list[GalleryCard]()
        for card in part.items:
            try:
                provenance = self._catalogue.library.environment(card.id).description.provenance
                cards.append(GalleryCard(card, self._facts.of(card.id), provenance.model or ""))
            except (BundleError, NotFound) as error:  # it changed meanwhile
                broken[card.id] = self._catalogue.without_folders(str(error))
        total = self._catalogue.environments(Page(limit=1)).total if search else part.total
        return cards, broken, total

    async def environment(self, visit: Visit) -> Response:
        """Everything about one environment."""
        name = visit.part("environment")
        detail = await self._catalogue.answer(lambda: self._catalogue.environment(name))
        facts = await self._catalogue.answer(lambda: self._facts.of(name))
        asked = {key: visit.asked(key) for key in ("q", "rating", "tag")}
        offset = visit.number("from", most=FURTHEST)
        lines, total = await self._catalogue.answer(
            lambda: self._lines.found(name, asked, facts.reading, offset, SCENARIOS_A_PAGE)
        )
        tables, trouble = await self._tables(visit, name, detail.digest)
        told: dict[str, Any] = {"detail": detail, "facts": facts, "tables": tables, "trouble": trouble}
        key = (detail.digest, facts.reading, trouble)
        return await visit.drawn(
            "environment.html",
            **told,
            sections=await visit.pages.section(
                "environment_sections.html", key, lambda: {**told, "diagram": diagram(tables)}
            ),
            origin=await visit.pages.section("environment_origin.html", key, lambda: told),
            lines=lines,
            total=total,
            offset=offset,
            step=SCENARIOS_A_PAGE,
            asked=asked,
            ratings=RATINGS,
        )

    async def _tables(self, visit: Visit, name: str, digest: str) -> tuple[list[StartTable], str]:
        """The tables at the start, or none and why."""
        try:
            return await visit.pages.start_tables(name, digest), ""
        except FarmError as error:
            return [], self._catalogue.without_folders(str(error))

    async def scenario(self, visit: Visit) -> Response:
        """One scenario with its answer key."""
        name, scenario_id = visit.part("environment"), visit.part("scenario")
        library = self._catalogue.library
        environment = await self._catalogue.answer(lambda: library.environment(name))
        scenario = await self._catalogue.answer(lambda: library.scenario(name, scenario_id))
        ids = list(await self._catalogue.answer(lambda: library.scenarios(name)))
        at = ids.index(scenario_id) if scenario_id in ids else 0
        return await visit.drawn(
            "scenario.html",
            environment=environment.description,
            scenario=scenario,
            rating=rating_of(scenario) or "unrated",
            current=is_current(environment, scenario),
            before=ids[at - 1] if at > 0 else None,
            after=ids[at + 1] if at + 1 < len(ids) else None,
            place=at + 1,
            total=len(ids),
        )

    async def exchange(self, visit: Visit) -> Response:
        """One exchange that made an environment, with its words where a run of this farm has them."""
        name, number = visit.part("environment"), visit.part("number")
        environment = await self._catalogue.answer(lambda: self._catalogue.library.environment(name))
        facts = await self._catalogue.answer(lambda: self._facts.of(name))
        at = int(number) if number.isdecimal() and len(number) < 7 else 0
        if not 1 <= at <= len(facts.exchanges):
            raise NotFound(f"{name} has {len(facts.exchanges)} exchanges, and none of this number")
        one = facts.exchanges[at - 1]
        found, absent = await self._words(name, one)
        own, title = f"/environments/{quote(name, safe='')}", environment.description.title
        return await visit.drawn(
            "exchange.html",
            trail=[("Environments", "/"), (title, f"{own}#provenance")],
            own=f"{own}/exchanges",
            told={"title": title, "number": at, "total": len(facts.exchanges), **one.model_dump(), **found},
            absent=absent,
        )

    async def _words(self, environment: str, one: SynthesisExchange) -> tuple[dict[str, Any], str]:
        """The words of an exchange and the run that has them. Without them, why."""
        if not self._reader.shelves:
            return {"texts": None}, "This farm was given no folder of runs."
        question = RunQuestion(
            kind="words", name=one.prompt[:LONGEST], model=one.model[:LONGEST], environment=environment
        )
        try:
            found = await self._reader.told(question)
        except FarmError as error:
            return {"texts": None}, f"{error}."
        return found, "" if found["texts"] else f"No run below {', '.join(map(str, self._reader.shelves))} has them."


def _fits(one: GalleryCard, asked: Mapping[str, str]) -> bool:
    return asked["made"] in ("", one.facts.made) and (not asked["rating"] or asked["rating"] in one.facts.ratings)


def _sorting(by: str) -> Callable[[GalleryCard], tuple[float, str]]:
    """The order of the cards: by proof or number of scenarios, highest first, or by title."""

    def key(one: GalleryCard) -> tuple[float, str]:
        proof = one.facts.proof
        figures = {"proof": proof.score or 0.0 if proof else -1.0, "scenarios": float(one.card.scenarios)}
        return -figures.get(by, 0.0), one.card.title.lower()

    return key
