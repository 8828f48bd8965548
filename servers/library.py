"""The bundles that a farm serves: folders of folders, read when first asked for and again when their files change."""

from pathlib import Path

from servers.bundle import SERVED_FILES, Environment, load, load_scenarios
from servers.errors import BundleError, NotFound
from servers.scenario import Scenario

Signature = tuple[tuple[int, int], ...]
SHOWN = 10  # names in a message
OWN_LIBRARY = Path(__file__).parent / "library"


class Library:
    """Environments by id. The first folder that has one wins."""

    def __init__(self, folders: list[Path]) -> None:
        self.folders = folders
        self._loaded: dict[str, tuple[Signature, Environment]] = {}
        self._scenarios: dict[str, tuple[Signature, dict[str, Scenario]]] = {}

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
        signature = _signature(folder, SERVED_FILES)
        known = self._loaded.get(environment_id)
        if known is None or known[0] != signature:
            known = (signature, load(folder))
            self._loaded[environment_id] = known
        return known[1]

    def scenarios(self, environment_id: str) -> dict[str, Scenario]:
        """The scenarios of an environment, by id. For the registry and the judge alone.

        Raises:
            NotFound: there is no such bundle.
            BundleError: its scenarios cannot be read.
        """
        environment = self.environment(environment_id)
        signature = _signature(environment.folder, (*SERVED_FILES, "scenarios.jsonl"))
        known = self._scenarios.get(environment_id)
        if known is None or known[0] != signature:
            known = (signature, load_scenarios(environment))
            self._scenarios[environment_id] = known
        return known[1]

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
                if (folder / environment_id / "environment.json").is_file():
                    return folder / environment_id
        some = _some(self.ids()) or "none"
        raise NotFound(f"no environment {environment_id!r} in the library; there are: {some}")


def _some(names: list[str]) -> str:
    """The first names, and how many there are besides."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _signature(folder: Path, names: tuple[str, ...]) -> Signature:
    """What tells that a file has changed."""
    found: list[tuple[int, int]] = []
    for name in names:
        try:
            stat = (folder / name).stat()
        except OSError as error:
            raise BundleError(f"{folder / name}: cannot be read: {error.strerror}") from None
        found.append((stat.st_mtime_ns, stat.st_size))
    return tuple(found)
