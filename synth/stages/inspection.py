"""Inspection: a tester who sees manual and rows proposes calls, a checker who sees everything judges what they did.

An environment stays when no tool fails and nearly all calls pass. What failed goes back to the code with its evidence.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import jsonschema_rs

from servers.bundle import validator
from servers.record import Record
from synth.run.asker import Asker
from synth.run.stage import GoBack, Made, Stage
from synth.run.together import together
from synth.stages.building import image_of
from synth.stages.code import MOST_ROWS_SHOWN, Code, groups, texts_of
from synth.stages.describing import described, parsed, text_of
from synth.stages.ground import guests_here
from synth.stages.interface import Interface, Plan
from synth.stages.playing import Ask, Did, arguments_of, played
from synth.stages.rules import as_text
from synth.stages.schema import Schema
from synth.stages.seed import Rows
from synth.stages.setting import Setting
from synth.stages.shape import as_text as rows_text
from synth.stages.shape import shape_of
from synth.writers.prompt import Prompt

TESTER = Prompt.load(Path(__file__).with_name("tester.md"))
CHECKER = Prompt.load(Path(__file__).with_name("checker.md"))
LEAST_PASSED = 0.95
FEWEST_VALID, MOST_OF_A_TOOL = 2, 8
TESTED_AT_ONCE = 9
JUDGED_AT_ONCE = 34
BROKEN = ("failed", "died", "timeout")
Verdict = Literal["pass", "warning", "fail"]


class Call(Record):
    """A call that the tester proposes."""

    tool: str
    arguments: str
    setup: str
    expect: Literal["ok", "refused"]
    why: str


class Calls(Record):
    """What the tester gives."""

    calls: tuple[Call, ...]


class Judgement(Record):
    """What the checker says of one call."""

    number: int
    verdict: Verdict
    reason: str


class Judgements(Record):
    """What the checker gives."""

    judgements: tuple[Judgement, ...]


class Case(Record):
    """A call, what it did, and what was said of it."""

    call: Call
    did: str
    outcome: str
    verdict: Verdict
    reason: str


class Count(Record):
    """The cases of one tool."""

    tool: str
    valid: int
    refused: int
    passed: int
    warnings: int
    failed: int


class Inspection(Record):
    """What the inspection of an environment came to."""

    cases: tuple[Case, ...]
    counts: tuple[Count, ...]
    passed: float


async def inspect(made: Made, asker: Asker) -> Inspection:
    """Have every tool tried and every call judged.

    Raises:
        GoBack: to the code, with what was found.
    """
    plans = {plan.name: plan for plan in made[Interface].tools}
    async with guests_here() as guests:
        tools, _ = await described(made[Code].source, guests)
        schema = made[Schema]
        image, _ = await image_of(guests, schema=schema.schema_sql, seed=made[Rows].seed_sql, clock=schema.clock)
    trial = Trial(made, asker, tools, rows_text(shape_of(image), most=MOST_ROWS_SHOWN))
    parts = await together([trial.calls(group) for group in groups(list(plans.values()), TESTED_AT_ONCE)])
    calls = [call for part in parts for call in part]
    did = await trial.play(calls)
    cases = await trial.judged(calls, did)
    counts = [count_of(name, cases) for name in plans]
    passed = sum(case.verdict == "pass" for case in cases) / max(len(cases), 1)
    evidence = [*_case_evidence(cases, passed), *_count_evidence(counts, plans, tools)]
    if evidence:
        raise GoBack("code", evidence)
    return Inspection(cases=tuple(cases), counts=tuple(counts), passed=round(passed, 4))


STAGE = Stage("inspect", Inspection, inspect)


class Trial:
    """One inspection: who is asked what, about which tools."""

    def __init__(self, made: Made, asker: Asker, tools: dict[str, dict[str, Any]], rows: str) -> None:
        self.made, self.asker, self.tools, self.rows = made, asker, tools, rows
        self.texts = texts_of(made, made[Code].source, list(tools.values()))

    async def play(self, calls: Sequence[Call]) -> list[Did]:
        """Make the calls, each on a fresh copy."""
        return await played(self.texts, [Ask(call.tool, call.arguments, call.setup) for call in calls])

    async def calls(self, group: Sequence[Plan]) -> tuple[Call, ...]:
        """Calls for some tools, by the tester."""
        made = self.made
        messages = TESTER.fill(
            title=made[Setting].title,
            introduction=made[Setting].introduction,
            clock=made[Schema].clock,
            policy=made[Schema].policy_md,
            rows=self.rows,
            manuals=manuals(made[Interface].stubs_py, {plan.name for plan in group}),
        )
        told = list[str]()

        async def accept(answer: Calls) -> list[str]:
            found = self._call_findings(answer.calls, group)
            if found:
                return found
            did = await self.play(answer.calls)
            found = [
                f"calls.{number} ({call.tool}): {one.wrong}"
                for number, (call, one) in enumerate(zip(answer.calls, did, strict=True), start=1)
                if one.outcome is None
            ]
            if not found and not told:  # once: a tool that is broken lets no tester succeed
                found = self._outcome_findings(answer.calls, did, group)
                told.extend(found)
            return found

        return (await self.asker.ask(messages, Calls, accept)).calls

    async def judged(self, calls: Sequence[Call], did: Sequence[Did]) -> list[Case]:
        """What the checker says of each call. A call that broke its tool needs no opinion."""
        numbered = {
            number: (call, one)
            for number, (call, one) in enumerate(zip(calls, did, strict=True), start=1)
            if not _broken(one)
        }
        numbers = list(numbered)
        size = -(-len(numbers) // max(1, -(-len(numbers) // JUDGED_AT_ONCE)))
        parts = [numbers[at : at + size] for at in range(0, len(numbers), size or 1)]
        answers = await together([self._judged({number: numbered[number] for number in part}) for part in parts])
        said = {judgement.number: judgement for answer in answers for judgement in answer.judgements}
        return [
            _case(call, one, said.get(number))
            for number, (call, one) in enumerate(zip(calls, did, strict=True), start=1)
        ]

    async def _judged(self, part: dict[int, tuple[Call, Did]]) -> Judgements:
        made = self.made
        messages = CHECKER.fill(
            title=made[Setting].title,
            clock=made[Schema].clock,
            policy=made[Schema].policy_md,
            rules=as_text(made[Schema].rules),
            schema=made[Schema].schema_sql,
            code=made[Code].source,
            rows=self.rows,
            cases="\n\n".join(
                f"{number}. {call.tool} {call.arguments}{_before(call)}\n"
                f"expected {call.expect}: {call.why}\n{did.as_text()}"
                for number, (call, did) in part.items()
            ),
        )

        async def accept(answer: Judgements) -> list[str]:
            return _judgement_findings(answer.judgements, set(part))

        return await self.asker.ask(messages, Judgements, accept)

    def _call_findings(self, calls: Sequence[Call], group: Sequence[Plan]) -> list[str]:
        found: list[str] = []
        seen: set[tuple[str, str, str]] = set()
        for number, call in enumerate(calls, start=1):
            wrong = self._argument_finding(call, {plan.name for plan in group})
            if not wrong and (call.tool, call.arguments, call.setup) in seen:
                wrong = "is made twice; let the calls differ"
            seen.add((call.tool, call.arguments, call.setup))
            if wrong:
                found.append(f"calls.{number} ({call.tool} {call.arguments[:200]}): {wrong}")
        for plan in group:
            own = [call for call in calls if call.tool == plan.name]
            valid, refused = (sum(call.expect == kind for call in own) for kind in ("ok", "refused"))
            if valid < self.fewest_valid(plan.name):
                found.append(
                    f"calls: {plan.name} has {valid} that must go well; {self.fewest_valid(plan.name)} are asked"
                )
            if plan.refusals and not refused:
                found.append(
                    f"calls: {plan.name} has none that must be refused; it refuses: {'; '.join(plan.refusals)}"
                )
            if len(own) > MOST_OF_A_TOOL:
                found.append(f"calls: {plan.name} has {len(own)}; at most 6 are asked")
        return found

    def fewest_valid(self, tool: str) -> int:
        """How many calls that go well a tool needs. Without arguments there is only one."""
        return FEWEST_VALID if self.tools[tool]["arguments"]["properties"] else 1

    def _argument_finding(self, call: Call, names: set[str]) -> str:
        if call.tool not in names:
            return f"is not among the tools to test: {', '.join(sorted(names))}"
        arguments, wrong = arguments_of(call.arguments)
        if arguments is None:
            return wrong
        try:
            validator(self.tools[call.tool]["arguments"]).validate(arguments)
        except jsonschema_rs.ValidationError as error:
            place = ".".join(str(part) for part in error.instance_path)
            return f"does not fit the signature: {place}{': ' if place else ''}{error.message[:200]}"
        return ""

    def _outcome_findings(self, calls: Sequence[Call], did: Sequence[Did], group: Sequence[Plan]) -> list[str]:
        """Tools of which too few calls went as the tester meant them to."""
        found: list[str] = []
        for plan in group:
            own = [(call, one) for call, one in zip(calls, did, strict=True) if call.tool == plan.name]
            if any(_broken(one) for _, one in own):
                continue
            kinds = [one.outcome.kind for _, one in own if one.outcome]
            short = kinds.count("ok") < self.fewest_valid(plan.name) or (plan.refusals and "refused" not in kinds)
            if short:
                seen = "; ".join(f"{call.arguments} was {one.as_text()[:200]}" for call, one in own)
                found.append(
                    f"calls: {plan.name}: {kinds.count('ok')} went well and {kinds.count('refused')} were refused: "
                    f"{seen}. "
                    "If the tool is right, correct your calls; if it is wrong, leave them as they are"
                )
        return found


def manuals(stubs: str, names: set[str]) -> str:
    """The result types, and the signatures and docstrings of some tools, as an agent might read them."""
    tree, _ = parsed(stubs)
    if tree is None:
        return stubs
    kept = [node for node in tree.body if getattr(node, "name", "") in names or type(node).__name__ == "ClassDef"]
    return "\n\n\n".join(text_of(stubs, node) for node in kept)


def count_of(tool: str, cases: Sequence[Case]) -> Count:
    """The cases of a tool, counted."""
    own = [case for case in cases if case.call.tool == tool]
    return Count(
        tool=tool,
        valid=sum(case.outcome == "ok" for case in own),
        refused=sum(case.outcome == "refused" for case in own),
        passed=sum(case.verdict == "pass" for case in own),
        warnings=sum(case.verdict == "warning" for case in own),
        failed=sum(case.verdict == "fail" for case in own),
    )


def _before(call: Call) -> str:
    return f"\nafter {call.setup}" if call.setup else ""


def _broken(did: Did) -> bool:
    return did.outcome is None or did.outcome.kind in BROKEN or bool(did.wrong)


def _case(call: Call, did: Did, said: Judgement | None) -> Case:
    kind = did.outcome.kind if did.outcome else "invalid"
    if said is None:
        text = did.as_text() if not did.wrong else did.wrong
        return Case(call=call, did=did.as_text(), outcome=kind, verdict="fail", reason=f"it broke: {text}")
    return Case(call=call, did=did.as_text(), outcome=kind, verdict=said.verdict, reason=said.reason)


def _judgement_findings(judgements: Sequence[Judgement], numbers: set[int]) -> list[str]:
    given = [judgement.number for judgement in judgements]
    found = [f"judgements: number {one} is missing" for one in sorted(numbers - set(given))]
    found += [f"judgements: there is no call {one}" for one in sorted(set(given) - numbers)]
    found += [
        f"judgements: number {one} occurs twice" for one in sorted({one for one in given if given.count(one) > 1})
    ]
    return found + [
        f"judgements.{one.number}: a {one.verdict} needs a reason from which the author can mend it"
        for one in judgements
        if one.verdict != "pass" and len(one.reason) < 25
    ]


def _case_evidence(cases: Sequence[Case], passed: float) -> list[str]:
    """What the code's author is told: every failure; the warnings too, when they are too many."""
    counted = ("fail",) if passed >= LEAST_PASSED else ("fail", "warning")
    told = [case for case in cases if case.verdict in counted]
    return [
        f"{case.call.tool}: called with {case.call.arguments}{_before(case.call)} "
        f"it did: {case.did[:500]}. {case.reason}"
        for case in told
    ]


def _count_evidence(counts: Sequence[Count], plans: dict[str, Plan], tools: dict[str, dict[str, Any]]) -> list[str]:
    """Tools that never did what they are for, or never refused what they should."""
    found: list[str] = []
    for count in counts:
        fewest = FEWEST_VALID if tools[count.tool]["arguments"]["properties"] else 1
        if count.failed:
            continue
        if count.valid < fewest:
            found.append(f"{count.tool}: only {count.valid} of its calls went well, whatever a tester tried")
        elif plans[count.tool].refusals and not count.refused:
            found.append(f"{count.tool}: none of its calls was refused, whatever a tester tried")
    return found
