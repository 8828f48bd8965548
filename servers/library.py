"""The bundles that a farm serves: folders of folders, read when first asked for and again when their files change."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from servers.bundle import SERVED_FILES, Environment, load, load_scenarios
from servers.bundle_files import PACKAGED, Stamp, opened
from servers.errors import BundleError, NotFound
from servers.scenario import Scenario

Stamps = tuple[Stamp | None, ...]
T = TypeVar("T")
OWN_LIBRARY = PACKAGED
SHOWN = 10  # names in a message


class Library:
    """Environments by id. The first folder that has one wins.

    What was wrong with a bundle is kept as what was right: it is read again when a file has changed, and not before.
    Reading one takes tens of milliseconds, and may be asked for by several threads.
    """

    def __init__(self, folders: list[Path]) -> None:
        self.folders = folders
        self._loaded: dict[str, tuple[Stamps, Environment | BundleError]] = {}
        self._scenarios: dict[str, tuple[Stamps, dict[str, Scenario] | BundleError]] = {}

    def ids(self) -> list[str]:
        """The ids of all bundles, by their folders' names; nothing is read."""
        found = {path.parent.name for folder in self.folders for path in folder.glob("*/environment.json")}
        return sorted(found)

    def environment(self, environment_id: str) -> Environment:
        """An environment.

        Raises:
            NotFound: there is no such bundle.
            BundleError: there is one, and it cannot be read.
        """
        folder = self._folder(environment_id)
        return _known(self._loaded, environment_id, _stamps(folder, SERVED_FILES), lambda: load(folder))

    def scenarios(self, environment_id: str) -> dict[str, Scenario]:
        """The scenarios of an environment, by id. For the registry and the judge alone.

        Raises:
            NotFound: there is no such bundle.
            BundleError: its scenarios cannot be read.
        """
        environment = self.environment(environment_id)
        stamps = _stamps(environment.folder, (*SERVED_FILES, "scenarios.jsonl"))
        return _known(self._scenarios, environment_id, stamps, lambda: load_scenarios(environment))

    def scenario(self, environment_id: str, scenario_id: str) -> Scenario:
        """One scenario.

        Raises:
            NotFound: there is no such environment or scenario.
        """
        scenarios = self.scenarios(environment_id)
        if scenario_id not in scenarios:
            some = _some(list(scenarios))
            raise NotFound(f"{environment_id} has no scenario {scenario_id!r}; it has: {some}")
        return scenarios[scenario_id]

    def _folder(self, environment_id: str) -> Path:
        if environment_id.isidentifier():
            for folder in self.folders:
                if os.path.lexists(folder / environment_id / "environment.json"):
                    return folder / environment_id
        some = _some(self.ids()) or "none"
        raise NotFound(f"no environment {environment_id!r} in the library; there are: {some}")


def _some(names: list[str]) -> str:
    """The first names, and how many there are besides."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _stamps(folder: Path, names: tuple[str, ...]) -> Stamps:
    with opened(folder) as files:
        return files.stamps(names)


def _known(
    known: dict[str, tuple[Stamps, T | BundleError]], environment_id: str, stamps: Stamps, load_it: Callable[[], T]
) -> T:
    """What is known of an environment, read if its files have changed. Raises BundleError, as reading it did."""
    before = known.get(environment_id)
    if before is None or before[0] != stamps:
        try:
            before = (stamps, load_it())
        except BundleError as error:
            before = (stamps, error)
        known[environment_id] = before
    if isinstance(before[1], BundleError):
        raise BundleError(str(before[1]))
    return before[1]
