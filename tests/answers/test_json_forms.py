"""Answers in JSON over the library: right values in the forms of models pass, wrong ones fail."""

import json
from collections import Counter
from datetime import datetime
from typing import Any

import pytest

from servers.answer.checks.verdict import verdicts
from servers.answer.expected_fact import wanted
from servers.answer.fact import Fact
from servers.answer.question import AnswerQuestion
from servers.bundle_library import OWN_LIBRARY, Library
from servers.scenario.answer_shape import answer_shape
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.scenario import Scenario
from tests.answers.json_forms import Keyed, right_answers, wrong_answers
from tests.library import of_each_environment

EACH = 5
"""One scenario in so many is tried."""
NOW = datetime.fromisoformat("2026-02-11 08:00:00")
PRICE = {"name": "price", "type": "amount", "value": 42, "currency": "EUR", "confusable": [45]}
NAMES = {"name": "names", "type": "list", "value": ["Ada", "Bo"]}


@of_each_environment()
def test_right_json_passes_and_wrong_json_fails(name: str, record_property: Any) -> None:
    library = Library([OWN_LIBRARY])
    clock = library.environment(name).description.clock
    seen: Counter[str] = Counter()
    for scenario in list(library.scenarios(name).values())[::EACH]:
        now = datetime.fromisoformat(scenario.clock or clock)
        questions, keyed = keyed_facts(scenario, now)
        neighbours = [one.values[0] for _, one in keyed.values() if one.fact.type not in ("list", "yes_no")]
        answers = [(True, one) for one in right_answers(keyed)] if keyed else []
        answers += [(False, one) for one in wrong_answers(keyed, now, neighbours)] if keyed else []
        for right, answer in answers:
            seen["right" if right else "wrong"] += 1
            passes = all(told.holds for told in verdicts(questions, answer.text, now))
            assert passes is right, f"{scenario.id}, {answer.form}: {answer.text}"
    record_property(f"{name}: JSON answers", str(dict(seen)))


def keyed_facts(scenario: Scenario, now: datetime) -> tuple[list[AnswerQuestion], Keyed]:
    """The questions of a scenario that have keys, and the facts of these keys."""
    asked = [one.written() for one in scenario.checkpoints if isinstance(one, AnswerCheckpoint)]
    keys = {line.split('"')[1] for line in answer_shape(asked, now, has_reason=True).splitlines()[1:]} - {"message"}
    keyed = {one.fact.name: (question, one) for question in asked for one in question.wanted if one.fact.name in keys}
    return [one for one in asked if any(fact.fact.name in keyed for fact in one.wanted)], keyed


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ({"price": 42}, True),
        ({"price": ["42 euros"]}, True),
        ({"price": 42, "message": "All is done."}, True),
        ({"price": [42, 45]}, False),
        ({"price": {"now": 42, "before": 41}}, False),
        ({"price": "42 or 2026-02-11"}, False),
        ({"price": 42, "message": json.dumps([{"id": f"r{n}", "cents": n} for n in range(40)])}, False),
    ],
)
def test_one_value_stands_under_a_key(answer: dict[str, Any], holds: bool) -> None:
    asked = AnswerQuestion((wanted(Fact.model_validate(PRICE)),), "Does the answer tell what it costs: 42 euros?")
    assert verdicts([asked], json.dumps(answer), NOW)[0].holds is holds


def test_a_list_stands_under_the_key_of_a_list() -> None:
    asked = AnswerQuestion((wanted(Fact.model_validate(NAMES)),), "Does the answer name the two: Ada and Bo?")
    assert verdicts([asked], json.dumps({"names": ["Ada", "Bo"]}), NOW)[0].holds
    assert not verdicts([asked], json.dumps({"names": ["Ada"]}), NOW)[0].holds
