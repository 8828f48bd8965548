"""The questions of a task, with their goals over the answer."""

import re
from dataclasses import dataclass
from typing import Any

from servers.answer.fact import Fact
from servers.bundle.phrases import HOLE, Phrases
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.text.json_leaves import leaf, leaves
from servers.text.json_values import is_object
from synth.phrasing.task_text import TemplateValues, filled
from synth.play.values import day_in
from synth.solutions.answer_facts import answer_goal, fact_of, gives
from synth.solutions.value_texts import said

MONEY = re.compile(r"\b\d+\.\d\d\b")
DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")


@dataclass(frozen=True)
class Telling:
    """A question: how the task asks it, its value, and how the reference answers."""

    ask: str
    words: str
    fact: Fact
    saying: str

    def goal(self, number: int, given: tuple[str, ...] = ()) -> AnswerCheckpoint:
        """The checkpoint that judges it. Values of the task are allowed beside it."""
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
    """The possible questions about a call's result, except what the task gives already.

    `seen` are the results of the other calls: a value in the same place there could be told by mistake.
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
    """The values under a name in some results."""
    return [value for result in seen for path, value in leaves(result, "") if path.rpartition(".")[2] == name and value]


def values_of(refusal: str, given: str = "") -> list[str]:
    """The dates and amounts in a refusal that were not given, as written there."""
    told = [day for day in DAY.findall(refusal) if day_in(day)] + MONEY.findall(refusal)
    return [one for one in dict.fromkeys(told) if one not in given]


def _texts(result: dict[str, Any]) -> dict[str, str]:
    """The texts of a result, at the top or one level below."""
    inner = [value for value in result.values() if is_object(value)]
    return {name: value for whole in (*inner, result) for name, value in whole.items() if isinstance(value, str)}
