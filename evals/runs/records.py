"""The records of a run on disk: its header, its scenarios, and a line for each rollout."""

import time
from collections.abc import Sequence
from typing import Self

from pydantic import Field

from evals.rollout import Rollout
from evals.runs.suite import Suite
from registry.messages import ScenarioDetail
from servers.joining.messages import VERSION
from servers.records import Record


class Header(Record):
    """`run.json`: the suite and its digests."""

    version: str
    began: float
    suite: Suite
    suite_digest: str
    agent_digest: str
    scenarios: int
    rollouts: int
    left_out: tuple[str, ...] = ()
    """The scenarios whose reference solutions do not earn reward 1 under the suite's perturbation."""

    @classmethod
    def of(cls, suite: Suite, scenarios: int, left_out: Sequence[str] = ()) -> Self:
        """The header of a new run."""
        return cls(
            version=VERSION,
            began=time.time(),
            suite=suite,
            suite_digest=suite.digest,
            agent_digest=suite.agent_digest,
            scenarios=scenarios,
            rollouts=scenarios * suite.run.attempts,
            left_out=tuple(left_out),
        )


class RolloutRecord(Record):
    """A line of `rollouts.jsonl`: attempt `attempt` (from 0) at a scenario.

    `broken` has the errors of earlier tries. Each try had an instance of its own.
    """

    attempt: int
    agent: str
    suite_digest: str
    agent_digest: str
    broken: tuple[str, ...] = ()
    rollout: Rollout

    @classmethod
    def of(cls, suite: Suite, attempt: int, rollout: Rollout, broken: Sequence[str] = ()) -> Self:
        """The line of a finished attempt."""
        return cls(
            attempt=attempt,
            agent=suite.agent_name,
            suite_digest=suite.digest,
            agent_digest=suite.agent_digest,
            broken=tuple(broken),
            rollout=rollout,
        )

    @property
    def key(self) -> str:
        return key(self.rollout.environment, self.rollout.scenario, self.attempt)


class Subject(Record):
    """A line of `scenarios.jsonl`: a scenario as it was when the run began, and the reference solution played there."""

    detail: ScenarioDetail
    writers: tuple[str, ...] = Field(description="The environment's tools that write.")
    reference: Rollout | None
    source: str = Field(default="", description="Of a benchmark's: its name, version, part and checker.")

    @property
    def name(self) -> str:
        return f"{self.detail.environment}/{self.detail.scenario.id}"


def key(environment: str, scenario: str, attempt: int) -> str:
    """The name of a rollout within a run."""
    return f"{environment}/{scenario}#{attempt}"
