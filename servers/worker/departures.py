"""The instances of a worker that leave it for another one, and those that have left. Both survive a restart.

An instance that leaves answers nobody: it is a copy of what another worker is being given. Who moves it names the copy
that is made there, and only by that name can the departure be ended.
"""

import os
import re
from collections import OrderedDict
from collections.abc import Collection
from pathlib import Path

from servers.errors import Moving, StateError
from servers.files.private_files import regular, remove, write_private
from servers.messages import INSTANCE_ID

LEAVING_SUFFIX = ".leaving"
LEFT_SUFFIX = ".left"
MOST_LEFT = 10_000
"""Instances that have left and whose agents are told so. Of more, the first are forgotten."""
NAME = re.compile(rb"[a-z0-9]{8,40}")


class Departures:
    """The departures of one worker. `leaving` names the copy that is being made of each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.leaving: dict[str, str] = {}
        self.left: OrderedDict[str, None] = OrderedDict()

    def read(self, present: Collection[str]) -> None:
        """Read what was written before a restart. Raises OSError."""
        for path in self._folder.glob(f"*{LEAVING_SUFFIX}"):
            said = _short_content(path)
            if path.stem in present and NAME.fullmatch(said):
                self.leaving[path.stem] = said.decode()
            else:
                remove(path)
        left = [path for path in self._folder.glob(f"*{LEFT_SUFFIX}") if INSTANCE_ID.fullmatch(path.stem)]
        for path in sorted(left, key=lambda path: path.lstat().st_mtime_ns):
            self.left[path.stem] = None
        self._forget_first()

    def see_that_it_stays(self, instance: str) -> None:
        """Refuse what needs an instance that leaves. Raises Moving."""
        if instance in self.leaving:
            raise Moving(f"instance {instance} is being moved to another worker, and nothing was done; try again")

    def begin(self, instance: str, copy: str) -> None:
        """Let an instance leave. From now on no call of it begins.

        Raises:
            Moving: it leaves already.
        """
        self.see_that_it_stays(instance)
        self.leaving[instance] = copy

    def keep(self, instance: str) -> None:
        """Store that an instance leaves. Only then may its state be told. Raises StateError."""
        try:
            write_private(self._path(instance, LEAVING_SUFFIX), self.leaving[instance].encode())
        except OSError as error:
            raise StateError(f"instance {instance} cannot be marked as leaving: {error.strerror}") from None

    def end(self, instance: str, copy: str) -> bool:
        """Let an instance stay after all. False if it does not leave for this copy."""
        if self.leaving.get(instance) != copy:
            return False
        remove(self._path(instance, LEAVING_SUFFIX))
        del self.leaving[instance]
        return True

    def forget(self, instance: str) -> None:
        """Forget the departure of an instance that is deleted."""
        self.leaving.pop(instance, None)
        remove(self._path(instance, LEAVING_SUFFIX))

    def leave(self, instance: str) -> None:
        """Note that an instance has left, for agents that still ask for it here."""
        try:
            write_private(self._path(instance, LEFT_SUFFIX), b"")
        except OSError as error:
            raise StateError(f"instance {instance} cannot be marked as left: {error.strerror}") from None
        self.left[instance] = None
        self._forget_first()

    def _forget_first(self) -> None:
        while len(self.left) > MOST_LEFT:
            remove(self._path(self.left.popitem(last=False)[0], LEFT_SUFFIX))

    def _path(self, instance: str, suffix: str) -> Path:
        return self._folder / f"{instance}{suffix}"


def _short_content(path: Path) -> bytes:
    """The content of a short file. Empty if it is no file. Raises OSError."""
    try:
        handle = regular(path, os.O_RDONLY)
    except ValueError:
        return b""
    try:
        return os.read(handle, 64)
    finally:
        os.close(handle)
