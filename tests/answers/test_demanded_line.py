"""Where a scenario demands the last line, values and reasons are told there and nowhere else, and the task says so."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from pydantic import ValidationError

from servers.answer.checks.verdict import verdicts
from servers.answer.expected_fact import wanted
from servers.answer.fact import Fact
from servers.answer.question import AnswerQuestion
from servers.bundle_library import OWN_LIBRARY, Library
from servers.scenario.answer_shape import answer_shape, task_asking
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.scenario import Scenario
from tests.answers.test_answer_line import COSTS, FEE, LEFT, OPEN, WHO
from tests.bundles import SOUND_SCENARIO
from tests.library import of_each_environment

NOW = datetime.fromisoformat("2026-03-10 08:00:00")
CLOCK = "2026-03-10 08:00:00"
REFUSAL = "the card runs until 2026-11-03; it can be renewed from 2026-10-04, at 09:30"
ASKED = "Please renew Ada's card and send 9 pulleys to Riga. Tell me how many pulleys are left, and why if not."
WHY = AnswerQuestion(
    (wanted(Fact(name="reason_1", type="date", value="2026-10-04")),),
    "Does the answer tell 2026-10-04, which stands in the way?",
    tell="any",
    given=(ASKED, REFUSAL),
)
IS_OPEN = AnswerQuestion(
    (wanted(Fact(name="open", type="yes_no", value=True)),), "Does the answer tell whether the branch is open: yes?"
)
NONE_LEFT = AnswerQuestion(
    (wanted(Fact(name="late", type="none", confusable=("Dune",))),), "Does the answer tell which books are late: none?"
)
DUE: dict[str, Any] = {
    "id": "told_1",
    "role": "goal",
    "question": "Does the answer tell when the book is due: 19 April?",
    "kind": "answer",
    "facts": [{"name": "told_1", "type": "date", "value": "2026-04-19"}],
    "last_line": True,
}
BARRED: dict[str, Any] = {
    "id": "why_1",
    "role": "goal",
    "question": "Does the answer tell 2026-10-04, which stands in the way?",
    "kind": "answer",
    "facts": [{"name": "reason_1", "type": "date", "value": "2026-10-04"}],
    "tell": "any",
    "last_line": True,
}


KEPT = AnswerQuestion(
    (wanted(Fact(name="kept", type="date", value="2026-05-22")),),
    "Does the answer tell until when the tablet with the number LQ27 is kept for Jonas Lind: 22 May?",
)
RENEWED = AnswerQuestion(
    (wanted(Fact(name="due", type="date", value="2026-05-29", confusable=("2026-05-11",))),),
    "Does the answer tell the new due date of Tunde's loan: 29 May?",
)
WITH_REMINDER = AnswerQuestion(
    (wanted(Fact(name="due", type="amount", value=44, confusable=(49,))),),
    "Does the answer tell how much Ada's monthly due comes to with the reminder: 44 euros?",
)
BLOCK = AnswerQuestion(
    (wanted(Fact(name="block", type="name", value="Cedar", confusable=("Alder", "Maple"))),),
    "Does the answer tell in which block the first box stands: Cedar?",
)
EXHIBITION = AnswerQuestion(
    (wanted(Fact(name="show", type="name", value="The Glass Table")),),
    "Does the answer tell which exhibition it is for: The Glass Table?",
)
TIER = AnswerQuestion(
    (wanted(Fact(name="tier", type="count", value=3)),),
    "Does the answer tell the number of the tier in which it stands: 3?",
)
GONE = AnswerQuestion(
    (wanted(Fact(name="box", type="name", value="ATFU221", confusable=("ATFU212",))),),
    "Does the answer tell for which of the containers that are held no truck is booked: ATFU221?",
)
SETTLED = AnswerQuestion(
    (wanted(Fact(name="settle", type="yes_no", value=True)),),
    "Does the answer tell whether that has to be settled before the lorry can leave: yes?",
)
STRUCK = AnswerQuestion(
    (wanted(Fact(name="struck", type="yes_no", value=False)),),
    "Does the answer tell whether the bell in Ahlenburg was struck: no?",
)
RESERVED = AnswerQuestion(
    (wanted(Fact(name="left", type="count", value=2)),),
    "Does the answer tell how many units are still to be reserved for Maja's request: 2?",
)
SENT = AnswerQuestion(
    (wanted(Fact(name="sent", type="count", value=5)),),
    "Does the answer tell how many went to Mirela: 5?",
    given=("Please hand the tickets of the printers to Mirela, and the letters to Ove.",),
)
LATE = AnswerQuestion(
    (wanted(Fact(name="late", type="count", value=300)),),
    "Does the answer tell how many minutes it is late in all: 300?",
    given=("The tickets say 150 minutes.",),
)
NOT_PACKED = AnswerQuestion(
    (wanted(Fact(name="left", type="name", value="Ottavia Brandt")),),
    "Does the answer tell whose order was not packed: Ottavia Brandt?",
)
GROUP = AnswerQuestion(
    (wanted(Fact(name="group", type="name", value="O negative", also=("O neg",))),),
    "Does the answer tell the blood group of the unit: O negative?",
)
LENT = AnswerQuestion(
    (wanted(Fact(name="lent", type="list", value=("Alabaster portrait mask", "Screen with cranes"))),),
    "Does the answer tell which pieces were declined: Alabaster portrait mask, Screen with cranes?",
)
WHOSE = AnswerQuestion(
    (
        wanted(
            Fact(name="payer", type="name", value="Lorenz Adler", also=("lorenz", "adler"), confusable=("Lore Adler",))
        ),
    ),
    "Does the answer tell whose payment it was: Lorenz Adler?",
)


def demanding(*questions: AnswerQuestion) -> list[AnswerQuestion]:
    return [replace(one, last_line=True) for one in questions]


def holds(answer: str, *questions: AnswerQuestion) -> bool:
    return all(told.holds for told in verdicts(demanding(*questions), answer, NOW))


@pytest.mark.parametrize(
    "answer",
    [
        "10 pulleys are left on the shelf.",
        "10",
        "The answer is 10 pulleys.",
        '{"message": "10 pulleys are left on the shelf."}',
        '{"answer": "10"}',
        "| left |\n|---|\n| 10 |",
    ],
)
def test_a_value_outside_the_line_tells_nothing(answer: str) -> None:
    assert not holds(answer, LEFT)
    assert all(told.holds for told in verdicts([LEFT], "10 pulleys are left on the shelf.", NOW))


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        (KEPT, "kept until 22 May 2026"),
        (KEPT, "it is kept until 22 May"),
        (KEPT, "2026-05-22 (Friday, 22 May)"),
        (RENEWED, "its new due date is Friday, 29 May"),
        (RENEWED, "date: 29 May"),
        (WITH_REMINDER, "Ada's monthly due comes to €44.00 with the reminder"),
        (WITH_REMINDER, "with the reminder Ada's monthly due is 44 euros"),
        (BLOCK, "in block Cedar"),
        (BLOCK, "it stands in Cedar"),
        (EXHIBITION, "Glass Table"),
        (TIER, "tier number 3"),
        (GONE, "container ATFU221"),
        (SETTLED, "yes, it has to be settled"),
        (SETTLED, "yes (before the lorry can leave)"),
        (STRUCK, "no, it was not struck"),
        (STRUCK, "no - the bell wasn't struck"),
        (STRUCK, "no, not yet"),
        (RESERVED, "2 units still to be reserved"),
        (SENT, "5 tickets"),
        (SENT, "five pieces"),
        (LATE, "300 min"),
        (NOT_PACKED, "not packed: Ottavia Brandt"),
        (GROUP, "O-"),
        (GROUP, "O Rh neg."),
        (LENT, "the alabaster mask, the screen with the cranes"),
        (WHOSE, "Lorenz"),
    ],
)
def test_words_that_change_no_value_may_stand_beside_it(asked: AnswerQuestion, line: str) -> None:
    assert holds(f"Answer: {line}", asked)


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        (KEPT, "kept from 22 May"),
        (KEPT, "not kept until 22 May"),
        (KEPT, "kept until 22 May or 23 May"),
        (KEPT, "kept until about 22 May"),
        (KEPT, "2026-05-22 (23 May)"),
        (KEPT, "the tablet of Ada is kept until 22 May"),
        (RENEWED, "its old due date is 29 May"),
        (RENEWED, "Tunde's card 29 May"),
        (WITH_REMINDER, "Bo's monthly due comes to 44 euros with the reminder"),
        (WITH_REMINDER, "without the reminder 44 euros"),
        (BLOCK, "beside block Cedar"),
        (BLOCK, "second box in Cedar"),
        (TIER, "tier number 3?"),
        (GONE, "container ATFU212"),
        (GONE, "truck ATFU221"),
        (SETTLED, "yes, it has not to be settled"),
        (SETTLED, "yes, unless it has to be settled"),
        (SETTLED, "yes, the lorry is late"),
        (SETTLED, "it has to be settled"),
        (STRUCK, "no, the bell was struck"),
        (STRUCK, "no, it was not not struck"),
        (STRUCK, "no, the bell was sold"),
        (STRUCK, "yes, it was not struck"),
        (RESERVED, "2 units reserved"),
        (RESERVED, "2 already reserved"),
        (SENT, "5 lorries"),
        (SENT, "5 more tickets"),
        (SENT, "5 kg"),
        (LATE, "300 tickets"),
        (LATE, "300 hrs"),
        (NOT_PACKED, "not Ottavia Brandt"),
        (RENEWED, "in five days"),
        (RENEWED, "the end of May"),
        (GROUP, "O+"),
        (GROUP, "O"),
        (GROUP, "A-"),
        (LENT, "the mask alabaster, the screen with the cranes"),
        (LENT, "the alabaster mask, the screen with the herons"),
        (WHOSE, "Adler"),
    ],
)
def test_other_words_beside_it_make_it_no_value(asked: AnswerQuestion, line: str) -> None:
    assert not holds(f"Answer: {line}", asked)


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("Mira Halonen; Mirko Halonen, Yasemin Demir", True),
        ("Mira; Mirko Halonen, Demir", True),
        ("Halonen; Mirko Halonen, Yasemin Demir", False),
        ("Mira Halonen; Halonen, Yasemin Demir", False),
    ],
)
def test_a_short_name_that_fits_another_answer_too_is_no_name(line: str, right: bool) -> None:
    first = wanted(Fact(name="waits", type="name", value="Mira Halonen", also=("Mira", "Halonen")))
    names = ("Mirko Halonen", "Yasemin Demir")
    others = wanted(Fact(name="renewed", type="list", value=names, also=("Mirko", "Halonen", "Demir")))
    asked = ("Does the answer tell who waits: Mira Halonen?", "Does the answer tell who was renewed: both?")
    assert holds(f"Answer: {line}", AnswerQuestion((first,), asked[0]), AnswerQuestion((others,), asked[1])) is right


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("Answer:\n* 42 euros\n* 7 euros", True),
        ("Answer:\n+ 42 euros\n+ 7 euros", True),
        ("Answer: 1) 42 euros; 2) 7 euros", True),
        ("Answer: 2) 42 euros; 1) 7 euros", False),
        ("Answer:\n* 42 euros\n* 7 euros\n* 3 euros", False),
    ],
)
def test_marks_of_a_list_are_no_words(answer: str, right: bool) -> None:
    assert holds(answer, COSTS, FEE) is right


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("42 euros; 7 euros", True),
        ("renewal: 42 euros; late fee: 7 euros", True),
        ("7 euros; 42 euros", False),
        ("pulleys to Riga: 42 euros; late fee: 7 euros", False),
        ("42 euros; 7 euros; done", False),
        ("42 euros; 7 euros\nGood luck with it", False),
        ("$42; 7 euros", False),
    ],
)
def test_values_stand_alone_in_the_order_of_the_form(line: str, right: bool) -> None:
    assert holds(f"All is done.\nAnswer: {line}", COSTS, FEE) is right


@pytest.mark.parametrize(
    ("told", "line", "right"),
    [
        ("$640", "$640", True),
        ("$640", "US$640.00", True),
        ("$640", "640 dollars", True),
        ("$640", "640", True),
        ("$640", "640 euros", False),
        ("640 euros", "640 dollars", False),
        ("640", "640 euros", True),
        ("450 kr", "450 NOK", True),
    ],
)
def test_an_amount_has_the_currency_of_the_question(told: str, line: str, right: bool) -> None:
    value = float(told.strip("$").split()[0])
    question = AnswerQuestion(
        (wanted(Fact(name="told_1", type="amount", value=value)),), f"Does the answer tell what it costs: {told}?"
    )
    assert holds(f"Answer: {line}", question) is right


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("10; reason: 4 October", True),
        ("10; reason: 2026-10-04", True),
        ("10; reason: can be renewed from 4 October, 9:30", True),
        ("10; reason: the card runs until 3 November; reason: not before 4 October", True),
        ("10; 4 October", True),
        ("10; reason: until 4 October", False),
        ("10; reason: 3 November", False),
        ("10; reason: 4 October or 5 October", False),
        ("10; reason: it is too soon", False),
        ("10; reason: Bo owns it since 4 October", False),
        ("reason: 4 October", False),
        ("10", False),
    ],
)
def test_a_reason_stands_in_the_line_too(line: str, right: bool) -> None:
    above = "The card cannot be renewed yet: that is possible from 4 October."
    assert holds(f"{above}\nAnswer: {line}", LEFT, WHY) is right


def test_a_reason_that_nobody_asked_for_may_stand_there_only_if_a_refusal_gave_it() -> None:
    question = replace(LEFT, given=(ASKED, REFUSAL))
    assert holds("Answer: 10; reason: 4 October", question)
    assert not holds("Answer: 10; reason: 9 wheels were broken", question)
    assert not holds("Answer: 10; reason: 12", question)


@pytest.mark.parametrize("reason", ["10 March", "today", "8 April", "the 8th of April", "9", "too soon"])
def test_an_invented_reason_spoils_the_line_even_if_the_task_has_its_value(reason: str) -> None:
    question = replace(LEFT, given=("Do it today, before 8 April. Send 9 pulleys to Riga. How many are left?",))
    assert holds("Answer: 10", question)
    assert not holds(f"Answer: 10; reason: {reason}", question)
    assert holds("Nothing stood in the way.\nAnswer: 10; reason: none", question)


@pytest.mark.parametrize(("line", "right"), [("yes", True), ("Yes, the branch is open", True), ("no", False)])
def test_yes_stands_there(line: str, right: bool) -> None:
    assert holds(f"I looked it up.\nAnswer: {line}", IS_OPEN) is right
    assert not holds("Yes, it is.", IS_OPEN)


@pytest.mark.parametrize(
    ("line", "right"), [("none", True), ("nothing", True), ("Dune", False), ("none but Dune", False)]
)
def test_that_there_is_none_stands_there(line: str, right: bool) -> None:
    assert holds(f"I looked it up.\nAnswer: {line}", NONE_LEFT) is right


def test_the_name_may_stand_above_the_line_too() -> None:
    room = Fact(name="room", type="name", value="203", confusable=("303",))
    asked = AnswerQuestion((wanted(room),), "Does the answer tell which room it is: 203?")
    assert holds("The guest is in room 203.\nAnswer: 203", asked)
    assert not holds("The guest was in room 303.\nAnswer: 203", asked)
    assert holds("Ada Lindqvist has it.\nAnswer: Ada Lindqvist", WHO)


def test_two_values_may_be_equal() -> None:
    same = replace(FEE, wanted=(wanted(Fact(name="fee", type="amount", value=42, currency="EUR")),))
    assert holds("Answer: 42 euros; 42 euros", COSTS, same)
    assert not holds("Answer: 42 euros; 42 euros; 42 euros", COSTS, same)
    assert not holds("Answer: 42 euros", COSTS, same)


def test_nothing_is_open() -> None:
    assert holds("All is paid.\nAnswer: nothing", OPEN)


def test_json_has_the_values_and_the_reason_under_their_keys() -> None:
    asked = demanding(LEFT, WHY)
    shape = answer_shape(asked, NOW, has_reason=True)
    assert [line.split('"')[1] for line in shape.splitlines()[1:]] == ["left", "reason", "message"]
    told = {"left": "10", "reason": "4 October", "message": "I sent 9 pulleys to Riga."}
    assert all(one.holds for one in verdicts(asked, json.dumps(told), NOW))
    for other in ({**told, "reason": "too soon"}, {"left": "10", "message": "from 4 October"}, {"reason": "4 October"}):
        assert not all(one.holds for one in verdicts(asked, json.dumps(other), NOW)), other


def scenario(*checkpoints: dict[str, Any], **more: Any) -> Scenario:
    return Scenario.model_validate({**SOUND_SCENARIO, "checkpoints": checkpoints, **more})


def test_the_form_of_the_line_is_told_behind_the_task_and_gives_nothing_away() -> None:
    asking = {"task": f"{SOUND_SCENARIO['task']} If something cannot be done, tell me why."}
    told = task_asking(scenario(DUE, BARRED, **asking), CLOCK)
    assert told.startswith(asking["task"])
    assert "\nAnswer: [a date: when the book is due]\n" in told
    assert "19" not in told
    assert "October" not in told
    assert told == task_asking(scenario(DUE, **asking), CLOCK), "that something is refused stands nowhere"
    assert "`Answer: reason: 3 April`" in task_asking(scenario(BARRED), CLOCK)


def test_a_reason_has_its_place_in_the_line_where_the_task_asks_why() -> None:
    asking = {"task": f"{SOUND_SCENARIO['task']} Why is it late?"}
    there, nowhere = "`; reason: 3 April`. Otherwise no reason", "A reason stands above that line"
    assert there in task_asking(scenario(DUE, **asking), CLOCK)
    assert '"reason"' in task_asking(scenario(DUE, **asking), CLOCK, "json")
    for one in (scenario(DUE), scenario(DUE, **asking, tags=["forward"])):
        assert nowhere in task_asking(one, CLOCK)
        assert there not in task_asking(one, CLOCK)
        assert '"reason"' not in task_asking(one, CLOCK, "json")


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("I sent 9. Correction: the second was refused, so only 9 are left.\nAnswer: 10", True),
        ("There are 12 left. No, 11.\nAnswer: 10", True),
        ("There are 10 left.\nAnswer: 12", False),
        ("I am not sure, perhaps 10.\nAnswer: 10", False),
        ("Answer: 10. No, 12.", False),
        ("Answer: 10\nCorrection: 12.", False),
        ("Answer: 10\nOr rather, it is the 12 of Riga.", False),
        ("Answer: 10\nAnswer: 12", False),
        ("Answer: 12\nAnswer: 10", False),
        ("Answer: 10 or 12", False),
        ("Answer: 10 (or 12)", False),
        ("Answer: 10, not 12", False),
        ("Answer: 10; 12", False),
    ],
)
def test_the_line_is_the_last_word_and_nothing_takes_it_back(answer: str, right: bool) -> None:
    assert holds(answer, LEFT) is right


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("It costs 44 euros.\nAnswer: 44 euros", True),
        ("It comes to 49 euros. Correction: less.\nAnswer: 44 euros", False),
        ("Either 44 or 49 euros.\nAnswer: 44 euros", False),
    ],
)
def test_a_value_that_it_could_be_taken_for_spoils_the_answer_above_the_line_too(answer: str, right: bool) -> None:
    assert holds(answer, WITH_REMINDER) is right


def test_a_conversation_and_a_scenario_without_the_line_have_the_bare_task() -> None:
    assert task_asking(scenario(DUE, persona="A reader."), CLOCK) == SOUND_SCENARIO["task"]
    assert task_asking(scenario({**DUE, "last_line": False}), CLOCK) == SOUND_SCENARIO["task"]


def test_a_value_that_the_words_give_away_has_no_words() -> None:
    given = {**DUE, "question": "Does the answer tell that it is due on 19 April: 19 April?"}
    assert "[a date: what was asked for]" in task_asking(scenario(given), CLOCK)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"facts": [*DUE["facts"], {"name": "fee", "type": "amount", "value": 2}]}, "asks for one fact"),
        ({"tell": "any", "facts": [{"name": "who", "type": "name", "value": "Ada"}]}, "a reason in the last line is"),
    ],
)
def test_a_question_that_no_line_can_answer_is_refused(more: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        AnswerCheckpoint.model_validate({**DUE, **more})


def test_a_checkpoint_without_the_line_is_written_as_before() -> None:
    kept = AnswerCheckpoint.model_validate({**DUE, "last_line": False})
    assert "last_line" not in kept.model_dump_json()
    assert AnswerCheckpoint.model_validate(DUE).model_dump()["last_line"] is True


def told_by(scenarios: Sequence[Scenario]) -> list[Scenario]:
    return [one for one in scenarios if any(k.kind == "answer" and k.last_line for k in one.checkpoints)]


@of_each_environment()
def test_references_of_the_library_end_with_the_line_and_pass(name: str, record_property: Any) -> None:
    library = Library([OWN_LIBRARY])
    clock = library.environment(name).description.clock
    found = told_by(list(library.scenarios(name).values()))
    for one in found:
        told = [k for k in one.checkpoints if isinstance(k, AnswerCheckpoint) and k.facts]
        if any(fact.sql for k in told for fact in k.facts):
            continue  # its values are known when it was played
        asked = [k.written() for k in told]
        now = datetime.fromisoformat(one.clock or clock)
        above, head, line = one.reference().answer.partition("\nAnswer: ")
        assert head, one.id
        assert line, one.id
        assert all(told.holds for told in verdicts(asked, one.reference().answer, now)), one.id
        assert not any(told.holds for told in verdicts(asked, above, now)), one.id
        if one.persona is not None:
            continue  # whoever plays the user tells the task by and by
        assert "[" in task_asking(one, clock) or "reason: 3 April" in task_asking(one, clock), one.id
    record_property(f"{name}: scenarios with the last line", str(len(found)))
    assert found
