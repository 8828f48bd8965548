"""Scoring an instance by its scenario's checkpoints. A farm that cannot judge reports that, and gives no reward."""

from datetime import datetime

from registry.catalogue import digest
from registry.fleet import WorkerDoor
from registry.messages import Score
from servers.doors.operations import JUDGE, STANDING, InstanceOrder, JudgeOrder
from servers.errors import CapacityError, InfraError
from servers.messages import Judge
from servers.scenario.scenario import Scenario


async def judged(door: WorkerDoor, instance: str, scenario: Scenario, *, answer: str, at: datetime) -> Score:
    """Ask an instance's worker to judge it.

    Raises:
        RequestError: the instance is gone, or its bundle has changed.
    """
    try:
        standing = await door.ask(STANDING, InstanceOrder(instance=instance))
        judgement = await door.ask(
            JUDGE, JudgeOrder(instance=instance, judge=Judge(checkpoints=scenario.checkpoints, answer=answer))
        )
    except (InfraError, CapacityError) as error:
        return Score(
            instance=instance,
            scenario=scenario.id,
            at=at,
            outcome="infra_error",
            reward=None,
            success=None,
            verdicts=(),
            calls=None,
            environment_digest=None,
            scenario_digest=digest(scenario),
            error=str(error),
        )
    return Score(
        instance=instance,
        scenario=scenario.id,
        at=at,
        outcome="scored",
        reward=judgement.reward,
        success=judgement.success,
        verdicts=judgement.verdicts,
        calls=standing.calls,
        environment_digest=standing.digest,
        scenario_digest=digest(scenario),
    )
