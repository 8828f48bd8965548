"""The synthesis run: topics become environments, which advance concurrently at their own pace."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from servers.text.wording import counted
from synth.llm.endpoint import Embedder
from synth.llm.writer import Writer, WriterRefused, digest_of
from synth.pipeline.artefact import Topic, digest_of_file
from synth.pipeline.asker import Asker, WriterExchange
from synth.pipeline.environment_run import EnvironmentEnd, EnvironmentRun, utc_now
from synth.pipeline.folder import SynthesisFolder
from synth.pipeline.progress import RunProgress
from synth.pipeline.stage import PLAIN, Stage, Wishes

MINING = "(mining)"
APART = 0.015
"""Seconds between the first requests of two environments.

Environments that begin together stay synchronized, and wait for each other at every step: that made a run with answers
of one second a third longer.
"""


class Mining(Protocol):
    """Mining: from a file of task texts to at most `n` topics. `folder` gets reports and maps.

    `asker(label)` returns an Asker, with a label such as `mine/000017`. A resumed run calls it again, and the cache
    answers. `embedder`, if given, measures similarity.
    """

    async def __call__(
        self, tasks: Path, n: int, folder: Path, asker: Callable[[str], Asker], embedder: Embedder | None = None
    ) -> Sequence[Topic]:
        """Mine and choose."""
        ...


class Advanced(NamedTuple):
    """The result of another process for an environment. `refused` is an error that every environment will have."""

    end: EnvironmentEnd | None
    refused: str
    exchanges: tuple[WriterExchange, ...]


Elsewhere = Callable[[str], Awaitable[Advanced]]
"""A function that advances an environment, by id, in another process."""


@dataclass
class SynthesisRun:
    """All environments of a folder. After any interruption, another run on the folder continues."""

    folder: SynthesisFolder
    stages: Sequence[Stage]
    writer: Writer
    wishes: Wishes = PLAIN
    at_once: int = 64
    progress: RunProgress = field(default_factory=RunProgress)
    now: Callable[[], datetime] = utc_now
    elsewhere: Elsewhere | None = None

    async def mine(self, mining: Mining, tasks: Path, n: int, embedder: Embedder | None = None) -> Sequence[Topic]:
        """The topics of a file of tasks. Those of an earlier run with the same request are reused."""
        about = {"tasks": digest_of_file(tasks) or str(tasks), "n": n}
        asked = digest_of(about if embedder is None else {**about, "embeddings": embedder.model})
        found = self.folder.mined(asked)
        if found is None:
            self.progress.stage(MINING, tasks.name)
            found = tuple(await mining(tasks, n, self.folder.path / "mining", self._mining_asker, embedder))
            self.folder.keep_mined(asked, found)
            self.progress.end(MINING, "mined", counted(len(found), "topic"))
        return found

    def _mining_asker(self, label: str) -> Asker:
        step, _, task = label.partition("/")
        return Asker(
            self.writer,
            environment=step,
            stage=task,
            on_exchange=lambda exchange: self.progress.exchange(MINING, exchange),
        )

    async def make(self, topics: Sequence[Topic], *, again: bool = False) -> None:
        """Advance every environment as far as possible. `again` gives rejected ones another chance.

        Raises the first WriterRefused or UnknownPrompt, after the others have stopped.
        """
        room = asyncio.Semaphore(self.at_once)  # protects memory and guests: so many environments at once
        tasks: list[asyncio.Task[None]] = []
        try:
            for environment in self._environments(topics, again=again):
                tasks.append(asyncio.create_task(self._one(environment, room)))
                await asyncio.sleep(APART)
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _environments(self, topics: Sequence[Topic], *, again: bool) -> list[EnvironmentRun]:
        found: list[EnvironmentRun] = []
        for name, topic in self.folder.ids(topics).items():
            environment = self.environment(name)
            environment.begin(topic)
            if again:
                (environment.folder / "rejected.json").unlink(missing_ok=True)
            self.progress.stage(name, "")
            found.append(environment)
        return found

    def environment(self, name: str) -> EnvironmentRun:
        """One environment of this run."""
        return EnvironmentRun(
            id=name,
            folder=self.folder.environments / name,
            stages=self.stages,
            writer=self.writer,
            wishes=self.wishes,
            now=self.now,
            progress=self.progress,
        )

    async def _one(self, environment: EnvironmentRun, room: asyncio.Semaphore) -> None:
        async with room:
            end = await self._advanced(environment)
        if end.state == "accepted":
            environment.publish(self.folder.library)
        self.progress.end(environment.id, end.state, end.why)

    async def _advanced(self, environment: EnvironmentRun) -> EnvironmentEnd:
        if self.elsewhere is None:
            return await environment.advance()
        self.progress.stage(environment.id, "another process")
        done = await self.elsewhere(environment.id)
        for exchange in done.exchanges:
            self.progress.exchange(environment.id, exchange)
        if done.end is None:
            raise WriterRefused(done.refused)
        return done.end
