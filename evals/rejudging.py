"""Judging stored rollouts again: their calls are repeated on a fresh instance, and today's checkpoints judge it."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import httpx2

from agent_client.play import Limits
from agent_client.scripted_model import ReplayedModel
from agent_client.trace import ToolCall, ToolResult, Trace
from evals.effects import Effect, made
from evals.rollout import Rollout, for_each, rollout
from registry.client import FarmClient
from registry.messages import ScenarioDetail, Score
from servers.errors import NotFound
from servers.messages import Verdict
from servers.records import Record

SECONDS = 3600.0
"""The most seconds for the calls of one rollout."""


class Difference(Record):
    """The first call whose answer differs from the stored one."""

    call: int
    tool: str
    stored: str
    now: str


class RejudgedRollout(Record):
    """A stored rollout and its new score. `problem` says why there is none."""

    name: str
    before: float | None
    after: float | None
    success_before: bool | None
    success_after: bool | None
    scenario_changed: bool = False
    environment_changed: bool = False
    difference: Difference | None = None
    verdicts: tuple[Verdict, ...] = ()
    turned: tuple[str, ...] = ()
    problem: str = ""

    @property
    def changed(self) -> bool:
        return not self.problem and (self.before, self.success_before) != (self.after, self.success_after)


class NamedRollout(NamedTuple):
    """A rollout and its name."""

    name: str
    run: Rollout


class DeliveredCall(NamedTuple):
    """A call that reached the instance: its index in the rollout, and its stored answer, if it got one."""

    number: int
    call: ToolCall
    stored: ToolResult | None


async def rejudged(
    farm: FarmClient,
    stored: Sequence[NamedRollout],
    http: httpx2.AsyncClient,
    *,
    at_once: int,
    tell: Callable[[RejudgedRollout], None],
) -> list[RejudgedRollout]:
    """Judge rollouts of the farm's environments again. A rollout that cannot be judged has a `problem`."""

    async def one(of: NamedRollout) -> RejudgedRollout:
        found = await _one(farm, of, http)
        tell(found)
        return found

    return await for_each(stored, one, at_once=at_once)


async def _one(farm: FarmClient, of: NamedRollout, http: httpx2.AsyncClient) -> RejudgedRollout:
    run = of.run
    if run.trace is None:
        return _not_judged(of, "nothing was recorded of what the agent did")
    if run.outcome == "infra_error":
        return _not_judged(of, "the farm failed during this rollout")
    try:
        detail = await farm.scenario(run.environment, run.scenario)
    except NotFound:
        return _not_judged(of, "its scenario is not in the bundle any more")
    sent = list(_sent(run.trace, run.effects))
    model = ReplayedModel([call for _, call, _ in sent], run.trace.answer)
    limits = Limits(turns=len(sent) + 1, seconds=SECONDS)
    now = await rollout(farm, detail, model, limits=limits, seed=run.seed, http_client=http)
    if now.outcome != "scored" or now.trace is None or now.score is None:
        return _not_judged(of, f"the farm broke: {now.error}")
    return _beside(of, detail, now.score, _difference(sent, now.trace))


def _not_judged(of: NamedRollout, why: str) -> RejudgedRollout:
    run = of.run
    return RejudgedRollout(
        name=of.name,
        before=run.reward,
        after=None,
        success_before=run.success,
        success_after=None,
        problem=why,
    )


def _beside(of: NamedRollout, detail: ScenarioDetail, score: Score, difference: Difference | None) -> RejudgedRollout:
    run = of.run
    return RejudgedRollout(
        name=of.name,
        before=run.reward,
        after=score.reward,
        success_before=run.success,
        success_after=score.success,
        scenario_changed=run.scenario_digest != detail.digest,
        environment_changed=run.environment_digest != score.environment_digest,
        difference=difference,
        verdicts=score.verdicts,
        turned=tuple(_turned(run.score.verdicts if run.score else (), score.verdicts)),
    )


def _turned(before: Sequence[Verdict], after: Sequence[Verdict]) -> Iterator[str]:
    """Describe each checkpoint whose verdict has changed."""
    old, new = ({one.checkpoint: one for one in ones} for ones in (before, after))
    for name in [*old, *(name for name in new if name not in old)]:
        if name not in new:
            yield f"{name} is gone (it {_says(old[name])})"
        elif name not in old:
            yield f"{name} is new and {_says(new[name])}"
        elif old[name].holds != new[name].holds:
            yield f"{name} {_says(new[name])} now"
        elif old[name].weight != new[name].weight:
            yield f"{name} weighs {new[name].weight:g} instead of {old[name].weight:g}"


def _says(verdict: Verdict) -> str:
    return "holds" if verdict.holds else f"breaks ({verdict.error[:80]})" if verdict.error else "does not hold"


def _difference(sent: Sequence[DeliveredCall], trace: Trace) -> Difference | None:
    """The first call whose answer differs."""
    for (number, call, stored), (_, now) in zip(sent, made(trace), strict=True):
        if stored is not None and now is not None and not _same(stored, now):
            return Difference(call=number, tool=call.tool, stored=stored.text[:500], now=now.text[:500])
    return None


def _sent(trace: Trace, effects: Sequence[Effect] | None) -> Iterator[DeliveredCall]:
    """The calls that reached the instance. An unanswered one did if it is in the farm's history."""
    reached = {effect.call for effect in effects or ()}
    for number, (call, result) in enumerate(made(trace)):
        if not call.malformed and (result is not None or number in reached):
            yield DeliveredCall(number, call, result)


def _same(stored: ToolResult, now: ToolResult) -> bool:
    return (stored.text, stored.is_error) == (now.text, now.is_error)
