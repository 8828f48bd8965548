"""The scenarios of a bundle as lines of a list: what a reader chooses by, without checkpoints or certificates.

A scenario with its certificate takes milliseconds to read, and a library's scenarios do not all fit into memory. So the
lines that were read last are kept.
"""

from collections.abc import Mapping
from typing import NamedTuple

from servers.bundle.environment import Environment
from servers.bundle.files import Stamp
from servers.bundle_library import Library
from servers.limits.recent_values import RecentValues
from servers.scenario.scenario import Scenario, rating_of
from servers.scenario.scenario_file import is_current

MOST_LINES = 20_000
MOST_LINES_BYTES = 1000 * 1024
"""Characters of the lines that are kept."""
MOST_IDS_BYTES = 200 * 1024
"""Characters of the lists of their ids."""
LONGEST_SEARCH = 200


class ScenarioLine(NamedTuple):
    """A scenario in a list."""

    id: str
    title: str
    task: str
    tags: tuple[str, ...]
    is_conversation: bool
    rating: str
    calls: int | None
    """Of the reference solution, if there is one."""
    kill_score: float | None
    """None without a certificate for the present text."""

    def fits(self, asked: Mapping[str, str]) -> bool:
        """True if a reader who asks for a text `q`, a `rating` and a `tag` asks for this scenario."""
        wanted = asked["q"][:LONGEST_SEARCH].lower()
        return (
            (not wanted or any(wanted in text.lower() for text in (self.id, self.title, self.task)))
            and asked["rating"] in ("", self.rating)
            and (not asked["tag"] or asked["tag"] in self.tags)
        )


class ListedScenarios:
    """The lines of the bundles of a library. Thread-safe."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._kept = RecentValues[tuple[str, object, str], ScenarioLine](
            MOST_LINES, MOST_LINES_BYTES, lambda line: len(repr(line))
        )
        self._ids = RecentValues[tuple[str, object], tuple[str, ...]](
            MOST_LINES, MOST_IDS_BYTES, lambda ids: len(repr(ids))
        )

    def found(
        self, name: str, asked: Mapping[str, str], reading: tuple[Stamp | None, ...], offset: int, limit: int
    ) -> tuple[list[ScenarioLine], int]:
        """Some lines of those that were asked for, and the number of all of these.

        `reading` is another value as soon as the bundle's files are others. Raises NotFound or BundleError.
        """
        ids = self._ids.find((name, reading))
        if ids is None:
            ids = tuple(self._library.scenarios(name))
            self._ids.keep((name, reading), ids)

        def line(scenario: str) -> ScenarioLine:
            key = (name, reading, scenario)
            kept = self._kept.find(key)
            if kept is None:
                kept = _line(self._library.environment(name), self._library.scenario(name, scenario))
                self._kept.keep(key, kept)
            return kept

        if any(asked.values()):
            ids = tuple(one for one in ids if line(one).fits(asked))  # one scenario is in memory at a time
        return [line(one) for one in ids[offset : offset + limit]], len(ids)


def _line(environment: Environment, scenario: Scenario) -> ScenarioLine:
    kept = scenario.certificate
    return ScenarioLine(
        id=scenario.id,
        title=scenario.title,
        task=scenario.task,
        tags=tuple(scenario.tags),
        is_conversation=scenario.persona is not None,
        rating=rating_of(scenario) or "unrated",
        calls=len(scenario.solution.calls) if scenario.solution else None,
        kill_score=kept.kill_score if kept is not None and is_current(environment, scenario) else None,
    )
