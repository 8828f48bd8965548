"""The judge: verdicts of the checkpoints on a final state, and the reward.

A failed guard makes the reward 0. Otherwise it is the weighted share of goals that hold. A checkpoint can fail to
answer in three ways. It fails on this state (it raises, or takes too many steps, processor time or memory): then it
does not hold, since an agent could cause that. It fails on every state: that is its author's fault. The farm cannot
finish it: it is repeated once. The last two are errors and never verdicts.

The checkpoints of one judgement share a budget of processor time. Those that exceed it do not hold.
"""

import asyncio
from collections.abc import Sequence

from servers.limits.processor_budget import CALLS_A_JUDGEMENT, ProcessorBudget
from servers.messages import Assessment, Verdict
from servers.sandbox.guest_pool import Guests
from servers.scenario.checkpoints.checkpoint import (
    CheckpointKind,
    CheckpointResult,
    JudgedRun,
    RowCheckpoint,
    RunInThread,
)
from servers.scenario.checkpoints.kinds import KINDS, Checkpoint
from servers.state.readonly_query import Reader

ASKED: Sequence[type[CheckpointKind]] = tuple(
    dict.fromkeys(RowCheckpoint if issubclass(kind, RowCheckpoint) else kind for kind in KINDS)
)
"""The order of kinds: those over the rows are asked together."""
LONGEST_SEEN = 500


async def judge(
    reader: Reader,
    checkpoints: Sequence[Checkpoint],
    *,
    answer: str,
    calls: bytes,
    now: str,
    guests: Guests,
    run: RunInThread = asyncio.to_thread,
    environment: str = "",
) -> Assessment:
    """Ask every checkpoint, and compute the reward. `run` runs a job in a thread.

    `calls` is JSON, as `calls_as_json` makes it. `environment` is the digest of the environment.

    Raises:
        CheckpointError: a checkpoint cannot be asked about any state.
        InfraError: the farm failed to finish one, twice.
    """
    reader.now, reader.budget = now, ProcessorBudget(CALLS_A_JUDGEMENT * guests.call_seconds)
    case = JudgedRun(reader, answer, calls, now, guests, run, environment)
    results: dict[int, CheckpointResult] = {}
    for kind in ASKED:
        places = [place for place, one in enumerate(checkpoints) if isinstance(one, kind)]
        if places:
            results.update(zip(places, await kind.asked_together(checkpoints, case), strict=True))
    return weighed([_verdict(one, results[place]) for place, one in enumerate(checkpoints)])


def _verdict(checkpoint: Checkpoint, result: CheckpointResult) -> Verdict:
    return Verdict(
        checkpoint=checkpoint.id,
        role=checkpoint.role,
        question=checkpoint.question,
        weight=checkpoint.weight,
        holds=result.holds,
        seen=result.seen[:LONGEST_SEEN],
        error=result.error,
    )


def weighed(verdicts: Sequence[Verdict]) -> Assessment:
    """The reward and the success of verdicts: all guards hold ? weighted share of goals : 0."""
    goals = [verdict for verdict in verdicts if verdict.role == "goal"]
    guarded = all(verdict.holds for verdict in verdicts if verdict.role == "guard")
    whole = sum(goal.weight for goal in goals)
    earned = sum(goal.weight for goal in goals if goal.holds)
    reward = earned / whole if guarded and whole else 0.0
    return Assessment(
        verdicts=tuple(verdicts),
        reward=round(reward, 6),
        success=bool(goals) and all(verdict.holds for verdict in verdicts),
    )
