"""The models that play instances for a page: each in a process of its own, which a person can end to take over."""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from pydantic import Field

from servers.errors import CapacityError, Conflict
from servers.records import EndpointUrl, Record
from servers.text.json_values import is_object

MOST_PLAYS = 16
"""The most models that play at a time."""
MOST_SAID = 100
"""Things that a model says which are remembered."""
LONGEST_LINE = 64 * 1024


class ModelOrder(Record):
    """Who plays what: the instance's door, the task, and the model behind its endpoint."""

    parent: int
    url: str
    token: str
    task: str
    persona: str | None = None
    base_url: EndpointUrl
    model: str = Field(min_length=1, max_length=200)
    api_key: str = "none"
    turns: int = Field(default=40, ge=1, le=200)


@dataclass
class ModelPlay:
    """One model at one instance."""

    model: str
    process: asyncio.subprocess.Process | None = None
    said: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    answer: str = ""
    error: str = ""
    over: bool = False


class ModelPlays:
    """The models of one farm, by instance. `changed` is called with the instance whenever one has said something."""

    def __init__(self, changed: Callable[[str], None]) -> None:
        self._changed = changed
        self._plays: dict[str, ModelPlay] = {}
        self._following: set[asyncio.Task[None]] = set()

    def of(self, instance: str) -> ModelPlay | None:
        return self._plays.get(instance)

    async def begin(self, instance: str, order: ModelOrder) -> None:
        """Let a model play an instance.

        Raises:
            Conflict: a model plays it already.
            CapacityError: too many models play.
        """
        kept = self._plays.get(instance)
        if kept is not None and not kept.over:
            raise Conflict(f"{kept.model} plays this instance already; take over first")
        if sum(not one.over for one in self._plays.values()) >= MOST_PLAYS:
            raise CapacityError(f"{MOST_PLAYS} models play already; take over from one first")
        play = self._plays[instance] = ModelPlay(order.model)
        play.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "registry.web.pages.model_process"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            limit=LONGEST_LINE,
        )
        told = order.model_copy(update={"parent": os.getpid()}).model_dump_json().encode()
        task = asyncio.create_task(self._follow(instance, play, told))
        self._following.add(task)
        task.add_done_callback(self._following.discard)

    async def end(self, instance: str) -> None:
        """End a model's play. A call that is under way is still answered."""
        play = self._plays.get(instance)
        if play is not None and not play.over:
            play.over = True
            play.error = play.error or "A person took over."
            if play.process is not None:
                with suppress(ProcessLookupError):
                    play.process.terminate()

    async def end_all(self) -> None:
        """End all plays, and wait for their processes."""
        for instance in list(self._plays):
            await self.end(instance)
        await asyncio.gather(*self._following, return_exceptions=True)

    async def _follow(self, instance: str, play: ModelPlay, order: bytes) -> None:
        process = play.process
        if process is None or process.stdin is None or process.stdout is None:
            return
        with suppress(ConnectionError):
            process.stdin.write(order)
            process.stdin.close()
        with suppress(ValueError):  # a line that is too long
            async for line in process.stdout:
                self._read(play, line)
                self._changed(instance)
        code = await process.wait()
        if not play.over and not play.answer and not play.error:
            play.error = f"The process of the model ended with code {code}."
        play.over = True
        self._changed(instance)

    def _read(self, play: ModelPlay, line: bytes) -> None:
        told = json.loads(line)
        kind, text = (str(told.get("kind")), str(told.get("text"))) if is_object(told) else ("", "")
        if kind == "ended":
            play.answer = text
        elif kind == "broke":
            play.error = text
        elif len(play.said) < MOST_SAID:
            play.said.append((kind, text))
