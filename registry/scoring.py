"""Scoring an instance by its scenario's checkpoints. A farm that cannot judge reports that, and gives no reward."""

from datetime import datetime

from registry.catalogue import digest
from registry.messages import Score
from registry.workers.fleet import WorkerDoor
from servers.doors.operations import JUDGE, STANDING, InstanceOrder, JudgeOrder
from servers.errors import CapacityError, FarmError, InfraError
from servers.messages import Judge, Verdict
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
        probes=await _probed(door, instance, scenario, answer),
        calls=standing.calls,
        environment_digest=standing.digest,
        scenario_digest=digest(scenario),
    )


async def _probed(door: WorkerDoor, instance: str, scenario: Scenario, answer: str) -> tuple[Verdict, ...]:
    """The answers of a scenario's probes: a judgement of its own, so that nothing of it changes the reward."""
    if not scenario.probes:
        return ()
    order = JudgeOrder(instance=instance, judge=Judge(checkpoints=scenario.probes, answer=answer))
    try:
        return (await door.ask(JUDGE, order)).verdicts
    except FarmError as error:
        return tuple(
            Verdict(
                checkpoint=one.id,
                role=one.role,
                question=one.question,
                weight=one.weight,
                holds=False,
                error=str(error),
            )
            for one in scenario.probes
        )
