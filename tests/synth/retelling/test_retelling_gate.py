"""A retelling keeps each value, condition and reference in its part, and adds none; else its writer is told why."""

import pytest

from servers.bundle.environment import Environment, load
from servers.bundle.phrases import phrases_if_readable
from servers.bundle_library import OWN_LIBRARY
from synth.retelling.retelling_gate import Gate, Original, unmarked
from synth.retelling.spoken_values import RowNames, capitals
from synth.retelling.task_parts import TaskPart, TaskParts, parts_of
from tests.synth.retelling.walk import ASKING, LATE_BOOK, NAMES, original, rows

CLOCK = "2026-03-16 09:00:00"


@pytest.fixture(scope="module")
def environment() -> Environment:
    return load(OWN_LIBRARY / "library_loans")


@pytest.fixture(scope="module")
def gate(environment: Environment) -> Gate:
    return Gate(environment, phrases_if_readable(environment), rows(), RowNames(NAMES))


GOOD = (
    "Samir Patel is on the phone, he reads slowly and likes it that way. [1]Renew his loan of Kindred that is due on "
    "20 March, [2]and put him in line for Beloved until 4 May; two copies, if one is large. "
    "[3]Then tell me the new due date of Kindred."
)


def test_a_retelling_that_says_the_same_passes_in_any_order(gate: Gate) -> None:
    assert gate.findings(ASKING, GOOD) == []
    assert gate.findings(ASKING, GOOD.replace("Renew", "I don't mind it, so renew")) == []
    other = (
        "I have Samir Patel on the phone. [2]He would like to get in line for Beloved until the 4th of May, two copies "
        "if one is large. [1]Then there is Kindred, due on March 20, so renew that loan for him. "
        "[3]He asks to be told the new due date of Kindred."
    )
    assert gate.findings(ASKING, other) == []


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("Kindred that", "the book that", "“kindred” is missing"),
        ("Kindred that", "Beloved that", "“kindred” is missing"),
        ("4 May", "5 May", "“4 may” is missing"),
        ("20 March", "4 May", "“20 march” is missing"),
        (" until 4 May", "", "“4 may” is missing"),
        ("two copies", "three copies", "“two” is missing"),
        ("two copies", "about two copies", "“about” makes a value inexact"),
        ("two copies", "at least two copies", "a lower bound is added: “at least”"),
        ("two copies, if one is large", "two copies", "a condition is lost: “if”"),
        ("Renew his loan", "If you can, renew his loan", "“If” weakens it or adds a condition"),
        ("Renew his loan", "Don't renew his loan", "“Don't” turns it round"),
        ("Renew his loan of Kindred that is due on", "He has Kindred, see", "it is not clear what is to be done"),
        ("Samir Patel is", "Somebody is", "nobody is called “samir patel” any more"),
        ("Samir Patel is", "Samir Patel's friend Marta is", "“Marta” is a name that the task does not have"),
        ("he reads slowly", "if something can't be done, skip it", "speaks of what may not be possible"),
        ("he reads slowly", "he is back on 5 May", "“5 may” stands before the first part"),
        ("he reads slowly", "see renew_loan", "names renew_loan, which is a name of the system"),
        ("[2]", "", "mark each part once, where its words begin: [1] [2] [3]"),
        ("Beloved until", "Beloved or Kindred until", "an alternative is added: “or”"),
        ("reads slowly", "reads reads slowly", "“reads reads” is a slip of the pen"),
        ("date of Kindred", "date of Kindred: ____", "“____” is a slip of the pen"),
    ],
)
def test_what_is_dropped_added_weakened_or_swapped_is_refused_in_words(
    gate: Gate, old: str, new: str, why: str
) -> None:
    assert GOOD.replace(old, new, 1) != GOOD
    found = gate.findings(ASKING, GOOD.replace(old, new, 1))
    assert any(why in one for one in found), found


def test_words_that_only_look_like_it_do_not_speak_of_a_refusal(gate: Gate) -> None:
    assert gate.findings(ASKING, GOOD.replace("he reads slowly", "my pen has swallowed the ink")) == []
    assert any("“allowed” speaks" in one for one in gate.findings(ASKING, GOOD.replace("he reads", "he is allowed")))


def test_a_command_may_stand_in_another_form(gate: Gate) -> None:
    order = TaskPart("order", "make a loan of Kindred", "lend_copy", 1)
    lent = original((order,), {})
    assert gate.findings(lent, "He is at the desk with his bag. [1]Kindred is lent to him, so let it be loaned.") == []
    unsaid = original((order._replace(words="do it for Kindred"),), {})
    assert gate.findings(unsaid, "He is at the desk with his bag. [1]Do it for Kindred, he has waited.") == []


def test_values_of_two_parts_may_not_be_swapped(gate: Gate) -> None:
    swapped = GOOD.replace("20 March", "X").replace("4 May", "20 March").replace("X", "4 May")
    found = gate.findings(ASKING, swapped)
    assert "part 1: “20 march” is missing" in found
    assert "part 2: “4 may” is missing" in found


def test_a_number_with_a_direction_says_which(gate: Gate) -> None:
    order = TaskPart("order", "correct the stock of Kindred by 5", call=1)
    told = original((order,), {1: {"copies_change": -5}})
    assert "part 1: say that 5 is less, not more" in gate.findings(
        told, "I have counted. [1]Correct the stock of Kindred by 5."
    )
    assert gate.findings(told, "I have counted. [1]Correct the stock of Kindred: 5 fewer.") == []


def test_what_follows_from_another_part_comes_after_it(gate: Gate) -> None:
    first = TaskPart("order", "renew the loan of Kindred", "renew_loan", 1)
    second = TaskPart("order", "put Beloved on hold with that loan", "reserve_book", 2)
    told = original((first, second), {}, after={2: frozenset({1})})
    text = "Two things before lunch. [2]Put Beloved on hold with that loan. [1]Renew the loan of Kindred."
    assert "part 2 follows from part 1: tell it after that" in gate.findings(told, text)


def test_a_shared_name_may_be_left_out_unless_another_could_be_meant(gate: Gate) -> None:
    first = TaskPart("order", "renew the loan of Samir Patel", "renew_loan", 1)
    second = TaskPart("order", "waive the fine of Samir Patel", "waive_fine", 2)
    text = "It was our mistake. [1]Renew the loan of Samir Patel [2]and waive the fine as well."
    assert gate.findings(original((first, second), {}), text) == []
    both = first._replace(words="move the loan of Samir Patel to Ada Lind")
    moved = text.replace("Renew the loan of Samir Patel", "Move the loan of Samir Patel to Ada Lind")
    found = gate.findings(original((both, second), {}), moved)
    assert any("“samir patel” is missing, and “ada lind” could be meant" in one for one in found)


def test_who_was_named_in_the_beginning_may_be_he_or_she_in_the_first_part(gate: Gate) -> None:
    part = TaskPart("order", "waive the fine of Samir Patel", "waive_fine", 1)
    text = "Samir Patel was in hospital when it was due. [1]Please waive his fine."
    assert gate.findings(original((part,), {}), text) == []
    found = gate.findings(
        original((part,), {}, opening="Ada Lind here."), text.replace("Samir", "Ada Lind here. Samir")
    )
    assert any("“samir patel” is missing, and “ada lind” could be meant" in one for one in found), found


def test_a_task_that_asks_nothing_stays_so(gate: Gate) -> None:
    order = TaskPart("order", "renew the loan of Kindred", "renew_loan", 1)
    told = original((order,), {}, is_judged=False)
    found = gate.findings(told, "The week is short. [1]Renew the loan of Kindred, and let me know.")
    assert any("it asks to be told something" in one for one in found)


def test_a_report_asks_why_in_a_persons_words(gate: Gate) -> None:
    order = TaskPart("order", "renew the loan of Kindred", "renew_loan", 1)
    told = original((order, TaskPart("report", "say what became of each part")), {})
    text = "The week is short. [1]Renew the loan of Kindred. [2]Write back how it went."
    assert any("ask why something was not done" in one for one in gate.findings(told, text))
    formula = text.replace("how it went", "how it went, and the reason with its date or amount where it did not")
    assert any("leave out “date”" in one for one in gate.findings(told, formula))
    better = text.replace("Write back how it went", "Let me know if anything doesn't work, and why")
    assert gate.findings(told, better) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Two for today:\n- [1]renew the loan of Samir Patel\n- [2]waive the fine", "it is a list"),
        ("Today's: [1]Loan of Samir Patel: renew it. [2]Fine of it: waive.", "“label: order”"),
        (
            "Samir Patel rang. [1]Renew the loan of Samir Patel. [2]Waive the fine of Samir Patel.",
            "“samir patel” stands 3 times",
        ),
    ],
)
def test_forms_lists_and_names_over_and_over_are_no_persons_words(gate: Gate, text: str, why: str) -> None:
    first = TaskPart("order", "renew the loan of Samir Patel", "renew_loan", 1)
    second = TaskPart("order", "waive the fine of Samir Patel", "waive_fine", 2)
    found = gate.findings(original((first, second), {}), text)
    assert any(why in one for one in found), found


def test_who_decides_may_be_the_one_who_writes(environment: Environment) -> None:
    known = rows()
    known.rows, known.tables_of = {"staff": []}, {"stf_lind": ["staff"]}
    known.row = lambda table, key: {"id": key, "name": "Ada Lind"}
    gate = Gate(environment, phrases_if_readable(environment), known, RowNames(NAMES))
    part = TaskPart("order", "waive the fine of Samir Patel, as Ada Lind has decided", "waive_fine", 1)
    text = "Ada Lind here, it was our mistake. [1]Please waive the fine of Samir Patel, I've decided it."
    assert gate.findings(original((part,), {1: {"waived_by": "stf_lind"}}, opening="The desk here."), text) == []
    found = gate.findings(original((part,), {1: {"fine_id": "stf_lind"}}, opening="The desk here."), text)
    assert any("“ada lind” is missing" in one for one in found), found


def test_the_parts_of_a_walk_are_what_it_orders_and_asks(environment: Environment) -> None:
    parts = parts_of(LATE_BOOK, phrases_if_readable(environment), (1, 3))
    assert parts == TaskParts(
        "Samir Patel is on the phone.",
        (
            TaskPart("order", "renew Kindred for them", "renew_loan", 2),
            TaskPart("order", "They would like to get in line for Beloved", "reserve_book", 4),
            TaskPart("question", "the new due date of Kindred"),
        ),
    )


def test_a_sentence_after_a_quotation_begins_with_a_capital_that_is_no_name() -> None:
    assert list(capitals("Note “It turns.” And call Ada; then “yes” Bob.")) == ["Ada", "Bob"]


def test_marks_are_taken_out() -> None:
    assert unmarked("Hello. [1]Renew it, [2] and\n[3]- pay.") == "Hello. Renew it, and\n- pay."


def test_the_first_wording_again_is_no_retelling(gate: Gate) -> None:
    order = TaskPart("order", "renew the loan of Kindred", "renew_loan", 1)
    told = Original("Please renew the loan of Kindred for me today.", TaskParts("", (order,)), (), CLOCK)
    found = gate.findings(told, "[1]Please renew the loan of Kindred for me today.")
    assert "it is the first wording again" in found
