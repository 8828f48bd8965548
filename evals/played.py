"""What a run of a suite leaves on disk: what was run, the scenarios it was run on, and a line for each rollout."""

from pydantic import Field

from evals.rollout import Rollout
from evals.suite import Suite
from registry.wire import ScenarioDetail
from servers.record import Record


class Header(Record):
    """`run.json`: what was run."""

    version: str
    began: float
    suite: Suite
    suite_digest: str
    agent_digest: str
    scenarios: int
    rollouts: int


class Played(Record):
    """A line of `rollouts.jsonl`: attempt `attempt` (from 0) at a scenario.

    `broken` says what broke on our side in earlier tries of it; each try had an instance of its own.
    """

    attempt: int
    agent: str
    suite_digest: str
    agent_digest: str
    broken: tuple[str, ...] = ()
    rollout: Rollout

    @property
    def key(self) -> str:
        return key(self.rollout.environment, self.rollout.scenario, self.attempt)


class Subject(Record):
    """A line of `scenarios.jsonl`: a scenario as it was when the run began, and the reference solution played there."""

    detail: ScenarioDetail
    writers: tuple[str, ...] = Field(description="The environment's tools that write.")
    reference: Rollout | None

    @property
    def name(self) -> str:
        return f"{self.detail.environment}/{self.detail.scenario.id}"


def key(environment: str, scenario: str, attempt: int) -> str:
    """What names a rollout within a run."""
    return f"{environment}/{scenario}#{attempt}"
