"""Results of orders on disk, so that an interrupted command continues."""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from servers.errors import RequestError
from servers.files.atomic_write import write_whole
from servers.files.named_file import text_named
from servers.files.trouble import naming, trouble
from synth.pipeline.asker import gather_all
from synth.processes.job import Job
from synth.processes.process_pool import PoolSettings, process_pool

OrderT = TypeVar("OrderT")
DoneT = TypeVar("DoneT")


class KeptResults(Generic[OrderT, DoneT]):
    """The results of orders in a file: a line each, written as soon as it is known.

    `lines` reads and writes one. `name` gives all that the result of an order depends on, as JSON: a result counts only
    for the same.

    Raises:
        RequestError: the file cannot be kept there.
    """

    def __init__(
        self, path: Path, lines: TypeAdapter[tuple[str, DoneT]], name: Callable[[OrderT], Sequence[Any]]
    ) -> None:
        self._path = path
        self._name = name
        self._lines = lines
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            there = text_named(path) if path.exists() else ""
            made = there.splitlines(keepends=True)
            if there and not there.endswith("\n"):  # a killed process left it unfinished
                write_whole(path, "".join(made[:-1]))
        except (OSError, UnicodeDecodeError) as error:
            raise RequestError(f"{path.parent}: cannot keep what is found: {trouble(error)}") from None
        self._made = dict(read for line in made if (read := self._read(line)) is not None)

    def find(self, order: OrderT) -> DoneT | None:
        """The stored result of an order, if there is one."""
        return self._made.get(self._digest(order))

    def keep(self, order: OrderT, done: DoneT) -> None:
        line = self._lines.dump_json((self._digest(order), done)).decode()
        with naming(self._path), self._path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    def _digest(self, order: OrderT) -> str:
        return hashlib.sha256(json.dumps(self._name(order)).encode()).hexdigest()[:32]

    def _read(self, line: str) -> tuple[str, DoneT] | None:
        """The content of a line. None if it is incomplete, or from another version."""
        try:
            return self._lines.validate_json(line)
        except ValidationError:
            return None


async def all_done(
    orders: Sequence[OrderT],
    job: Job[OrderT, DoneT],
    pool: PoolSettings,
    kept: KeptResults[OrderT, DoneT] | None,
    on_done: Callable[[OrderT], None],
) -> list[DoneT]:
    """The results of orders: those that were kept, and the others by processes. `on_done` hears of the others."""
    seen = [kept.find(order) if kept is not None else None for order in orders]
    left = [place for place, one in enumerate(seen) if one is None]
    async with process_pool(job, pool, most=max(1, len(left))) as do:

        async def one(place: int) -> None:
            seen[place] = done = await do(orders[place])
            if kept is not None:
                kept.keep(orders[place], done)
            on_done(orders[place])

        await gather_all(one(place) for place in left)
    return [one for one in seen if one is not None]
