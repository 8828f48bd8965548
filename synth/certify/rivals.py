"""Rival names: the other values of the column from which an answer's name comes.

Without them the judge of answers cannot see that a second name is a rival, and a list of all names would pass.
"""

import re
from collections.abc import Iterator, Sequence

from servers.answer.fact import MOST_WORDS, Cell, Fact
from servers.answer.names import named, stem
from servers.answer.text import folded
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.checkpoints.kinds import Checkpoint
from synth.solutions.plausible_values import RowSample
from synth.solutions.reference_run import ReferenceRun

MOST_RIVALS = 40
KEY = re.compile(r"[a-z]+_\w+")
"""An id of a row, which nobody tells as a name."""
MOMENT = re.compile(r"\d{4}-\d\d-\d\d.*|\d\d:\d\d.*")
MOST_WORDS_AROUND = 3
"""The most words in a cell at whose ends a name is searched: a surname, a table's code."""


def with_rivals(reference: ReferenceRun, right: Sequence[str] = ()) -> tuple[Checkpoint, ...]:
    """The checkpoints of a scenario, with all rivals for each name.

    A rival in the task or the reference, or that shares a word with some other right answers, may be told beside the
    names. In the last line it is wrong all the same, so the checkpoint gives it; in prose it is no rival.
    """
    checkpoints = reference.scenario.checkpoints
    answers = [one for one in checkpoints if isinstance(one, AnswerCheckpoint)]
    asked = [str(value) for one in answers for fact in one.facts for value in (*_values(fact), *fact.also)]
    told = folded("\n".join([reference.scenario.task, reference.answer, *asked]))
    words = _words("\n".join(right))
    return tuple(_with_rivals(one, reference.rows, told, words) if one in answers else one for one in checkpoints)


def _with_rivals(checkpoint: Checkpoint, rows: RowSample, told: str, words: set[str]) -> Checkpoint:
    if not isinstance(checkpoint, AnswerCheckpoint):
        return checkpoint
    known = told + "\n" + folded("\n".join(checkpoint.given))
    facts = tuple(_rivalled(fact, rows) for fact in checkpoint.facts)
    found = [str(one) for new, old in zip(facts, checkpoint.facts, strict=True) if new != old for one in new.confusable]
    own = [str(value) for fact in checkpoint.facts for value in _values(fact)]
    beside = [one for one in dict.fromkeys(found) if named(known, one, own) or words & _words(one)]
    if checkpoint.last_line:
        free = max(0, MOST_WORDS - len(checkpoint.given))
        return checkpoint.model_copy(update={"facts": facts, "given": (*checkpoint.given, *beside[:free])})
    fewer = [
        new if new == old else _without(new, set(beside)) for new, old in zip(facts, checkpoint.facts, strict=True)
    ]
    return checkpoint.model_copy(update={"facts": tuple(fewer)})


def _without(fact: Fact, names: set[str]) -> Fact:
    """A fact some of whose rivals are none."""
    return fact.model_copy(update={"confusable": tuple(one for one in fact.confusable if str(one) not in names)})


def _rivalled(fact: Fact, rows: RowSample) -> Fact:
    if fact.type not in ("name", "list") or fact.confusable_sql:
        return fact
    names = [str(value) for value in (*_values(fact), *fact.also)]
    if all(MOMENT.fullmatch(str(value)) for value in _values(fact)):
        return fact  # the judge refuses any other day or time
    whole = [name for name in names if len(name.split()) > 1] or names
    others = dict.fromkeys(rival for name in whole for rival in _rivals(name, names, rows))
    own = {word for name in names for word in _words(name)}
    nearest = sorted(others, key=lambda rival: not own & _words(rival))
    known = dict.fromkeys((*fact.confusable, *nearest))
    return fact.model_copy(update={"confusable": tuple(known)[: max(MOST_RIVALS, len(fact.confusable))]})


def _words(text: str) -> set[str]:
    """The words of a text, without plural endings, and without the shortest."""
    return {stem(word) for word in re.findall(r"\w{3,}", folded(text))}


def _values(fact: Fact) -> tuple[Cell, ...]:
    """The literal values of a fact: all items of a list. Empty if a SELECT gives them."""
    if isinstance(fact.value, tuple):
        return fact.value
    return () if fact.value is None else (fact.value,)


def _rivals(name: str, own: Sequence[str], rows: RowSample) -> Iterator[str]:
    """The other texts of each column that holds a name. A text that is called one of the own names is no rival."""
    for table, lines in rows.rows.items():
        for column in rows.columns[table]:
            values = {row[column] for row in lines if isinstance(row[column], str) and not KEY.fullmatch(row[column])}
            if any(_is_called(value, name) for value in values):
                yield from sorted(value for value in values if not any(_is_called(value, one) for one in own))


def _is_called(cell: str, name: str) -> bool:
    """True if a cell is a name, or a short text that begins or ends with it. A word like `waiting` is no name."""
    words, wanted = folded(cell).split(), folded(name).split()
    if len(words) > MOST_WORDS_AROUND or name[:1].islower():
        return words == wanted
    return wanted in (words[: len(wanted)], words[-len(wanted) :])
