"""The tools of a rewriting: bodies over SQL, a group a request. Each must do what the class does."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from servers.bundle.examples import BundleExample
from servers.errors import BundleError
from servers.records import Record
from synth.environments.code import Bench, Code, Example, Written, as_code, groups, kept, texts_of
from synth.environments.drafts.sample_calls import arguments_of
from synth.environments.drafts.start_images import guests_here, image_of
from synth.environments.drafts.table_shapes import MOST_ROWS_SHOWN, rows_text, shape_of
from synth.environments.drafts.tool_module import Module
from synth.environments.drafts.tool_signatures import described
from synth.environments.interface import Interface, Plan
from synth.environments.rules import as_text
from synth.environments.schema import Schema
from synth.environments.seed import Rows
from synth.llm.prompt import Prompt
from synth.pipeline.asker import Asker
from synth.pipeline.stage import Artefacts, Stage
from synth.relational.equivalence import Equivalence, compare, declared_problems
from synth.relational.tables import class_text, imported_folder, imported_in, twin_so_far
from synth.relational.twin_file import DeclaredDifference, Twin

PROMPT = Prompt.load(Path(__file__).with_name("tools.md"))
CALLS_A_TOOL = 40
"""Calls that are drawn for each tool before an answer is accepted."""
MOST_FINDINGS = 12


class RewrittenTools(Record):
    """What the writer gives for a group of tools."""

    code_py: str
    examples: tuple[Example, ...]
    unbreakable: tuple[str, ...]
    differences: tuple[DeclaredDifference, ...]

    @property
    def written(self) -> Written:
        """The same without the differences."""
        return Written(code_py=self.code_py, examples=self.examples, unbreakable=self.unbreakable)


class Toolset(Record):
    """The whole tools.py, and how its tools differ from the imported ones."""

    code: Code
    differences: tuple[DeclaredDifference, ...]


async def tools(made: Artefacts, asker: Asker) -> Toolset:
    """Ask for the bodies, group by group. With evidence, only for the faulty ones."""
    plans = made[Interface].tools
    before = made.before if isinstance(made.before, Toolset) and made.evidence else None
    named = [plan for plan in plans if any(line.startswith(f"{plan.name}:") for line in made.evidence)]
    asked = (named or list(plans)) if before is not None else list(plans)
    async with guests_here() as guests:
        image, _ = await image_of(
            guests, schema=made[Schema].schema_sql, seed=made[Rows].seed_sql, clock=made[Schema].clock
        )
        bench = Bench(made, guests, rows_text(shape_of(image), most=MOST_ROWS_SHOWN))
        work = _Rewriting(bench, asker, before, frozenset(plan.name for plan in asked))
        for group in groups(asked):
            about = [line for line in made.evidence if any(line.startswith(f"{plan.name}:") for plan in group)]
            await work.write(group, about or made.evidence)
        return work.toolset()


STAGE = Stage("tools", Toolset, tools)


class _Rewriting:
    """The module in the making, and what was accepted of it."""

    def __init__(self, bench: Bench, asker: Asker, before: Toolset | None, again: frozenset[str]) -> None:
        stubs = bench.made[Interface].stubs_py
        self._bench, self._asker, self._again = bench, asker, before is not None
        self._module = Module(stubs) if before is None else Module(stubs, **kept(before.code.module))
        self._examples = [one for one in before.code.examples if one.tool not in again] if before else []
        self._differences = [one for one in before.differences if one.tool not in again] if before else []
        self._unbreakable = before.code.unbreakable if before else ()
        self._passed: list[Written] = []
        bench.kept = tuple(self._examples)

    async def write(self, group: Sequence[Plan], evidence: Sequence[str]) -> None:
        """Ask for a group of tools until it does what the imported ones do."""
        made, names = self._bench.made, frozenset(plan.name for plan in group)
        messages = PROMPT.fill(
            title=imported_in(made).description.title,
            source=class_text(imported_in(made)),
            schema=made[Schema].schema_sql,
            rules=as_text(made[Schema].rules),
            rows=self._bench.rows,
            clock=made[Schema].clock,
            module=self._module.text(),
            names=", ".join(plan.name for plan in group),
            wanted="\n".join(f"  - {plan.name}: {', '.join(self._bench.to_show(plan)) or '(none)'}" for plan in group),
            evidence=evidence_text(evidence),
        )

        async def accept(answer: RewrittenTools) -> list[str]:
            found = await self._bench.findings(answer.written, self._module, group, again=self._again)
            return (found or await self._not_equal(answer, names))[:MOST_FINDINGS]

        answer = await self._asker.ask(messages, RewrittenTools, accept)
        self._module, _ = self._module.with_code(answer.code_py, names=names, again=self._again)
        self._examples += answer.examples
        self._differences += answer.differences
        self._passed.append(answer.written)

    def toolset(self) -> Toolset:
        """All that was accepted."""
        own = [example for answer in self._passed for example in answer.examples]
        earlier = [example for example in self._examples if example not in own]
        code = as_code(self._module, self._passed, earlier, self._unbreakable)
        return Toolset(code=code, differences=tuple(self._differences))

    async def _not_equal(self, answer: RewrittenTools, names: frozenset[str]) -> list[str]:
        """How an answer's tools differ from the imported ones, in drawn calls and in all examples."""
        module, _ = self._module.with_code(answer.code_py, names=names, again=self._again)
        twin = twin_so_far(self._bench.made).model_copy(
            update={"differences": (*self._differences, *answer.differences)}
        )
        unknown = [f"differences: {one.tool} is not asked now" for one in answer.differences if one.tool not in names]
        found = [*unknown, *declared_problems(twin)]
        if found:
            return found
        there = tuple(module.functions)
        examples = (*self._examples, *answer.examples)
        compared = await compared_draft(
            self._bench, module.text(), examples, twin, tools=there, calls=CALLS_A_TOOL * len(there), seed=0
        )
        return [f"not as the class does: {finding}" for finding in compared.findings]


async def compared_draft(
    bench: Bench,
    source: str,
    examples: Sequence[Example],
    twin: Twin,
    *,
    tools: Sequence[str],
    calls: int,
    seed: int,
) -> Equivalence:
    """A module compared with the imported bundle, before there is a bundle of it."""
    made = bench.made
    derived, _ = await described(source, bench.guests)
    texts = replace(texts_of(made, source, list(derived.values())), examples=kept_examples(examples))
    with tempfile.TemporaryDirectory(prefix="farm-twin-") as folder:
        try:
            own = texts.write(Path(folder))
            return await compare(imported_folder(made), own, twin, calls=calls, seed=seed, tools=tools)
        except BundleError as error:
            return Equivalence(findings=[str(error)])


def kept_examples(examples: Sequence[Example]) -> tuple[BundleExample, ...]:
    """The examples as a bundle lists them."""
    return tuple(
        BundleExample(tool=one.tool, arguments=arguments, setup=one.setup, outcome=one.outcome)
        for one in examples
        for arguments in [_object(one.arguments)]
        if arguments is not None
    )


def _object(text: str) -> dict[str, Any] | None:
    arguments, _ = arguments_of(text)
    return arguments


def evidence_text(evidence: Sequence[str]) -> str:
    """What was found wanting, for the writer."""
    if not evidence:
        return ""
    listed = "\n".join(f"- {line}" for line in evidence)
    return (
        "\nThese functions stand in the module already, and were found wanting when they were tried. Write them anew,"
        " whole, with their differences, and the faults put right; a private function or constant that must change is"
        f" written anew too:\n{listed}"
    )
