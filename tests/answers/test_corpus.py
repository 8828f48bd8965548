"""The judge of answers against a corpus of right and wrong answers from several writers.

Each case has its own checkpoints, one a question, as a scenario has. The parts:

- `development` and `held_out`: answers to single questions. A line that is marked `outside` was right before there was
  a contract for answers and does not keep it; it is reported apart and never counted.
- `contract`, `contract_later`, `contract_last`, `contract_newest`: whole last messages of agents who were told how to
  answer, to tasks that were made backward. The later ones were written when the judge had been mended by the earlier
  ones. Unread, 9 of 704 right ones of the newest part were refused and 19 of 704 wrong ones passed.
- `contract_unread`: the same by two more writers. They were asked for more wrong messages that tell the right value of
  another thing. Unread, 4 of 440 right ones were refused, and 34 of 440 wrong ones passed, 32 of them of this kind.
- `other_things`: wrong messages of this kind alone, and as many right ones, by one who knew the judge, and mended it by
  them afterwards. Unread, 1 of 60 right ones was refused and 35 of 60 wrong ones passed; after the mending by
  `contract_unread` alone, 1 and 21.
- `contract_blind`: right and wrong messages to 15 drawn scenarios, by one who had not read the judge, and had seen the
  right values and the values that must not be told. Unread, 1 of 45 right ones was refused and 12 of 63 wrong ones
  passed. After it was read, 1 and 9; after the judge was mended by it, none and 2.
- `blind_first`, `blind_second`: right and wrong messages to 60 drawn scenarios, three of each environment, by one who
  had read only what agents are told. Unread, 6 of 60 right ones and 5 of 60 were refused, and 7 and 6 of 60 wrong ones
  passed. When the judge had been mended by the first, 4 right ones of the second were refused and 7 wrong ones passed.
  Most of those that are left are to proposed tasks, and wrong in what no checkpoint holds.
- `line_first`, `line_second`, `line_third`: messages that end with the line of values, to 66 drawn scenarios, by one
  who had read the contract alone when he wrote the first two. Judged as free text, 1 of 100 right ones was refused and
  16 of 92 wrong ones passed. By the line, unread, 4 and 1, and by the line mended by these, 1 of 96 and 0 of 112 of the
  third part.
- `demanded_first`, `demanded_second`, `demanded_third`: messages to 126 scenarios that demand the line, and tell its
  form behind the task, by one who had read the judge. Unread, 5 of 200, 3 of 200 and 0 of 210 right ones were refused,
  and 3 of 200, 2 of 200 and 5 of 210 wrong ones passed. The judge was mended by each part before the next was written.
- `demanded_blind`: messages to 210 scenarios, half of which no other part has, by three writers who had read only what
  agents are told and the right values. Unread, 12 of 412 right ones were refused, most for a word beside the value that
  is not the question's, and 1 of 420 wrong ones passed. 8 right ones to conversations have no line: `outside`. The
  judge was mended by these: 2 right ones are refused and 1 wrong one passes, for a short form of a name without rivals.
- `demanded_unseen`: messages to 75 others, after the judge was mended by the last part, by three writers who had read
  only what agents are told, the right values and what the tools showed. 12 of 367 right ones were refused, ten for a
  noun behind a number, and 6 of 375 wrong ones passed, dates as "in three weeks". The judge was mended by them: 2 right
  ones are refused. 8 right ones are `outside`: their writers did not know the currency.
- `demanded_later`: messages to 110 others, when the judge had been mended by the last part, by five writers who had
  read only what agents are told, the right values and the money of the place. Unread, 1 of 550 right ones was refused,
  a title without its article, and 4 of 550 wrong ones passed: two short names that fit two people, a right line after
  "only one", and an invented reason. The right line is left: the line is the last word.
- `demanded_last`: messages to 176 others, when the judge had been mended by the last part, by eight writers who had
  read the same. Unread, 2 of 880 right ones were refused, for a reason that nobody had asked for, and 4 of 880 wrong
  ones passed: two with hours and days for things, one with a status for a noun, one with half a name. Agents are told
  since then where no reason may stand (`outside`), and the others are mended.
- `prose_first`, `prose_second`: messages of the writer of `line_first` without this line, to 40 of these scenarios.
  Most wrong ones tell the right value of another thing. Unread, 6 of 100 right ones were refused and 34 of 108 wrong
  ones passed.
- `messages`, `messages_held_out`: whole last messages of agents who were not told, to proposed tasks. These ask for
  more than their checkpoints hold, so most wrong ones that pass are wrong in what no checkpoint holds.

All but `messages_held_out` were read to mend the judge.
"""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from servers.answer.checks.verdict import verdicts
from servers.answer.expected_fact import wanted
from servers.answer.question import AnswerQuestion
from servers.scenario.checkpoints.answer import AnswerCheckpoint

HERE = Path(__file__).parent
PARTS = {
    "development": (0.006, 0.012),
    "held_out": (0.021, 0.0097),
    "contract": (0.0, 0.003),
    "contract_later": (0.0, 0.0025),
    "contract_last": (0.0, 0.0025),
    "contract_newest": (0.0, 0.0015),
    "contract_unread": (0.005, 0.0095),
    "other_things": (0.0, 0.034),
    "contract_blind": (0.0, 0.032),
    "blind_first": (0.034, 0.084),
    "blind_second": (0.034, 0.1),
    "line_first": (0.0, 0.0),
    "line_second": (0.021, 0.0),
    "line_third": (0.0, 0.0),
    "demanded_first": (0.0, 0.0),
    "demanded_second": (0.0, 0.0),
    "demanded_third": (0.0, 0.0),
    "demanded_blind": (0.0049, 0.0024),
    "demanded_unseen": (0.0055, 0.0),
    "demanded_later": (0.0, 0.0019),
    "demanded_last": (0.0, 0.0),
    "prose_first": (0.042, 0.31),
    "prose_second": (0.077, 0.33),
    "messages": (0.13, 0.361),
    "messages_held_out": (0.153, 0.31),
}
"""The share of right answers that may be refused, and of wrong ones that may pass: what was measured, no aim."""
CONTRACT = ("development", "held_out")
"""The parts with lines that were right before there was a contract for answers."""

UNMENDED = ("messages", "prose")
"""The parts by which the judge has not been mended: the shares above say all that is known of them."""
LEAST = 0.9
ENOUGH = 40
"""Precision and recall of each type of which there are so many lines."""


class Judged(NamedTuple):
    """A line of the corpus, the types of its facts, and whether it was judged as it is labelled."""

    types: str
    right: bool
    outside: bool
    well: bool


def lines(name: str) -> Iterator[dict[str, Any]]:
    plain, packed = HERE / f"{name}.jsonl", HERE / f"{name}.jsonl.gz"
    data = plain.read_bytes() if plain.exists() else gzip.decompress(packed.read_bytes())
    for line in data.decode().splitlines():
        yield json.loads(line)


@cache
def questions() -> dict[str, tuple[tuple[AnswerQuestion, ...], datetime]]:
    cases = (
        *lines("cases"),
        *lines("cases_messages"),
        *lines("cases_demanded"),
        *lines("cases_blind"),
        *lines("cases_unseen"),
        *lines("cases_later"),
        *lines("cases_last"),
    )
    return {case["id"]: (tuple(asked(case)), datetime.fromisoformat(case["clock"])) for case in cases}


def asked(case: dict[str, Any]) -> Iterator[AnswerQuestion]:
    for fields in case["checkpoints"]:
        one = AnswerCheckpoint.model_validate(fields)
        facts = tuple(wanted(fact) for fact in one.facts)
        yield AnswerQuestion(
            facts, one.question, one.tell, (*one.given, *case.get("given", ())), one.silent, one.last_line
        )


@cache
def judged(part: str) -> tuple[Judged, ...]:
    found: list[Judged] = []
    for line in lines(part):
        asked_now, now = questions()[line["case"]]
        holds = all(told.holds for told in verdicts(asked_now, line["text"], now))
        kinds = sorted({one.fact.type for question in asked_now for one in question.wanted})
        types = "+".join(kinds)
        found.append(Judged(types, line["right"], "outside" in line, holds == line["right"]))
    return tuple(found)


LONG = [pytest.param(part, marks=pytest.mark.slow) if part.startswith("messages") else part for part in PARTS]


@pytest.mark.parametrize("part", LONG)
def test_right_answers_pass_and_wrong_ones_fail(part: str, record_property: Any) -> None:
    within = [one for one in judged(part) if not one.outside]
    for right, bound in zip((True, False), PARTS[part], strict=True):
        those = [one for one in within if one.right is right]
        wrong = Counter(one.types for one in those if not one.well)
        record_property(f"{part}: {'right refused' if right else 'wrong passed'}", f"{wrong.total()} of {len(those)}")
        assert wrong.total() / len(those) <= bound, f"{part}, {right=}: {wrong.most_common()}"


@pytest.mark.parametrize("part", [part for part in PARTS if not part.startswith(UNMENDED)])
def test_precision_and_recall_are_reported_for_each_type(part: str, record_property: Any) -> None:
    within = [one for one in judged(part) if not one.outside]
    for types in (None, *sorted({one.types for one in within})):
        those = [one for one in within if types in (None, one.types)]
        passed = [one for one in those if one.right is one.well]
        right_passed = sum(one.right for one in passed)
        recall = right_passed / max(1, sum(one.right for one in those))
        precision = right_passed / max(1, len(passed))
        record_property(f"{part} {types or 'all'}", f"precision {precision:.3f}, recall {recall:.3f} of {len(those)}")
        if len(those) >= ENOUGH:
            assert min(precision, recall) > LEAST, f"{types}: {precision=} {recall=}"


@pytest.mark.parametrize("part", CONTRACT)
def test_what_does_not_keep_the_contract_is_refused(part: str, record_property: Any) -> None:
    outside = [one for one in judged(part) if one.outside]
    refused = sum(not one.well for one in outside)
    record_property(f"{part}: outside the contract", f"{refused} of {len(outside)} refused")
    assert all(one.right for one in outside)
    assert refused / len(outside) > LEAST
