"""The library of a farm: its bundles, read on first use and again after a change."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

from servers.bundle.card import bundles_in
from servers.bundle.environment import Environment, digest_of_bundle, load, pack
from servers.bundle.files import PACKAGED, SERVED_FILES, Stamp, opened
from servers.errors import BundleError, NotFound
from servers.limits.garbage_collection import at_rest
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import ScenarioLines, load_lines
from servers.text.wording import suggestion

Stamps = tuple[Stamp | None, ...]

T = TypeVar("T", bound=Environment | ScenarioLines)
OWN_LIBRARY = PACKAGED
SCENARIO_FILES = (*SERVED_FILES, "scenarios.jsonl")
MOST_READ = 32 * 1024 * 1024
"""Bytes of environments and scenarios in memory. Those that were not asked for longest are read again when they are."""
KEPT_SHARE = 0.75
"""The share of them that stays when some have to go."""
REREAD_SECONDS = 2.0
"""Processor seconds for reading a changed bundle again, as an initial budget."""
REREAD_SHARE = 0.05
"""The share of time by which that budget refills. Without budget, the last reading stays in use."""
REREAD_SECONDS_OF_ALL = 10.0
REREAD_SHARE_OF_ALL = 0.1
"""The same for all bundles of a library together, against somebody who touches all of them."""


class RereadBudget:
    """A budget of processor time for reading again: an initial amount, refilled by a share of the passing time."""

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
    """The last reading of one bundle, valid or not, and its budget for reading again.

    `for_all` is the budget of all bundles together.
    """

    def __init__(self, seconds: float, for_all: RereadBudget) -> None:
        self.stamps: Stamps | None = None
        self._own = RereadBudget(seconds, REREAD_SHARE)
        self._for_all = for_all
        self._read: T | BundleError | None = None
        self.used = 0.0

    def is_current(self, stamps: Stamps) -> bool:
        """True if the files are unchanged, or if the budget allows no further reading."""
        may_read = self._own.is_left() and self._for_all.is_left()
        return self._read is not None and (self.stamps == stamps or not may_read)

    def read(self, stamps: Stamps, load_it: Callable[[], T]) -> None:
        """Read it. Only changed files cost budget."""
        begin, is_first = time.thread_time(), self.stamps in (None, stamps)
        try:
            with at_rest():
                self._read = load_it()
        except BundleError as error:
            self._read = error
        self.stamps = stamps
        if not is_first:
            self._own.spend(time.thread_time() - begin)
            self._for_all.spend(time.thread_time() - begin)

    def value(self) -> T | None:
        """The reading, unless it was forgotten. Raises BundleError as the reading did."""
        found = self._read
        if isinstance(found, BundleError):
            raise BundleError(str(found))
        self.used = time.monotonic()
        return found

    @property
    def memory(self) -> int:
        """The bytes of the reading."""
        found = self._read
        return 0 if found is None or isinstance(found, BundleError) else found.memory

    def is_kept(self, reading: Environment) -> bool:
        """True if the reading is this one, or one of other files."""
        found = self._read
        return isinstance(found, Environment) and (found is reading or found.digest != reading.digest)

    def forget(self) -> None:
        """Free the reading."""
        self._read = None


class Library:
    """Environments by id. The first folder with an id wins.

    Errors are cached like environments: a bundle is read again only after a file has changed. Thread-safe. One bundle
    is read at a time, so an event loop waits for one thread at most.
    """

    def __init__(
        self,
        folders: list[Path],
        *,
        reread_seconds: float = REREAD_SECONDS,
        reread_seconds_of_all: float = REREAD_SECONDS_OF_ALL,
        most_read: int = MOST_READ,
    ) -> None:
        self._most_read = most_read
        self.folders = folders
        self._rereading = RereadBudget(reread_seconds_of_all, REREAD_SHARE_OF_ALL)
        self._reread_seconds = reread_seconds
        self._reading = Lock()  # protects what is kept, and the event loop: one thread reads
        self._environments: dict[str, CachedRead[Environment]] = {}
        self._scenarios: dict[str, CachedRead[ScenarioLines]] = {}
        self._counts: dict[str, tuple[Stamps, int]] = {}
        self._held = 0
        """The bytes of all readings."""
        self.forgotten = 0
        """How many readings were freed for others so far."""

    def ids(self) -> list[str]:
        """The ids of all bundles, from the names of their folders. Nothing is read."""
        return list(bundles_in(self.folders))

    def digests(self) -> dict[str, str]:
        """The digest of each bundle whose files are all there, by id. Nothing is checked or kept."""
        found = {name: digest_of_bundle(self._folder(name)) for name in self.ids()}
        return {name: digest for name, digest in found.items() if digest is not None}

    def pack(self, environment_id: str, into: Callable[[bytes], None]) -> str:
        """Pass on an environment as one text, in pieces. Returns its digest, which is that of the text.

        Raises:
            NotFound: there is no such bundle.
            BundleError: it cannot be read, or has changed meanwhile.
        """
        return pack(self._folder(environment_id), into)

    def environment(self, environment_id: str) -> Environment:
        """An environment.

        Raises:
            NotFound: there is no such bundle.
            BundleError: it cannot be read.
        """
        folder = self._folder(environment_id)
        return self._known(self._environments, environment_id, _stamps(folder, SERVED_FILES), lambda: load(folder))

    def current(self, environment_id: str) -> Environment | None:
        """An environment if a current reading exists, else None. Nothing is read.

        Raises:
            NotFound: there is no such bundle.
            BundleError: the reading had found a fault.
        """
        kept = self._environments.get(environment_id)
        if kept is None or kept.stamps != _stamps(self._folder(environment_id), SERVED_FILES):
            return None
        return kept.value()

    def scenarios(self, environment_id: str) -> ScenarioLines:
        """The scenarios of an environment, by id. For the registry and the judge alone.

        Raises:
            NotFound: there is no such bundle.
            BundleError: its scenarios cannot be read.
        """
        environment = self.environment(environment_id)
        stamps = _stamps(environment.folder, SCENARIO_FILES)
        found = self._known(self._scenarios, environment_id, stamps, lambda: load_lines(environment))
        self._counts[environment_id] = stamps, len(found)
        return found

    def number_of_scenarios(self, environment_id: str) -> int:
        """The number of scenarios. They are read if nobody has counted them since they changed. Raises likewise."""
        stamps, count = self._counts.get(environment_id, (None, 0))
        if stamps == _stamps(self._folder(environment_id), SCENARIO_FILES):
            return count
        return len(self.scenarios(environment_id))

    def stamps(self, environment_id: str) -> Stamps:
        """What says that the files of a bundle are as they were. Nothing is read.

        Raises:
            NotFound: there is no such bundle.
            BundleError: its folder cannot be looked at.
        """
        return _stamps(self._folder(environment_id), (*SERVED_FILES, *SCENARIO_FILES))

    def keeps(self, environment: Environment) -> bool:
        """False if a reading was freed, or replaced by another of the same files."""
        kept = self._environments.get(environment.id)
        return kept is not None and kept.is_kept(environment)

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

    def current_scenario(self, environment_id: str, scenario_id: str) -> Scenario | None:
        """A short scenario if a current reading has it, else None. Nothing is read, so an event loop may ask.

        Raises:
            NotFound: there is no such environment.
            BundleError: the reading had found a fault.
        """
        kept = self._scenarios.get(environment_id)
        if kept is None or kept.stamps != _stamps(self._folder(environment_id), SCENARIO_FILES):
            return None
        found = kept.value()
        return found[scenario_id] if found is not None and found.is_short(scenario_id) else None

    def _known(
        self, known: dict[str, CachedRead[T]], environment_id: str, stamps: Stamps, load_it: Callable[[], T]
    ) -> T:
        """The current reading of a bundle, after reading changed files. Raises BundleError as the reading did."""
        kept = known.get(environment_id)
        found = kept.value() if kept is not None and kept.is_current(stamps) else None
        while found is None:  # another thread may have freed it
            with self._reading:
                kept = known.setdefault(environment_id, CachedRead(self._reread_seconds, self._rereading))
                if not kept.is_current(stamps):  # another thread may have read it meanwhile
                    before = kept.memory
                    kept.read(stamps, load_it)
                    self._held += kept.memory - before
                    self._make_room(kept)
                found = kept.value()
        return found

    def _make_room(self, newest: CachedRead[Any]) -> None:
        """Free the readings that were not asked for longest, if all take too much.

        A part of the room is freed at once: to look for the oldest one takes time for all of them.
        """
        if self._held <= self._most_read:
            return
        for one in sorted([*self._environments.values(), *self._scenarios.values()], key=lambda one: one.used):
            if self._held <= self._most_read * KEPT_SHARE:
                return
            if one is not newest and one.memory:
                self._held -= one.memory
                one.forget()
                self.forgotten += 1

    def _folder(self, environment_id: str) -> Path:
        if environment_id.isidentifier():
            for folder in self.folders:
                if os.path.lexists(folder / environment_id / "environment.json"):
                    return folder / environment_id
        if environment_id in (ids := self.ids()):
            raise BundleError(f"{environment_id}: the name of its folder is no id: lower case letters, digits and _")
        found = suggestion(environment_id, ids, lister="farm environments")
        raise NotFound(f"no environment {environment_id!r} in the library; {found}")


def _stamps(folder: Path, names: tuple[str, ...]) -> Stamps:
    with opened(folder) as files:
        return files.stamps((*names, *files.row_files()))
