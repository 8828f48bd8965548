"""One environment in the making: from its first missing artefact to the end."""

import inspect
import json
import shutil
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ValidationError

from servers.files.atomic_write import write_whole
from servers.files.named_file import bytes_named
from servers.records import Record
from synth.llm.writer import PromptTooLong, UnknownPrompt, Waiting, Writer, WriterRefused, WriterUnreachable
from synth.pipeline.artefact import Artefact, Topic, digest_of_file, write_artefact
from synth.pipeline.artefact_chain import ArtefactChain, Back
from synth.pipeline.asker import Asker, Rejected, WriterExchange
from synth.pipeline.progress import RunProgress
from synth.pipeline.stage import (
    PLAIN,
    Artefacts,
    GoBack,
    Stage,
    Wishes,
)

RunState = Literal["accepted", "rejected", "waiting", "stopped", "failed"]
"""The state of an environment after a run. The last three continue in the next run."""


class EnvironmentEnd(NamedTuple):
    """The state of an environment, and the reason for it."""

    state: RunState
    why: str = ""


class Rejection(Record):
    """Why an environment was given up, and the exchanges of that stage."""

    stage: str
    reasons: tuple[str, ...]
    exchanges: tuple[WriterExchange, ...]


def rejection_of(folder: Path) -> Rejection | None:
    """Why an environment was given up, if it was. An incomplete file counts as missing."""
    try:
        return Rejection.model_validate_json(bytes_named(folder / "rejected.json"))
    except (OSError, ValidationError):
        return None


async def _given(_made: Artefacts, _asker: Asker) -> Record:
    raise LookupError("the topic is gone: begin the environment again")


TOPIC = Stage("topic", Topic, make=_given, needs_model=False)


def utc_now() -> datetime:
    """The time for artefacts."""
    return datetime.now(UTC)


@dataclass
class EnvironmentRun:
    """One environment of a run. `now` is the clock for its artefacts."""

    id: str
    folder: Path
    stages: Sequence[Stage]
    writer: Writer
    wishes: Wishes = PLAIN
    now: Callable[[], datetime] = utc_now
    progress: RunProgress = field(default_factory=RunProgress)
    _values: dict[str, Record] = field(default_factory=dict[str, Record])

    @property
    def line(self) -> ArtefactChain:
        """Its artefacts."""
        return ArtefactChain(self.folder, (TOPIC, *self.stages))

    @property
    def rejection(self) -> Rejection | None:
        """Why it was given up before."""
        return rejection_of(self.folder)

    def begin(self, topic: Topic) -> None:
        """Write the first artefact, unless it is there."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self.line.standing():
            self._keep(0, topic, [], [], [])

    async def advance(self) -> EnvironmentEnd:
        """Make the missing artefacts, one stage after another.

        Raises WriterRefused or UnknownPrompt, as every environment would have that error.
        """
        rejection = self.rejection
        if rejection is not None:
            return EnvironmentEnd("rejected", f"{rejection.stage}: {'; '.join(rejection.reasons)}")
        try:
            standing = self.line.standing()
            while len(standing) < len(self.line.stages):
                end = await self._step(standing)
                if end is not None:
                    return end
        except Waiting as waiting:
            return EnvironmentEnd("waiting", str(waiting))
        except WriterUnreachable as error:
            return EnvironmentEnd("stopped", str(error).removeprefix(f"{self.id}/"))
        except (WriterRefused, UnknownPrompt):
            raise
        except Exception as error:
            write_whole(self.folder / "failed.txt", traceback.format_exc())
            return EnvironmentEnd("failed", f"{type(error).__name__}: {error}")
        (self.folder / "failed.txt").unlink(missing_ok=True)
        return EnvironmentEnd("accepted")

    async def _step(self, standing: list[Artefact]) -> EnvironmentEnd | None:
        """Make one more artefact, or step back for a repair. This updates `standing`."""
        number = len(standing)
        stage = self.line.stages[number]
        self.progress.stage(self.id, stage.name)
        asker = Asker(
            self.writer,
            environment=self.id,
            stage=stage.name,
            on_exchange=lambda exchange: self.progress.exchange(self.id, exchange),
        )
        made = self._made(number, standing)
        try:
            value = await stage.make(made, asker)
        except GoBack as back:
            turns = made.sent.count(back.to)
            if turns >= stage.backs:
                return self._reject(stage.name, back.evidence, asker.exchanges)
            note = Back(
                by=stage.name,
                to=back.to,
                evidence=back.evidence,
                exchanges=tuple(asker.exchanges),
                seen=back.seen.model_dump(mode="json") if back.seen else None,
            )
            self.line.send_back(note)
            standing[:] = self.line.standing()
            return None
        except Rejected as rejected:
            return self._reject(stage.name, rejected.reasons, asker.exchanges)
        except PromptTooLong as error:
            return self._reject(stage.name, [str(error)], asker.exchanges)
        standing.append(self._keep(number, value, asker.exchanges, made.written, standing))
        return None

    def _made(self, number: int, standing: list[Artefact]) -> Artefacts:
        line = self.line
        stages, backs = line.stages, line.backs()
        return Artefacts(
            environment=self.id,
            folder=self.folder,
            date=standing[0].made_at[:10] if standing else "",
            wishes=self.wishes,
            evidence=line.evidence(stages[number], backs),
            before=line.before(stages[number]) if backs else None,
            seen=line.seen(stages[number], backs),
            sent=tuple(back.to for back in backs if back.by == stages[number].name),
            artefacts={
                stage.kind: self._value(stage, artefact) for stage, artefact in zip(stages, standing, strict=False)
            },
        )

    def _value(self, stage: Stage, artefact: Artefact) -> Record:
        """The value of an artefact, read once for all later stages."""
        found = self._values.get(artefact.digest)
        if found is None:
            found = self._values[artefact.digest] = stage.kind.model_validate(artefact.value)
        return found

    def _keep(
        self,
        number: int,
        value: Record,
        exchanges: Sequence[WriterExchange],
        files: Sequence[str],
        standing: Sequence[Artefact],
    ) -> Artefact:
        stage = self.line.stages[number]
        artefact = Artefact(
            stage=stage.name,
            version=stage.version,
            code=digest_of_file(Path(inspect.getsourcefile(stage.make) or "")),
            environment=self.id,
            made_at=self.now().isoformat(timespec="seconds"),
            models=tuple(sorted({exchange.model for exchange in exchanges if exchange.model})),
            exchanges=tuple(exchanges),
            files={name: digest_of_file(self.folder / name) for name in files},
            after=standing[-1].link if standing else "",
            turn=sum(back.to == stage.name for back in self.line.backs()),
            value=value.model_dump(mode="json"),
        )
        return write_artefact(self.line.path(number), artefact)

    def _reject(self, stage: str, reasons: Sequence[str], exchanges: Sequence[WriterExchange]) -> EnvironmentEnd:
        rejection = Rejection(stage=stage, reasons=tuple(reasons), exchanges=tuple(exchanges))
        text = json.dumps(rejection.model_dump(mode="json"), ensure_ascii=False, indent=1)
        write_whole(self.folder / "rejected.json", text)
        return EnvironmentEnd("rejected", f"{stage}: {'; '.join(reasons)}")

    def publish(self, library: Path) -> None:
        """Copy the finished bundle into a library, atomically."""
        bundle, there = self.folder / "bundle" / self.id, library / self.id
        if not bundle.is_dir() or there.exists():
            return
        part = library / f".{self.id}.part"
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(bundle, part)
        part.rename(there)
