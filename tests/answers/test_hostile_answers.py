"""Answers that are made to keep the judge busy: what it costs grows with their length, and no faster."""

import resource
import subprocess
import sys

import pytest

SECONDS = 120
"""Of processor time; all of it takes a few. What backtracks without end takes hours."""
JUDGED = """
import sys
from datetime import datetime
from servers.answer.shapes.form import LONGEST, LONGEST_PER_FACT
from servers.answer.question import AnswerQuestion
from servers.answer.checks.verdict import verdicts
from servers.answer.expected_fact import wanted
from servers.answer.fact import LONGEST_VALUE, Fact

VALUES = {
    "amount": 12.5, "count": 3, "date": "2026-04-05", "time": "14:30", "duration": 90, "name": "Ada Moe",
    "choice": "red", "yes_no": True, "list": ["Ada", "Bo"],
}
facts = [Fact.model_validate({"name": kind, "type": kind, "value": value}) for kind, value in VALUES.items()]
asked = [AnswerQuestion((wanted(fact),), asked=f"Does the answer tell the {fact.name}: x?") for fact in facts]
most = LONGEST + LONGEST_PER_FACT * len(facts)
for pump in eval(sys.argv[1]):
    verdicts(asked, (pump * most)[: most - 1] + "!", datetime(2026, 2, 11, 8))
    verdicts(asked, ("Ada is " + pump * most)[: most - 1] + "x", datetime(2026, 2, 11, 8))
    text = ("Room A" + pump * most)[:LONGEST_VALUE - 1] + "x"
    odd = AnswerQuestion((wanted(Fact(name="n", type="count", value=3, about=(text,))),), asked=text, given=(text,))
    verdicts([odd], "Room A is told: 3 and 4 of " + text, datetime(2026, 2, 11, 8))
print("judged")
"""
PUMPS = {
    "columns": ["a_id", "_id", "a id ", "a_cents ", "id:"],
    "fences": ["```", "```\n", "\n", "```a\n "],
    "marks": ["a\u0301\u0327", "\u0301\u0327", "\u0344", "\ufdfa"],
    "labels": ["a", "a ", "a: ", "a - ", "|", "| a "],
    "sides": [".-", ". yes", "-", ", ", "no, "],
    "denials": ["not ", "no a - ", "n't ", "nothing ", "there is no a "],
    "days": ["May ", "the first ", "first of ", ",a", "of may "],
    "codes": ["1", "a1", "A1 ", "1-", "AB 12 ", "one ", "1.1", "1,1"],
    "quotes": ['"', "'", '"a', "[", "{", "[{"],
}


@pytest.mark.parametrize("kind", PUMPS)
def test_no_answer_keeps_the_judge_busy(kind: str) -> None:
    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))

    command = (sys.executable, "-c", JUDGED, repr(PUMPS[kind]))
    told = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=bound)
    assert told.stdout == "judged\n", told.stderr[-500:] or f"ended by {told.returncode}"
