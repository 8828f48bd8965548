"""A scenario: a start state, a task, the checkpoints that judge it, and a reference solution."""

from collections import Counter
from typing import Any

from pydantic import Field, field_validator

from servers.answer.fact import MOST_FACTS
from servers.bundle.description import Provenance
from servers.errors import NotFound
from servers.records import Clock, Name, Record
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.checkpoints.kinds import Checkpoint


class PlannedCall(Record):
    """One call of a reference solution. Its strings may refer to earlier results as `${2.loans[0].loan_id}`.

    `free` names the arguments whose value the task leaves to the agent.
    """

    tool: str
    arguments: dict[str, Any] = {}
    free: tuple[str, ...] = ()


class Solution(Record):
    """A way to do the task that earns reward 1."""

    calls: tuple[PlannedCall, ...]
    answer: str


class Survivor(Record):
    """A mutant that passes the checkpoints, and the possible reason."""

    mutant: str
    why: str


class Difficulty(Record):
    """The length of a reference solution, its tools, and the tables that it changes."""

    calls: int
    tools: tuple[str, ...]
    tables: tuple[str, ...]
    pass_rate: float | None = None


class Paraphrased(Record):
    """The numbers of right and wrong answers in other words that were tried, and the misjudged texts.

    `refused` are right ones with a reward below 1, `passed` wrong ones with reward 1.
    """

    right: int = Field(default=0, ge=0)
    wrong: int = Field(default=0, ge=0)
    refused: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()


class Certificate(Record):
    """The results of running a scenario in many ways. It is computed, and `digest` names what it covers.

    `killed` of `mutants` fail, and all `variants` of the reference pass.
    """

    digest: str
    mutants: int = Field(ge=0)
    killed: int = Field(ge=0)
    survivors: tuple[Survivor, ...] = ()
    variants: int = Field(ge=0)
    told: dict[str, str] = {}
    """For each value that the task tells and a call uses, such as `2.reason`, the checkpoint that holds it."""
    company: dict[str, float] = {}
    """The highest reward of each wrong agent. One that could do nothing wrong here is left out."""
    paraphrases: Paraphrased | None = None
    """None if no answer is judged."""
    judge: int = 1
    """The version of the judge of answers at the time."""
    difficulty: Difficulty

    @property
    def leak(self) -> float:
        """The sum of the rewards of the wrong agents."""
        return round(sum(self.company.values()), 6)

    @property
    def kill_score(self) -> float:
        """The share of mutants that fail."""
        return self.killed / self.mutants if self.mutants else 0.0


class PlayRecord(Record):
    """The number of a model's attempts at a scenario, and of those with reward 1."""

    model: str
    attempts: int = Field(ge=1)
    passed: int = Field(ge=0)

    @property
    def pass_rate(self) -> float:
        """The share of the attempts that passed."""
        return self.passed / self.attempts


class Scenario(Record):
    """A start state of an environment, with a task that can be judged."""

    id: Name
    title: str = Field(min_length=1)
    task: str = Field(min_length=1)
    persona: str | None = None
    setup: str = ""
    clock: Clock | None = None
    tags: tuple[str, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = Field(min_length=1)
    solution: Solution | None = None
    """None if no solution was shown, as for an imported scenario: the task may be impossible."""
    played: PlayRecord | None = None
    provenance: Provenance | None = None
    certificate: Certificate | None = None

    def reference(self) -> Solution:
        """The reference solution.

        Raises:
            NotFound: there is none.
        """
        if self.solution is None:
            raise NotFound(f"scenario {self.id!r} has no reference solution; nobody has shown that it can be done")
        return self.solution

    @field_validator("checkpoints")
    @classmethod
    def a_goal_and_distinct_ids(cls, checkpoints: tuple[Checkpoint, ...]) -> tuple[Checkpoint, ...]:
        ids = Counter(checkpoint.id for checkpoint in checkpoints)
        twice = sorted(name for name, count in ids.items() if count > 1)
        if twice:
            raise ValueError(f"two checkpoints named {', '.join(twice)}")
        if not any(checkpoint.role == "goal" for checkpoint in checkpoints):
            raise ValueError("no goal among the checkpoints; a task without a goal cannot be earned")
        facts = sum(len(one.facts) for one in checkpoints if isinstance(one, AnswerCheckpoint))
        if facts > MOST_FACTS:
            raise ValueError(f"the answer checkpoints ask for {facts} facts; {MOST_FACTS} are possible")
        return checkpoints
