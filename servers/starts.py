"""Start images: the first rows of an environment, with a scenario's setup on top, built once and kept by content.

They are built in a guest, since schema and setup are text that a model may have written.
"""

import asyncio
import hashlib
import logging
import re
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import apsw

from servers.bundle import Environment
from servers.errors import BundleError, GuestError, StateError
from servers.fair_pool import FairLimit
from servers.guest.lean import connect, distrust
from servers.guest.tables import Table, tables_of
from servers.guest.walls import MEMORY
from servers.guests import START_SECONDS, GuestDied, GuestLate, Guests
from servers.private_files import FOLDER_MODE, write_private
from servers.schema_cost import is_cheap
from servers.state import DIGEST_BYTES, content_digest

MOST_HELD = 24 * 1024 * 1024
"""Bytes of start images that are held in memory."""
MOST_BUILDS = 16
"""Builds at once, of as many environments: one environment's endless build holds up nobody else's."""
DIGEST_LENGTH = 2 * DIGEST_BYTES
CREATED = re.compile(r"CREATE (UNIQUE INDEX|INDEX|TABLE|TRIGGER|VIEW) ")
log = logging.getLogger("farm.starts")


@dataclass(frozen=True)
class Start:
    """Where instances begin: the environment's rows, and what its schema says of them."""

    digest: str
    image: bytes
    content: str
    """The digest of the image's bytes."""
    tables: dict[str, Table]
    is_cheap: bool
    """Whether rows can be written in this process: no rule of the schema costs much."""


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
        await self.fetch(name)
        held = self._sound(name)
        if held is not None:
            return held
        async with self._building.taken(environment.id):
            held = self._sound(name)
            if held is not None:
                return held
            image = await self._built(environment, setup, clock)
            start = await asyncio.to_thread(started, name, image)
            self._write(name, image)
            return self._hold(start)

    def load(self, digest: str, content: str) -> Start:
        """A start that was built before, with the content that it had then.

        Raises:
            StateError: it is not there any more, or it is damaged.
        """
        held = self._find(digest)
        if held is None:
            raise StateError(f"the start image {digest} is gone from the state folder; launch new instances")
        if held.content != content:
            raise StateError(f"the start image {digest} is not the one that the instance began with; launch a new one")
        return held

    async def fetch(self, digest: str) -> None:
        """Have a start in memory that was built before, read outside of the event loop. `load` says what is wrong."""
        if digest not in self._held:
            with suppress(StateError):
                start = await asyncio.to_thread(self._read, digest)
                if start is not None:
                    self._hold(start)

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
        start = self._read(name)
        return None if start is None else self._hold(start)

    def _read(self, name: str) -> Start | None:
        try:
            digest, image = split((self.folder / f"{name}.start").read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StateError(f"the start image {name} cannot be read: {error.strerror}") from None
        if content_digest(image) != digest:
            raise StateError(f"the start image {name} is damaged; launch new instances")
        return started(name, image)

    def _sound(self, name: str) -> Start | None:
        """A start that is there and not damaged. A damaged one is built again for new instances."""
        try:
            return self._find(name)
        except StateError as error:
            log.error("start image is built again", extra={"detail": str(error)})
            return None

    def _hold(self, start: Start) -> Start:
        self._held[start.digest] = start
        while len(self._held) > 1 and sum(len(held.image) for held in self._held.values()) > MOST_HELD:
            self._held.popitem(last=False)
        return start

    def _write(self, name: str, image: bytes) -> None:
        try:
            self.folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            write_private(self.folder / f"{name}.start", content_digest(image).encode() + image)
        except OSError as error:
            raise StateError(f"the state folder takes no start image: {error.strerror}") from None


def started(name: str, image: bytes) -> Start:
    """A start from its image.

    Raises:
        StateError: the image is not a sound database.
    """
    try:
        tables = tables_of(image)
        return Start(name, image, content_digest(image), tables, is_cheap(image, tables))
    except (apsw.Error, LookupError, ValueError) as error:
        raise StateError(f"a start image cannot be used: {error}") from None


def split(content: bytes) -> tuple[str, bytes]:
    """The digest at the head of a start's file, and the image after it."""
    return content[:DIGEST_LENGTH].decode("ascii", "replace"), content[DIGEST_LENGTH:]


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
