"""The last line is read whole: a value alone or in the question's own words passes, and anything else tells nothing."""

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from servers.answer.checks.verdict import verdicts
from servers.answer.expected_fact import wanted
from servers.answer.fact import Fact, FactType
from servers.answer.line.numerals import in_whole_words
from servers.answer.question import AnswerQuestion
from servers.bundle_library import OWN_LIBRARY, Library
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from tests.library import of_each_environment

NOW = datetime.fromisoformat("2026-03-10 08:00:00")


def asked(type_: FactType, value: Any, what: str, told: str, **more: Any) -> AnswerQuestion:
    fact = Fact(name="told", type=type_, value=value, **more)
    return AnswerQuestion((wanted(fact),), f"Does the answer tell {what}: {told}?", last_line=True)


def holds(line: str, question: AnswerQuestion, above: str = "All is done.") -> bool:
    return verdicts([question], f"{above}\nAnswer: {line}", NOW)[0].holds


LEFT = asked("count", 10, "how many pulleys are left on the shelf", "10")
DUE = asked("date", "2026-04-19", "when the book is due", "19 April")
COSTS = asked("amount", 42, "what the renewal costs", "42 euros")
STAY = asked("amount", 1108.8, "what the stay costs", "1108.80 euros")
PASSES = asked("time", "14:30", "from what time on the lorry may pass", "14:30")
LASTS = asked("duration", 90, "how long the session lasts", "90 minutes")
WHOSE = asked("name", "Edna Marsh", "whose fill stays", "Edna Marsh", confusable=("Edwin Marsh", "Mira Kostova"))
COMERS = asked("list", ("Novak", "Haddad", "Ana Lund"), "who comes on Monday", "Novak, Haddad, Lund")
IS_OPEN = asked("yes_no", True, "whether it is open", "yes")
LATE = asked("none", None, "which books are late", "none")
ROOM = asked("name", "203", "which room it is", "203", confusable=("303",))
OWED = asked("amount", 0, "how much is still open", "0 euros")
DAYS = asked("list", ("2026-03-13", "2026-03-20"), "the expiry days of the units", "13 March, 20 March")
TITLES = asked("list", ("Klara and the Sun", "Momo", "Dune"), "which books", "x")

RIGHT: list[tuple[AnswerQuestion, list[str]]] = [
    (
        LEFT,
        [
            "10",
            "ten",
            "10 pulleys",
            "ten pulleys are left",
            "10 left",
            "**10**",
            "`10`",
            "10.",
            "１０",
            "١٠",
            "there are 10",
            "pulleys left: 10",
            "[10]",
            "10 pulleys are left on the shelf",
        ],
    ),
    (
        DUE,
        [
            "19 April",
            "April 19",
            "April 19th, 2026",
            "2026-04-19",
            "19.4.2026",
            "19.04.",
            "19/04/2026",
            "04/19/2026",
            "Sunday 19 April",
            "Sunday, 19 April 2026",
            "the 19th of April",
            "on 19 April",
            "by 19 April",
            "19 Apr",
            "Sun 19 April",
            "19 April (Sunday)",
            "2026-04-19T00:00:00",
            "the book is due on 19 April",
            "it is due on 19 April",
            "due: 19 April",
            "19. April",
            "19 avril 2026",
        ],
    ),
    (
        COSTS,
        [
            "42",
            "42 euros",
            "€42",
            "EUR 42",
            "42 €",
            "42.00 EUR",
            "forty-two euros",
            "42,00 €",
            "42,- euros",
            "€ 42.00",
            "the renewal costs 42 euros",
            "it costs 42 euros",
            "42 euro",
            "cost: €42",
            "EUR 42.00",
        ],
    ),
    (
        STAY,
        [
            "1,108.80 euros",
            "1.108,80 €",
            "1108.8",
            "€1,108.80",
            "1 108,80 EUR",
            "1108 euros and 80 cents",
            "1108 euros 80",
            "one thousand one hundred and eight euros and eighty cents",
            "1'108.80 euros",
        ],
    ),
    (
        PASSES,
        [
            "14:30",
            "2:30 pm",
            "half past two",
            "14h30",
            "14.30",
            "from 14:30",
            "2.30 p.m.",
            "at 14:30",
            "14:30 h",
            "14:30 o'clock",
        ],
    ),
    (
        LASTS,
        [
            "90 minutes",
            "90 min",
            "1.5 hours",
            "an hour and a half",
            "1 h 30 min",
            "1:30 h",
            "one and a half hours",
            "90",
            "1 hour 30 minutes",
        ],
    ),
    (WHOSE, ["Edna Marsh", "Edna", "Edna Marsh's", "Mrs Edna Marsh", "edna marsh", "“Edna Marsh”"]),
    (
        COMERS,
        [
            "Novak, Haddad and Ana Lund",
            "Haddad, Novak, Ana Lund",
            "- Novak\n- Haddad\n- Ana Lund",
            "Novak; Haddad; Ana Lund",
            "Novak, Haddad, and Ana Lund.",
        ],
    ),
    (IS_OPEN, ["yes", "Yes.", "yes, it is open", "Ja"]),
    (LATE, ["none", "nothing", "None.", "there are none", "no books"]),
    (ROOM, ["203", "room 203", "Room 203", "the room is 203"]),
    (OWED, ["nothing", "0", "0 euros", "€0.00", "none", "nothing is still open"]),
    (
        DAYS,
        [
            "13 March, 20 March",
            "13 and 20 March",
            "20 March and 13 March 2026",
            "March 13, 2026 and March 20, 2026",
            "2026-03-13; 2026-03-20",
            "13 March\n20 March",
            "March 13 and 20",
            "Friday 13 March, 20 March",
        ],
    ),
    (
        TITLES,
        ["Klara and the Sun, Momo and Dune", "Momo, Dune, Klara and the Sun", "“Momo”, “Dune” and “Klara and the Sun”"],
    ),
]
WRONG: list[tuple[AnswerQuestion, list[str]]] = [
    (
        LEFT,
        [
            "10 ❌",
            "10 wheels",
            "10 or 12",
            "about 10",
            "10?",
            "~10",
            "10/12",
            "10-12",
            "10 -",
            "-10",
            "10%",
            "10 euros",
            "10, 12",
            "10 12",
            ">10",
            "10+",
            "not 10",
            "10 pulleys and 3 wheels",
            "~~10~~",
            "~~10~~ 12",
            "10:00",
            "10th",
            "10 Monday",
            "ten two",
            "100",
            "1 0",
            "10 kg",
            "10 ✅ no",
            "10 (12)",
            "10=",
            "10 on the parcel",
            "10 to Riga",
            "10 pulleys less",
            "10\n12",
            "10; 12",
            "10 months",
            "10 x",
            "[10",
            "10]",
            "<10>",
            "1O",
            "10 pulleys were left?",
            "10 of 12",
            "$10",
            "#10",
            "10 #",
            "10 <!-- 12 -->",
            "10 pulleys 10 pulleys",
            "ten and twelve",
        ],
    ),
    (
        DUE,
        [
            "Monday 19 April",
            "19 April May",
            "19 April Monday",
            "19",
            "the 19th",
            "Sunday",
            "19 April 2027",
            "19 April or 20 April",
            "20 April",
            "19 April 14:30",
            "not 19 April",
            "from 19 April",
            "after 19 April",
            "before 19 April",
            "19 April?",
            "19 May",
            "19 4",
            "19 April 42 euros",
            "19-20 April",
            "around 19 April",
            "31 February",
            "2026-4-19-20",
            "19 April 26",
            "19 April ±1",
            "Sunday Monday 19 April",
            "2026-04-19 2026-04-20",
            "tomorrow",
            "19 April, no",
        ],
    ),
    (
        COSTS,
        [
            "42 euros Monday",
            "$42",
            "42 dollars",
            "42 euros 50",
            "42 cents",
            "42 euros and 50 cents",
            "€42 $",
            "42 euros each",
            "42 kg",
            "42 euros per day",
            "4.2",
            "420",
            "-42 euros",
            "42 euros or so",
            "approx 42",
            "42+",
            "42 euros; 43 euros",
            "42 euros (was 45)",
            "42 euros EUR USD",
            "42 %",
            "up to 42 euros",
            "42.000",
            "42,000",
            "€42 £",
        ],
    ),
    (STAY, ["1108", "1108.08", "11088", "1,108,80", "1108.80 1108.80", "110,880"]),
    (
        PASSES,
        [
            "2:30 am",
            "14:30 tomorrow",
            "until 14:30",
            "14:30-15:00",
            "15:30",
            "half past three",
            "14",
            "14:30?",
            "14:30 Monday",
            "02:30",
        ],
    ),
    (LASTS, ["90 hours", "1 hour", "90 min or 2 h", "90 days", "1:30 pm", "60 minutes"]),
    (
        WHOSE,
        [
            "Edwin Marsh",
            "Marsh",
            "Edna or Edwin",
            "Edna and Edwin Marsh",
            "Edna Moe",
            "not Edna",
            "Edna?",
            "Edna Marsh ❌",
            "Ednas",
            "Edna Marsh, Mira Kostova",
            "Edna & Mira",
        ],
    ),
    (
        COMERS,
        [
            "Novak, Haddad",
            "Novak, Haddad, Ana Lund, Weiss",
            "Novak, Novak, Haddad, Ana Lund",
            "Novak, Haddad or Ana Lund",
            "all",
            "Novak Haddad Ana Lund Weiss",
            "Novak, Haddad, not Ana Lund",
        ],
    ),
    (IS_OPEN, ["no", "not yet", "yes and no", "maybe", "yes or no", "open?", "yes no"]),
    (LATE, ["Dune", "none but Dune", "some", "none, Dune", "0.5"]),
    (ROOM, ["303", "203 or 303", "203/303", "2 03", "230", "203a", "rooms 203 and 303"]),
    (OWED, ["1", "10 euros", "nothing but 5 euros", "not nothing"]),
    (
        DAYS,
        [
            "13 March",
            "13 March, 21 March",
            "13, 20",
            "13 March, 20 March, 27 March",
            "13-20 March",
            "13 or 20 March",
            "13 March, 13 March",
            "Monday 13 March, 20 March",
            "13 April and 20 March",
            "13 and 20",
        ],
    ),
    (TITLES, ["Klara, Momo", "Klara and the Sun and Momo", "Momo, Dune", "Momo, Dune, Klara and the Moon"]),
]


@pytest.mark.parametrize(("question", "lines"), RIGHT, ids=lambda one: one.asked[21:] if hasattr(one, "asked") else "")
def test_a_value_as_a_whole_is_told(question: AnswerQuestion, lines: list[str]) -> None:
    assert [line for line in lines if not holds(line, question)] == []


@pytest.mark.parametrize(("question", "lines"), WRONG, ids=lambda one: one.asked[21:] if hasattr(one, "asked") else "")
def test_a_word_or_a_sign_too_many_tells_nothing(question: AnswerQuestion, lines: list[str]) -> None:
    assert [line for line in lines if holds(line, question)] == []


SIGNS = "❌✅?!%~<>=+±≈|^{}\\@$#→←∼…°²½∞"


@pytest.mark.parametrize("question", [one for one, _ in RIGHT], ids=lambda one: one.asked[21:])
def test_no_sign_beside_a_value_is_passed_over(question: AnswerQuestion) -> None:
    line = next(lines for one, lines in RIGHT if one is question)[0]
    assert holds(line, question)
    assert [s for s in SIGNS if holds(f"{line} {s}", question) or holds(f"{s} {line}", question)] == []


@pytest.mark.parametrize("question", [one for one, _ in RIGHT], ids=lambda one: one.asked[21:])
def test_no_value_of_another_type_stands_beside_a_value(question: AnswerQuestion) -> None:
    line = next(lines for one, lines in RIGHT if one is question)[0]
    others = ("Monday", "May", "2027", "5 euros", "noon", "Bo Berg", "no", "7", "two hours", "not", "or 5", "maybe")
    assert [other for other in others if holds(f"{line} {other}", question) or holds(f"{other} {line}", question)] == []


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("ten two", None),
        ("twenty-one", 21),
        ("two hundred and five", 205),
        ("one thousand nine hundred and twenty", 1920),
        ("nineteen hundred and twenty", 1920),
        ("einundzwanzig", 21),
        ("quarante-deux", 42),
        ("ten hundred hundred", None),
        ("two hundred thousand five", 200005),
    ],
)
def test_number_words_are_one_number_or_none(words: str, value: int | None) -> None:
    assert in_whole_words(words) == value


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("Answer: １０", True),
        ("Answer: ١٠", True),
        ("Ответ: 10", False),
        ("Answer: десять", False),
        ("```\nAnswer: 10\n```", True),
        ("**Answer: 10**", True),
        ("| Answer: | 10 |", False),
        ("| left |\n|---|\n| 10 |", False),
        (json.dumps({"told": 10}), True),
        (json.dumps({"told": "10 or 12"}), False),
        (json.dumps({"told": [10, 12]}), False),
        (json.dumps({"left": 10}), False),
        ("Answer: 10\nAnswer: 12", False),
        ("Answer: 12\nAnswer: 10", False),
        ("Answer: 10\n\nNo, wait, it is 12.", False),
        ("Answer: 10; 12", False),
        ("Answer: " + ", ".join(map(str, range(40))), False),
        ("10 pulleys went to Riga.\nAnswer: 19", False),
        ("I am not sure.\nAnswer: 10", False),
        ("x" * 1_000_000 + "\nAnswer: 10", False),
        ("Answer: 10" + " " * 1_000_000 + "12", False),
        ("Answer: the 10", True),
        ("Answer: the the 10", False),
        ("Answer: pulleys left on the shelf: 10", True),
        ("Answer: " + "pulleys left on the shelf " * 20 + "10", False),
        ("Answer: pulleys" + " shelf" * 62 + " 10", False),
        ("Answer: 10; reason: " + "the " * 50 + "4 October", False),
    ],
)
def test_odd_answers(answer: str, right: bool) -> None:
    assert verdicts([LEFT], answer, NOW)[0].holds is right


def test_a_value_that_is_a_part_of_another_is_not_that_one() -> None:
    room = asked("name", "20", "which room it is", "20", confusable=("203",))
    assert holds("20", room)
    assert not holds("203", room)
    assert not holds("20", asked("name", "203", "which room it is", "203", confusable=("20",)))


def test_two_values_may_not_change_places() -> None:
    fee = replace(
        COSTS,
        wanted=(wanted(Fact(name="fee", type="amount", value=7)),),
        asked="Does the answer tell the fee: 7 euros?",
    )
    told = {
        line: [one.holds for one in verdicts([COSTS, fee], f"Answer: {line}", NOW)]
        for line in ("42; 7", "7; 42", "42 and 7", "42")
    }
    assert told == {"42; 7": [True, True], "7; 42": [False, False], "42 and 7": [True, True], "42": [False, False]}


@of_each_environment()
def test_no_answer_of_the_library_is_judged_in_prose(name: str) -> None:
    for scenario in Library([OWN_LIBRARY]).scenarios(name).values():
        asking = [one for one in scenario.checkpoints if isinstance(one, AnswerCheckpoint) and one.facts]
        assert all(one.last_line for one in asking), scenario.id
        assert all(len(one.facts) == 1 for one in asking if one.tell == "all"), scenario.id
