"""One environment in the making: its folder, and the way from its first missing artefact to the end."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from servers.record import Record
from synth.run.artefact import Artefact, digest_of_file, read_artefact, write_artefact
from synth.run.asker import Asker, Exchange, Rejected
from synth.run.stage import PLAIN, GoBack, Made, Stage, Wishes, write_whole
from synth.run.topic import Topic
from synth.writers.writer import Waiting, Writer

End = Literal["accepted", "rejected", "waiting"]
TOPIC = Stage("topic", Topic, make=lambda made, asker: _given(), needs_model=False)


async def _given() -> Record:
    raise NotImplementedError("the topic is written when an environment is begun")


@dataclass
class Environment:
    """One environment of a run. `now` is the clock; what it says goes into the artefacts alone."""

    id: str
    folder: Path
    stages: Sequence[Stage]
    writer: Writer
    wishes: Wishes = PLAIN
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    on_exchange: Callable[[str, str, Exchange], None] | None = None
    artefacts: dict[type[Record], Record] = field(default_factory=dict[type[Record], Record])

    def begin(self, topic: Topic) -> None:
        """Write the first artefact, unless it is there."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if read_artefact(self._path(0, "topic")) is None:
            self._keep(0, TOPIC, topic, [], [])

    async def advance(self) -> End:
        """Make what is missing, one stage after another."""
        number, evidence = 0, ()
        line = [TOPIC, *self.stages]
        backs = dict.fromkeys((stage.name for stage in line), 0)
        while number < len(line):
            stage = line[number]
            found = self._found(number, stage)
            if found is None or evidence:
                try:
                    await self._make(number, stage, evidence)
                except Waiting:
                    return "waiting"
                except Rejected as rejected:
                    self._reject(stage.name, rejected.reasons)
                    return "rejected"
                except GoBack as back:
                    backs[stage.name] += 1
                    if backs[stage.name] > stage.backs:
                        self._reject(stage.name, back.evidence)
                        return "rejected"
                    number = next(at for at, one in enumerate(line) if one.name == back.to)
                    evidence = back.evidence
                    continue
            else:
                self.artefacts[stage.kind] = found
            evidence = ()
            number += 1
        return "accepted"

    async def _make(self, number: int, stage: Stage, evidence: tuple[str, ...]) -> None:
        asker = Asker(self.writer, environment=self.id, stage=stage.name, on_exchange=self._tell(stage.name))
        made = Made(self.id, self.folder, self._date(), self.wishes, evidence, self.artefacts)
        value = await stage.make(made, asker)
        self.artefacts[stage.kind] = value
        self._keep(number, stage, value, asker.exchanges, made.written)

    def _found(self, number: int, stage: Stage) -> Record | None:
        artefact = read_artefact(self._path(number, stage.name))
        try:
            return None if artefact is None else stage.kind.model_validate(artefact.value)
        except ValidationError:
            return None

    def _keep(self, number: int, stage: Stage, value: Record, exchanges: Sequence[Exchange], files: list[str]) -> None:
        artefact = Artefact(
            stage=stage.name,
            version=stage.version,
            environment=self.id,
            made_at=self.now().isoformat(timespec="seconds"),
            models=tuple(sorted({exchange.model for exchange in exchanges if exchange.model})),
            exchanges=tuple(exchanges),
            files={name: digest_of_file(self.folder / name) for name in files},
            value=value.model_dump(mode="json"),
        )
        write_artefact(self._path(number, stage.name), artefact)

    def _date(self) -> str:
        first = read_artefact(self._path(0, "topic"))
        return (first.made_at if first else self.now().isoformat())[:10]

    def _reject(self, stage: str, reasons: Sequence[str]) -> None:
        write_whole(self.folder / "rejected.json", json.dumps({"stage": stage, "reasons": list(reasons)}, indent=1))

    def _tell(self, stage: str) -> Callable[[Exchange], None] | None:
        tell = self.on_exchange
        return None if tell is None else lambda exchange: tell(self.id, stage, exchange)

    def _path(self, number: int, name: str) -> Path:
        return self.folder / f"{number:02}-{name}.json"
