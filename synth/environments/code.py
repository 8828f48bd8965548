"""Code: the tools' bodies, a group of tools a request. Each must pass the gate and its own examples."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from servers.bundle.rules import marked
from servers.records import Record
from servers.sandbox.guest_pool import Guests
from synth.environments.drafts.bundle_folder import Texts
from synth.environments.drafts.sample_calls import Ask, Did, played
from synth.environments.drafts.start_images import guests_here, image_of
from synth.environments.drafts.table_shapes import MOST_ROWS_SHOWN, rows_text, shape_of
from synth.environments.drafts.tool_module import Module
from synth.environments.drafts.tool_signatures import described, gate_findings
from synth.environments.interface import Interface, Plan
from synth.environments.rules import Rule, as_text
from synth.environments.schema import Schema
from synth.environments.seed import Rows
from synth.environments.setting import Setting
from synth.llm.prompt import Prompt
from synth.pipeline.asker import Asker
from synth.pipeline.stage import Artefacts, Stage

PROMPT = Prompt.load(Path(__file__).with_name("code.md"))
MOST_IN_A_GROUP = 6
MOST_FINDINGS = 15
MOST_UNBREAKABLE = 3


class Example(Record):
    """A call that shows what a tool promises."""

    tool: str
    arguments: str
    setup: str
    outcome: Literal["ok", "refused"]
    rule: str
    changes: tuple[str, ...]


class Written(Record):
    """What the writer gives for a group of tools. `unbreakable` are rules that no call of them can try to break."""

    code_py: str
    examples: tuple[Example, ...]
    unbreakable: tuple[str, ...]


class Code(Record):
    """The whole tools.py, its passed examples, and the rules that no call can try to break."""

    source: str
    examples: tuple[Example, ...]
    unbreakable: tuple[str, ...]
    module: dict[str, Any]


async def code(made: Artefacts, asker: Asker) -> Code:
    """Ask for the bodies, group by group. With evidence, only for the faulty ones."""
    plans = made[Interface].tools
    async with guests_here() as guests:
        image, _ = await image_of(
            guests, schema=made[Schema].schema_sql, seed=made[Rows].seed_sql, clock=made[Schema].clock
        )
        work = Bench(made, guests, rows_text(shape_of(image), most=MOST_ROWS_SHOWN))
        if isinstance(made.before, Code):
            earlier = made.before
            evidence = made.evidence or await work.stale(earlier)
            if not evidence:
                return earlier  # rows were added, and nothing else
            named = [plan for plan in plans if any(line.startswith(f"{plan.name}:") for line in evidence)]
            module = Module(made[Interface].stubs_py, **kept(earlier.module))
            return await work.mended(asker, module, earlier, named or list(plans), evidence)
        module, passed = Module(made[Interface].stubs_py), list[Written]()
        for group in groups(plans):
            module, answer = await work.written(asker, module, group, ())
            passed.append(answer)
        return as_code(module, passed, ())


STAGE = Stage("code", Code, code)


def groups(plans: Sequence[Plan], most: int = MOST_IN_A_GROUP) -> list[list[Plan]]:
    """The tools in groups of similar size, queries first, since commands depend on them."""
    ordered = sorted(plans, key=lambda plan: plan.kind == "command")
    count = -(-len(ordered) // most)
    edges = [len(ordered) * number // count for number in range(count + 1)]
    return [ordered[begin:end] for begin, end in pairwise(edges)]


class Bench:
    """The workplace for one environment's tools: they are written and tried here."""

    def __init__(self, made: Artefacts, guests: Guests, rows: str) -> None:
        self.made, self.guests, self.rows = made, guests, rows
        self.holders = {rule.id: rule for rule in made[Schema].rules}
        self.kept: tuple[Example, ...] = ()
        """Examples that passed before. Every repair must pass them again."""

    async def written(
        self, asker: Asker, module: Module, group: Sequence[Plan], evidence: Sequence[str]
    ) -> tuple[Module, Written]:
        """The module with another group of tools, and the accepted answer."""
        made = self.made
        messages = PROMPT.fill(
            title=made[Setting].title,
            clock=made[Schema].clock,
            schema=made[Schema].schema_sql,
            policy=made[Schema].policy_md,
            rules=as_text(made[Schema].rules),
            rows=self.rows,
            module=module.text(),
            names=", ".join(plan.name for plan in group),
            plans="\n".join(map(_plan_text, group)),
            wanted="\n".join(f"  - {plan.name}: {', '.join(self.to_show(plan)) or '(none)'}" for plan in group),
            evidence=_evidence_text(evidence),
        )

        async def accept(answer: Written) -> list[str]:
            return (await self.findings(answer, module, group, again=bool(evidence)))[:MOST_FINDINGS]

        answer = await asker.ask(messages, Written, accept)
        names = frozenset(plan.name for plan in group)
        module, _ = module.with_code(answer.code_py, names=names, again=bool(evidence))
        return module, answer

    async def mended(
        self, asker: Asker, module: Module, earlier: Code, group: Sequence[Plan], evidence: Sequence[str]
    ) -> Code:
        """The code after some tools were written again on evidence."""
        names = {plan.name for plan in group}
        kept = earlier.model_copy(
            update={"examples": tuple(example for example in earlier.examples if example.tool not in names)}
        )
        passed: list[Written] = []
        self.kept = kept.examples
        for part in groups(group):
            about = [line for line in evidence if any(line.startswith(f"{plan.name}:") for plan in part)]
            module, answer = await self.written(asker, module, part, about or evidence)
            passed.append(answer)
        return as_code(module, passed, kept.examples, kept.unbreakable)

    async def stale(self, earlier: Code) -> list[str]:
        """Examples of accepted code that fail on the current first rows."""
        tools, _ = await described(earlier.source, self.guests)
        did = await self._played(earlier.source, tools, earlier.examples)
        return [
            f"{example.tool}: its example {example.arguments}{f' after {example.setup}' if example.setup else ''}:"
            f" {finding}"
            for example, one in zip(earlier.examples, did, strict=True)
            for finding in _outcome_findings(example, one)
        ]

    async def _played(self, source: str, tools: dict[str, dict[str, Any]], examples: Sequence[Example]) -> list[Did]:
        texts = texts_of(self.made, source, list(tools.values()))
        return await played(texts, [Ask(one.tool, one.arguments, one.setup) for one in examples])

    async def findings(self, answer: Written, module: Module, group: Sequence[Plan], *, again: bool) -> list[str]:
        """The faults of the answer for a group."""
        names = frozenset(plan.name for plan in group)
        whole, found = module.with_code(answer.code_py, names=names, again=again)
        found = [f"code_py: {finding}" for finding in found]
        source = whole.text()
        found = found or [f"code_py: {finding}" for finding in gate_findings(source)]
        if found:
            return found
        tools, wrong = await described(source, self.guests)
        found = [f"code_py: {finding}" for finding in wrong]
        asked, _ = await described(self.made[Interface].stubs_py, self.guests)
        for plan in group:
            found += [f"code_py: {plan.name}: {one}" for one in _differences(plan, tools.get(plan.name), asked)]
        found += self._example_findings(answer.examples, group, answer.unbreakable)
        found += self._mark_findings(answer.examples, source)
        if found or wrong:
            return found
        every = (*answer.examples, *self.kept)
        did = await self._played(source, tools, every)
        return [
            f"{f'examples.{number}' if number <= len(answer.examples) else 'an earlier example'}"
            f" ({example.tool} {example.arguments}): {finding}"
            for number, (example, one) in enumerate(zip(every, did, strict=True), start=1)
            for finding in _outcome_findings(example, one)
        ]

    def _mark_findings(self, examples: Sequence[Example], source: str) -> Iterator[str]:
        """Rules in examples that no refusal in the module names, and comments with unknown rules."""
        marks = {one for line in marked(source).values() for one in line}
        for one in sorted(marks - self.holders.keys()):
            yield f"code_py: a refusal is marked `# rule: {one}`, and there is no such rule"
        shown = {example.rule for example in examples if example.rule in self.holders}
        for one in sorted(one for one in shown - marks if self.holders[one].holder == "tool"):
            yield f"code_py: no refusal is marked `# rule: {one}`; mark the raise that holds it, on the line above"

    def to_show(self, plan: Plan) -> list[str]:
        """The rules that a tool must demonstrate: those that a command checks or runs into."""
        known = [self.holders[one] for one in plan.enforces if one in self.holders]
        return [rule.id for rule in known if plan.kind == "command" and rule.holder == "tool"]

    def _example_findings(
        self, examples: Sequence[Example], group: Sequence[Plan], unbreakable: Sequence[str]
    ) -> Iterator[str]:
        names = {plan.name for plan in group}
        yield from (f"unbreakable: there is no rule {one!r}" for one in unbreakable if one not in self.holders)
        if len(unbreakable) > MOST_UNBREAKABLE:
            yield f"unbreakable: lists {len(unbreakable)} rules; at most {MOST_UNBREAKABLE} can be so; show the others"
        for example in examples:
            if example.tool not in names:
                yield f"examples: {example.tool} is not among the functions that are asked now"
            if example.rule and example.rule not in self.holders:
                yield f"examples: there is no rule {example.rule!r}"
        for plan in group:
            yield from self._shown_findings(plan, [one for one in examples if one.tool == plan.name], unbreakable)

    def _shown_findings(self, plan: Plan, own: Sequence[Example], unbreakable: Sequence[str]) -> Iterator[str]:
        """The promises of a tool that its examples do not demonstrate."""
        if not any(example.outcome == "ok" for example in own):
            yield f"examples: {plan.name} has none with the outcome `ok`"
        if plan.refusals and not any(example.outcome == "refused" for example in own):
            yield f"examples: {plan.name} has none with the outcome `refused`: {'; '.join(plan.refusals)}"
        shown = {example.rule for example in own if example.outcome == "refused"}
        missing = [one for one in self.to_show(plan) if one not in shown and one not in unbreakable]
        if missing:
            yield (
                f"examples: {plan.name}: no refused call shows the rule {', '.join(missing)}; "
                "if no call can even try to break it, list it under unbreakable"
            )


def texts_of(made: Artefacts, source: str, tools: Sequence[dict[str, Any]], unbreakable: Sequence[str] = ()) -> Texts:
    """The texts so far, with a source, as a bundle.

    A rule that no call can try to break is listed only if its `never` can show that it holds. policy.md tells it
    anyway.
    """
    setting, schema = made[Setting], made[Schema]
    return Texts(
        id=made.environment,
        title=setting.title,
        introduction=setting.introduction,
        clock=schema.clock,
        policy=schema.policy_md,
        schema=schema.schema_sql,
        seed=made[Rows].seed_sql,
        source=source,
        tools=tools,
        rules=[rule.kept() for rule in schema.rules if rule.never or rule.id not in unbreakable],
    )


def _differences(plan: Plan, tool: dict[str, Any] | None, asked: dict[str, dict[str, Any]]) -> Iterator[str]:
    """The differences between a written tool and its stub or plan."""
    if tool is None:
        yield "is missing, or its signature cannot be read"
        return
    for field in ("description", "arguments", "result"):
        if tool[field] != asked[plan.name][field]:
            yield f"its {field} is not that of the module above; keep signatures and TypedDicts to the letter"
    if tool["writes"] != (plan.kind == "command"):
        does = "uses db.run, itself or through a function that it calls" if tool["writes"] else "never uses db.run"
        yield f"is a {plan.kind}, and {does}"


def _outcome_findings(example: Example, did: Did) -> Iterator[str]:
    """The differences between an example and its expected outcome."""
    outcome = did.outcome
    if outcome is None:
        yield did.wrong
    elif outcome.kind == "invalid":
        yield f"never reached the tool: {outcome.text}; arguments must fit the signature"
    elif outcome.kind in ("failed", "died", "timeout"):
        yield f"the tool broke: {outcome.detail or outcome.text}"
    elif outcome.kind != example.outcome:
        yield f"says {example.outcome}, and it was {outcome.kind}: {outcome.text[:400]}"
    elif did.wrong:
        yield did.wrong
    elif outcome.kind == "ok" and did.kinds != set(example.changes):
        yield (
            f"says that it does {', '.join(sorted(example.changes)) or 'nothing'} to rows, "
            f"and it did {', '.join(sorted(did.kinds)) or 'nothing'}"
        )


def _plan_text(plan: Plan) -> str:
    does = (
        ", ".join(plan.reads) or "nothing",
        ", ".join(plan.writes) or "nothing",
        ", ".join(plan.enforces) or "nothing",
    )
    return "- {} ({}): reads {}; writes {}; enforces {}; refuses: {}".format(
        plan.name, plan.kind, *does, "; ".join(plan.refusals) or "nothing"
    )


def _evidence_text(evidence: Sequence[str]) -> str:
    if not evidence:
        return ""
    listed = "\n".join(f"- {line}" for line in evidence)
    return (
        "\nThese functions stand in the module already, and were found wanting when they were tried. Write them anew,"
        " whole, with the faults put right; a private function or constant that must change is written anew too:"
        f"\n{listed}"
    )


def as_code(
    module: Module, passed: Sequence[Written], examples: Sequence[Example], unbreakable: Sequence[str] = ()
) -> Code:
    """The artefact of a module. `examples` are earlier ones that still hold."""
    parts = {
        "functions": module.functions,
        "private": module.private,
        "constants": module.constants,
        "imports": sorted(module.imports),
    }
    shown = {example.rule for answer in passed for example in answer.examples}
    never = {*unbreakable, *(one for answer in passed for one in answer.unbreakable)}
    return Code(
        source=module.text(),
        examples=(*examples, *(example for answer in passed for example in answer.examples)),
        unbreakable=tuple(sorted(never - shown - {example.rule for example in examples})),
        module=parts,
    )


def kept(parts: dict[str, Any]) -> dict[str, Any]:
    """The parts of a module from its artefact."""
    return {**parts, "imports": frozenset(parts["imports"])}


def rules_of(made: Artefacts) -> dict[str, Rule]:
    """The rules by id."""
    return {rule.id: rule for rule in made[Schema].rules}
