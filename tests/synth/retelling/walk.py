"""A walk's task, its parts, and the names of rows, for tests of retellings."""

from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.checkpoints.sql import SqlCheckpoint
from servers.scenario.scenario import PlannedCall, Scenario, Solution
from synth.retelling.retelling_gate import Original
from synth.retelling.task_parts import TaskPart, TaskParts
from synth.solutions.plausible_values import RowSample

CLOCK = "2026-03-16 09:00:00"
NAMES = {
    "samir patel": frozenset({"members"}),
    "ada lind": frozenset({"members"}),
    "kindred": frozenset({"titles"}),
    "beloved": frozenset({"titles"}),
}


def rows() -> RowSample:
    """No rows."""
    empty = RowSample.__new__(RowSample)
    empty.columns, empty.rows, empty.tables_of = {"loans": ["due_on"]}, {}, {}
    return empty


def original(
    parts: tuple[TaskPart, ...],
    arguments: dict[int, dict[str, object]],
    *,
    after: dict[int, frozenset[int]] | None = None,
    is_judged: bool = True,
    opening: str = "",
) -> Original:
    """A task of some parts."""
    task = " ".join([opening, *(f"Please {part.words}." for part in parts)])
    return Original(task, TaskParts(opening, parts), (), CLOCK, arguments, after or {}, is_judged)


ASKING = original(
    (
        TaskPart("order", "renew the loan of Kindred that is due on 20 March", "renew_loan", 1),
        TaskPart(
            "order", "get in line for Beloved until 4 May, two copies if there is a large-print one", "reserve_book", 2
        ),
        TaskPart("question", "the new due date of Kindred"),
    ),
    {},
    opening="Samir Patel is on the phone.",
)


def _done(number: int, words: str) -> SqlCheckpoint:
    return SqlCheckpoint(
        id=f"done_{number}", role="goal", question=f"Was this done: {words}?", kind="sql", sql="SELECT 1", expect=[[1]]
    )


LATE_BOOK = Scenario(
    id="back1_0011",
    title="Samir Patel: renew loan, reserve book",
    task=(
        "Samir Patel is on the phone. Please renew Kindred for them. They would like to get in line for Beloved. "
        "Tell me the new due date of Kindred."
    ),
    tags=("backward", "other"),
    checkpoints=(
        _done(1, "renew Kindred for them"),
        _done(2, "They would like to get in line for Beloved"),
        AnswerCheckpoint.model_validate(
            {
                "id": "told_1",
                "role": "goal",
                "question": "Does the answer tell the new due date of Kindred: 5 April?",
                "kind": "answer",
                "facts": [{"name": "told_1", "type": "date", "value": "2026-04-05"}],
            }
        ),
    ),
    solution=Solution(
        calls=tuple(PlannedCall(tool=tool) for tool in ("find_loans", "renew_loan", "find_titles", "reserve_book")),
        answer="It is done.",
    ),
)
