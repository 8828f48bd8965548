"""One inspection: a tester who sees manual and rows proposes calls, a checker who sees everything judges them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema_rs

from servers.bundle.tool_schema import validator
from synth.environments.code import Code, groups, texts_of
from synth.environments.drafts.cases import Call, Calls, Case, Judgement, Judgements, before_text, fewest_valid, told
from synth.environments.drafts.sample_calls import Ask, Did, arguments_of, played
from synth.environments.drafts.tool_signatures import text_of, tree_of
from synth.environments.interface import Interface, Plan
from synth.environments.rules import as_text
from synth.environments.schema import Schema
from synth.environments.setting import Setting
from synth.llm.prompt import Prompt
from synth.pipeline.asker import Asker, gather_all
from synth.pipeline.stage import Artefacts

TESTER = Prompt.load(Path(__file__).with_name("tester.md"))
CHECKER = Prompt.load(Path(__file__).with_name("checker.md"))
MOST_OF_A_TOOL = 8
TESTED_AT_ONCE = 9
JUDGED_AT_ONCE = 34
BROKEN = ("failed", "died", "timeout")
KnownVerdicts = Mapping[Call, Case]
"""Earlier verdicts on calls whose effect is unchanged."""


class Trial:
    """The participants of an inspection, and its tools."""

    def __init__(self, made: Artefacts, asker: Asker, tools: dict[str, dict[str, Any]], rows: str) -> None:
        self.made, self.asker, self.tools, self.rows = made, asker, tools, rows
        self.texts = texts_of(made, made[Code].source, list(tools.values()))

    async def play(self, calls: Sequence[Call]) -> list[Did]:
        """Make the calls, each on a fresh copy."""
        return await played(self.texts, [Ask(call.tool, call.arguments, call.setup) for call in calls])

    async def every_call(self, plans: Sequence[Plan], tried: Sequence[Case] = ()) -> list[Call]:
        """Calls for tools, group by group. `tried` calls did not suffice."""
        parts = await gather_all([self.calls(group, tried) for group in groups(plans, TESTED_AT_ONCE)] if plans else [])
        return [call for part in parts for call in part]

    async def calls(self, group: Sequence[Plan], tried: Sequence[Case] = ()) -> tuple[Call, ...]:
        """The tester's calls for some tools."""
        made = self.made
        names = {plan.name for plan in group}
        messages = TESTER.fill(
            title=made[Setting].title,
            introduction=made[Setting].introduction,
            clock=made[Schema].clock,
            policy=made[Schema].policy_md,
            rows=self.rows,
            manuals=manuals(made[Interface].stubs_py, names),
            tried=_tried_text([case for case in tried if case.call.tool in names]),
        )
        said = list[str]()

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
            if not found and not said:  # once: a tool that is broken lets no tester succeed
                found = self._outcome_findings(answer.calls, did, group)
                said.extend(found)
            return found

        return (await self.asker.ask(messages, Calls, accept)).calls

    async def judged(self, calls: Sequence[Call], did: Sequence[Did], known: KnownVerdicts) -> list[Case]:
        """The checker's verdict on each call. A broken call needs none, and a known one no second."""
        numbered = {
            number: (call, one)
            for number, (call, one) in enumerate(zip(calls, did, strict=True), start=1)
            if not is_broken(one) and call not in known
        }
        numbers = list(numbered)
        size = -(-len(numbers) // max(1, -(-len(numbers) // JUDGED_AT_ONCE)))
        parts = [numbers[at : at + size] for at in range(0, len(numbers), size or 1)]
        answers = await gather_all([self._judged({number: numbered[number] for number in part}) for part in parts])
        said = {judgement.number: judgement for answer in answers for judgement in answer.judgements}
        return [
            known.get(call) or _case(call, one, said.get(number))
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
                f"{number}. {call.tool} {call.arguments}{before_text(call)}\n"
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
            fewest = fewest_valid(self.tools[plan.name]["arguments"])
            if valid < fewest:
                found.append(f"calls: {plan.name} has {valid} that must go well; at least {fewest} are asked")
            if plan.refusals and not refused:
                found.append(
                    f"calls: {plan.name} has none that must be refused; it refuses: {'; '.join(plan.refusals)}"
                )
            if len(own) > MOST_OF_A_TOOL:
                found.append(f"calls: {plan.name} has {len(own)}; at most {MOST_OF_A_TOOL} are taken, 6 are asked")
        return found

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
        """Tools with too few calls that ended as the tester expected."""
        found: list[str] = []
        for plan in group:
            own = [(call, one) for call, one in zip(calls, did, strict=True) if call.tool == plan.name]
            if any(is_broken(one) for _, one in own):
                continue
            kinds = [one.outcome.kind for _, one in own if one.outcome]
            if lacks(kinds, plan, self.tools[plan.name]):
                seen = "; ".join(f"{call.arguments} was {one.as_text()[:200]}" for call, one in own)
                found.append(
                    f"calls: {plan.name}: {kinds.count('ok')} went well and {kinds.count('refused')} were refused: "
                    f"{seen}. "
                    "If the tool is right, correct your calls; if it is wrong, leave them as they are"
                )
        return found


def lacks(kinds: Sequence[str], plan: Plan, tool: dict[str, Any]) -> bool:
    """True if the outcomes of a tool's calls do not show yet what it does and what it refuses."""
    too_few = kinds.count("ok") < fewest_valid(tool["arguments"])
    return too_few or (bool(plan.refusals) and "refused" not in kinds)


def _tried_text(tried: Sequence[Case]) -> str:
    if not tried:
        return ""
    named = {case.call.tool: [one for one in tried if one.call.tool == case.call.tool] for case in tried}
    listed = "\n".join(f"- {tool}\n{told(own)}" for tool, own in named.items())
    return f"\nThese calls were made before, and did not suffice; mend them, or find better ones:\n{listed}"


def manuals(stubs: str, names: set[str]) -> str:
    """The result types, signatures and docstrings of some tools, as an agent might read them."""
    tree, _ = tree_of(stubs)
    if tree is None:
        return stubs
    kept = [node for node in tree.body if getattr(node, "name", "") in names or type(node).__name__ == "ClassDef"]
    return "\n\n\n".join(text_of(stubs, node) for node in kept)


def is_broken(did: Did) -> bool:
    """True if a call broke its tool, or could not be made: no verdict is needed."""
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
