"""Start images: an environment's first rows with a scenario's setup, built once and stored by content.

A guest builds them, since a model may have written schema and setup.
"""

import asyncio
import hashlib
import logging
import os
import re
import stat
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BufferedReader
from itertools import chain
from pathlib import Path
from weakref import WeakValueDictionary

import apsw

from servers.bundle.environment import Environment
from servers.bundle.seed_files import SeedScript
from servers.errors import BundleError, GuestDied, GuestError, GuestLate, StateError
from servers.files.private_files import FOLDER_MODE, regular, write_private
from servers.files.spooled import SpooledBytes
from servers.guest.sqlite.connection import distrust
from servers.guest.sqlite.image import PIECE, Image, pieces_of
from servers.guest.sqlite.shared_pages import opened
from servers.guest.sqlite.start_image import LARGEST_IMAGE
from servers.guest.sqlite.tables import Table, tables_of
from servers.guest.walls import MEMORY
from servers.limits.fair_pool import FairLimit
from servers.limits.memory import ORDINARY_START
from servers.sandbox.guest_pool import START_SECONDS, Guests
from servers.state.schema_cost import is_cheap
from servers.state.state_file import DIGEST_BYTES, ContentDigest, content_digest

MOST_HELD = 16 * 1024 * 1024
"""Bytes of start images in memory, with what is known of their tables. The others are read from files."""
MOST_WITHOUT_FILE = 4 * 1024 * 1024
"""Bytes of start images that stay in memory because the disk has no room for their files."""
MOST_BUILDS = 16
"""Concurrent builds, each of another environment: a build that never ends delays nobody else."""
SMALL_SCRIPT = 256 * 1024
"""Bytes of a `seed.sql` that is in memory while a guest runs it. A longer one is read from a file."""
COPIES_OF_SCRIPTS = 2
"""Copies of such a script in memory."""
MOST_SCRIPTS = 256 * 1024 * 1024
"""Bytes of the files with scripts, of all concurrent builds."""
SCRIPT_BYTES_A_SECOND = 1024 * 1024
"""Bytes of `seed.sql` and setup that add a second of processor time to what a build may take."""
LARGEST_BASE = 4 * 1024 * 1024
"""Bytes of an environment's own start up to which a guest keeps it, to build those of scenarios."""
BYTES_PER_COLUMN = 500
"""Memory of what is known of one column of a table."""
SUFFIX = ".start"
MOST_KEPT = 256 * 1024 * 1024
"""Bytes of start images in the folder up to which all are kept.

Beyond, a starting worker deletes those that no instance needs, the oldest first.
"""
DIGEST_LENGTH = 2 * DIGEST_BYTES
CREATED = re.compile(r"CREATE (UNIQUE INDEX|INDEX|TABLE|TRIGGER|VIEW) ")
log = logging.getLogger("farm.starts")


class KeptImage:
    """The bytes of a start image in a file that only this object reads, and in memory while there is room.

    So instances live on when its file in the state folder is damaged or deleted.
    """

    def __init__(self, image: Image) -> None:
        self._memory: bytes | None = None
        self._file = image

    @property
    def without_file(self) -> int:
        """Its bytes in memory for which the disk had no room."""
        return len(self._file) if isinstance(self._file, bytes) else 0

    def __len__(self) -> int:
        return len(self._file)

    def __getitem__(self, place: slice, /) -> bytes:
        memory = self._memory
        return self._file[place] if memory is None else memory[place]

    @property
    def in_memory(self) -> int:
        """Its bytes in memory."""
        return 0 if self._memory is None else len(self._memory)

    def remember(self) -> None:
        """Hold it in memory, if it is not large."""
        if self._memory is None and len(self) <= ORDINARY_START:
            self._memory = self._file[:]

    def forget(self) -> None:
        """Leave it to its file."""
        self._memory = None


@dataclass(frozen=True)
class KeptSchema:
    """What is known of a schema. All starts with it share this."""

    tables: dict[str, Table]
    is_cheap: bool
    """True if this process may write its rows, since no rule of the schema is expensive."""

    @cached_property
    def memory(self) -> int:
        """An estimate of the bytes that it takes."""
        return BYTES_PER_COLUMN * sum(len(table.columns) for table in self.tables.values())


@dataclass(frozen=True)
class StartImage:
    """The beginning of instances: the environment's rows, and the properties of its schema."""

    digest: str
    image: KeptImage
    content: str
    """The digest of the image's bytes."""
    schema: KeptSchema

    @property
    def tables(self) -> dict[str, Table]:
        return self.schema.tables

    @property
    def memory(self) -> int:
        """An estimate of the bytes that it takes."""
        return self.image.in_memory + self.schema.memory


class Starts:
    """The start images of a worker: in memory while used, and in a folder."""

    def __init__(self, folder: Path, guests: Guests) -> None:
        self.folder = folder
        self.guests = guests
        self._living: WeakValueDictionary[str, StartImage] = WeakValueDictionary()  # those that instances use
        self._held: OrderedDict[str, StartImage] = OrderedDict()
        self._schemas: WeakValueDictionary[str, KeptSchema] = WeakValueDictionary()
        self._reading: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # each is read once
        self._scripts = FairLimit(MOST_SCRIPTS, MOST_SCRIPTS)
        self._building = FairLimit(MOST_BUILDS, 1)  # an environment's image is built once, and one at a time

    async def build(self, environment: Environment, setup: str, clock: str) -> StartImage:
        """The start image of an environment with a setup.

        Raises:
            BundleError: schema, seed or setup do not run.
        """
        name = _name(environment, setup, clock)
        start = await self._sound(name)
        if start is not None:
            return start
        async with self._building.taken(environment.id):
            return await self._sound(name) or self._hold(await self._built(name, environment, setup, clock))

    async def load(self, digest: str, content: str) -> StartImage:
        """An existing start image, with its former content. A thread reads it if it is not in memory.

        Raises:
            StateError: it is gone or damaged.
        """
        return _known(await self._found(digest), digest, content)

    def load_here(self, digest: str, content: str) -> StartImage:
        """The same, read in the calling thread."""
        start = self._find(digest) or self._read(digest)
        return _known(None if start is None else self._hold(start), digest, content)

    def clear(self, needed: Callable[[], Collection[str]]) -> None:
        """Delete start images that no instance needs, the oldest first, if there are too many.

        Call this before any launch. `needed` returns the required ones, and is called only if it matters.
        """
        found = sorted(
            (status.st_mtime, status.st_size, path)
            for path in self.folder.iterdir()
            if path.suffix == SUFFIX and stat.S_ISREG((status := path.lstat()).st_mode)
        )
        excess = sum(size for _, size, _ in found) - MOST_KEPT
        try:
            kept = needed() if excess > 0 else ()
        except StateError as error:  # then nobody knows which are needed, and all are kept
            log.error("start images are not deleted", extra={"detail": str(error)})
            return
        for _, size, path in found:
            if excess > 0 and path.stem not in kept:
                path.unlink()
                excess -= size

    async def _built(self, name: str, environment: Environment, setup: str, clock: str) -> StartImage:
        image, finding = await self._scripted(environment, setup, clock)
        if finding:
            raise BundleError(f"{environment.folder}: {finding}")
        return await asyncio.to_thread(self._kept, name, environment, image)

    async def _scripted(self, environment: Environment, setup: str, clock: str) -> tuple[Image, str]:
        """A new image, or the faults of its scripts. Those of scenarios are made of the environment's own start."""
        if setup and clock == environment.description.clock:
            base = _name(environment, "", clock)
            start = await self._sound(base) or self._hold(await self._built(base, environment, "", clock))
            if len(start.image) <= LARGEST_BASE:
                return await built_on(start, environment, setup, clock, self.guests)
        size = environment.seed_size
        if size <= SMALL_SCRIPT:
            return await built(environment, setup, clock, self.guests)
        async with self._scripts.taken(environment.id, size):
            log.info("a large start is being built", extra={"environment": environment.id, "bytes": size})
            begin = time.monotonic()
            image, finding = await built(environment, setup, clock, self.guests)
            extra = {"environment": environment.id, "bytes": len(image), "seconds": time.monotonic() - begin}
            log.info("a large start was built" if not finding else "a large start cannot be built", extra=extra)
            return image, finding

    def _kept(self, name: str, environment: Environment, image: Image) -> StartImage:
        """Store an image that a guest built."""
        foreign = beside_the_schema(image, environment.schema)
        if foreign is not None:
            raise GuestError(f"a guest built {foreign!r}, which is not in {environment.folder / 'schema.sql'}")
        content = digest_of(image)
        self._write(name, image, content)
        try:
            kept = image if isinstance(image, SpooledBytes) else spooled(pieces_of(image), self.guests.folder)
        except OSError as error:
            raise StateError(f"the state folder takes no start image: {error.strerror}") from None
        return self._started(name, kept, content)

    def _started(self, name: str, image: Image, content: str) -> StartImage:
        """A start from its image.

        Raises:
            StateError: the image is not a sound database.
        """
        try:
            key = schema_digest(image)
            schema = self._schemas.get(key)
            if schema is None:
                tables = tables_of(image)
                schema = self._schemas.setdefault(key, KeptSchema(tables, is_cheap(image, tables)))
        except (apsw.Error, LookupError, ValueError) as error:
            raise StateError(f"a start image cannot be used: {error}") from None
        return StartImage(name, KeptImage(image), content, schema)

    async def _found(self, name: str) -> StartImage | None:
        """A start image in memory, or one that a thread has read."""
        held = self._find(name)
        if held is not None:
            return held
        async with self._reading.setdefault(name, asyncio.Lock()):
            held = self._find(name)
            start = await asyncio.to_thread(self._read, name) if held is None else held
            return None if start is None else self._hold(start)

    def _find(self, name: str) -> StartImage | None:
        held = self._living.get(name)
        return None if held is None else self._hold(held)

    def _read(self, name: str) -> StartImage | None:
        try:
            with os.fdopen(regular(self.folder / f"{name}{SUFFIX}", os.O_RDONLY), "rb") as file:
                digest = file.read(DIGEST_LENGTH).decode("ascii", "replace")
                image = self._stored(file)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise StateError(f"the start image {name} cannot be read: {reason}") from None
        content = digest_of(image)
        if content != digest:
            raise StateError(f"the start image {name} is damaged; launch new instances")
        return self._started(name, image, content)

    def _stored(self, file: BufferedReader) -> Image:
        """The image in a start's file, in a file of its own, or in memory if the disk is full. Raises OSError."""
        try:
            return spooled(_bounded(file, LARGEST_IMAGE + 1), self.guests.folder)
        except OSError:
            file.seek(DIGEST_LENGTH)
            room = MOST_WITHOUT_FILE - sum(start.image.without_file for start in self._living.values())
            image = file.read(room + 1) if room > 0 else b""
            if not 0 < len(image) <= room:
                raise
            return image

    async def _sound(self, name: str) -> StartImage | None:
        """A sound start image. A damaged one is rebuilt for new instances."""
        try:
            return await self._found(name)
        except StateError as error:
            log.error("start image is built again", extra={"detail": str(error)})
            return None

    def _hold(self, start: StartImage) -> StartImage:
        self._living[start.digest] = start
        self._held[start.digest] = start
        self._held.move_to_end(start.digest)
        start.image.remember()
        while len(self._held) > 1 and sum(held.memory for held in self._held.values()) > MOST_HELD:
            _, evicted = self._held.popitem(last=False)
            evicted.image.forget()
        return start

    def _write(self, name: str, image: Image, content: str) -> None:
        try:
            self.folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            write_private(self.folder / f"{name}{SUFFIX}", chain((content.encode(),), pieces_of(image)))
        except OSError as error:
            raise StateError(f"the state folder takes no start image: {error.strerror}") from None


def _name(environment: Environment, setup: str, clock: str) -> str:
    """The digest of what a start is made of."""
    digest = hashlib.sha256()
    files = (text for one in environment.seed_tables for text in (one.name, one.digest))
    for text in (environment.schema, environment.seed_script.digest, setup, clock, *files):
        digest.update(f"{len(text)}\n".encode() + text.encode())
    return digest.hexdigest()[:32]


def _known(start: StartImage | None, digest: str, content: str) -> StartImage:
    """A start image, if it exists and has its former content."""
    if start is None:
        raise StateError(f"the start image {digest} is gone from the state folder; launch new instances")
    if start.content != content:
        raise StateError(f"the start image {digest} is not the one that the instance began with; launch a new one")
    return start


def digest_of(image: Image) -> str:
    """The digest of an image's bytes."""
    digest = ContentDigest()
    for piece in pieces_of(image):
        digest.update(piece)
    return digest.hexdigest()


def schema_digest(image: Image) -> str:
    """What tells the schema of an image from others: all that SQLite knows of it.

    Raises:
        apsw.Error: the image is not a sound database.
    """
    connection, _ = opened(image)
    try:
        distrust(connection)
        found = connection.execute("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema").fetchall()
    finally:
        connection.close(True)
    return content_digest(repr(found).encode())


def spooled(pieces: Iterable[bytes], folder: Path | None) -> SpooledBytes:
    """Pieces in a file without a name. Raises OSError."""
    found = SpooledBytes(folder)
    for piece in pieces:
        found.add(piece)
    return found


def _bounded(file: BufferedReader, most: int) -> Generator[bytes]:
    """The rest of a file in pieces, up to a bound."""
    while most > 0 and (piece := file.read(min(PIECE, most))):
        most -= len(piece)
        yield piece


def beside_the_schema(image: Image, schema: str) -> str | None:
    """Objects in a start image that the text of its schema does not create: a table, index, view or trigger.

    SQLite stores the words of each CREATE after its own beginning. Rows are not compared: they come from scripts.

    Raises:
        StateError: the image is not a sound database.
    """
    try:
        connection, _ = opened(image)
        distrust(connection)
        found = connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    except apsw.Error as error:
        raise StateError(f"a start image cannot be used: {error}") from None
    for name, sql in found:
        beginning = CREATED.match(str(sql))
        if beginning is None or str(sql)[beginning.end() :] not in schema:
            return str(name)
    return None


async def built(environment: Environment, setup: str, clock: str, guests: Guests) -> tuple[Image, str]:
    """The image of a start, or the faults of its scripts."""
    seed, rows = await asyncio.to_thread(_first_rows, environment, guests.folder)
    parts = (environment.schema.encode(), seed, setup.encode(), rows)
    seconds = START_SECONDS + (len(seed) + len(setup) + len(rows)) / SCRIPT_BYTES_A_SECOND
    files = [(one.name, one.table, one.size) for one in environment.seed_tables]
    try:
        head, image = await guests.image_job({"do": "build", "now": clock, "files": files}, *parts, seconds=seconds)
    except GuestLate:
        return b"", _too_slow(seconds)
    except GuestDied as error:
        memory = MEMORY // 1024**2
        return b"", f"schema.sql, seed.sql and setup: {error}; a process that runs them gets {memory} MiB of memory"
    return image, head["findings"][0] if head["findings"] else ""


async def built_on(
    start: StartImage, environment: Environment, setup: str, clock: str, guests: Guests
) -> tuple[Image, str]:
    """The image that a setup makes of the environment's own start, or its faults.

    A guest that has that start is asked. If it ends, all is built anew by a fresh one.
    """
    ask = {"do": "build", "now": clock, "image": start.digest}
    seconds = START_SECONDS + len(setup) / SCRIPT_BYTES_A_SECOND
    try:
        guest = await guests.builder(environment)
        async with guest.turn():
            head, image = await guest.ask_for_image(ask, setup.encode(), seconds=seconds)
            if head.get("need") == "image":
                keep = {"do": "image", "digest": start.digest}
                await guest.ask(keep, start.image, seconds=START_SECONDS)
                head, image = await guest.ask_for_image(ask, setup.encode(), seconds=seconds)
    except GuestLate:
        return b"", _too_slow(seconds)
    except GuestError as error:
        log.info("a start is built by another guest", extra={"detail": str(error)})
        return await built(environment, setup, clock, guests)
    return image, head["findings"][0] if head["findings"] else ""


def _too_slow(seconds: float) -> str:
    return (
        f"schema.sql, seed.sql and setup: take more than {seconds:.3g} s to run; an INSERT of hundreds of rows is "
        "faster than as many INSERTs of one row"
    )


def _first_rows(environment: Environment, folder: Path | None) -> tuple[Image, Image]:
    """The script of the first rows, and all files of rows one behind another."""
    return _copied((environment.seed_script,), folder), _copied(environment.seed_tables, folder)


def _copied(files: Sequence[SeedScript], folder: Path | None) -> Image:
    """Files one behind another. Long ones are in a file, so that they cannot change while a guest reads them."""
    if sum(one.size for one in files) <= SMALL_SCRIPT:
        return b"".join(one.text().encode() for one in files)
    try:
        copy = SpooledBytes(folder)
        for one in files:
            one.copy(copy.add)
    except OSError as error:
        raise StateError(f"the state folder takes no copy of seed.sql: {error.strerror}") from None
    return copy
