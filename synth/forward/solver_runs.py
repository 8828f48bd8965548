"""The stored runs of a solver at one scenario: nobody plays twice."""

from contextlib import suppress
from dataclasses import dataclass

from pydantic import ValidationError

from agent_client.trace import Trace
from evals.rollout import Rollout
from servers.files.named_file import bytes_named
from servers.records import Record
from synth.forward.transcript import missed
from synth.pipeline.stage import Artefacts


class SolverRun(Record):
    """One run of the solver. The whole of it is in `file`."""

    passed: bool
    reward: float
    outcome: str
    calls: int
    missed: tuple[str, ...]
    file: str


@dataclass(frozen=True)
class Runs:
    """The runs of one task, in the scenario's folder."""

    made: Artefacts
    key: str

    def name(self, seed: int) -> str:
        """The file of one run."""
        return f"runs/{self.key}-{seed}.json"

    def keep(self, seed: int, rollout: Rollout) -> None:
        """Write a run as soon as it has ended. One that broke on our side is repeated."""
        if rollout.outcome != "infra_error":
            self.made.write(self.name(seed), rollout.model_dump_json(indent=1) + "\n")

    def kept(self, attempts: int) -> dict[int, Trace]:
        """The stored runs by seed. An incomplete file is played again."""
        found: dict[int, Trace] = {}
        for seed in range(attempts):
            with suppress(OSError, ValidationError):
                text = bytes_named(self.made.folder / self.name(seed))
                trace = Rollout.model_validate_json(text).trace
                if trace is not None:
                    found[seed] = trace
        return found


def has_passed(rollout: Rollout) -> bool:
    """True if a run earned reward 1."""
    return rollout.outcome == "scored" and rollout.success is True


def attempt_of(rollout: Rollout, file: str) -> SolverRun:
    """The summary of a run beside its file."""
    return SolverRun(
        passed=has_passed(rollout),
        reward=rollout.reward or 0.0,
        outcome=rollout.outcome,
        calls=rollout.trace.calls if rollout.trace else 0,
        missed=missed(rollout),
        file=file,
    )
