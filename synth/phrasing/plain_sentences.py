"""A command in words without a template: the first sentence of its tool's description, with its rows named in it.

The remaining arguments follow, as somebody would add them: `for Ada, due on 4 May, with the note “…”`.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from servers.bundle.description import Tool
from synth.phrasing.task_text import TemplateValues
from synth.solutions.plausible_values import enum_of
from synth.solutions.value_texts import DATE, DATETIME, MONEY, is_money

LOOSE = re.compile(r" (?:that|which|whose) (?:is|are|was|were|has|have|waits|wait|belongs?|can|may)\b[^,.“]*$")
"""A clause at a sentence's end that only restricts the rows."""
ELSE = re.compile(r",? or (?:an?|one|another|the)\b[^“]*$|, or \w+[^“]*$")
"""A clause at a sentence's end about another effect of the tool."""
SOMEBODY = r"(?:somebody|someone|a person(?: or \w+)?)(?P<ending>'s)?"
BETWEEN = r"(?:(?!(?:an?|the|of|to|for|in|on|at|by|from|with|and|that|whose|which|one)\b)\w+\s+){0,3}"
"""The words that may stand between an article and its noun: `an available or reserved unit`."""
PARTICIPLE = re.compile(r"(?:\w+(?:ed|en)|due|valid|paid|sent|made)")
PAIRS = (("arrival", "departure"), ("from", "to"), ("from", "until"), ("start", "end"), ("begin", "end"))
PREPOSITIONS = ("from", "until", "to", "since", "by", "before", "after")
DAY = ("date", "day", "when", "at", "on")
UNITS = ("kg", "g", "km", "m", "cm", "minutes", "hours", "days", "nights", "percent", "ml", "litres")
FOR = ("requester", "customer", "client", "applicant", "owner", "holder", "keeper")
"""Arguments for the person whose errand it is."""
ONE_OF = {"children": "child", "people": "person", "copies": "copy"}


class Thing(NamedTuple):
    """The name of an argument's row, and whether it is a person's."""

    noun: str
    is_person: bool


class _Rest(NamedTuple):
    """The words after the sentence: for what, how, with what, and which flags."""

    rows: list[str]
    manner: list[str]
    having: list[str]
    answers: list[str]


def plain_ask(tool: Tool, values: TemplateValues, things: Mapping[str, Thing]) -> str:
    """A clause that asks for a call: `Lend a copy to a member.` becomes `lend Dune to Ada Lind`."""
    sentence = re.split(r"\.(?:\s|$)|\n|;|:\s", tool.description.strip())[0]
    clause = sentence[:1].lower() + sentence[1:]
    left: dict[str, str] = {}
    placed: list[str] = []
    for name, word in values.words.items():
        put = _put_in(clause, things[name], word) if name in things else None
        if put is None:
            left[name] = word
        else:
            placed.append(word)
            clause = put
    clause = _shortened(clause, list(values.words.values()), bool(things))
    for name in [name for name in left if isinstance(values.arguments[name], str) and name not in things]:
        decided = _decided(clause, values.arguments[name], placed) if enum_of(tool.properties.get(name, {})) else None
        if decided is not None:
            clause = decided
            del left[name]
    return _with_rest(clause, _rest(clause, left, values.arguments, things))


def _put_in(clause: str, thing: Thing, word: str) -> str | None:
    """A clause with a row in place of `a copy`, `another branch`. None if it has no such words."""
    words = thing.noun.replace("_", "[ -]")
    forms = [
        rf"(?:an?|the|another|one|some|its|their)\s+{BETWEEN}{form}(?P<ending>'s)?"
        for form in (words, words.split("[ -]")[-1])
    ]
    for form in (*forms, *([SOMEBODY] if thing.is_person else [])):
        found = re.search(rf"\b{form}\b(?!')", clause)
        if found is not None:
            return f"{clause[: found.start()]}{word}{found['ending'] or ''}{clause[found.end() :]}"
    return None


def _shortened(clause: str, words: list[str], has_rows: bool) -> str:
    """A clause without restrictions and other effects."""
    for form in (ELSE, LOOSE):
        found = form.search(clause)
        if found is not None and has_rows and not any(word in found[0] for word in words):
            clause = clause[: found.start()]
    return clause.rstrip(", ")


def _decided(clause: str, value: str, placed: list[str]) -> str | None:
    """A clause with two alternatives, reduced to the chosen one. None if the choice names neither."""
    sides = clause.split(" or ")
    stem = value[: max(4, len(value) - 2)].lower()
    if len(sides) != 2 or len(value) < 4:
        return None
    first, second = sides
    named = [stem in side.lower() for side in sides]
    if named == [True, False]:
        return first if " " in first else f"{first} {second.partition(' ')[2]}"
    if named == [False, True] and " " not in first:
        return second
    if named == [False, True] and len(placed) == 1 and re.search(r"\bit\b", second):
        return re.sub(r"\bit\b", lambda _: placed[0], second, count=1)
    return None


def _rest(clause: str, left: dict[str, str], arguments: dict[str, Any], things: Mapping[str, Thing]) -> _Rest:
    rest = _Rest([], [], [], [])
    for first, second in PAIRS:
        days = [name for one in (first, second) for name in left if _human(name) == one and _is_day(arguments[name])]
        if len(days) == 2:
            rest.manner.append(f"from {left.pop(days[0])} to {left.pop(days[1])}")
    for name, word in left.items():
        human, value = _without(clause, _human(name)), arguments[name]
        if name in things and _is_its_object(human, word, things[name]):
            rest.rows.append(f"for {word}")
        elif isinstance(value, bool):
            rest.answers.append(f"{human}: {'yes' if value else 'no'}")
        elif is_money(name) and human in ("amount", "price", *MONEY):
            rest.manner.append(f"for {word}")
        elif human.endswith(" by") or (_is_day(value) and human in PREPOSITIONS):
            rest.manner.append(f"{human} {word}")
        elif _is_day(value) and human in DAY:
            rest.manner.append(f"on {word}")
        elif _is_day(value) and PARTICIPLE.fullmatch(human):
            rest.manner.append(f"{human} on {word}")
        else:
            rest.having.append(_having(human, word, value, name in things and things[name].is_person))
    return rest


def _is_its_object(human: str, word: str, thing: Thing) -> bool:
    """True if the sentence is about a row, not only done with it."""
    noun = thing.noun.replace("_", " ")
    if thing.is_person:
        return human == noun or human in FOR
    return not human.endswith(" by") and re.search(rf"\b{noun.split(' ')[-1]}\b", word) is not None


def _without(clause: str, human: str) -> str:
    """The name of a property without words of the clause: the `revoke reason` of a revoked thing is its reason."""
    first, _, rest = human.partition(" ")
    return rest if len(first) > 4 and first[:5] in clause and rest not in ("", "by", *UNITS) else human


def _having(human: str, word: str, value: Any, is_person: bool) -> str:
    """A property and its value, after `with`."""
    if is_person:
        return f"{word} as the {human}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        *stem, last = human.split(" ")
        if last in UNITS and stem:
            return f"a {' '.join(stem)} of {word} {last}"
        if last.endswith("s") or last in ONE_OF:
            one = ONE_OF.get(last, last.removesuffix("s"))
            return f"{word} {' '.join([*stem, one if value == 1 else last])}"
        return f"{'an' if human[:1] in 'aeio' else 'a'} {human} of {word}"
    told = f"“{word}”" if isinstance(value, str) and value == word and " " in word else word
    return f"the {human} {told}" if not told.startswith(f"{human} ") else f"the {told}"


def _with_rest(clause: str, rest: _Rest) -> str:
    for row in rest.rows:
        clause = f"{clause} {row}"
    parts = [clause, *rest.manner]
    if rest.having:
        *before, last = rest.having
        parts.append(f"with {', '.join(before)} and {last}" if before else f"with {last}")
    whole = ", ".join(parts)
    told = f"{whole} ({', '.join(rest.answers)})" if rest.answers else whole
    return told.replace(") (", "; ")


def _is_day(value: Any) -> bool:
    return isinstance(value, str) and bool(DATE.fullmatch(value) or DATETIME.fullmatch(value))


def _human(name: str) -> str:
    return re.sub(r"_(id|cents|on|at)$", "", name).replace("_", " ")
