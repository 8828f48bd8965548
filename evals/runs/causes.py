"""The cause of a failed rollout, as one of a few words, from its record alone."""

from typing import Literal

from evals.effects import made
from evals.rollout import Rollout

Cause = Literal[
    "ran out of turns",
    "ran out of tokens",
    "ran out of time",
    "said nothing",
    "called no tool",
    "changed nothing",
    "broke a rule",
    "did a part",
    "did something else",
]
"""The causes in the order in which they are tried. The first that fits counts."""
MEANINGS: dict[Cause, str] = {
    "ran out of turns": "the limit of turns was reached",
    "ran out of tokens": "the limit of tokens, or the model's context, was reached",
    "ran out of time": "the limit of seconds was reached",
    "said nothing": "the agent twice said nothing and called nothing, or could not go on",
    "called no tool": "it answered without a single call",
    "changed nothing": "no call changed a row, although the reference solution does",
    "broke a rule": "a guard does not hold: something changed, or was said, that must not",
    "did a part": "some goals hold, not all",
    "did something else": "it changed rows, and no goal holds",
}


def cause_of(run: Rollout, *, reference_changes: bool) -> Cause | None:
    """The cause of a failure. None for a success and for an infra error."""
    if run.success is not False or run.trace is None or run.score is None:
        return None
    match run.trace.end:
        case "turn_limit":
            return "ran out of turns"
        case "token_limit":
            return "ran out of tokens"
        case "time_limit":
            return "ran out of time"
        case "agent_error":
            return "said nothing"
        case _:
            return _cause_of_state(run, reference_changes=reference_changes)


def _cause_of_state(run: Rollout, *, reference_changes: bool) -> Cause:
    verdicts = run.score.verdicts if run.score else ()
    if run.trace is not None and not any(made(run.trace)):
        return "called no tool"
    if any(verdict.role == "guard" and not verdict.holds for verdict in verdicts):
        return "broke a rule"
    if reference_changes and not changes_anything(run):
        return "changed nothing"
    return (
        "did a part" if any(verdict.role == "goal" and verdict.holds for verdict in verdicts) else "did something else"
    )


def changes_anything(run: Rollout) -> bool:
    """True if any call changed a row, or if changes are not recorded."""
    return run.effects is None or any(effect.changes for effect in run.effects)
