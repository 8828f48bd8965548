"""The cases of an inspection: the tester's calls, their effects, and the checker's judgements."""

from collections.abc import Sequence
from typing import Any, Literal

from servers.records import Record

FEWEST_VALID = 2
MOST_TOLD, LONGEST_TOLD = 8, 500
CaseVerdict = Literal["pass", "warning", "fail"]


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
    verdict: CaseVerdict
    reason: str


class Judgements(Record):
    """What the checker gives."""

    judgements: tuple[Judgement, ...]


class Case(Record):
    """A call, its effect, and the verdict."""

    call: Call
    did: str
    outcome: str
    verdict: CaseVerdict
    reason: str


class Count(Record):
    """The number of cases of one tool, by verdict."""

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
    """The SQL before a call, for a reader."""
    return f"\nafter {call.setup}" if call.setup else ""


def fewest_valid(arguments: dict[str, Any]) -> int:
    """The number of successful calls that a tool needs, by the schema of its arguments. Without arguments it is one."""
    return FEWEST_VALID if arguments["properties"] else 1


def told(cases: Sequence[Case]) -> str:
    """Some calls of one tool with their effects, for the author of a repair."""
    lines = [
        f"  - called with {case.call.arguments}{before_text(case.call)} it did: {case.did[:LONGEST_TOLD]}"
        for case in cases[:MOST_TOLD]
    ]
    return "\n".join(lines)
