"""What a value is of: not of another kind, another row, the time before, another person, or another order."""

from datetime import datetime
from typing import Any

import pytest

from servers.answer.checks.verdict import verdicts
from servers.answer.expected_fact import wanted
from servers.answer.fact import Fact
from servers.answer.question import AnswerQuestion

NOW = datetime.fromisoformat("2026-03-16 09:00:00")
AMOUNT = {"type": "amount", "value": 120, "currency": "EUR"}
COUNT = {"type": "count", "value": 21}
DAY = {"type": "date", "value": "2026-05-29"}


def tells(answer: str, fact: dict[str, Any], asked: str = "", *given: str, tell: str = "all") -> bool:
    """Whether an answer tells a fact."""
    one = wanted(Fact.model_validate({"name": "told", **fact}))
    return verdicts([AnswerQuestion((one,), f"Does the answer tell {asked}: x?", tell, given)], answer, NOW)[0].holds


@pytest.mark.parametrize(
    ("asked", "answer", "holds"),
    [
        ("how much the objects are worth together", "Together they are worth 120 euros.", True),
        ("how much the objects are worth together", "Their value adds up to 120 euros.", True),
        ("how much the objects are worth together", "The fee for the objects is 120 euros.", False),
        ("how much the objects are worth together", "The objects are insured for 120 euros.", False),
        ("what is open on the bill now", "120 euros are still open.", True),
        ("what is open on the bill now", "You have paid 120 euros so far.", False),
        ("what the room costs now in all", "The room now costs 120 euros.", True),
        ("what the room costs now in all", "The change adds 120 euros on top of what the room cost.", False),
        ("what the new booking costs", "The certificate costs 120 euros.", False),
        ("what the new booking costs", "The certificate is in. The booking costs 120 euros.", True),
        ("how much is refunded", "120 euros go back to her.", True),
        ("how much is refunded", "She still owes 120 euros.", False),
    ],
)
def test_an_amount_is_of_the_kind_that_is_asked_for(asked: str, answer: str, holds: bool) -> None:
    assert tells(answer, AMOUNT, asked) is holds


@pytest.mark.parametrize(
    ("asked", "answer", "holds"),
    [
        ("how many seats are free in section A", "There are 21 free seats.", True),
        ("how many seats are free in section A", "In section B there are 21 seats free.", False),
        ("how many covers it can take", "It can take 21 covers.", True),
        ("how many covers it can take", "There are 21 covers booked for it already.", False),
        ("how many units are still to be reserved", "21 units are still to be reserved.", True),
        ("how many units are still to be reserved", "21 units have been reserved.", False),
        ("how many nails we have now", "We have 21 nails now.", True),
        ("how many nails we have now", "The nails lie on shelf 21.", False),
        ("how many nails we have now", "The nails weigh 21 kilos.", False),
        ("how many units the lot has after the correction", "It has 21 units.", True),
        ("how many units the lot has after the correction", "Before the correction the lot had 21 units.", False),
        ("how many tickets she may have at most", "She has 21 tickets; what the limit is, I do not see.", False),
    ],
)
def test_a_count_is_of_what_is_asked_for(asked: str, answer: str, holds: bool) -> None:
    assert tells(answer, COUNT, asked) is holds


@pytest.mark.parametrize(
    ("asked", "answer", "holds"),
    [
        ("the new due date of the loan", "It is due on 29 May.", True),
        ("the new due date of the loan", "The warranty ends on 29 May.", False),
        ("the new last day of the loan", "The loan runs until 29 May.", True),
        ("the new last day of the loan", "Certificate registered; it runs until 29 May.", False),
        ("on which day we took it in", "It came in on 29 May.", True),
        ("on which day we took it in", "It was ordered on 29 May.", False),
    ],
)
def test_a_day_is_of_the_kind_that_is_asked_for(asked: str, answer: str, holds: bool) -> None:
    assert tells(answer, DAY, asked) is holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("Meret Aydin's booking is charged 120 euros.", True),
        ("Jonas Petersen's booking is charged 120 euros.", False),
        ("The booking comes to 120 euros; Jonas Petersen's name is on it.", True),
    ],
)
def test_a_value_is_not_told_of_somebody_whom_the_question_does_not_name(answer: str, holds: bool) -> None:
    task = "Waive Meret Aydin's charge on behalf of Jonas Petersen. Tell me how much is charged."
    assert tells(answer, AMOUNT, "how much is charged for Meret Aydin's booking", task) is holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("The van to Vigo left at 07:30, so the nails are still here.", True),
        ("The nails could not go out: it left at 07:30.", True),
        ("I could not call back the pipes: the van to Nice left at 07:30.", False),
    ],
)
def test_a_reason_is_told_of_the_order_that_was_refused(answer: str, holds: bool) -> None:
    given = ("Please call back the pipes for Nice. Then send 5 nails to Vigo.", "the van to Vigo left at 07:30")
    assert tells(answer, {"type": "time", "value": "07:30"}, "", *given, tell="any") is holds


def test_a_title_with_and_in_it_is_one_part_of_a_clause() -> None:
    asked = "the new last day of the loan for “Hours and Minutes”"
    assert not tells("The courier plan for “Hours and Minutes” is settled until 29 May.", DAY, asked)
    assert tells("The loan for “Hours and Minutes” runs until 29 May.", DAY, asked)


def test_all_three_are_done_counts_nothing() -> None:
    assert tells("All three are done, and twenty-one are left.", COUNT, "how many packs are left")
    assert tells("Three of four done. 21 packs are left.", COUNT, "how many packs are left")
    assert tells("The packs are counted; twenty-one of them are left.", COUNT, "how many packs are left")
