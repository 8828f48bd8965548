"""Call sequences from a start, with their outcomes and refusals."""

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from servers.messages import OutcomeKind
from synth.play.experience import PARTICULAR
from synth.prove.proof import Finding, ProofCheck

LONGEST = 300


@dataclass(frozen=True)
class RecordedCall:
    """One call: its arguments, its answer, and a digest of the rows after it."""

    tool: str
    arguments: dict[str, Any]
    kind: OutcomeKind
    text: str
    detail: str | None
    digest: str

    def __str__(self) -> str:
        return f"{self.tool}({shortened(json.dumps(self.arguments, ensure_ascii=False))})"


@dataclass(frozen=True)
class CallSequence:
    """Calls from one start, at one time."""

    clock: str
    calls: tuple[RecordedCall, ...]
    setup: str = ""


class Found:
    """The findings of a proof, each once, and the number of checks of each kind."""

    def __init__(self) -> None:
        self._found: dict[tuple[ProofCheck, str, str], Finding] = {}
        self.checks: dict[ProofCheck, int] = {}

    def checked(self, check: ProofCheck, times: int = 1) -> None:
        """Count a check."""
        self.checks[check] = self.checks.get(check, 0) + times

    def add(self, check: ProofCheck, subject: str, what: str, where: object = "") -> None:
        """Add a finding. `where` is the first call that showed it."""
        key = (check, subject, what)
        known = self._found.get(key)
        text = f"{what}: {where}" if where else what
        self._found[key] = (
            known.model_copy(update={"times": known.times + 1})
            if known is not None
            else Finding(check=check, subject=subject, text=text)
        )

    def all(self) -> tuple[Finding, ...]:
        return tuple(self._found.values())


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


MOST_TOLD = 6


class Refusals:
    """The refusals of one tool, grouped by text without names, numbers and ids."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, RecordedCall] = {}

    def note(self, made: RecordedCall) -> None:
        """Count one."""
        kind = PARTICULAR.sub("", made.text)
        self._counts[kind] += 1
        self._first.setdefault(kind, made)

    def as_text(self) -> str:
        """The most frequent refusals, to explain why nothing succeeded."""
        common = self._counts.most_common(MOST_TOLD)
        told = [
            f"{times} times as in {self._first[kind]}: {shortened(self._first[kind].text)}" for kind, times in common
        ]
        more = len(self._counts) - len(common)
        return "; ".join([*told, *([f"and {more} other kinds of refusal"] if more else [])])
