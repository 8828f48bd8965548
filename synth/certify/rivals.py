"""Rival names: the other values of the column from which an answer's name comes.

Without them the judge of answers cannot know that a second name is a rival, and whoever lists all names is right.
"""

from collections.abc import Iterator

from servers.answer.fact import Fact
from servers.answer.names import named
from servers.answer.text import folded
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.checkpoints.kinds import Checkpoint
from synth.solutions.plausible_values import RowSample
from synth.solutions.reference_run import ReferenceRun

MOST_RIVALS = 40


def with_rivals(reference: ReferenceRun) -> tuple[Checkpoint, ...]:
    """The checkpoints of a scenario, with rivals for each name that has none. What task or reference tell is none."""
    checkpoints = reference.scenario.checkpoints
    answers = [one for one in checkpoints if isinstance(one, AnswerCheckpoint)]
    asked = [str(value) for one in answers for fact in one.facts for value in (fact.value, *fact.also)]
    told = folded("\n".join([reference.scenario.task, reference.answer, *asked]))
    return tuple(_with_rivals(one, reference.rows, told) if one in answers else one for one in checkpoints)


def _with_rivals(checkpoint: Checkpoint, rows: RowSample, told: str) -> Checkpoint:
    if not isinstance(checkpoint, AnswerCheckpoint):
        return checkpoint
    known = told + "\n" + folded("\n".join(checkpoint.given))
    facts = tuple(_rivalled(fact, rows, known) for fact in checkpoint.facts)
    return checkpoint.model_copy(update={"facts": facts})


def _rivalled(fact: Fact, rows: RowSample, told: str) -> Fact:
    if fact.type != "name" or fact.sql is not None or fact.confusable or fact.confusable_sql:
        return fact
    name = str(fact.value)
    found = dict.fromkeys(rival for rival in _rivals(name, rows) if not named(told, rival, [name]))
    return fact.model_copy(update={"confusable": tuple(found)[:MOST_RIVALS]})


def _rivals(name: str, rows: RowSample) -> Iterator[str]:
    """The other texts of each column in which a name stands."""
    for table, lines in rows.rows.items():
        for column in rows.columns[table]:
            values = {row[column] for row in lines if isinstance(row[column], str)}
            if any(folded(value) == folded(name) for value in values):
                yield from sorted(value for value in values if folded(value) != folded(name))
