"""The second stage of `farm synth phrases`: a writer gives right and wrong answers to people's questions.

The writer sees the questions, and nothing of the judge.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from servers.answer.fact import FactType
from servers.bundle.paraphrases import ENOUGH, OtherWords, Paraphrases, template_problems
from servers.bundle.phrases import Phrases, Tell
from synth.llm.prompt import Prompt
from synth.pipeline.asker import Asker
from synth.pipeline.stage import Artefacts
from synth.play.playground import Playground
from synth.solutions.answer_facts import type_of
from synth.solutions.plausible_values import RowSample
from synth.solutions.value_texts import kind_of, said

PROMPT = Prompt.load(Path(__file__).with_name("templates.md"))
MOST_EXAMPLES = 4


class Asked(NamedTuple):
    """A question from phrases, with the type of its value and examples."""

    tool: str
    tell: Tell
    kind: FactType
    examples: tuple[str, ...]

    def line(self) -> str:
        """The question as the writer reads it."""
        examples = ", ".join(self.examples)
        return f"- {self.tool}, {self.tell.value} ({self.kind}): “{self.tell.ask}”; “{self.tell.say}”; {examples}"


class TemplateStage:
    """The stage: what it asks, and what it accepts."""

    def __init__(self, bundle: Playground) -> None:
        self._bundle = bundle

    async def make(self, made: Artefacts, asker: Asker) -> Paraphrases:
        """Ask for the templates, unless there is no question with examples."""
        asked = await self._asked(made[Phrases])
        if not asked:
            return Paraphrases()
        description = self._bundle.environment.description
        messages = PROMPT.fill(
            title=description.title,
            about=description.description,
            clock=description.clock,
            asked="\n".join(one.line() for one in asked),
        )

        async def accept(answer: Paraphrases) -> list[str]:
            return list(findings(answer, asked))

        return await asker.ask(messages, Paraphrases, accept)

    async def _asked(self, phrases: Phrases) -> list[Asked]:
        scene = await self._bundle.launch()
        async with scene.reading() as reader:
            rows = RowSample(reader)
        await scene.close()
        clock = self._bundle.environment.description.clock
        return [
            one
            for tool, tells in phrases.tells.items()
            for tell in tells
            if (one := _asked_of(tool, tell, rows, phrases.currency, clock)) is not None
        ]


def _asked_of(tool: str, tell: Tell, rows: RowSample, currency: str, clock: str) -> Asked | None:
    """A question, if the rows have usable values of its name."""
    name = tell.value.rpartition(".")[2]
    there = [row[name] for lines in rows.rows.values() for row in lines if name in row]
    values = [value for value in dict.fromkeys(there) if kind_of(name, value) is not None]
    if not values:
        return None
    kind = type_of(str(kind_of(name, values[0])), values[0])
    return Asked(
        tool, tell, kind, tuple(said(name, one, clock=clock, currency=currency) for one in values[:MOST_EXAMPLES])
    )


def findings(answer: Paraphrases, asked: Sequence[Asked]) -> Iterator[str]:
    """The faults of templates, a sentence each."""
    wanted = {(one.tool, one.tell.value): one.kind for one in asked}
    if answer.scenarios or answer.provenance is not None:
        yield "`tells` is the only key: leave the others out"
    for tool, by_value in answer.tells.items():
        for value in by_value:
            if (tool, value) not in wanted:
                yield f"tells.{tool}: nobody asks for {value!r}"
    for (tool, value), kind in wanted.items():
        words = answer.tells.get(tool, {}).get(value, OtherWords())
        yield from (f"tells.{tool}.{value}: {problem}" for problem in template_problems(words, kind))
        for role, texts in (("right", words.right), ("wrong", words.wrong)):
            if len(set(texts)) < ENOUGH:
                yield f"tells.{tool}.{value}.{role}: {len(set(texts))} different templates; {ENOUGH} are wanted"
