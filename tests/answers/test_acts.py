"""What a value is said to have happened to, what is counted, and of which order it is told."""

import pytest

from tests.answers.test_topics import CLAIM, MONEY, tells

LEFT = "how many screws are left after the parcel to Bonn"
JAM = (
    "Please unpack the parcel for the Amari household and put the food back on the shelves. Marit Sorensen wants the "
    "lot of strawberry jam in jars released. Tell me how many units the lot of strawberry jam in jars holds."
)
SEATS = "seat sea_a3 costs 42.00 and tik_208 29.00; a seat of the same price is needed."


@pytest.mark.parametrize(
    ("answer", "asked", "holds"),
    [
        ("18 screws are left.", LEFT, True),
        ("The parcel to Bonn went out, 18 screws.", LEFT, True),
        ("We have 18 screws now that the parcel went to Bonn.", LEFT, True),
        ("18 screws went to Bonn.", LEFT, False),
        ("I sent 18 screws to Bonn.", LEFT, False),
        ("18 screws came in for Bonn.", LEFT, False),
        ("Announce 18 cars.", "how many cars to announce", True),
        ("18 cars were left out.", "how many cars to announce", False),
        ("I skipped 18 cars.", "how many cars to announce", False),
        ("At most 18 tickets.", "how many tickets for one concert Viktor Lang may have at most", True),
        ("At most 18 people may wait there.", "how many tickets for one concert Viktor Lang may have at most", False),
        ("18 people are in.", "how many places were taken in the Kettlebell session", True),
    ],
)
def test_a_count_is_of_what_is_asked_and_of_what_has_become_of_it(answer: str, asked: str, holds: bool) -> None:
    assert tells(answer, {"type": "count", "value": 18}, asked) is holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("2,700 euros would still be payable on it.", True),
        ("On the claim with the bookcases 2,700 euros would still be payable.", True),
        ("2,700 euros have been paid already on the claim with the bookcases.", False),
        ("On Bo Lind's claim 2,700 euros would still be payable.", False),
        ("Ada Novak has 2,700 euros to get.", False),
    ],
)
def test_a_question_without_a_name_is_of_the_order_that_has_its_words(answer: str, holds: bool) -> None:
    asked = "how much would still be payable on the claim with the bookcases"
    assert tells(answer, MONEY, asked, CLAIM) is holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("The jam lot is released; 48 units.", True),
        ("We put 48 units from the Amari household's parcel back. The jam lot is released.", False),
    ],
)
def test_the_noun_that_is_counted_is_not_what_the_question_is_about(answer: str, holds: bool) -> None:
    asked = "how many units the lot of strawberry jam in jars holds"
    assert tells(answer, {"type": "count", "value": 48}, asked, JAM) is holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("Seat 3 in row A costs 42.00, her ticket 29.00.", True),
        ("Her ticket was 29.00 whereas the seat, in row A, is priced at 42.00.", True),
        ("Seat 3 in row A costs 29.00, her ticket cost 42.00.", False),
    ],
)
def test_two_reasons_are_not_told_of_each_other(answer: str, holds: bool) -> None:
    assert tells(answer, {"type": "amount", "value": 42, "also": (29,)}, "", SEATS, tell="any") is holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("Room 303 is booked, and nothing is still open.", True),
        ("Still open: none.", True),
        ("0 euros are open, so nothing is left to pay.", True),
        ("Nothing was booked.", False),
        ("Maybe nothing is open.", False),
        ("Nothing is open, but 30 euros are.", False),
    ],
)
def test_nothing_is_an_amount_of_zero(answer: str, holds: bool) -> None:
    asked = "how much is still open"
    assert tells(answer, {"type": "amount", "value": 0, "confusable": [265.2]}, asked) is holds


BILL = "Please send the parcel to Mara Lind. Tell me how much is open on Mara Lind's bill."


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("Mara Lind still owes 40 euros.", True),
        ("Mara's bill: 40 euros", True),
        ("Open: 40 euros. Kind regards, Ettore Grimaldi", True),
        ("Hello Carla, 40 euros are still to be paid.", True),
        ("For Carla Moe 40 euros are open.", False),
        ("40 euros are open for Carla Moe.", False),
        ("Ettore's bill: 40 euros", False),
        ("The parcel is out. Carla Moe owes 40 euros.", False),
        ("Mara Lind paid 40 euros.", False),
    ],
)
def test_a_value_is_of_whom_the_question_names(answer: str, holds: bool) -> None:
    assert tells(answer, {"type": "amount", "value": 40}, "how much is open on Mara Lind's bill", BILL) is holds


def test_a_verb_that_is_denied_behind_a_value_is_denied() -> None:
    asked = "how many cars to announce"
    assert tells("4 cars are to be announced.", {"type": "count", "value": 4}, asked)
    assert not tells("4 cars need not be announced.", {"type": "count", "value": 4}, asked)


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("Room 303 is Mara Lind's.", True),
        ("The booking of Ada Novak ends up in room 303.", False),
    ],
)
def test_a_name_is_of_the_order_that_is_asked_about(answer: str, holds: bool) -> None:
    task = "Please move Mara Lind. Cancel the booking of Ada Novak. Tell me the room in which Mara Lind ends up."
    assert tells(answer, {"type": "name", "value": "303"}, "the room in which Mara Lind ends up", task) is holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("There are 2 trucks in the window now, before that it was 3.", False),  # nobody gives the 3
        ("In the window 2 trucks are booked.", True),
        ("Before that it was 2 trucks.", False),
        ("Without the call it would have been 2 trucks.", False),
    ],
)
def test_what_was_before_or_would_have_been_is_not_what_is(answer: str, holds: bool) -> None:
    assert tells(answer, {"type": "count", "value": 2}, "how many trucks are booked in the window") is holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("He had been blocked since 16 April.", True),
        ("He had been blocked since 16 April, but that did not stand in the way.", False),
    ],
)
def test_a_reason_that_stands_in_nobodys_way_is_none(answer: str, holds: bool) -> None:
    fact = {"type": "date", "value": "2026-04-16"}
    assert tells(answer, fact, "2026-04-16, which stands in the way", tell="any") is holds


def test_a_no_to_a_question_takes_nothing_back() -> None:
    fact = {"type": "date", "value": "2026-04-16"}
    assert tells("It runs until 16 April. No, you could not go back later.", fact, "until when it runs")
    assert not tells("It runs until 16 April. No, it does not.", fact, "until when it runs")


def test_a_span_between_two_times_is_one_value() -> None:
    assert tells("The visit is between 10:00 and 12:00.", {"type": "time", "value": "10:00"}, "when they come")
    assert not tells("The visit is at 10:00 and 12:00.", {"type": "time", "value": "10:00"}, "when they come")


def test_a_value_is_not_of_another_person_with_the_same_thing() -> None:
    fact = {"type": "date", "value": "2026-04-16"}
    asked = "the last day of the certificate of Emil Lindholm for Aurora"
    assert tells("Emil Lindholm has a certificate for Aurora that runs until 16 April.", fact, asked)
    assert not tells("Oskar Brandt has a certificate for Aurora that runs until 16 April.", fact, asked)


@pytest.mark.parametrize("answer", ["112 seats are left.", "Seat B12 is left.", "12.5 seats are left."])
def test_a_value_that_is_a_part_of_another_is_not_told(answer: str) -> None:
    assert not tells(answer, {"type": "count", "value": 12}, "how many seats are left")
    assert not tells("It is for Annika.", {"type": "name", "value": "Ann"}, "whom it is for")
