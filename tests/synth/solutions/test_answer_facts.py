"""An answer tells a fact in any form that people use, and another fact in none."""

import pytest

from synth.certify.agents.wrong_answers import asks
from synth.solutions.answer_facts import fact_of, gives
from synth.solutions.value_texts import said

CLOCK = "2026-03-16 09:00:00"


def told(name: str, value: object, answer: str) -> bool:
    """Whether an answer tells a value."""
    fact = fact_of(name, value)
    assert fact is not None
    return gives(answer, fact, CLOCK)


@pytest.mark.parametrize(
    "answer",
    [
        "Due on 2026-04-08.", "due 8 April", "It is due on the 8th of April, 2026.", "April 8", "April 8th",
        "Apr 8, 2026", "8. April", "08.04.2026", "8/4/2026", "04/08", "back by 8 Apr.",
    ],
)  # fmt: skip
def test_a_date_is_told_in_many_forms(answer: str) -> None:
    assert told("due_on", "2026-04-08", answer)


@pytest.mark.parametrize(
    "answer", ["", "18 April", "8 May", "2026-04-18", "April 18", "April 80", "on the 8th", "28 April"]
)
def test_another_date_is_not_that_date(answer: str) -> None:
    assert not told("due_on", "2026-04-08", answer)


@pytest.mark.parametrize("answer", ["11:30", "11h30", "11:30 a.m.", "It leaves at half past eleven.", "11.30 Uhr"])
def test_a_time_of_day_is_told_in_many_forms(answer: str) -> None:
    assert told("leaves_at", "11:30", answer)
    assert not told("leaves_at", "11:45", answer)


@pytest.mark.parametrize("answer", ["1640", "1,640 grams", "1.640 g", "It weighs 1 640 g."])
def test_thousands_may_stand_apart(answer: str) -> None:
    assert told("grams", 1640, answer)


@pytest.mark.parametrize("answer", ["11,640", "1,64", "640", "16:40:00"])
def test_another_number_is_not_that_number(answer: str) -> None:
    assert not told("grams", 1640, answer)


@pytest.mark.parametrize(
    ("cents", "answer"),
    [
        (725, "7.25"), (725, "7,25 euros"), (725, "€7.25."), (24000, "240"), (24000, "240.00 EUR"),
        (24000, "240 euros,"), (24000, "It is 240."), (60840, "608.4"), (113778, "1,137.78"), (113778, "1.137,78"),
        (113778, "1137.78"),
    ],
)  # fmt: skip
def test_an_amount_is_told_in_many_forms(cents: int, answer: str) -> None:
    assert told("amount_cents", cents, answer)


@pytest.mark.parametrize(
    ("cents", "answer"),
    [(725, "17.25"), (725, "7.250"), (725, "725"), (24000, "2400"), (24000, "240.50"), (24000, "1,240"), (725, "")],
)
def test_another_amount_is_not_that_amount(cents: int, answer: str) -> None:
    assert not told("amount_cents", cents, answer)


def test_values_are_written_as_people_write_them() -> None:
    assert said("due_on", "2026-04-08", clock=CLOCK) == "8 April"
    assert said("due_on", "2027-04-08", clock=CLOCK) == "8 April 2027"
    assert said("cents", 725, clock=CLOCK, currency="{} euros") == "7.25 euros"
    assert said("cents", 100, clock=CLOCK, currency="{} euros") == "1 euro"
    assert said("kind", "roll_in", clock=CLOCK) == "roll in"
    assert said("paid_by", "cash", clock=CLOCK, words={"cash": "in cash"}) == "in cash"


@pytest.mark.parametrize(
    "task", ["Tell me the price.", "Do it, and let us know.", "When is it due back?", "I need to know it."]
)
def test_some_tasks_want_to_be_told_something(task: str) -> None:
    assert asks(task)


@pytest.mark.parametrize("task", ["Please renew it.", "Could you renew it?", "Report it lost when it is gone."])
def test_others_do_not(task: str) -> None:
    assert not asks(task)
