"""What a task may ask to be told, with how to see it in an answer."""

import re
from dataclasses import dataclass
from typing import Any, cast

from servers.answer.fact import Fact
from servers.bundle.phrases import HOLE, Phrases
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from synth.phrasing.task_text import TemplateValues, filled
from synth.play.values import day_in
from synth.solutions.answer_facts import answer_goal, fact_of, gives
from synth.solutions.json_leaves import leaf, leaves
from synth.solutions.value_texts import said

MONEY = re.compile(r"\b\d+\.\d\d\b")
DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")


@dataclass(frozen=True)
class Telling:
    """Something to be told: how it is asked for, what it is, and how the reference says it."""

    ask: str
    words: str
    fact: Fact
    saying: str

    def goal(self, number: int, given: tuple[str, ...] = ()) -> AnswerCheckpoint:
        """The checkpoint that sees it. The values that the task gives may be told as well."""
        fact = self.fact.model_copy(update={"name": f"told_{number}"})
        return answer_goal(f"told_{number}", f"Does the answer tell {self.ask}: {self.words}?", [fact], given=given)


def tellings(
    phrases: Phrases,
    tool: str,
    result: dict[str, Any],
    values: TemplateValues,
    given: str,
    clock: str,
    seen: tuple[dict[str, Any], ...] = (),
) -> list[Telling]:
    """What may be asked about the result of a call, apart from what the task gives already.

    `seen` are the results of the other calls: what stands in their place of it could be told by mistake.
    """
    found: list[Telling] = []
    for tell in phrases.tells.get(tool, ()):
        value = leaf(result, tell.value)
        name = tell.value.rpartition(".")[2]
        ask = filled(tell.ask, TemplateValues({**_texts(result), **values.words}, values.arguments))
        if ask is None or value in (None, 0) or (isinstance(value, int) and value < 0):
            continue
        fact = fact_of(name, value, confusable=_others(name, seen), currency=phrases.currency)
        if fact is None or gives(given, fact, clock):
            continue
        words = said(name, value, clock=clock, currency=phrases.currency)
        saying = tell.say.replace("{value}", words)
        for hole in HOLE.finditer(saying):
            saying = saying.replace(hole[0], _texts(result).get(hole["name"], "It"))
        found.append(Telling(ask, words, fact, saying))
    return found


def _others(name: str, seen: tuple[dict[str, Any], ...]) -> list[Any]:
    """What stands under a name in some results."""
    return [value for result in seen for path, value in leaves(result, "") if path.rpartition(".")[2] == name and value]


def values_of(refusal: str, given: str = "") -> list[str]:
    """The dates and amounts that a refusal tells and that were not given, as it writes them."""
    told = [day for day in DAY.findall(refusal) if day_in(day)] + MONEY.findall(refusal)
    return [one for one in dict.fromkeys(told) if one not in given]


def _texts(result: dict[str, Any]) -> dict[str, str]:
    """The texts of a result, on top or one level below."""
    inner = [cast("dict[str, Any]", value) for value in result.values() if isinstance(value, dict)]
    return {name: value for whole in (*inner, result) for name, value in whole.items() if isinstance(value, str)}
