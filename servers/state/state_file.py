"""The state file of one instance: its origin and every call, written by the worker alone.

An instance is its start image and the changesets of its calls, so this file holds no rows. A record is appended with
one write, and then the worker's index is told where the file ends, before its call is answered. What stands behind that
end was not answered, does not count, and is removed at the next opening. Each record has a digest of itself and all
before it. So a changed byte or a missing record is found, and then nothing of the file is used.
"""

import errno
import io
import json
import os
import struct
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial, wraps
from hashlib import blake2b
from itertools import count, islice
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import apsw
from pydantic_core import to_json

from servers.errors import Conflict, StateError
from servers.files.private_files import regular, write_private
from servers.state.state_index import FileEnd, StateIndex

SUFFIX = ".history"
FORMER_SUFFIX = ".db"
"""The former suffix of state files, when they were SQLite databases. They are only deleted."""
FORMAT = 2
LENGTHS = struct.Struct("<II")
HEAD = struct.Struct("<III")
"""Bytes of a record's text, bytes of its changes, and a checksum of both numbers."""
DIGEST_BYTES = 16
LARGEST_NET_KEPT = 64 * 1024
"""Bytes of changes that an open state file keeps in memory.

They are joined then, and kept if they halve. So repeated changes of the same rows are not read from the disk again,
however long the history is.
"""
ENCODER = json.JSONEncoder(ensure_ascii=False)
NAMED = count(1)
"""The number of revisions that this process has named."""
SMALL_FILE = 256 * 1024
"""Bytes of a file that is read at once. A longer one is read record by record."""
LARGEST_ORIGIN = 64 * 1024
"""Bytes of the first record, which holds ids and digests only."""


class Origin(NamedTuple):
    """Where an instance comes from. With the calls it determines everything that it will ever answer."""

    id: str
    environment: str
    digest: str
    start: str
    content: str
    """The digest of the start image's bytes."""
    scenario: str | None
    clock: str
    seed: int
    generation: int = 0
    tools: dict[str, int] | None = None
    """The tools of the scenario, by the turn from which the agent sees each. None: all of the environment."""
    perturb: str = ""
    """How its tools are perturbed, in one line."""
    foreign: tuple[str, ...] = ()
    """The tools of other environments that the agent sees, each as `ENVIRONMENT/TOOL`."""


class KeptCall(NamedTuple):
    """One call as the history keeps it."""

    seq: int
    tool: str
    arguments: str
    outcome: str
    text: str
    detail: str | None
    changes: bytes
    micros: int
    at: float


class StateRecord(NamedTuple):
    """One record of the file: its text, its changes, and the digest of the file up to its end."""

    text: bytes
    changes: bytes
    digest: bytes
    end: int


def _new_revision() -> str:
    """A name for rows that nothing else was ever named."""
    return str(next(NAMED))


P = ParamSpec("P")
R = TypeVar("R")


def _named(method: "Callable[Concatenate[StateFile, P], R]") -> "Callable[Concatenate[StateFile, P], R]":
    """Turn an error of the disk into a StateError that names the file."""

    @wraps(method)
    def named(self: "StateFile", *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(self, *args, **kwargs)
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise StateError(f"the disk of the state folder is full ({self.path.name})") from None
            raise StateError(f"state file {self.path.name}: {error.strerror}") from None

    return named


@dataclass
class StateFile:
    """An open state file. Close it to release its handle. Without a close nothing is lost."""

    path: Path
    handle: int
    index: StateIndex
    origin: Origin
    last: int
    changed: int
    beginning: FileEnd
    """The end of the first record."""
    end: FileEnd
    """The expected end of the file."""
    file: tuple[int, int] | None
    revision: str = field(default_factory=_new_revision)
    """The name of the current rows. It changes whenever they do, and is never used for others."""
    next_revision: str = field(default_factory=_new_revision)
    """The name of the rows after the present call. They become the instance's only if that call is stored."""
    net: list[bytes] | None = field(default=None, repr=False)
    """Changesets that together are the changes since the start. None if they are large or not read yet."""
    net_added: int = 0
    """Bytes of these changesets."""
    net_joined: int = 0
    """Bytes of the changes since the start when they were last joined."""
    has_leftover: bool = False
    """Whether something that does not count is still behind the end, because it could not be cut off."""

    @classmethod
    def create(cls, path: Path, index: StateIndex, origin: Origin, calls: Sequence[KeptCall] = ()) -> None:
        """Write a new state file atomically. With calls it is a fork.

        Raises:
            StateError: the state folder cannot be written.
        """
        whole = _whole(origin, calls)
        try:
            index.add(origin.id, FileEnd(origin.generation, len(whole), bytes(whole[-DIGEST_BYTES:])))
            write_private(path, (whole,))
        except OSError as error:
            index.remove(origin.id)
            raise StateError(f"the state folder takes no new instance: {error.strerror}") from None

    @classmethod
    def open(cls, path: Path, index: StateIndex) -> "StateFile":
        """Open a state file, and remove what stands behind the end that the index knows: it was never answered.

        Raises:
            StateError: it is missing or damaged, or not one of ours.
        """
        state = cls.read(path, index)
        try:
            state.settle()
        except BaseException:
            state.close()
            raise
        return state

    @classmethod
    def read(cls, path: Path, index: StateIndex) -> "StateFile":
        """Open a state file without writing: a thread may do this. Call `settle` before use, or close it.

        Raises:
            StateError: it is missing or damaged, or not one of ours.
        """
        with _named_at_opening(path):
            handle = regular(path, os.O_RDWR | os.O_APPEND)
            try:
                return cls._opened(path, handle, index)
            except BaseException:
                os.close(handle)
                raise

    def settle(self) -> None:
        """Remove what stands behind the end, and update the index.

        The instance must still exist, and nobody else may have opened it.

        Raises:
            StateError: it cannot be written.
        """
        with _named_at_opening(self.path):
            if os.fstat(self.handle).st_size > self.size:
                os.ftruncate(self.handle, self.size)
            if self.end != self.index.find(self.origin.id):
                self.index.put(self.origin.id, self.end)

    @classmethod
    def origin_of(cls, path: Path) -> Origin:
        """The origin of a state file's instance. Only its first record is read.

        Raises:
            StateError: it is missing or damaged, or not one of ours.
        """
        with _named_at_opening(path), os.fdopen(regular(path, os.O_RDONLY), "rb") as file:
            whole = file.read(LARGEST_ORIGIN)
            for first in records_in(io.BytesIO(whole), len(whole)):
                return origin_in(first)
            raise ValueError("it is empty")

    @classmethod
    def _opened(cls, path: Path, handle: int, index: StateIndex) -> "StateFile":
        records = _records_of(handle, os.fstat(handle).st_size)
        first = next(records, None)
        if first is None:
            raise ValueError("it is empty")
        origin = origin_in(first)
        if origin.id != path.stem:
            raise ValueError(f"it is the file of another instance: {origin.id}")
        kept = index.find(origin.id)
        beginning = FileEnd(origin.generation, first.end, first.digest)
        state = cls(path, handle, index, origin, 0, 0, beginning, beginning, identity(path))
        is_rewound = origin.generation > kept.generation  # by a process that was killed before it updated the index
        while (is_rewound or state.end != kept) and (record := next(records, None)):  # what follows was not answered
            state.last += 1
            state.changed = state.last if record.changes else state.changed
            state.end = FileEnd(origin.generation, record.end, record.digest)
        if not is_rewound and state.end != kept:
            if state.size >= kept.size:
                raise ValueError("it is not what was written")
            raise ValueError(f"answered calls are missing: it has {state.size} bytes of {kept.size} that were written")
        state.net = None if state.changed else []
        return state

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.end.size

    def begin_call(self) -> None:
        """Name the rows that a call will make.

        Each attempt at a call has a name of its own: rows that were made and not stored are never found again.
        """
        self.next_revision = _new_revision()

    @_named
    def keep(self, call: KeptCall) -> None:
        """Append a call to the history atomically. Its changes must be verified.

        Raises:
            StateError: the file cannot be written.
        """
        self._still_there()
        self._append(packed(_text_of(call), call.changes, self.end.digest))
        self.last = call.seq
        if call.changes:
            self.changed, self.revision = call.seq, self.next_revision
            if self.net is not None:
                self.net.append(call.changes)
                self.net_added += len(call.changes)
                if self.net_added > LARGEST_NET_KEPT:
                    with suppress(StateError):  # the call is kept already; its changes are put together when asked for
                        self._put_together(self.net)

    @_named
    def changes_since_start(self) -> bytes:
        """All changes of the calls, as one changeset."""
        if self.net is not None and len(self.net) == 1:
            return self.net[0]
        return self._put_together(self.net if self.net is not None else (call.changes for call in self._calls()))

    @_named
    def calls(self, *, after: int = 0, limit: int = 1000) -> list[KeptCall]:
        """The history, oldest first, read from the disk.

        Raises:
            StateError: it is not as it was written.
        """
        return list(islice(self._calls(after), limit))

    def every_call(self) -> Iterator[KeptCall]:
        """The same one after another: a long history is not in memory as a whole."""
        return self._calls()

    @_named
    def rewind(self, seq: int) -> None:
        """Undo every call after call `seq`.

        Raises:
            Conflict: there is no such call.
        """
        if not 0 <= seq <= self.last:
            raise Conflict(f"there is no call {seq} to go back to; the history has {self.last}")
        self._still_there()
        if self.changed == seq == 0:
            self._cut_to_beginning()
            return
        origin = self.origin._replace(generation=self.origin.generation + 1)
        kept = (call for call in self._calls() if call.seq <= seq) if seq else ()
        write_private(self.path, (_whole(origin, kept),))
        opened = StateFile.open(self.path, self.index)
        os.close(self.handle)
        self.handle, self.origin, self.last, self.changed = opened.handle, origin, seq, opened.changed
        self.beginning, self.end, self.file = opened.beginning, opened.end, opened.file
        self.net, self.net_added, self.net_joined = opened.net, 0, 0
        self.revision = opened.revision

    def _cut_to_beginning(self) -> None:
        """Undo calls that changed nothing. The rows, and so their revision, stay."""
        self.index.put(self.origin.id, self.beginning)  # now they are undone: nothing behind this end counts
        self.last, self.end, self.has_leftover = 0, self.beginning, True
        with suppress(OSError):  # then they are cut off before anything else is written
            self._cut_leftover()

    @_named
    def check(self) -> None:
        """Read the whole file again.

        Raises:
            StateError: it is not as it was written.
        """
        for _ in self._calls():
            pass

    @_named
    def whole(self) -> bytes:
        """The bytes of the file, for another worker."""
        return os.pread(self.handle, self.size, 0)

    def close(self) -> None:
        try:
            os.close(self.handle)
        except OSError as error:
            raise StateError(f"state file {self.path.name}: {error.strerror}") from None

    def _calls(self, after: int = 0) -> Iterator[KeptCall]:
        """Every call after one in order, once the whole file was compared with its digests.

        A long file is read twice, as it is not kept.
        """
        try:
            digest = b""
            for record in _records_of(self.handle, self.size):
                digest = record.digest
            if digest != self.end.digest:
                raise ValueError("it is not what was written")
            for record in islice(_records_of(self.handle, self.size), after + 1, None):  # the first is no call
                yield _call(record)
        except (ValueError, TypeError, LookupError) as error:
            raise StateError(f"state file {self.path.name} is damaged: {error}") from None
        except OSError as error:
            raise StateError(f"state file {self.path.name}: {error.strerror}") from None

    def _put_together(self, parts: Iterable[bytes]) -> bytes:
        """The changes since the start as one changeset, kept in memory if there is room for more."""
        net = _joined(parts)
        self.net_joined = len(net)
        is_small = len(net) <= LARGEST_NET_KEPT // 2
        self.net, self.net_added = ([net], len(net)) if is_small else (None, 0)
        return net

    def _append(self, record: bytes) -> None:
        if self.has_leftover:
            self._cut_leftover()
        end = FileEnd(self.end.generation, self.end.size + len(record), record[-DIGEST_BYTES:])
        try:
            written = os.write(self.handle, record)
            while written < len(record):
                written += os.write(self.handle, record[written:])
            self.index.put(self.origin.id, end)
        except OSError:
            self.has_leftover = True
            with suppress(OSError):  # then it is cut off before anything else is written
                self._cut_leftover()
            raise
        self.end = end

    def _cut_leftover(self) -> None:
        os.ftruncate(self.handle, self.end.size)
        self.has_leftover = False

    def _still_there(self) -> None:
        """Check that the file still exists. A deleted file could be written, and nobody would read it."""
        if identity(self.path) != self.file:
            raise StateError(f"state file {self.path.name} is gone: the state folder was deleted or moved")


def _joined(parts: Iterable[bytes]) -> bytes:
    """Join consecutive changesets into one.

    Raises:
        StateError: SQLite has no memory left for it, or cannot read them.
    """
    builder = apsw.ChangesetBuilder()
    try:
        for changes in parts:
            if changes:
                builder.add(changes)
        return builder.output()
    except apsw.Error as error:
        raise StateError(f"changes cannot be put together: {type(error).__name__}: {error}") from None


@contextmanager
def _named_at_opening(path: Path) -> Generator[None]:
    """Turn an error during opening into a StateError that names the file."""
    try:
        yield
    except (OSError, ValueError, TypeError, LookupError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        if path.with_suffix(FORMER_SUFFIX).exists():
            reason = "it was written by an earlier version of Envfarm; close it and launch a new one"
        raise StateError(f"state file {path.name} cannot be opened: {reason}") from None


def origin_in(first: StateRecord) -> Origin:
    """The content of the first record."""
    said = json.loads(first.text)
    if said.pop("format", None) != FORMAT:
        raise ValueError("it was written by another version of Envfarm")
    return Origin(**said)


def identity(path: Path | str) -> tuple[int, int] | None:
    """The identity of the file at a path. It survives a rename, and is None without a file."""
    try:
        status = os.stat(path)  # noqa: PTH116 - half as long as Path.stat, and each call waits for it
    except OSError:
        return None
    return status.st_dev, status.st_ino


ContentDigest = partial(blake2b, digest_size=DIGEST_BYTES)
"""The digest that identifies content."""


def content_digest(content: bytes) -> str:
    return ContentDigest(content).hexdigest()


def _whole(origin: Origin, calls: Iterable[KeptCall]) -> bytearray:
    """The bytes of a state file."""
    record = packed(json.dumps({"format": FORMAT, **origin._asdict()}).encode(), b"", b"")
    whole = bytearray(record)
    for call in calls:
        record = packed(_text_of(call), call.changes, record[-DIGEST_BYTES:])
        whole += record
    return whole


def packed(text: bytes, changes: bytes, before: bytes) -> bytes:
    """A record of a state file, chained to the digest `before`."""
    lengths = LENGTHS.pack(len(text), len(changes))
    record = b"".join((lengths, zlib.crc32(lengths).to_bytes(4, "little"), text, changes))
    return record + _digest(before, record)


def _digest(before: bytes, *record: bytes) -> bytes:
    digest = blake2b(digest_size=DIGEST_BYTES, key=before)
    for part in record:
        digest.update(part)
    return digest.digest()


class _FromBeginning(io.RawIOBase):
    """An open file up to a size, from its beginning. Others use the handle meanwhile."""

    def __init__(self, handle: int, size: int) -> None:
        self._handle, self._size, self._at = handle, size, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride] - of all buffers
        found = os.pread(self._handle, min(len(buffer), self._size - self._at), self._at)
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)


def _records_of(handle: int, size: int) -> Iterator[StateRecord]:
    """The records of an open file, up to a size. Raises ValueError like `records_in`."""
    if size <= SMALL_FILE:
        return records_in(io.BytesIO(os.pread(handle, size, 0)), size)
    return records_in(io.BufferedReader(_FromBeginning(handle, size), SMALL_FILE), size)


def records_in(file: io.BufferedIOBase, size: int) -> Iterator[StateRecord]:
    """The records of a file, without an incomplete last one.

    Raises:
        ValueError: a byte is not as it was written.
    """
    place, before = 0, b""
    while size - place >= HEAD.size:
        head = file.read(HEAD.size)
        text, changes, checksum = HEAD.unpack(head)
        if zlib.crc32(head[: LENGTHS.size]) != checksum:
            raise ValueError(f"the record at byte {place} is not what was written")
        end = place + HEAD.size + text + changes + DIGEST_BYTES
        if end > size:
            return
        said, changed, digest = file.read(text), file.read(changes), file.read(DIGEST_BYTES)
        if _digest(before, head, said, changed) != digest:
            raise ValueError(f"the record at byte {place} is not what was written")
        yield StateRecord(said, changed, digest, end)
        place, before = end, digest


def _text_of(call: KeptCall) -> bytes:
    said: list[Any] = [call.seq, call.tool, call.arguments, call.outcome, call.text, call.detail, call.micros, call.at]
    try:
        return to_json(said)
    except ValueError:  # half of a surrogate pair
        return ENCODER.encode(said).encode("utf-8", "surrogatepass")


def _call(record: StateRecord) -> KeptCall:
    seq, tool, arguments, outcome, text, detail, micros, at = json.loads(record.text)
    return KeptCall(seq, tool, arguments, outcome, text, detail, record.changes, micros, at)
