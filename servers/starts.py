"""Start images: the first rows of an environment, with a scenario's setup on top, built once and kept by content.

They are built in a guest, since schema and setup are text that a model may have written.
"""

import hashlib
import re
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

import apsw

from servers.bundle import Environment
from servers.errors import BundleError, GuestError, StateError
from servers.fair_pool import FairLimit
from servers.guest.lean import connect, distrust
from servers.guest.walls import MEMORY
from servers.guests import START_SECONDS, GuestDied, GuestLate, Guests
from servers.private_files import FOLDER_MODE, write_private
from servers.state import template_of

MOST_BYTES = 128 * 1024 * 1024
MOST_BUILDS = 16
"""Builds at once, of as many environments: one environment's endless build holds up nobody else's."""
CREATED = re.compile(r"CREATE (UNIQUE INDEX|INDEX|TABLE|TRIGGER|VIEW) ")


@dataclass(frozen=True)
class Start:
    """Where instances begin: the environment's rows, and the same as a state file."""

    digest: str
    image: bytes
    template: bytes


class Starts:
    """The start images of a worker, in memory while they are used and in a folder for good."""

    def __init__(self, folder: Path, guests: Guests) -> None:
        self.folder = folder
        self.guests = guests
        self._held: OrderedDict[str, Start] = OrderedDict()
        self._building = FairLimit(MOST_BUILDS, 1)  # an environment's image is built once, and one at a time

    async def build(self, environment: Environment, setup: str, clock: str) -> Start:
        """The start of an environment with a setup.

        Raises:
            BundleError: schema, seed or setup do not run.
        """
        digest = hashlib.sha256()
        for text in (environment.schema, environment.seed, setup, clock):
            digest.update(f"{len(text)}\n".encode() + text.encode())
        name = digest.hexdigest()[:32]
        held = self._find(name)
        if held is not None:
            return held
        async with self._building.taken(environment.id):
            held = self._find(name)
            if held is not None:
                return held
            image = await self._built(environment, setup, clock)
            self._write(name, image)
            return self._hold(Start(name, image, template_of(image)))

    def load(self, digest: str) -> Start:
        """A start that was built before.

        Raises:
            StateError: it is not there any more.
        """
        held = self._find(digest)
        if held is None:
            raise StateError(f"the start image {digest} is gone from the state folder; launch new instances")
        return held

    async def _built(self, environment: Environment, setup: str, clock: str) -> bytes:
        image, finding = await built(environment, setup, clock, self.guests)
        if finding:
            raise BundleError(f"{environment.folder}: {finding}")
        foreign = beside_the_schema(image, environment.schema)
        if foreign is not None:
            raise GuestError(f"a guest built {foreign!r}, which is not in {environment.folder / 'schema.sql'}")
        return image

    def _find(self, name: str) -> Start | None:
        held = self._held.get(name)
        if held is not None:
            self._held.move_to_end(name)
            return held
        try:
            image = (self.folder / f"{name}.db").read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StateError(f"the start image {name} cannot be read: {error.strerror}") from None
        return self._hold(Start(name, image, template_of(image)))

    def _hold(self, start: Start) -> Start:
        self._held[start.digest] = start
        while len(self._held) > 1 and sum(2 * len(held.image) for held in self._held.values()) > MOST_BYTES:
            self._held.popitem(last=False)
        return start

    def _write(self, name: str, image: bytes) -> None:
        try:
            self.folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            write_private(self.folder / f"{name}.db", image)
        except OSError as error:
            raise StateError(f"the state folder takes no start image: {error.strerror}") from None


def beside_the_schema(image: bytes, schema: str) -> str | None:
    """What a start image holds beside what the text of its schema creates: a table, index, view or trigger.

    SQLite keeps the words of each CREATE, after a beginning of its own. Rows are not compared: they come from scripts.

    Raises:
        StateError: the image is not a sound database.
    """
    try:
        connection = connect()
        connection.deserialize("main", image)
        distrust(connection)
        found = connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    except apsw.Error as error:
        raise StateError(f"a start image cannot be used: {error}") from None
    for name, sql in found:
        beginning = CREATED.match(str(sql))
        if beginning is None or str(sql)[beginning.end() :] not in schema:
            return str(name)
    return None


async def built(environment: Environment, setup: str, clock: str, guests: Guests) -> tuple[bytes, str]:
    """The image of a start, or what is wrong with its scripts."""
    scripts = (text.encode() for text in (environment.schema, environment.seed, setup))
    try:
        head, parts = await guests.job({"do": "build", "now": clock}, *scripts, seconds=START_SECONDS)
    except GuestLate:
        return b"", f"schema.sql, seed.sql and setup: take more than {START_SECONDS:g} s to run"
    except GuestDied as error:
        memory = MEMORY // 1024**2
        return b"", f"schema.sql, seed.sql and setup: {error}; a process that runs them gets {memory} MiB of memory"
    return parts[0], head["findings"][0] if head["findings"] else ""
