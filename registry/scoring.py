"""Scoring an instance by its scenario's checkpoints. A farm that cannot judge reports that, and gives no reward."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from registry.catalogue import digest
from registry.messages import Score
from registry.workers.instance_door import InstanceDoor
from servers.doors.operations import JUDGE, STANDING, InstanceOrder, JudgeOrder
from servers.errors import CapacityError, FarmError, InfraError
from servers.judge import weighed
from servers.messages import Judge, Verdict
from servers.scenario.checkpoints.kinds import Checkpoint
from servers.scenario.scenario import Scenario

LONGEST_WORDS = 2_000
"""Characters of what a verdict shows, and of why it could not be reached."""


class JudgedPlace(NamedTuple):
    """An instance to judge, and the way to it."""

    door: InstanceDoor
    instance: str


async def judged(places: Sequence[JudgedPlace], scenario: Scenario, *, answer: str, at: datetime) -> Score:
    """Ask the worker of an instance to judge it. The second of two instances is judged by its own checkpoints.

    Raises:
        RequestError: an instance is gone, or its bundle has changed.
    """
    first = places[0]
    asked = (scenario.checkpoints, scenario.second.checkpoints if scenario.second else ())
    verdicts: list[Verdict] = []
    try:
        standings = [await one.door.ask(STANDING, InstanceOrder(instance=one.instance)) for one in places]
        for one, checkpoints in zip(places, asked, strict=False):
            verdicts += await _verdicts(one, checkpoints, answer)
    except (InfraError, CapacityError) as error:
        return Score(
            instance=first.instance,
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
    judgement = weighed(verdicts)
    return Score(
        instance=first.instance,
        scenario=scenario.id,
        at=at,
        outcome="scored",
        reward=judgement.reward,
        success=judgement.success,
        verdicts=judgement.verdicts,
        probes=await _probed(first, scenario, answer),
        calls=sum(standing.calls for standing in standings),
        environment_digest=standings[0].digest,
        scenario_digest=digest(scenario),
    )


async def _verdicts(place: JudgedPlace, checkpoints: Sequence[Checkpoint], answer: str) -> tuple[Verdict, ...]:
    """The verdicts of a worker.

    Raises:
        InfraError: they are not over these checkpoints.
        FarmError: what the worker raises.
    """
    order = JudgeOrder(instance=place.instance, judge=Judge(checkpoints=tuple(checkpoints), answer=answer))
    verdicts = (await place.door.ask(JUDGE, order)).verdicts
    asked = [(one.id, one.role, one.question, one.weight) for one in checkpoints]
    if [(one.checkpoint, one.role, one.question, one.weight) for one in verdicts] != asked:
        raise InfraError(f"the worker of instance {place.instance} answered with verdicts over other checkpoints")
    return tuple(map(_shortened, verdicts))


def _shortened(verdict: Verdict) -> Verdict:
    seen, error = verdict.seen[:LONGEST_WORDS], verdict.error and verdict.error[:LONGEST_WORDS]
    return verdict.model_copy(update={"seen": seen, "error": error})


async def _probed(place: JudgedPlace, scenario: Scenario, answer: str) -> tuple[Verdict, ...]:
    """The answers of a scenario's probes: a judgement of its own, so that nothing of it changes the reward."""
    if not scenario.probes:
        return ()
    try:
        return await _verdicts(place, scenario.probes, answer)
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
