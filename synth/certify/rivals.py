"""Rival names: the other values of the column from which an answer's name comes.

Without them the judge of answers cannot see that a second name is a rival, and a list of all names would pass.
"""

import re
from collections.abc import Iterator, Sequence

from servers.answer.fact import Cell, Fact
from servers.answer.names import named, stem
from servers.answer.text import folded
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.checkpoints.kinds import Checkpoint
from synth.solutions.plausible_values import RowSample
from synth.solutions.reference_run import ReferenceRun

MOST_RIVALS = 40
MOST_WORDS_AROUND = 3
"""The most words in a cell at whose ends a name is searched: a surname, a table's code."""


def with_rivals(reference: ReferenceRun, right: Sequence[str] = ()) -> tuple[Checkpoint, ...]:
    """The checkpoints of a scenario, with rivals for each name that has none.

    Names in the task or the reference are no rivals, nor those that share a word with some other right answers.
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
    facts = tuple(_rivalled(fact, rows, known, words) for fact in checkpoint.facts)
    return checkpoint.model_copy(update={"facts": facts})


def _rivalled(fact: Fact, rows: RowSample, told: str, words: set[str]) -> Fact:
    if fact.type not in ("name", "list") or fact.confusable or fact.confusable_sql:
        return fact
    names = [str(value) for value in _values(fact)]
    others = dict.fromkeys(rival for name in names for rival in _rivals(name, rows))
    rivals = [rival for rival in others if not (named(told, rival, names) or words & _words(rival))]
    return fact.model_copy(update={"confusable": tuple(rivals)[:MOST_RIVALS]})


def _words(text: str) -> set[str]:
    """The words of a text, without plural endings, and without the shortest."""
    return {stem(word) for word in re.findall(r"\w{3,}", folded(text))}


def _values(fact: Fact) -> tuple[Cell, ...]:
    """The literal values of a fact: all items of a list. Empty if a SELECT gives them."""
    if isinstance(fact.value, tuple):
        return fact.value
    return () if fact.value is None else (fact.value,)


def _rivals(name: str, rows: RowSample) -> Iterator[str]:
    """The other texts of each column that holds a name."""
    for table, lines in rows.rows.items():
        for column in rows.columns[table]:
            values = {row[column] for row in lines if isinstance(row[column], str)}
            if any(_is_called(value, name) for value in values):
                yield from sorted(value for value in values if not _is_called(value, name))


def _is_called(cell: str, name: str) -> bool:
    """True if a cell is a name, or a short text that begins or ends with it. A word like `waiting` is no name."""
    words, wanted = folded(cell).split(), folded(name).split()
    if len(words) > MOST_WORDS_AROUND or name[:1].islower():
        return words == wanted
    return wanted in (words[: len(wanted)], words[-len(wanted) :])
