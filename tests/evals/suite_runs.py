"""Runs for tests: suites of a small bundle, played on a farm, and watched."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_client.model import Model
from agent_client.person import Person
from evals.episode import OwnAgent
from evals.runs.folder import RunFolder
from evals.runs.players import Players
from evals.runs.records import RolloutRecord, Subject
from evals.runs.suite import ScriptedAgent, Suite
from evals.runs.suite_run import Evaluation
from registry.client import FarmClient
from registry.farm import private
from tests.bundles import SOUND_SCENARIO, write_bundle

WRONG_CHECK = {**SOUND_SCENARIO["checkpoints"][0], "id": "never", "sql": "SELECT 0"}
SCENARIOS: list[dict[str, Any]] = [
    {**SOUND_SCENARIO, "id": "easy", "tags": ["easy"]},
    {**SOUND_SCENARIO, "id": "half", "checkpoints": [SOUND_SCENARIO["checkpoints"][0], WRONG_CHECK]},
]


def suite(**changes: Any) -> Suite:
    told: dict[str, Any] = {"name": "test", "agent": {"kind": "gold"}, "run": {"concurrency": 2}, **changes}
    return Suite.model_validate(told)


@asynccontextmanager
async def shop(folder: Path) -> AsyncGenerator[FarmClient]:
    """A farm with the small bundle, which is written into a folder."""
    await write_bundle(folder / "shop", scenarios=SCENARIOS)
    async with private((folder,)) as address, FarmClient(address.url, address.token) as farm:
        yield farm


@dataclass
class Seen:
    """A watcher that keeps what it was told."""

    played: list[str] = field(default_factory=list[str])
    kept: list[str] = field(default_factory=list[str])
    prepared: int = 0

    def preparing(self, done: int, of: int) -> None:
        self.prepared = done

    def planned(self, subjects: Sequence[Subject], attempts: int) -> None: ...

    def began(self, environment: str) -> None: ...

    def ended(self, played: RolloutRecord, *, now: bool) -> None:
        (self.played if now else self.kept).append(played.key)


@dataclass(frozen=True)
class OnePlayer(Players):
    """Players whose agent is a model of the test's, the same everywhere."""

    agent: ScriptedAgent = field(default=ScriptedAgent(kind="idle"))
    model: Callable[[], Model] | None = None

    def agent_at(self, subject: Subject) -> Model | OwnAgent:
        return self.model() if self.model is not None else super().agent_at(subject)

    def person_at(self, subject: Subject) -> Person | None:
        return None


async def evaluated(
    farm: FarmClient,
    folder: Path,
    told: Suite,
    *,
    model: Callable[[], Model] | None = None,
    sleep: Callable[[float], Awaitable[None]] | None = None,
) -> Seen:
    """Play a suite into a folder."""
    run = RunFolder(folder)
    seen = Seen()
    assert isinstance(told.agent, ScriptedAgent)
    players = OnePlayer(agent=told.agent, model=model)
    evaluation = Evaluation(farm, told, players, run, seen, sleep=sleep or _no_wait)
    with run.writing():
        await evaluation.run()
    return seen


async def _no_wait(_: float) -> None:
    return
