"""The keys of a submitted answer: they describe what is asked for, and give no value away."""

import json
from datetime import datetime
from typing import Literal

from servers.answer.checks.verdict import verdicts
from servers.answer.expected_fact import wanted
from servers.answer.fact import Fact
from servers.answer.question import AnswerQuestion
from servers.bundle_library import OWN_LIBRARY, Library
from servers.scenario.answer_shape import answer_shape
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from tests.library import of_each_environment

NOW = datetime.fromisoformat("2026-02-11 08:00:00")
PRICE = Fact(name="told_1", type="amount", value=42, currency="EUR")


def shape(question: str, *facts: Fact, tell: Literal["all", "any"] = "all") -> list[str]:
    asked = AnswerQuestion(tuple(wanted(fact) for fact in facts), asked=question, tell=tell)
    return [line.split('"')[1] for line in answer_shape([asked], NOW, has_reason=True).splitlines()[1:]]


def test_a_fact_has_a_key_where_its_question_does_not_tell_it() -> None:
    assert shape("Does the answer tell what the seat costs: 42 euros?", PRICE) == ["told_1", "message"]
    assert shape("Does the answer name 42 euros: 42 euros?", PRICE) == ["message"]
    assert shape("Does the answer tell forty-two euros, which stands in the way?", PRICE) == ["message"]
    assert shape("Does the answer tell what the seat costs: 42 euros?", PRICE, tell="any") == ["message"]
    assert shape("Does the answer tell which are late: none?", Fact(name="told_1", type="none")) == [
        "told_1",
        "message",
    ]


@of_each_environment()
def test_true_values_submitted_by_their_keys_pass_and_others_fail(name: str) -> None:
    library = Library([OWN_LIBRARY])
    seen = 0
    for scenario in library.scenarios(name).values():
        now = datetime.fromisoformat(scenario.clock or library.environment(name).description.clock)
        asked = [one.written() for one in scenario.checkpoints if isinstance(one, AnswerCheckpoint)]
        keys = {line.split('"')[1] for line in answer_shape(asked, now, has_reason=True).splitlines()[1:]} - {"message"}
        for question in asked:
            for one in question.wanted:
                if one.fact.name in keys:
                    seen += 1
                    values = list(one.values) if one.fact.type == "list" else one.values[0]
                    assert holds(question, {one.fact.name: values}, now), f"{scenario.id}: {values}"
                    for other in one.confusable:
                        assert not holds(question, {one.fact.name: other}, now), f"{scenario.id}: {other}"
    assert seen


def holds(question: AnswerQuestion, answer: dict[str, object], now: datetime) -> bool:
    return verdicts([question], json.dumps(answer), now)[0].holds
