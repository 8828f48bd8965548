"""What an answer tells: facts in many forms, and nothing that could be taken for them."""

import json
import time
from datetime import datetime
from typing import Any

import pytest
from pydantic import ValidationError

from servers.answer.checks.verdict import verdicts
from servers.answer.expected_fact import wanted
from servers.answer.fact import LONGEST_GIVEN, LONGEST_VALUE, MOST_FACTS, MOST_WORDS, Fact
from servers.answer.question import AnswerQuestion
from servers.answer.shapes.form import (
    LONGEST,
    LONGEST_PER_FACT,
    MOST_ITEMS,
    MOST_ITEMS_PER_FACT,
    MOST_PLACES,
    WORDS_OF_AN_ITEM,
)
from servers.guest.sqlite.plain_text import MOST_MARKS, plain_text
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.checkpoints.checkpoint import LONGEST_QUESTION

NOW = datetime.fromisoformat("2026-02-11 08:00:00")  # a Wednesday


def tells(answer: str, *facts: dict[str, Any], **fields: Any) -> bool:
    """Whether an answer tells facts."""
    named = [Fact.model_validate({"name": f"fact_{number}", **fact}) for number, fact in enumerate(facts)]
    return verdicts([AnswerQuestion(tuple(wanted(fact) for fact in named), **fields)], answer, NOW)[0].holds


DAY = {"type": "date", "value": "2026-02-13", "confusable": ["2026-02-20", "2026-02-12"]}
PRICE = {"type": "amount", "value": 1234.5, "confusable": [1324.5, 600]}
HOUR = {"type": "time", "value": "14:30", "confusable": ["15:15", "09:00"]}
SPAN = {"type": "duration", "value": 90, "confusable": [120, 60]}
PLACES = {"type": "count", "value": 12, "confusable": [13, 2]}
ROOM = {"type": "name", "value": "312", "confusable": ["302", "321"]}
PERSON = {"type": "name", "value": "Zoë Märkli", "confusable": ["Ines Faro", "Bogdan Ilić"]}
ITEMS = {"type": "list", "value": ["saws", "pipes"], "confusable": ["hoses", "nails"]}


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        (DAY, "Friday"), (DAY, "on 13 Feb"), (DAY, "13.2."), (DAY, "The 13th."), (DAY, "in two days"),
        (DAY, "2026-02-13"),
        (DAY, "02/13/2026"), (DAY, "Friday, 13 February 2026"), (DAY, "not on the 12th but on the 13th"),
        (DAY, "am 13. Februar"), (DAY, "le 13 février"),
        (DAY, "２０２６-０２-１３"), (DAY, "٢٠٢٦-٠٢-١٣"), (DAY, "2月13日"),
        (PRICE, "1.234,50 €"), (PRICE, "1,234.50"), (PRICE, "1 234,50 EUR"), (PRICE, "1'234.50"), (PRICE, "€1234.5"),
        (PRICE, "one thousand two hundred and thirty-four euros and fifty cents"),
        (PRICE, "1234 euros and 50 cents"),
        (HOUR, "2.30 pm"), (HOUR, "14h30"), (HOUR, "half past two in the afternoon"),
        (HOUR, "14.30 Uhr"), (HOUR, "halb drei"),
        (SPAN, "90 min"), (SPAN, "an hour and a half"), (SPAN, "1:30 h"), (SPAN, "1½ hours"),
        (SPAN, "one hour and thirty minutes"),
        (PLACES, "Twelve are left."), (PLACES, "12"), (PLACES, "| places |\n|---|\n| 12 |"), (PLACES, "```\n12\n```"),
        (PLACES, '{"places": 12}'), (PLACES, "You are the 12th in the line."),
        (ROOM, "Room 312."), (ROOM, "**312**, because 302 is taken."), (ROOM, "Not 321: it's 312."),
        (PERSON, "zoe markli"), (PERSON, "MÄRKLI"), (ITEMS, "Pipes and saws."), (ITEMS, "- saw\n- pipes"),
    ],
)  # fmt: skip
def test_a_fact_is_told_in_many_forms(fact: dict[str, Any], answer: str) -> None:
    assert tells(answer, fact)


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        (DAY, "14 February"), (DAY, "13 March"), (DAY, "on the 13th or the 20th"),
        (DAY, "13 Feb. Actually it is 14 Feb."),
        (DAY, "It is not the 13th of February."), (DAY, "Do you mean 13 February?"), (DAY, "Perhaps on 13 February."),
        (PRICE, "around 1234.50"), (PRICE, "1234.50 or 1324.50"), (PRICE, "1324.50"), (PRICE, "600, 1234.50, 1324.50"),
        (PRICE, "1234.50 minutes of it are for cleaning."), (PRICE, "It weighs 1234.50 kg."),
        (HOUR, "2:30 am"), (HOUR, "14:30, 15:15"), (SPAN, "2 hours"), (PLACES, "12 or 13"), (PLACES, "It isn't 12."),
        (ROOM, "3120"), (ROOM, "302, 312, 321"), (ROOM, "either 312 or 302"), (PERSON, "Ines Faro or Zoë Märkli"),
        (ITEMS, "Saws, pipes and hoses."), (ITEMS, "Saws."), (PLACES, "All done, as you asked."), (PLACES, ""),
        (PLACES, '{"window_id": "win_1", "starts_at": "08:00", "ends_at": "09:00", "taken": 12}'),
    ],
)  # fmt: skip
def test_what_is_near_hedged_listed_denied_or_pasted_is_not_told(fact: dict[str, Any], answer: str) -> None:
    assert not tells(answer, fact)


def test_the_value_of_one_fact_is_not_told_of_another() -> None:
    rooms = [{**ROOM, "confusable": [], "about": ["Layla"]}, {"type": "name", "value": "204", "about": ["Antoine"]}]
    assert tells("Layla has 312 and Antoine 204.", *rooms)
    assert tells("312: Layla. 204: Antoine.", *rooms)
    assert not tells("Layla has 204 and Antoine 312.", *rooms)
    assert not tells("The deposit is 1234.50.", PRICE, asked="what the stay costs")


def test_what_the_task_gives_may_be_told_beside_it_but_not_instead() -> None:
    assert tells("Instead of 12 February it is 13 February.", DAY, given=("from 12 February",))
    assert not tells("12 February", DAY, given=("from 12 February",))
    assert not tells("12 or 13 February", DAY, given=("from 12 February",))


def test_a_told_value_that_is_part_of_another_is_not_told_by_it() -> None:
    assert not tells("It is bay C-12, aisle 120, shelf 312.", PLACES)
    assert tells("It is bay C-12. There are 12 places.", PLACES)


def test_an_answer_may_be_submitted_as_json_by_the_facts_names() -> None:
    assert tells('{"fact_0": "13 February", "fact_1": 1234.5}', DAY, PRICE)
    assert tells('```json\n{"fact_0": "2026-02-13", "fact_1": "1,234.50"}\n```', DAY, PRICE)
    assert not tells('{"fact_0": "2026-02-13"}', DAY, PRICE)
    assert not tells('{"fact_0": 1234.5, "fact_1": "2026-02-13"}', DAY, PRICE)
    assert tells('{"fact_0": true, "fact_1": []}', {"type": "yes_no", "value": True}, {"type": "none"})


def test_a_submitted_answer_may_have_a_message_for_all_that_has_no_key() -> None:
    refused = {"type": "time", "value": "14:30", "name": "reason_1"}
    facts = [wanted(Fact.model_validate(one)) for one in ({**DAY, "name": "told_1"}, refused)]
    asked = [AnswerQuestion(tuple(facts[:1])), AnswerQuestion(tuple(facts[1:]), tell="any")]

    def told(**answer: Any) -> list[bool]:
        return [one.holds for one in verdicts(asked, json.dumps(answer), NOW)]

    assert told(told_1="13 February", message="The room is taken until 14:30.") == [True, True]
    assert told(told_1="13 February", message="The room is taken until 15:30.") == [True, False]
    assert told(told_1="20 February", message="It is 13 February, and taken until 14:30.") == [False, True]
    assert told(told_1="13 or 20 February", message="") == [False, False]
    assert told(message="It is 13 February, and taken until 14:30.") == [True, True], "a mere message is free text"
    assert told(told_1="13 February") == [True, False]


def test_one_of_several_reasons_is_enough() -> None:
    for answer in ("It was due on 13 February.", "There are 12 before you."):
        assert tells(answer, DAY, PLACES, tell="any")
    assert not tells("It cannot be done.", DAY, PLACES, tell="any")
    hedge = "Either this: it was due on 13 February. Or this: it was due on 21 May. It is one of the two."
    assert not tells(hedge, DAY, PLACES, tell="any")


@pytest.mark.parametrize(
    "filler", ["x ", "12 ", "13 February, ", "not 312 or ", "\u0661\u0662 ", '{"a": 1}, ', "| 12 |\n"]
)
def test_an_answer_of_a_megabyte_tells_nothing_and_is_read_in_no_time(filler: str) -> None:
    long = (filler * (1_000_000 // len(filler) + 1))[:1_000_000]
    begin = time.process_time()
    assert not tells(f"12 places. {long}", PLACES)
    assert time.process_time() - begin < 1


def test_an_answer_has_numbers_at_as_many_places_as_a_person_would_write() -> None:
    assert tells("12 places, 12 of 12. " * 3, PLACES)
    assert not tells("12 places. " + "12 " * 2 * (24 + 8), PLACES)


def test_a_checkpoint_asks_for_as_many_facts_as_a_person_would_ask_for() -> None:
    facts = [{**PLACES, "name": f"fact_{number}"} for number in range(MOST_FACTS + 1)]
    asked = {"id": "told", "role": "goal", "kind": "answer", "question": "How many?"}
    assert AnswerCheckpoint.model_validate({**asked, "facts": facts[:-1]})
    with pytest.raises(ValidationError, match=f"at most {MOST_FACTS} items"):
        AnswerCheckpoint.model_validate({**asked, "facts": facts})
    with pytest.raises(ValidationError, match=f"at most {MOST_WORDS} items"):
        AnswerCheckpoint.model_validate({**asked, "facts": [{**facts[0], "confusable": [*range(MOST_WORDS + 1)]}]})


@pytest.mark.parametrize(
    ("most", "fields"),
    [
        (LONGEST_VALUE, {"facts": [{**PLACES, "name": "places", "about": ["@"]}]}),
        (LONGEST_VALUE, {"facts": [{**PLACES, "name": "places", "also": ["@"]}]}),
        (LONGEST_VALUE, {"silent": ["@"]}),
        (LONGEST_GIVEN, {"given": ["@"]}),
        (LONGEST_QUESTION, {"question": "@"}),
    ],
)
def test_texts_of_a_checkpoint_are_no_longer_than_an_answer_can_be(most: int, fields: dict[str, Any]) -> None:
    asked = {"id": "told", "role": "goal", "kind": "answer", "question": "How many?", "silent": ["unlucky"], **fields}
    fits, is_longer = (json.dumps(asked).replace("@", "x" * size) for size in (most, most + 1))
    assert AnswerCheckpoint.model_validate_json(fits)
    with pytest.raises(ValidationError, match=f"at most {most} characters"):
        AnswerCheckpoint.model_validate_json(is_longer)


def test_of_many_accents_on_a_letter_the_first_are_read() -> None:
    acute, grave = "\N{COMBINING ACUTE ACCENT}", "\N{COMBINING GRAVE ACCENT}"
    assert plain_text("a" + acute * MOST_MARKS + grave) == plain_text("a" + acute * MOST_MARKS)
    assert plain_text("a" + acute * (MOST_MARKS - 1) + grave) != plain_text("a" + acute * (MOST_MARKS - 1))


def test_an_answer_is_as_long_as_a_person_would_write() -> None:
    assert tells("12 places. " + "Thank you for asking. " * 80, PLACES)
    assert not tells("12 places. " + "a" * (LONGEST + LONGEST_PER_FACT), PLACES)


def test_a_sentence_is_as_long_and_names_one_as_often_as_a_person_would() -> None:
    """All of a sentence is read for each name in it: 7,400 characters of one name took seconds."""
    people = ["Ada Moe", "Mira Okafor", "Bob Hill", "Ann Lee", "Tom Ray", "Sue Day", "Kim Orr", "Joe Fay", "Lea Roy"]
    names = [{"type": "name", "value": name} for name in people]
    all_of_them = ", ".join(people)
    assert tells(f"They are {all_of_them}.", *names)
    assert not tells(f"They are {all_of_them}. " + "And so on, as I said before, and so on" * 60, *names)
    assert tells(f"They are {all_of_them}. " + "It was Ada Moe. " * (MOST_PLACES - 1), *names)
    assert not tells(f"They are {all_of_them}. " + "It was Ada Moe. " * MOST_PLACES, *names)


@pytest.mark.parametrize(
    "answer",
    [
        "Either this: Done. Seats left: 12. Or this: Done. Seats left: 17. It is one of the two.",
        "12 seats are left in room 5, up to 4 May. No, sorry, that was wrong. Looking at the list, 17 are left.",
        "It is done. There are 12 places. It is planned. There are 17 places.",
    ],
)
def test_the_same_words_with_another_value_are_a_hedge(answer: str) -> None:
    sole = {"type": "count", "value": 12}
    assert not tells(answer, sole)
    assert tells("12 seats are left. In the other room 17 are free.", sole)
    assert tells("Room 1 has 12 places. Room 2 has 17 places.", {**sole, "about": ["room 1"], "not_about": ["room 2"]})


def test_the_columns_of_a_row_are_a_paste() -> None:
    lines = (
        "name: Viktor Lang\nkind: Regular\nticket limit: 6\nplace: Parquet\nstatus: blocked\nsince: May\nfor: a profit"
    )
    assert not tells(lines, {"type": "count", "value": 6})
    assert tells("\n".join(lines.splitlines()[:4]), {"type": "count", "value": 6})
    row = "segment id: seg_012\nbooking id: bk_okafor\nstatus: refused\namount cents: 89000"
    assert not tells(f"It is done. The amount is 890.\n{row}", {"type": "amount", "value": 890.0})
    assert tells("It is done. Booking id: bk_okafor. The amount is 890.", {"type": "amount", "value": 890.0})


def test_a_list_of_all_that_there_is_tells_nothing() -> None:
    person = {"type": "name", "value": "Zoë Märkli"}
    names = [f"{'Abcdefghijklmnopq'[at]}nna Berg" for at in range(MOST_ITEMS + MOST_ITEMS_PER_FACT)]
    assert tells("; ".join(("Zoë Märkli", *names[1:])), person)
    for between in ("; ", ", ", "\n", ",\n"):
        assert not tells(between.join(("Zoë Märkli", *names)), person)
    assert tells(", ".join(("It is Zoë Märkli", *("and so it was" for _ in names))), person)
    assert len(["and", "so", "it", "was"]) > WORDS_OF_AN_ITEM
    assert tells(", ".join(names), {"type": "list", "value": names})
    longer = [*names, *(f"{name}son" for name in names)]
    assert tells(", ".join(longer), {"type": "list", "value": longer})


VOUCHER = {"type": "date", "value": "2029-10-08"}
LAST_DAY = "Does the answer tell the last day of the new voucher for Viktor Lang: 8 October 2029?"


@pytest.mark.parametrize(
    "answer",
    [
        "The voucher is good until 8 October 2029; it was issued on 9 October 2026.",
        "The voucher begins on 8 October 2029.",
        "The voucher is not good until 8 October 2029.",
        "It isn't that the voucher runs until 8 October 2029.",
        "Until 8 October 2029. Sorry, I counted wrongly.",
        "Until 8 October 2029, unless it is renewed.",
        "8 October 2029, I can't say which voucher.",
        "Anna's last working day: 8 October 2029. Last day of the new voucher for Viktor Lang: 31 July.",
    ],
)
def test_a_value_of_the_type_beside_it_of_something_else_or_taken_back_is_no_answer(answer: str) -> None:
    given = ("31 july",)
    assert tells("Anna leaves on 31 July. The voucher runs until 8 October 2029.", VOUCHER, asked=LAST_DAY, given=given)
    assert not tells(answer, VOUCHER, asked=LAST_DAY, given=given)


def test_values_of_two_questions_are_not_swapped() -> None:
    seats = ("how many seats are left", {"type": "count", "value": 14})
    room = ("how much room there is for more", {"type": "count", "value": 26})
    questions = [
        AnswerQuestion((wanted(Fact.model_validate({"name": f"told_{at}", **fact})),), asked)
        for at, (asked, fact) in enumerate((seats, room))
    ]
    for answer, holds in (
        ("14 seats are left, and there's room for 26 more.", True),
        ("Room for more: 26. Seats left: 14.", True),
        ("26 seats are left, and there's room for 14 more.", False),
    ):
        assert all(told.holds for told in verdicts(questions, answer, NOW)) is holds, answer


def test_of_several_reasons_no_stranger_stands_among_them() -> None:
    due = {"type": "date", "value": "2026-02-13"}
    also_from = "It was due on 13 February. It can be renewed from 3 March."
    assert tells(also_from, due, PLACES, tell="any", given=("3 March",))
    assert not tells(also_from, due, PLACES, tell="any")
    days = " ".join(f"Reason {day}: it was due on {day} February." for day in range(9, 29))
    assert not tells(days, due, tell="any")
    assert not tells("It was due on 14 February, and there are 12 before you.", due, PLACES, tell="any")


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("Yes.", True), ("It is, yes.", True), ("Ja, bis morgen.", True), ("There is a seat.", False),
        ("Yes, perhaps.", False), ("Yes. No, wait, it is full.", False), ("No.", False), ("Not yet.", False),
        ('{"fact_0": true}', True), ('{"is_free": true}', True),
    ],
)  # fmt: skip
def test_a_question_of_yes_or_no_is_answered_by_that_word(answer: str, holds: bool) -> None:
    assert tells(answer, {"type": "yes_no", "value": True}) is holds


def test_a_part_of_a_name_with_a_word_of_another_is_another_name() -> None:
    for answer in ("Zoë told me.", "Ms Märkli, she says.", "Zoë Märkli"):
        assert tells(answer, PERSON)
    for answer in ("Zoë Bürkli told me.", "It is Anna Märkli."):
        assert not tells(answer, PERSON)
    assert not tells("Room 312, beside 318.", {**ROOM, "confusable": []})


def test_machine_ids_are_no_values() -> None:
    assert tells("Booking bkg_0113: 12 places are left.", PLACES)


def test_every_value_of_a_column_is_no_answer() -> None:
    assert not tells("\n".join(str(number) for number in range(1, 60)), PLACES)


@pytest.mark.parametrize(
    ("checkpoint", "problem"),
    [
        ({}, "sees nothing"),
        ({"facts": [{"name": "a", "type": "count"}]}, "either a value or a SELECT"),
        ({"facts": [{"name": "a", "type": "list", "value": "x"}]}, "the value of a list is a list"),
        ({"facts": [{"name": "a", "type": "yes_no", "value": "yes"}]}, "true or false"),
        ({"facts": [{"name": "a", "type": "count", "value": "x"}]}, "is a number"),
        ({"facts": [{"name": "a", "type": "none"}, {"name": "a", "type": "none"}]}, "two facts of one name"),
    ],
)
def test_a_checkpoint_that_is_wrong_is_refused(checkpoint: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        AnswerCheckpoint.model_validate({"id": "a", "role": "goal", "question": "?", "kind": "answer", **checkpoint})


def test_a_reason_of_today_is_told_by_its_time_and_no_other_day() -> None:
    reason: dict[str, Any] = {"type": "time", "value": "08:05", "confusable": ["09:00"]}
    assert tells("It could not be done: it is 08:12, and the desk opens at 8:05.", reason, tell="any")
    assert tells("It began at 08:05, so the van either comes or is put down as missed.", reason, tell="any")
    assert not tells("It could not be done: it began yesterday, 10 February, at 8:05.", reason, tell="any")
    assert not tells("The desk opens at either 8:05 or 9:00.", reason, tell="any")
    assert not tells("The desk opens at 8:05 or 9:00, either one.", reason, tell="any")


def test_all_five_are_done_counts_nothing_that_was_asked_for() -> None:
    lost: dict[str, Any] = {"type": "count", "value": 15, "confusable": [5, 14]}
    assert tells("All five are in. We lost fifteen packs.", lost, asked="How many packs were lost?")
    assert tells("15 packs were lost. The other five are done.", lost, asked="How many packs were lost?")
    assert not tells("We lost 15 packs, or all five packs.", lost, asked="How many packs were lost?")


def test_a_list_of_amounts_an_update_and_what_need_not_be_tell_no_value() -> None:
    charged: dict[str, Any] = {"type": "amount", "value": 175, "confusable": [120]}
    assert not tells("The charges are 70, 105 and 175 euros.", charged)
    assert not tells("It is back on 13 February. Update: that was extended to 16 February.", DAY)
    assert not tells("It does not have to be back on 13 February, but the day after.", DAY)


def test_a_date_behind_of_and_the_time_of_the_work_are_read_as_such() -> None:
    seated: dict[str, Any] = {"type": "date", "value": "2026-02-13", "confusable": ["2026-02-11"]}
    assert tells("It is too early to seat the party of February 13, 2026 20:00:00.", seated)
    opens: dict[str, Any] = {"type": "time", "value": "20:00", "confusable": ["19:30"]}
    assert tells("It is February 11, 2026 07:51:00, and the doors open at 8 pm.", opens)
    assert not tells("Either this: it opens at 8 pm. Or this: it stays shut.", opens)
