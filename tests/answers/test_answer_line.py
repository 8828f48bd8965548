"""The last line of an answer: it has the values and nothing else, and they are told there and nowhere else."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import pytest

from servers.answer.checks.line_told import asks_for_a_line
from servers.answer.checks.verdict import verdicts
from servers.answer.expected_fact import ExpectedFact, wanted
from servers.answer.fact import Fact
from servers.answer.question import AnswerQuestion
from servers.bundle_library import OWN_LIBRARY, Library
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from tests.answers.json_forms import forms, is_true
from tests.library import of_each_environment

EACH = 5
"""One scenario in so many is tried."""
NOW = datetime.fromisoformat("2026-03-10 08:00:00")
TASK = "Send 9 pulleys to Riga and renew Ada's loan. Tell me how many pulleys are left on the shelf, and what it costs."
LEFT = AnswerQuestion(
    (wanted(Fact(name="left", type="count", value=10, confusable=(19,))),),
    "Does the answer tell how many pulleys are left on the shelf: 10?",
    given=(TASK,),
)
COSTS = AnswerQuestion(
    (wanted(Fact(name="costs", type="amount", value=42, currency="EUR", confusable=(45,))),),
    "Does the answer tell what the renewal of Ada's loan costs: 42 euros?",
    given=(TASK,),
)
FEE = AnswerQuestion(
    (wanted(Fact(name="fee", type="amount", value=7, currency="EUR")),),
    "Does the answer tell the late fee: 7 euros?",
    given=(TASK,),
)
WHO = AnswerQuestion(
    (wanted(Fact(name="who", type="name", value="Ada Lindqvist", confusable=("Bo Berg",))),),
    "Does the answer tell who has the book: Ada Lindqvist?",
)
OPEN = AnswerQuestion(
    (wanted(Fact(name="open", type="amount", value=0)),), "Does the answer tell how much is still open: 0 euros?"
)
REASON = AnswerQuestion(
    (wanted(Fact(name="reason", type="date", value="2026-03-20")),),
    "Does the answer tell 20 March, which stands in the way?",
    tell="any",
)


def holds(answer: str, *questions: AnswerQuestion) -> bool:
    return all(told.holds for told in verdicts(questions, answer, NOW))


@pytest.mark.parametrize(
    "line",
    [
        "Answer: 10",
        "Answer: 10 pulleys",
        "**Answer:** ten pulleys are left on the shelf.",
        "Final answer: 10",
        "Answer:\n- 10 pulleys",
        "Answer: `10`",
        "ANSWER: １０",
        "Answer: it is exactly 10",
    ],
)
def test_the_last_line_has_the_value(line: str) -> None:
    assert holds(f"The pulleys are on their way.\n{line}", LEFT)


@pytest.mark.parametrize(
    "line",
    [
        "the parcel to Riga holds 10 pulleys",
        "10 in Riga",
        "10 wheels",
        "10 pulleys were sent",
        "10 pulleys before the parcel",
        "perhaps 10",
        "about 10",
        "~10",
        "10?",
        "not 10",
        "10 or 19",
        "10 (19 before)",
        "10; 19",
        "10; 9",
        "10 of 19",
        "19 - 9",
        "-10",
        "10; sorry, scratch that",
        "10 more",
        "at least 10",
        "10/day",
        "10 %",
        "9",
    ],
)
def test_anything_beside_the_value_spoils_the_line(line: str) -> None:
    assert not holds(f"The pulleys are on their way.\nAnswer: {line}", LEFT)


def test_what_stands_above_the_line_tells_nothing() -> None:
    assert not holds("10 pulleys are left on the shelf.\nAnswer: 12", LEFT)
    assert not holds("10 pulleys are left on the shelf.\nAnswer: see above", LEFT)


def test_words_above_the_line_may_say_what_was_done() -> None:
    assert holds("I sent 9 pulleys to Riga. The parcel to Riga has a label of 2 kg.\nAnswer: 10", LEFT)


@pytest.mark.parametrize(
    "above",
    [
        "There were 19 pulleys.",
        "I am not sure about this.",
        '[{"item_id": "a", "count": 10}, {"item_id": "b", "count": 19}]',
        "Candidates: 10, 19.",
    ],
)
def test_candidates_doubt_and_data_above_the_line_spoil_it(above: str) -> None:
    assert not holds(f"{above}\nAnswer: 10", LEFT)


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("renewal: 42 euros; late fee: 7 euros", True),
        ("late fee: 7 euros; renewal: 42 euros", True),
        ("42 euros; 7 euros", True),
        ("42 euros and 7 euros", True),
        ("\n- renewal of Ada's loan: €42\n- late fee: €7", True),
        ("7 euros; 42 euros", False),
        ("renewal: 7 euros; late fee: 42 euros", False),
        ("late fee: 42 euros; renewal: 7 euros", False),
        ("renewal: 42 euros; late fee: 7 euros; 9 euros", False),
        ("renewal: 42 euros; renewal: 7 euros", False),
        ("42 euros", False),
        ("49 euros", False),
        ("42 dollars; 7 euros", False),
    ],
)
def test_each_of_several_values_stands_behind_its_words_or_in_order(line: str, right: bool) -> None:
    assert holds(f"All is done.\nAnswer: {line}", COSTS, FEE) is right


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("Ada Lindqvist", True),
        ("Ms Lindqvist", True),
        ("Ada Lindqvist has the book", True),
        ("Bo Berg", False),
        ("Ada Lindqvist or Bo Berg", False),
        ("Ada Lindqvist's brother", False),
    ],
)
def test_a_name_stands_alone_too(line: str, right: bool) -> None:
    assert holds(f"All is done.\nAnswer: {line}", WHO) is right


@pytest.mark.parametrize(("line", "right"), [("nothing", True), ("0 euros", True), ("none", True), ("", False)])
def test_that_there_is_nothing_is_zero(line: str, right: bool) -> None:
    assert holds(f"All is paid.\nAnswer: {line}", OPEN) is right


def test_a_reason_stands_above_the_line() -> None:
    assert holds("The loan was not renewed: it can be from 20 March.\nAnswer: 10 pulleys", LEFT, REASON)
    assert not holds("The loan was not renewed.\nAnswer: 10 pulleys", LEFT, REASON)


def test_an_answer_without_the_line_is_read_as_a_whole() -> None:
    assert holds("10 pulleys are left on the shelf.", LEFT)
    assert holds("The answer is 10 pulleys.", LEFT)


class Line(NamedTuple):
    """An answer with a last line, and whether it is right."""

    right: bool
    text: str


@of_each_environment()
def test_lines_over_the_library_pass_with_the_value_and_fail_with_another(name: str, record_property: Any) -> None:
    library = Library([OWN_LIBRARY])
    clock = library.environment(name).description.clock
    seen: Counter[str] = Counter()
    for scenario in list(library.scenarios(name).values())[::EACH]:
        now = datetime.fromisoformat(scenario.clock or clock)
        asked = [one.written() for one in scenario.checkpoints if isinstance(one, AnswerCheckpoint)]
        own = [question for question in asked if question.tell == "all"]
        for line in lines(own, now) if asks_for_a_line(asked) else ():
            seen["right" if line.right else "wrong"] += 1
            passes = all(told.holds for told in verdicts(own, line.text, now))
            assert passes is line.right, f"{scenario.id}: {line.text}"
    record_property(f"{name}: answer lines", str(dict(seen)))


TWO = ("{} or {}", "{} ({})", "{}; {}", "{}, not {}")
SPOILED = ("about {}", "not {}", "{}?", "{} for Ada Lovelace", "{} per day")


def lines(questions: Sequence[AnswerQuestion], now: datetime) -> Iterator[Line]:
    """Lines with the values of some questions in several forms, and spoiled ones."""
    asked = [question for question in questions if question.wanted]
    facts = [question.wanted[0] for question in asked]
    labels = [_label(question) for question in asked]
    plain = [_text(one) for one in facts]
    yield Line(True, f"Answer: {'; '.join(plain)}")
    for at, (question, one) in enumerate(zip(asked, facts, strict=True)):
        told = plain.copy()
        for _, value in forms(question, one):
            told[at] = ", ".join(map(str, value)) if isinstance(value, list) else str(value)  # pyright: ignore
            yield Line(True, _line(labels, told))
        others = [str(other) for other in one.confusable if not is_true(one, other, now)]
        for other in others:
            told[at] = other
            yield Line(False, _line(labels, told))
        for pattern in (*SPOILED, *(TWO if others else ())):
            told[at] = pattern.format(plain[at], *others[:1])
            yield Line(False, _line(labels, told))


def _line(labels: Sequence[str], told: Sequence[str]) -> str:
    if len(told) == 1:
        return f"All is done.\nAnswer: {told[0]}"
    return "All is done.\nAnswer: " + "; ".join(f"{words}: {value}" for words, value in zip(labels, told, strict=True))


def _label(question: AnswerQuestion) -> str:
    return question.asked.rpartition(": ")[0].removeprefix("Does the answer tell ").strip(" .")


def _text(one: ExpectedFact) -> str:
    return ", ".join(map(str, one.values)) if one.fact.type == "list" else str(one.values[0])
