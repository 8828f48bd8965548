"""A scenario: a start state, a task, the checkpoints that judge it, and a reference solution."""

from collections import Counter
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from servers.answer.fact import MOST_FACTS
from servers.bundle.description import Provenance
from servers.errors import NotFound
from servers.records import Clock, Name, Record
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.checkpoints.kinds import Checkpoint
from servers.scenario.checkpoints.official import OfficialCheckpoint
from servers.scenario.difficulty import RATINGS, Difficulty, Rating


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


Weakness = Literal[
    "first match",
    "ignores conditions",
    "takes all",
    "letter of names",
    "off by one",
    "one rule only",
    "old figures",
    "stops when refused",
]
"""What an agent may lack for a task, as its weak run shows."""


class WeakRun(Record):
    """What a weak agent would do in place of the solution. A scenario with such a run claims that it fails."""

    weakness: Weakness
    calls: tuple[PlannedCall, ...]
    answer: str


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
    second: str = ""
    """The digest of the second environment, of a scenario over two."""
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


class UpstreamUser(Record):
    """The user of a benchmark's task, in the benchmark's own words."""

    instructions: str = ""
    """What the model that plays the user is told. Empty if no model plays: then `greeting` is every answer."""
    greeting: str
    """What the user hears first."""
    stop: str
    """The words that end the conversation, wherever they stand in a message."""
    role: Literal["assistant", "system"] = "assistant"
    """The role of the user's own messages in what its model reads."""


class SecondEnvironment(Record):
    """The second environment of a scenario over two: its start, and the checkpoints that judge its state."""

    environment: Name
    setup: str = ""
    clock: Clock | None = None
    checkpoints: tuple[Checkpoint, ...] = Field(min_length=1)


class Scenario(Record):
    """A start state of an environment, with a task that can be judged."""

    id: Name
    title: str = Field(min_length=1)
    task: str = Field(min_length=1)
    persona: str | None = None
    setup: str = ""
    clock: Clock | None = None
    turns: tuple[str, ...] = ()
    """The user's messages of a task with fixed turns. Whoever plays it marks each through the control door."""
    user: UpstreamUser | None = None
    """The user of a benchmark's task that is a conversation."""
    tools: dict[str, int] | None = None
    """The tools that it has, each with the turn (from 0) from which the agent sees it, or -1 for never. None: all."""
    tags: tuple[str, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = Field(min_length=1)
    probes: tuple[Checkpoint, ...] = ()
    """Questions of the role `probe`, which never change the reward."""
    second: SecondEnvironment | None = Field(default=None, exclude_if=lambda second: second is None)
    """The second environment, if the task needs two. Calls of the solution name the tools of both."""
    weak: tuple[WeakRun, ...] = ()
    """What weak agents would do instead. Certification plays each, and none may earn reward 1."""
    solution: Solution | None = None
    """None if no solution was shown, as for an imported scenario: the task may be impossible."""
    witness: Solution | None = None
    """Calls that earn reward 1, found by a search that knew the checks. They show that the task can be done, and are no
    demonstration: nothing trains on them."""
    played: PlayRecord | None = None
    provenance: Provenance | None = None
    certificate: Certificate | None = None

    @property
    def is_of_benchmark(self) -> bool:
        """True if a public benchmark's own checker judges it. Such a scenario is not for training."""
        return any(isinstance(one, OfficialCheckpoint) for one in self.checkpoints)

    def reference(self) -> Solution:
        """The reference solution.

        Raises:
            NotFound: there is none.
        """
        if self.solution is None:
            raise NotFound(f"scenario {self.id!r} has no reference solution; nobody has shown that it can be done")
        return self.solution

    @property
    def level(self) -> int | None:
        """How hard it is, from 1 to 5. None if no weak agent played it."""
        return self.certificate.difficulty.level if self.certificate else None

    @property
    def questions(self) -> tuple[Checkpoint, ...]:
        """Its checkpoints and its probes, without those of a second environment."""
        return (*self.checkpoints, *self.probes)

    @property
    def judged_by(self) -> tuple[Checkpoint, ...]:
        """The checkpoints of all its environments."""
        return (*self.checkpoints, *(self.second.checkpoints if self.second else ()))

    @field_validator("probes")
    @classmethod
    def only_probes(cls, probes: tuple[Checkpoint, ...]) -> tuple[Checkpoint, ...]:
        others = [one.id for one in probes if one.role != "probe"]
        if others:
            raise ValueError(f"{others[0]}: its role is not probe; what earns something stands in checkpoints")
        return probes

    @model_validator(mode="after")
    def _probes_have_ids_of_their_own(self) -> Self:
        ids = Counter(one.id for one in (*self.judged_by, *self.probes))
        twice = sorted(name for name, count in ids.items() if count > 1)
        if twice:
            raise ValueError(f"a probe and another question named {', '.join(twice)}")
        return self

    @model_validator(mode="after")
    def _two_environments_fit(self) -> Self:
        if self.second is None:
            return self
        if self.turns or self.user or self.tools is not None:
            raise ValueError("second: a benchmark's task has one environment")
        if self.weak:
            raise ValueError("second: weak runs over two environments cannot be played")
        if any(isinstance(one, AnswerCheckpoint | OfficialCheckpoint) for one in self.second.checkpoints):
            raise ValueError("second: what must be told is judged in checkpoints, whichever environment shows it")
        if any(one.role == "probe" for one in self.second.checkpoints):
            raise ValueError("second: a probe earns nothing, and stands in probes")
        if not any(one.role == "goal" for one in self.second.checkpoints):
            raise ValueError("second: no goal among its checkpoints; a task for one environment needs no second")
        return self

    @field_validator("checkpoints")
    @classmethod
    def a_goal_and_distinct_ids(cls, checkpoints: tuple[Checkpoint, ...]) -> tuple[Checkpoint, ...]:
        ids = Counter(checkpoint.id for checkpoint in checkpoints)
        twice = sorted(name for name, count in ids.items() if count > 1)
        if twice:
            raise ValueError(f"two checkpoints named {', '.join(twice)}")
        probes = [checkpoint.id for checkpoint in checkpoints if checkpoint.role == "probe"]
        if probes:
            raise ValueError(f"{probes[0]}: a probe earns nothing; it stands in probes")
        if not any(checkpoint.role == "goal" for checkpoint in checkpoints):
            raise ValueError("no goal among the checkpoints; a task without a goal cannot be earned")
        facts = sum(len(one.facts) for one in checkpoints if isinstance(one, AnswerCheckpoint))
        if facts > MOST_FACTS:
            raise ValueError(f"the answer checkpoints ask for {facts} facts; {MOST_FACTS} are possible")
        return checkpoints


def rating_of(scenario: Scenario) -> Rating | None:
    """The difficulty of a scenario. None without a tag and a certificate."""
    for tag in scenario.tags:
        if tag in RATINGS:
            return tag
    return scenario.certificate.difficulty.rating if scenario.certificate else None
