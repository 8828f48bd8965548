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


def test_a_reason_that_nobody_asked_for_may_stand_there_if_the_task_gave_its_value() -> None:
    question = replace(LEFT, given=(ASKED, REFUSAL))
    assert holds("Answer: 10; reason: 4 October", question)
    assert not holds("Answer: 10; reason: 9 wheels were broken", question)
    assert not holds("Answer: 10; reason: 12", question)


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
    shape = answer_shape(asked, NOW)
    assert [line.split('"')[1] for line in shape.splitlines()[1:]] == ["left", "reason", "message"]
    told = {"left": "10", "reason": "4 October", "message": "I sent 9 pulleys to Riga."}
    assert all(one.holds for one in verdicts(asked, json.dumps(told), NOW))
    for other in ({**told, "reason": "too soon"}, {"left": "10", "message": "from 4 October"}, {"reason": "4 October"}):
        assert not all(one.holds for one in verdicts(asked, json.dumps(other), NOW)), other


def scenario(*checkpoints: dict[str, Any], **more: Any) -> Scenario:
    return Scenario.model_validate({**SOUND_SCENARIO, "checkpoints": checkpoints, **more})


def test_the_form_of_the_line_is_told_behind_the_task_and_gives_nothing_away() -> None:
    told = task_asking(scenario(DUE, BARRED), CLOCK)
    assert told.startswith(SOUND_SCENARIO["task"])
    assert "\nAnswer: [a date: when the book is due]\n" in told
    assert "19" not in told
    assert "October" not in told
    assert told == task_asking(scenario(DUE), CLOCK), "that something is refused stands nowhere"
    assert "`Answer: reason: 3 April`" in task_asking(scenario(BARRED), CLOCK)


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
