"""What a value is told of: the question's own subject, and not another one of the task."""

from datetime import datetime
from typing import Any

import pytest

from servers.answer.checks.verdict import verdicts
from servers.answer.expected_fact import wanted
from servers.answer.fact import Fact
from servers.answer.question import AnswerQuestion

NOW = datetime.fromisoformat("2026-02-11 08:00:00")
FREEZE = "Does the answer tell up to which day Amina Tariq's membership is then frozen: 31 October?"
TASK = (
    "Please note the notice on Tran Linh's membership. Then let Amina Tariq's membership, held at Norvik Maritime "
    "Museum, rest from 1 October. Charge container NRHU9902905 as well. Tell me up to which day it is frozen."
)
REFUSAL = "the card of Chidi Okafor runs until 2026-11-03; it can be renewed from 2026-10-04"
DEPOSIT = "the paid deposit of 140.00 euros covers fewer heads than 8, which would owe 160.00"


def tells(answer: str, fact: dict[str, Any], asked: str = "", given: tuple[str, ...] = (), **fields: Any) -> bool:
    """Whether an answer tells a fact."""
    one = wanted(Fact.model_validate({"name": "told", **fact}))
    return verdicts([AnswerQuestion((one,), asked, given=given, **fields)], answer, NOW)[0].holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("Amina Tariq is frozen up to 31 October, and Tran Linh's notice is in.", True),
        ("Tran Linh's notice is in; the freeze lasts until 31 October.", True),
        ("The membership at Norvik Maritime Museum rests until 31 October.", True),
        ("- Tran Linh: notice\n- Amina Tariq: until 31 October", True),
        ("Tran Linh is frozen up to 31 October, and Amina Tariq's notice is in.", False),
        ("Tran Linh: 31 October. Amina Tariq: notice.", False),
        ("Tran Linh's membership, which rests until 31 October, has its notice.", False),
        ("NRHU9902905 stays until 31 October.", False),
    ],
)
def test_a_value_is_not_told_of_what_the_task_names_for_something_else(answer: str, holds: bool) -> None:
    assert tells(answer, {"type": "date", "value": "2026-10-31"}, FREEZE, (TASK,)) is holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("It can only be renewed from 4 October 2026.", True),
        ("The card runs until 3 November 2026, so not until 4 October 2026.", True),
        ("It runs until 4 October 2026 and can be renewed from 3 November 2026.", False),
    ],
)
def test_where_a_reason_has_something_start_nothing_ends(answer: str, holds: bool) -> None:
    assert tells(answer, {"type": "date", "value": "2026-10-04"}, given=(REFUSAL,), tell="any") is holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("140 euros of deposit are paid, but eight people would owe 160 euros.", True),
        ("160 euros of deposit are paid, but eight people would owe 140 euros.", False),
    ],
)
def test_two_values_of_a_reason_are_not_exchanged(answer: str, holds: bool) -> None:
    assert tells(answer, {"type": "amount", "value": 140}, given=(DEPOSIT,), tell="any") is holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("2 units are still to be reserved for Maja Lindholm.", True),
        ("2 units are still to be reserved for Maja Lindholm. There is no unit to be reserved.", False),
        ("2 units are to be reserved for her. No unit at all is still to be reserved for Maja Lindholm.", False),
        ("2 units – sorry, 3 units are still to be reserved.", False),
    ],
)
def test_a_value_is_taken_back_by_saying_that_there_is_none_or_another(answer: str, holds: bool) -> None:
    asked = "Does the answer tell how many units are still to be reserved for Maja Lindholm: 2?"
    assert tells(answer, {"type": "count", "value": 2}, asked) is holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("- SK 66 031: 11:00\n- SK 66 044: 10:00", True),
        ("- SK 66 031: 10:00\n- SK 66 044: 11:00", False),
        ("SK 66 031 comes at 10:00, SK 66 044 at 11:00.", False),
    ],
)
def test_a_plate_says_what_a_value_is_of(answer: str, holds: bool) -> None:
    facts = ({"value": "11:00", "about": ["SK 66 031"]}, {"value": "10:00", "about": ["SK 66 044"]})
    every = tuple(
        wanted(Fact.model_validate({"name": f"told_{at}", "type": "time", **one})) for at, one in enumerate(facts)
    )
    assert verdicts([AnswerQuestion(every)], answer, NOW)[0].holds is holds


def test_a_value_of_the_question_itself_is_no_other_one() -> None:
    asked = "Does the answer tell on which day the ticket on 18 April was issued: 10 April?"
    answer = "- On which day the ticket on 18 April was issued: it had been issued on 10 April."
    assert tells(answer, {"type": "date", "value": "2026-04-10"}, asked, ("18 april",))


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("6 hoses came, and there are 26 hoses now.", True),
        ("There are 26 pieces now, 6 hoses of them new.", True),
        ("6 hoses are on the shelf, and there are 26 screws.", False),
    ],
)
def test_a_number_does_not_count_what_the_task_names_for_something_else(answer: str, holds: bool) -> None:
    task = "6 hoses were delivered. Have the parcel of screws called back. How many hoses do we have now?"
    asked = "Does the answer tell how many hoses we have now: 26?"
    assert tells(answer, {"type": "count", "value": 26}, asked, (task,)) is holds


@pytest.mark.parametrize(
    ("answer", "asked", "holds"),
    [
        ("SK 41 comes at 08:00–09:00.", "when SK 41 comes", False),
        ("SK 41 comes at 09:00–10:00.", "when SK 41 comes", True),
        ("It is open 08:00–09:00.", "until when it is open", True),
    ],
)
def test_the_end_of_a_span_is_no_answer_to_when(answer: str, asked: str, holds: bool) -> None:
    assert tells(answer, {"type": "time", "value": "09:00"}, asked) is holds


@pytest.mark.parametrize(
    "answer",
    [
        "1.10.–31.10.2026", "15.–31.10.", "1–31 October", "from the 1st of next month to 31 October",
    ],
)  # fmt: skip
def test_both_ends_of_a_span_of_days_are_read(answer: str) -> None:
    now = datetime.fromisoformat("2026-09-15 10:00:00")
    one = wanted(Fact.model_validate({"name": "told", "type": "date", "value": "2026-10-31"}))
    given = ("from 1 October", "from 15 October")
    assert verdicts([AnswerQuestion((one,), "until when it is frozen", given=given)], answer, now)[0].holds


def test_of_a_reason_it_may_be_said_that_it_is_not_done() -> None:
    answer = "1. The Kia: the 300.00 deposit hasn't been held."
    assert tells(answer, {"type": "amount", "value": 300}, tell="any")
    assert not tells("It is not 300.00, but more.", {"type": "amount", "value": 300}, tell="any")


def test_a_name_that_something_is_not_done_with_is_told() -> None:
    stuck = {"type": "name", "value": "NRHU4404025"}
    assert tells("NRHU4404025 has not reached us.", stuck)
    assert tells("NRHU4404025 can't be loaded.", stuck)
    assert not tells("Not NRHU4404025, another one.", stuck)


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("Elif: checked, by 5 May. Vera: checked, by 7 May.", True),
        ("Checked: Elif by 5 May, Vera by 7 May.", True),
        ("Elif: checked, by 7 May. Vera: checked, by 5 May.", False),
    ],
)
def test_a_value_under_a_label_is_of_what_the_label_names(answer: str, holds: bool) -> None:
    days = (("2026-05-05", "Elif Sarıkaya"), ("2026-05-07", "Vera Nilsson"))
    facts = ({"name": f"told_{at}", "type": "date", "value": day, "about": [of]} for at, (day, of) in enumerate(days))
    assert (
        verdicts([AnswerQuestion(tuple(wanted(Fact.model_validate(one)) for one in facts))], answer, NOW)[0].holds
        is holds
    )


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("Its pickup day is 13 February. It is a no-show from 15 February on.", True),
        ("Its pickup day is 13 February. It is a no-show from 16 February on.", False),
    ],
)
def test_a_day_that_is_counted_by_a_span_of_the_refusal_stands_beside_the_reason(answer: str, holds: bool) -> None:
    refusal = "its pickup day is 2026-02-13; it is a no-show only from the second day after that"
    assert tells(answer, {"type": "date", "value": "2026-02-13"}, given=(refusal,), tell="any") is holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("The certificate until 15 April 2028 replaces the one until 16 April 2026.", True),
        ("It is valid until 15 April 2028. The new one is replaced until 16 April 2029.", False),
        ("It is valid until 15 April 2028, plus 16 April 2029.", False),
    ],
)
def test_what_something_is_replaced_by_is_told(answer: str, holds: bool) -> None:
    assert tells(answer, {"type": "date", "value": "2028-04-15"}) is holds


WEIGHT = "Does the answer tell how many grams the parcel for Yusuf Demirel's order will weigh: 640?"
RESERVED = "Does the answer tell how many units are still to be reserved for Luc Moreau's request: 5?"
COUNTED = "Does the answer tell how many units are blocked with the lot of strawberry jam: 48?"


@pytest.mark.parametrize(
    ("answer", "fact", "asked", "holds"),
    [
        ("It will weigh 640 grams.", {"type": "count", "value": 640}, WEIGHT, True),
        ("It will weigh 0.64 kg.", {"type": "count", "value": 640}, WEIGHT, True),
        ("It will weigh 640 kg.", {"type": "count", "value": 640}, WEIGHT, False),
        ("It will weigh 640 ml.", {"type": "count", "value": 640}, WEIGHT, False),
        ("Five units had still not been reserved.", {"type": "count", "value": 5}, RESERVED, True),
        ('{"jam_blocked": 48, "slot_5_june_10_00_closed": true}', {"type": "count", "value": 48}, COUNTED, True),
        ("It came in a week ago today, on February 4th.", {"type": "date", "value": "2026-02-04"}, "", True),
        (
            "It came on 4 February. That date is wrong: it was 5 May.",
            {"type": "date", "value": "2026-02-04"},
            "",
            False,
        ),
        ("La chambre coûte trois cent soixante euros.", {"type": "amount", "value": 360, "currency": "EUR"}, "", True),
        ("The stamp costs fifty cents.", {"type": "amount", "value": 5000, "currency": "EUR"}, "", False),
    ],
)
def test_a_value_has_the_unit_the_words_and_the_day_that_are_told(
    answer: str, fact: dict[str, Any], asked: str, *, holds: bool
) -> None:
    assert tells(answer, fact, asked) is holds


@pytest.mark.parametrize(("first", "second", "holds"), [("A", "O", True), ("O", "A", False)])
def test_a_value_that_nobody_asked_for_puts_no_labels_behind_the_values(first: str, second: str, holds: bool) -> None:
    facts = [
        {"type": "date", "value": "2026-03-14", "about": ["A negative"], "not_about": ["O negative"]},
        {"type": "date", "value": "2026-03-13", "about": ["O negative"], "not_about": ["A negative"]},
    ]
    named = tuple(wanted(Fact.model_validate({"name": f"unit_{at}", **fact})) for at, fact in enumerate(facts))
    answer = (
        "Set aside against her sample of 11 March: "
        f"{first} negative, expiry 14 March, and {second} negative, expiry 13 March."
    )
    question = AnswerQuestion(named, "Does the answer name the two units?", given=("11 march",))
    assert verdicts([question], answer, NOW)[0].holds is holds


def test_a_time_before_a_dot_ends_its_sentence() -> None:
    """ "Set" behind it is no September."""
    answer = "Needed 13 March 2026, 08:00. Set aside: A negative, expiry 14 March, and O negative, expiry 13 March."
    about = [{"about": ["A negative"], "value": "2026-03-14"}, {"about": ["O negative"], "value": "2026-03-13"}]
    facts = [wanted(Fact.model_validate({"name": f"unit_{n}", "type": "date", **one})) for n, one in enumerate(about)]
    told = verdicts([AnswerQuestion(tuple(facts), "Does the answer name the two units?")], answer, NOW)
    assert told[0].holds, told[0].why


def test_there_is_no_new_request_says_nothing_of_the_new_last_day() -> None:
    question = "Does the answer tell the new last day of the loan for “Hours and Minutes”: 7 November?"
    answer = "The new last day is 7 November. Until it is back there is no new request and no agreement."
    assert tells(answer, {"type": "date", "value": "2026-11-07"}, question)
    assert not tells("There is no new last day, on 7 November.", {"type": "date", "value": "2026-11-07"}, question)
