"""Inspection: a tester proposes calls from manual and rows, and a checker who sees everything judges their effects.

An environment passes if no tool fails and nearly all calls pass. A failure goes back to the code with its evidence. If
a tool only refuses, and rightly so, the first rows get additions. Afterwards only calls with a changed tool or outcome
are judged again.
"""

from collections.abc import Sequence
from typing import Any

from servers.records import Record
from synth.environments.code import Code
from synth.environments.drafts.cases import Case, Count, before_text, count_of, fewest_valid, told
from synth.environments.drafts.start_images import guests_here, image_of
from synth.environments.drafts.table_shapes import MOST_ROWS_SHOWN, rows_text, shape_of
from synth.environments.drafts.tool_signatures import described, digests_of
from synth.environments.interface import Interface, Plan
from synth.environments.schema import Schema
from synth.environments.seed import Rows
from synth.environments.trial import KnownVerdicts, Trial, lacks
from synth.pipeline.asker import Asker
from synth.pipeline.stage import Artefacts, GoBack, Stage

LEAST_PASSED = 0.95


class Inspection(Record):
    """The result of an inspection. `bodies` are the digests of each tool's code."""

    cases: tuple[Case, ...]
    counts: tuple[Count, ...]
    passed: float
    bodies: dict[str, str] = {}


async def inspect(made: Artefacts, asker: Asker) -> Inspection:
    """Try every tool and judge every call.

    Raises:
        GoBack: to the code or to the first rows, with the evidence.
    """
    plans = {plan.name: plan for plan in made[Interface].tools}
    async with guests_here() as guests:
        tools, _ = await described(made[Code].source, guests)
        schema = made[Schema]
        image, _ = await image_of(guests, schema=schema.schema_sql, seed=made[Rows].seed_sql, clock=schema.clock)
    trial = Trial(made, asker, tools, rows_text(shape_of(image), most=MOST_ROWS_SHOWN))
    cases = await _cases(made, trial, plans, tools)
    counts = [count_of(name, cases) for name in plans]
    passed = sum(case.verdict == "pass" for case in cases) / max(len(cases), 1)
    result = Inspection(
        cases=tuple(cases),
        counts=tuple(counts),
        passed=round(passed, 4),
        bodies=digests_of(made[Code].source, plans),
    )
    faults = [*_case_evidence(cases, passed), *_never_refused(counts, cases, plans)]
    if faults:
        raise GoBack("code", faults, result)
    hopeless = _never_succeeded(counts, cases, tools)
    if hopeless:  # the refusals are right, so it is rows that are missing; unless that was tried already
        raise GoBack("code" if "seed" in made.sent else "seed", hopeless, result)
    return result


STAGE = Stage("inspect", Inspection, inspect)


async def _cases(made: Artefacts, trial: Trial, plans: dict[str, Plan], tools: dict[str, dict[str, Any]]) -> list[Case]:
    """Every call with its verdict. After a repair the earlier calls are reused, and missing ones added."""
    if not isinstance(made.seen, Inspection):
        calls = await trial.every_call(list(plans.values()))
        return await trial.judged(calls, await trial.play(calls), {})
    before = made.seen.cases
    did = await trial.play([case.call for case in before])
    outcomes = {case.call: one for case, one in zip(before, did, strict=True)}
    lacking = {
        name
        for name, plan in plans.items()
        for own in [[one for call, one in outcomes.items() if call.tool == name]]
        if any(one.outcome is None for one in own)
        or lacks([one.outcome.kind for one in own if one.outcome], plan, tools[name])
    }
    tried = [
        case.model_copy(update={"did": outcomes[case.call].as_text()}) for case in before if case.call.tool in lacking
    ]
    fresh = await trial.every_call([plans[name] for name in plans if name in lacking], tried)
    bodies = digests_of(made[Code].source, plans)
    known: KnownVerdicts = {
        case.call: case
        for case in before
        if case.verdict != "fail"
        and case.did == outcomes[case.call].as_text()
        and made.seen.bodies.get(case.call.tool) == bodies[case.call.tool]
    }
    calls = [*(case.call for case in before if case.call.tool not in lacking), *fresh]
    return await trial.judged(calls, await trial.play(calls), known)


def _case_evidence(cases: Sequence[Case], passed: float) -> list[str]:
    """The evidence for the code's author: every failure, and the warnings if there are too many."""
    counted = ("fail",) if passed >= LEAST_PASSED else ("fail", "warning")
    return [
        f"{case.call.tool}: called with {case.call.arguments}{before_text(case.call)} "
        f"it did: {case.did[:500]}. {case.reason}"
        for case in cases
        if case.verdict in counted
    ]


def _never_refused(counts: Sequence[Count], cases: Sequence[Case], plans: dict[str, Plan]) -> list[str]:
    return [
        f"{count.tool}: none of its calls was refused, whatever a tester tried:\n{_calls_of(count.tool, cases)}"
        for count in counts
        if not count.failed and plans[count.tool].refusals and not count.refused
    ]


def _never_succeeded(counts: Sequence[Count], cases: Sequence[Case], tools: dict[str, dict[str, Any]]) -> list[str]:
    """Tools that refused nearly everything, rightly: no call failed."""
    return [
        f"{count.tool}: only {count.valid} of its calls went well, whatever a tester tried:\n"
        f"{_calls_of(count.tool, cases)}"
        for count in counts
        if not count.failed and count.valid < fewest_valid(tools[count.tool]["arguments"])
    ]


def _calls_of(tool: str, cases: Sequence[Case]) -> str:
    return told([case for case in cases if case.call.tool == tool])
