"""The index of state files: where each one ends, so that a truncated file is found.

A state file proves each of its records, but not that none is missing at its end. So this file has one slot for each
instance. It is overwritten in place when a call is stored, before the call is answered: one short write into the page
cache, which survives `kill -9` as the state file does.
"""

import os
import struct
import threading
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from servers.files.private_files import FILE_MODE

CONTENT = struct.Struct("<16sIQ16s")
"""An instance's id of 16 characters, and the end of its file. A checksum follows."""
SLOT_BYTES = 64
"""Bytes of a slot. No slot crosses a page of memory, so none is written by half."""
SLOTS_AT_ONCE = 256
"""Slots by which the file grows. Their disk space is allocated immediately, so that storing a call needs none."""


class FileEnd(NamedTuple):
    """The end of a state file: the identity of the file, its size in bytes, and the digest of its last record."""

    generation: int
    size: int
    digest: bytes


class StateIndex:
    """The ends of the state files of one worker. Open it before use, and close it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle = -1
        self._slots: dict[str, int] = {}
        self._free: list[int] = []
        self._growing = threading.Lock()  # protects _free, and the size of the file: forks are written in threads

    def open(self, instances: Collection[str]) -> None:
        """Open or create the file, and drop all other instances.

        Raises:
            OSError: it cannot be used.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._handle = os.open(self._path, flags, FILE_MODE)
        whole = os.pread(self._handle, os.fstat(self._handle).st_size, 0)
        for slot in range(len(whole) // SLOT_BYTES):
            instance, *_ = CONTENT.unpack_from(whole, slot * SLOT_BYTES)
            name = instance.rstrip(b"\0").decode("ascii", "replace")
            if name in instances:
                self._slots[name] = slot
            else:
                self._free.append(slot)

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def add(self, instance: str, end: FileEnd) -> None:
        """Add the end of a new instance's file.

        Raises:
            OSError: there is no room for it.
        """
        with self._growing:
            if not self._free:
                self._grow()
            slot = self._free[-1]
            self._write(slot, instance, end)
            self._slots[instance] = self._free.pop()

    def put(self, instance: str, end: FileEnd) -> None:
        """Update the end of an instance's file.

        Raises:
            OSError: it cannot be written.
        """
        self._write(self._slots[instance], instance, end)

    def find(self, instance: str) -> FileEnd:
        """The last known end of an instance's file.

        Raises:
            ValueError: it is not known.
        """
        slot = self._slots.get(instance)
        if slot is None:
            raise ValueError(f"nothing is kept in {self._path.name} of where it ends")
        kept = os.pread(self._handle, SLOT_BYTES, slot * SLOT_BYTES)
        content, checksum = kept[: CONTENT.size], kept[CONTENT.size : CONTENT.size + 4]
        if zlib.crc32(content).to_bytes(4, "little") != checksum:
            raise ValueError(f"what is kept in {self._path.name} of where it ends is damaged")
        _, *end = CONTENT.unpack(content)
        return FileEnd(*end)

    def mark(self, instance: str) -> str:
        """A text that changes with the end of an instance's file. Empty if it is not known."""
        slot = self._slots.get(instance)
        return "" if slot is None else os.pread(self._handle, CONTENT.size, slot * SLOT_BYTES)[16:].hex()

    def remove(self, instance: str) -> None:
        """Remove an instance whose file is gone. Its slot can be reused, also after a restart."""
        with self._growing:
            slot = self._slots.pop(instance, None)
            if slot is not None:
                self._free.append(slot)

    def _grow(self) -> None:
        slots = os.fstat(self._handle).st_size // SLOT_BYTES
        os.posix_fallocate(self._handle, slots * SLOT_BYTES, SLOTS_AT_ONCE * SLOT_BYTES)
        self._free.extend(reversed(range(slots, slots + SLOTS_AT_ONCE)))

    def _write(self, slot: int, instance: str, end: FileEnd) -> None:
        content = CONTENT.pack(instance.encode("ascii"), *end)
        os.pwrite(self._handle, content + zlib.crc32(content).to_bytes(4, "little"), slot * SLOT_BYTES)
