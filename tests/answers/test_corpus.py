"""The judge of answers against a corpus of right and wrong answers from several writers.

`development.jsonl` was read while the judge was written. `held_out.jsonl` was not: its figures are what to expect.
"""

import json
from collections import Counter
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from servers.answer.fact import Fact
from servers.answer.verdict import Question, verdicts
from servers.answer.wanted import wanted

HERE = Path(__file__).parent
PARTS = {"development": 0.06, "held_out": 0.13}
"""The share of right answers that may be refused, and of wrong ones that may pass: what was measured, no aim."""


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@cache
def questions() -> dict[str, tuple[Question, datetime]]:
    return {
        case["id"]: (
            Question(
                tuple(wanted(Fact.model_validate(fact)) for fact in case["facts"]),
                asked=case["question"],
                given=(case["task"],),
                silent=tuple(case.get("silent", ())),
            ),
            datetime.fromisoformat(case["clock"]),
        )
        for case in lines("cases")
    }


def passes(case: str, text: str) -> bool:
    question, now = questions()[case]
    return verdicts([question], text, now)[0].holds


@pytest.mark.parametrize("part", PARTS)
def test_right_answers_pass_and_wrong_ones_fail(part: str, record_property: Any) -> None:
    seen: Counter[tuple[bool, str, bool]] = Counter()
    for line in lines(part):
        seen[line["right"], line["kind"], passes(line["case"], line["text"]) == line["right"]] += 1
    for right in (True, False):
        judged = {one: count for one, count in seen.items() if one[0] is right}
        wrong = sum(count for (_, _, well), count in judged.items() if not well)
        kinds = Counter({kind: count for (_, kind, well), count in judged.items() if not well})
        record_property(f"{part}: {'right refused' if right else 'wrong passed'}", f"{wrong} of {sum(judged.values())}")
        assert wrong / sum(judged.values()) <= PARTS[part], f"{part}, {right=}: {kinds.most_common()}"
