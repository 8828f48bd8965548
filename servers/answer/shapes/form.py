"""Whether an answer has the form of one: a person's words or the submitted facts, no paste."""

import json
import re
from collections.abc import Collection
from typing import Any, NamedTuple

from servers.text.json_values import is_list, is_object

LONGEST = 2_000
LONGEST_PER_FACT = 600
"""An answer has at most so many characters, and so many more for each fact that is asked for."""
LONGEST_SENTENCE = 2_000
"""One sentence of it has at most so many: all of a sentence is read for each name and value in it."""
MOST_PLACES = 60
"""It has one name at so many places at most: each is held against what stands around it."""
MOST_VALUES = 24
MOST_VALUES_PER_FACT = 8
"""It tells at most so many different numbers and dates that nobody asked for."""
MOST_TIMES = 2
"""It has numbers at so many times as many places, at most."""
MOST_LABELS = 4
MOST_LABELS_PER_FACT = 2
"""It has at most so many lines of the form `label: value` that are no items of a list."""
MOST_COLUMNS = 2
"""It names at most so many columns of keys and cents, as `segment id:`."""
MOST_ITEMS = 12
MOST_ITEMS_PER_FACT = 2
"""It lists at most so many values in a row, with nothing but a comma or semicolon between."""
MOST_LEAVES = 4
MOST_LEAVES_PER_FACT = 2
"""JSON in an answer has at most so many values."""
WORDS_OF_AN_ITEM = 3
_BETWEEN_ITEMS = re.compile(r"[,;](?=\s)|\n")
_LABEL = re.compile(r"^[^\W\d_][\w ]{0,30}: \S", re.MULTILINE)
_LEAF = re.compile(r"[\"'][\w ]+[\"']\s*:\s*(?:[\"']|-?\d|true|false|null|True|False|None)")
_COLUMN = re.compile(r"\b\w{1,40}[ _](?:id|cents)(?:[ _][^\W_]{1,40}){0,3}(?=\s{0,3}:)")
_RAW = re.compile(r"[\"']\w+_(?:id|cents)[\"']\s*:|\[\s*\{\s*[\"']")
_NUMBER_IN_KEY = re.compile(r"_\d+(?=_|$)")
_FENCE = "```"
MESSAGE = "message"
"""The key of a submitted answer whose value is read as free text."""
REASON = "reason"
"""The key of a submitted answer for what stood in the way, where an answer has a last line."""


class Form(NamedTuple):
    """An answer as it is read: its text, and the texts of the facts that it submits by name."""

    text: str
    submitted: dict[str, str] | None = None
    """None if it is free text. Facts that are not submitted are then told nowhere, unless there is a message."""
    crowded: frozenset[str] = frozenset()
    """Facts under whose keys stand several values, or an object."""

    @property
    def parts(self) -> list[str]:
        """What a submitted answer says under its keys, and its message."""
        return [] if self.submitted is None else [text for text in (*self.submitted.values(), self.text) if text]


def unreadable(answer: str, facts: int, items: int = 0) -> str:
    """Why an answer is not even read: it is none, or more than a person would write.

    `items` are those of the lists among the facts.
    """
    if not answer.strip():
        return "there is no answer"
    longest = LONGEST + LONGEST_PER_FACT * facts
    if len(answer) > longest:
        return f"the answer has {len(answer)} characters; a person would need {longest} at most"
    most = MOST_VALUES + MOST_VALUES_PER_FACT * facts
    runs = re.findall(r"\d+", answer)
    if len(set(runs)) > most or len(runs) > MOST_TIMES * most:
        return f"the answer tells {len(set(runs))} numbers at {len(runs)} places; a person would tell {most} at most"
    leaves = len(_LEAF.findall(answer))
    most = MOST_LEAVES + MOST_LEAVES_PER_FACT * facts
    if leaves > most:
        return f"the answer pastes data: {leaves} values"
    return _listed(answer, facts, items)


def _listed(answer: str, facts: int, items: int) -> str:
    """Why an answer is a list of rows or of candidates, if it is."""
    labels = len(_LABEL.findall(answer))
    most = MOST_LABELS + MOST_LABELS_PER_FACT * facts
    if labels > most:
        return f"the answer has {labels} lines with a label; a person would write {most} at most"
    listed = _longest_list(answer)
    most = MOST_ITEMS + MOST_ITEMS_PER_FACT * max(facts, items)
    if listed > most:
        return f"the answer lists {listed} values in a row; a person would list {most} at most"
    columns = {found[0] for found in _COLUMN.finditer(answer.casefold())}
    pastes = _RAW.search(answer) is not None or len(columns) > MOST_COLUMNS
    return "the answer pastes rows: it has the keys of a result" if pastes else ""


def _longest_list(answer: str) -> int:
    """How many items the longest list of an answer has: a value or a name each, and no words around it."""
    longest = length = 0
    for part in filter(str.strip, _BETWEEN_ITEMS.split(answer)):
        length = length + 1 if len(part.split()) <= WORDS_OF_AN_ITEM else 0
        longest = max(longest, length)
    return longest


def read_form(answer: str, names: set[str], lists: Collection[str] = ()) -> Form:
    """The facts of an answer that is JSON by their names, and its message as text.

    `lists` are the names of those that are lists: under any other key stands one value. Any other object is read as
    lines `key: value`, and anything else as its text.
    """
    try:
        told: Any = json.loads(_unfenced(answer.strip()))
    except (ValueError, RecursionError):
        return Form(answer)
    if not is_object(told) or not told:
        return Form(answer)
    fields = {key: _as_text(value) for key, value in told.items()}
    if names | {MESSAGE} >= fields.keys():
        message = "" if MESSAGE in names else fields.pop(MESSAGE, "")
        single = {key: value for key, value in told.items() if key not in (*lists, MESSAGE)}
        crowded = [key for key, value in single.items() if is_object(value) or (is_list(value) and len(value) > 1)]
        return Form(message, fields, frozenset(crowded))
    return Form("\n".join(f"{_label(key)}: {value}" for key, value in fields.items()))


def _unfenced(answer: str) -> str:
    """What stands between the fences of a block of code, if an answer is one."""
    if not (answer.startswith(_FENCE) and answer.endswith(_FENCE)):
        return answer
    return answer.removeprefix(_FENCE).removesuffix(_FENCE).partition("\n")[2]


def _label(key: str) -> str:
    """A key as the words before a value, without its numbers: `slot_5_june_10_00_closed` tells no ten."""
    return _NUMBER_IN_KEY.sub("", key).replace("_", " ")


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value == []:
        return "none"
    if is_list(value):
        return ", ".join(_as_text(one) for one in value)
    if is_object(value):
        return ", ".join(f"{key}: {_as_text(one)}" for key, one in value.items())
    return str(value)
