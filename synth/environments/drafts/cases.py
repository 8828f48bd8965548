"""Calls that a tester proposed, what they did, and what a checker said of them."""

from collections.abc import Sequence
from typing import Any, Literal

from servers.records import Record

FEWEST_VALID = 2
MOST_TOLD, LONGEST_TOLD = 8, 500
Verdict = Literal["pass", "warning", "fail"]


class Call(Record):
    """A call that the tester proposes."""

    tool: str
    arguments: str
    setup: str
    expect: Literal["ok", "refused"]
    why: str


class Calls(Record):
    """What the tester gives."""

    calls: tuple[Call, ...]


class Judgement(Record):
    """What the checker says of one call."""

    number: int
    verdict: Verdict
    reason: str


class Judgements(Record):
    """What the checker gives."""

    judgements: tuple[Judgement, ...]


class Case(Record):
    """A call, what it did, and what was said of it."""

    call: Call
    did: str
    outcome: str
    verdict: Verdict
    reason: str


class Count(Record):
    """The cases of one tool."""

    tool: str
    valid: int
    refused: int
    passed: int
    warnings: int
    failed: int


def count_of(tool: str, cases: Sequence[Case]) -> Count:
    """The cases of a tool, counted."""
    own = [case for case in cases if case.call.tool == tool]
    return Count(
        tool=tool,
        valid=sum(case.outcome == "ok" for case in own),
        refused=sum(case.outcome == "refused" for case in own),
        passed=sum(case.verdict == "pass" for case in own),
        warnings=sum(case.verdict == "warning" for case in own),
        failed=sum(case.verdict == "fail" for case in own),
    )


def before_text(call: Call) -> str:
    """The SQL that is run before a call, for a reader."""
    return f"\nafter {call.setup}" if call.setup else ""


def fewest_valid(arguments: dict[str, Any]) -> int:
    """How many calls that go well a tool needs, by the schema of its arguments. Without any there is only one."""
    return FEWEST_VALID if arguments["properties"] else 1


def told(cases: Sequence[Case]) -> str:
    """Some calls of one tool with what each of them did, for who shall find out why."""
    lines = [
        f"  - called with {case.call.arguments}{before_text(case.call)} it did: {case.did[:LONGEST_TOLD]}"
        for case in cases[:MOST_TOLD]
    ]
    return "\n".join(lines)
