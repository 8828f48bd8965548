"""The bundles that a farm serves: folders of folders, read when first asked for and again when their files change."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from servers.bundle.card import bundles_in
from servers.bundle.environment import Environment, load
from servers.bundle.files import PACKAGED, SERVED_FILES, Stamp, opened
from servers.errors import BundleError, NotFound
from servers.limits.garbage_collection import at_rest
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import load_scenarios
from servers.text.suggestion import suggestion

Stamps = tuple[Stamp | None, ...]
T = TypeVar("T")
OWN_LIBRARY = PACKAGED
REREAD_SECONDS = 2.0
"""Processor time for reading a bundle again, each time that its files have changed."""
REREAD_SHARE = 0.05
"""The part of the time that it may take from then on. Until there is some again, the bundle is as it was last read."""
REREAD_SECONDS_OF_ALL = 10.0
REREAD_SHARE_OF_ALL = 0.1
"""The same for all bundles of a library together: who touches every bundle all the time takes no more."""


class RereadBudget:
    """Processor time that may be spent on reading again: some at once, and then a share of the time that passes."""

    def __init__(self, seconds: float, share: float) -> None:
        self._most = self._left = seconds
        self._share = share
        self._seen = time.monotonic()

    def is_left(self) -> bool:
        now = time.monotonic()
        self._left = min(self._most, self._left + (now - self._seen) * self._share)
        self._seen = now
        return self._left > 0

    def spend(self, seconds: float) -> None:
        self._left -= seconds


class CachedRead(Generic[T]):
    """What was read of one bundle, right or wrong, and what may still be spent on reading it again.

    `for_all` is what may be spent on all bundles of the library together.
    """

    def __init__(self, seconds: float, for_all: RereadBudget) -> None:
        self.stamps: Stamps | None = None
        self._own = RereadBudget(seconds, REREAD_SHARE)
        self._for_all = for_all
        self._read: T | BundleError = BundleError("not read yet")

    def is_current(self, stamps: Stamps) -> bool:
        """Whether this is what the files say, or all that may be known of them now."""
        may_read = self.stamps is None or (self._own.is_left() and self._for_all.is_left())
        return self.stamps == stamps or not may_read

    def read(self, stamps: Stamps, load_it: Callable[[], T]) -> None:
        """Read it; the first time is free."""
        begin, is_first = time.thread_time(), self.stamps is None
        try:
            with at_rest():
                self._read = load_it()
        except BundleError as error:
            self._read = error
        self.stamps = stamps
        if not is_first:
            self._own.spend(time.thread_time() - begin)
            self._for_all.spend(time.thread_time() - begin)

    def value(self) -> T:
        """What was read. Raises BundleError, as reading it did."""
        if isinstance(self._read, BundleError):
            raise BundleError(str(self._read))
        return self._read


class Library:
    """Environments by id. The first folder that has one wins.

    What was wrong with a bundle is kept as what was right: it is read again when a file has changed, and not before.
    Several threads may ask. One bundle is read at a time, so an event loop beside them waits for one thread at most.
    """

    def __init__(
        self,
        folders: list[Path],
        *,
        reread_seconds: float = REREAD_SECONDS,
        reread_seconds_of_all: float = REREAD_SECONDS_OF_ALL,
    ) -> None:
        self.folders = folders
        self._rereading = RereadBudget(reread_seconds_of_all, REREAD_SHARE_OF_ALL)
        self._reread_seconds = reread_seconds
        self._reading = Lock()  # protects what is kept, and the event loop: one thread reads
        self._environments: dict[str, CachedRead[Environment]] = {}
        self._scenarios: dict[str, CachedRead[dict[str, Scenario]]] = {}

    def ids(self) -> list[str]:
        """The ids of all bundles, by their folders' names; nothing is read."""
        return list(bundles_in(self.folders))

    def environment(self, environment_id: str) -> Environment:
        """An environment.

        Raises:
            NotFound: there is no such bundle.
            BundleError: there is one, and it cannot be read.
        """
        folder = self._folder(environment_id)
        return self._known(self._environments, environment_id, _stamps(folder, SERVED_FILES), lambda: load(folder))

    def current(self, environment_id: str) -> Environment | None:
        """An environment that was read and is as its files are; nothing is read here.

        Raises:
            NotFound: there is no such bundle.
            BundleError: it was read, and is wrong.
        """
        kept = self._environments.get(environment_id)
        if kept is None or kept.stamps != _stamps(self._folder(environment_id), SERVED_FILES):
            return None
        return kept.value()

    def scenarios(self, environment_id: str) -> dict[str, Scenario]:
        """The scenarios of an environment, by id. For the registry and the judge alone.

        Raises:
            NotFound: there is no such bundle.
            BundleError: its scenarios cannot be read.
        """
        environment = self.environment(environment_id)
        stamps = _stamps(environment.folder, (*SERVED_FILES, "scenarios.jsonl"))
        return self._known(self._scenarios, environment_id, stamps, lambda: load_scenarios(environment))

    def scenario(self, environment_id: str, scenario_id: str) -> Scenario:
        """One scenario.

        Raises:
            NotFound: there is no such environment or scenario.
        """
        scenarios = self.scenarios(environment_id)
        if scenario_id not in scenarios:
            found = suggestion(scenario_id, list(scenarios), lister=f"farm scenarios {environment_id}")
            raise NotFound(f"{environment_id} has no scenario {scenario_id!r}; {found}")
        return scenarios[scenario_id]

    def _known(
        self, known: dict[str, CachedRead[T]], environment_id: str, stamps: Stamps, load_it: Callable[[], T]
    ) -> T:
        """What is known of a bundle, read if its files have changed. Raises BundleError, as reading it did."""
        kept = known.get(environment_id)
        if kept is None or not kept.is_current(stamps):
            with self._reading:
                kept = known.setdefault(environment_id, CachedRead(self._reread_seconds, self._rereading))
                if not kept.is_current(stamps):  # another thread may have read it meanwhile
                    kept.read(stamps, load_it)
        return kept.value()

    def _folder(self, environment_id: str) -> Path:
        if environment_id.isidentifier():
            for folder in self.folders:
                if os.path.lexists(folder / environment_id / "environment.json"):
                    return folder / environment_id
        found = suggestion(environment_id, self.ids(), lister="farm environments")
        raise NotFound(f"no environment {environment_id!r} in the library; {found}")


def _stamps(folder: Path, names: tuple[str, ...]) -> Stamps:
    with opened(folder) as files:
        return files.stamps(names)
