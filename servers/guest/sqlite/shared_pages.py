"""Rows as a start image that many connections share, and the pages that each of them has changed.

So opening the rows of an instance costs the same at any size of its start, and an instance takes the memory of its
changes. No file is opened: a name is known to SQLite for the moment in which its connection is made.
"""

from collections.abc import Generator
from contextlib import contextmanager
from itertools import count
from typing import Any

import apsw

from servers.guest.sqlite import clock
from servers.guest.sqlite.connection import connect, in_memory_only
from servers.guest.sqlite.image import ChangedPages, Image

VFS_NAME = "shared"


class ComingFiles:
    """The files that SQLite is about to open, by name. Each can be opened once."""

    def __init__(self) -> None:
        self._coming: dict[str, ChangedPages] = {}
        self._numbers = count()

    @contextmanager
    def announced(self, pages: ChangedPages) -> Generator[str]:
        """The name of pages while they are opened."""
        name = f"/farm-rows-{next(self._numbers)}"
        self._coming[name] = pages
        try:
            yield name
        finally:
            self._coming.pop(name, None)

    def take(self, name: str | apsw.URIFilename | None) -> ChangedPages | None:
        """The pages of this name, if they are expected."""
        return None if name is None else self._coming.pop(name if isinstance(name, str) else name.filename(), None)


class _SharedImages(clock.InstanceClock):
    """The files that are about to be opened. There are no others, and none is ever there before."""

    def __init__(self) -> None:
        super().__init__(VFS_NAME)
        self.coming = ComingFiles()

    def xOpen(self, name: Any, flags: list[int]) -> Any:  # noqa: N802
        pages = self.coming.take(name)
        if pages is None:
            raise apsw.CantOpenError("there are no files here")
        flags[1] = flags[0]
        return pages

    def xFullPathname(self, name: str) -> str:  # noqa: N802
        return name

    def xAccess(self, pathname: str, flags: int) -> bool:  # noqa: N802
        return False

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        pass


_images = _SharedImages()


def opened(image: Image) -> tuple[apsw.Connection, ChangedPages]:
    """A connection to the rows of an image, which is not copied, and the pages that it will change.

    Raises:
        apsw.Error: the image is not a sound database.
    """
    pages = ChangedPages(image)
    with _images.coming.announced(pages) as name:
        connection = connect(VFS_NAME, name)
    try:
        in_memory_only(connection)
    except apsw.Error:
        connection.close(True)
        raise
    return connection, pages
