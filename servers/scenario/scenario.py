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
    """One call of a reference solution; its strings may refer to earlier results as `${2.loans[0].loan_id}`.

    `free` names the arguments whose value the task leaves to the agent.
    """

    tool: str
    arguments: dict[str, Any] = {}
    free: tuple[str, ...] = ()


class Solution(Record):
    """A way to do the task that earns everything."""

    calls: tuple[PlannedCall, ...]
    answer: str


class Survivor(Record):
    """A wrong run or a wrong final state that the checkpoints let pass, and why they may."""

    mutant: str
    why: str


class Difficulty(Record):
    """How long a reference solution is, what it uses, and which tables it changes."""

    calls: int
    tools: tuple[str, ...]
    tables: tuple[str, ...]
    pass_rate: float | None = None


class Paraphrased(Record):
    """How many right and wrong answers in other words were tried, and the texts that the judge took for the contrary.

    `refused` are right ones that earned less than everything, `passed` wrong ones that earned it.
    """

    right: int = Field(default=0, ge=0)
    wrong: int = Field(default=0, ge=0)
    refused: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()


class Certificate(Record):
    """What was shown, by running it, about a scenario. Computed, never typed; `digest` says of what.

    `killed` of `mutants` wrong runs and states fail, and all `variants` of the reference pass.
    """

    digest: str
    mutants: int = Field(ge=0)
    killed: int = Field(ge=0)
    survivors: tuple[Survivor, ...] = ()
    variants: int = Field(ge=0)
    told: dict[str, str] = {}
    """For each value that the task tells and a call passes on, as `2.reason`, the checkpoint that holds it."""
    company: dict[str, float] = {}
    """What each wrong agent earned at most. One that could do nothing wrong here is not among them."""
    paraphrases: Paraphrased | None = None
    """None where no answer is judged."""
    judge: int = 1
    """The version of the judge of answers with which it was made."""
    difficulty: Difficulty

    @property
    def leak(self) -> float:
        """What the wrong agents earned together."""
        return round(sum(self.company.values()), 6)

    @property
    def kill_score(self) -> float:
        """The share of the mutants that fail."""
        return self.killed / self.mutants if self.mutants else 0.0


class PlayRecord(Record):
    """How often a model has tried a scenario, and how often it earned everything."""

    model: str
    attempts: int = Field(ge=1)
    passed: int = Field(ge=0)

    @property
    def pass_rate(self) -> float:
        """The share of the attempts that passed."""
        return self.passed / self.attempts


class Scenario(Record):
    """An environment at a start state, with a task that can be judged."""

    id: Name
    title: str = Field(min_length=1)
    task: str = Field(min_length=1)
    persona: str | None = None
    setup: str = ""
    clock: Clock | None = None
    tags: tuple[str, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = Field(min_length=1)
    solution: Solution | None = None
    """None where nobody has shown one, as for an imported scenario: then it may be out of reach."""
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
