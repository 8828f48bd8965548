"""What a task may ask to be told, with how to see it in an answer."""

import re
from dataclasses import dataclass
from typing import Any, cast

from servers.phrases import HOLE, Phrases
from servers.scenario import SqlCheckpoint
from synth.scenarios.facts import DATE, said, tells
from synth.scenarios.goals import answer_goal
from synth.scenarios.lookup import leaf
from synth.scenarios.words import Values, filled

MONEY = re.compile(r"\b\d+\.\d\d\b")
DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")


@dataclass(frozen=True)
class Telling:
    """Something to be told: how it is asked for, what it is, how to see it, and how the reference says it."""

    ask: str
    words: str
    expression: str
    saying: str

    def goal(self, number: int) -> SqlCheckpoint:
        """The checkpoint that sees it."""
        return answer_goal(f"told_{number}", f"Does the answer tell {self.ask}: {self.words}?", self.expression)


def tellings(
    phrases: Phrases, tool: str, result: dict[str, Any], values: Values, given: str, clock: str
) -> list[Telling]:
    """What may be asked about the result of a call, apart from what the task gives already."""
    found: list[Telling] = []
    for tell in phrases.tells.get(tool, ()):
        value = leaf(result, tell.value)
        name = tell.value.rpartition(".")[2]
        ask = filled(tell.ask, Values({**_texts(result), **values.words}, values.arguments))
        if ask is None or value in (None, 0) or (isinstance(value, int) and value < 0):
            continue
        expression = tells(name, value)
        words = said(name, value, clock=clock, currency=phrases.currency)
        if expression is None or words in given:
            continue
        saying = tell.say.replace("{value}", words)
        for hole in HOLE.finditer(saying):
            saying = saying.replace(hole[0], _texts(result).get(hole["name"], "It"))
        found.append(Telling(ask, words, expression, saying))
    return found


def facts_of(text: str, given: str) -> list[tuple[str, str]]:
    """The dates and amounts that a refusal tells and that were not given, each with how to see it in an answer."""
    found: list[tuple[str, str]] = []
    for day in DAY.findall(text):
        expression = tells("on", day)
        if day not in given and expression and DATE.fullmatch(day):
            found.append((day, expression))
    for amount in MONEY.findall(text):
        cents = int(amount.replace(".", ""))
        expression = tells("cents", cents)
        if str(cents) not in given and expression:
            found.append((amount, expression))
    return found


def _texts(result: dict[str, Any]) -> dict[str, str]:
    """The texts of a result, on top or one level below."""
    inner = [cast("dict[str, Any]", value) for value in result.values() if isinstance(value, dict)]
    return {name: value for whole in (*inner, result) for name, value in whole.items() if isinstance(value, str)}
