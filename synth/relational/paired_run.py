"""One run on both sides: each call is made on both, and results, refusals and states are compared."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from servers.errors import QueryError
from servers.worker.instance import CallOutcome
from synth.play.playground import Session
from synth.relational.likeness import Likeness
from synth.relational.states import TwinState, imported_state, mapped_state, state_difference
from synth.relational.twin_file import DeclaredDifference, Twin

FAULTS = ("failed", "timeout", "died")
Agreed = Literal["ok", "refused", "differed", "invalid"]
LONGEST = 400


@dataclass(frozen=True)
class Compared:
    """One call on both sides. `wrong` says how they differ, unless it was declared. `over` ends the run."""

    imported: CallOutcome
    own: CallOutcome
    wrong: str = ""
    declared: int | None = None
    in_order_only: bool = False
    over: bool = False
    compared_states: bool = False

    @property
    def agreed(self) -> Agreed:
        """How both agreed."""
        if self.declared is not None and not self.in_order_only:
            return "differed"
        return "ok" if self.own.kind == "ok" else "refused" if self.own.kind == "refused" else "invalid"


class PairedRun:
    """An instance of the imported environment and one of its rewriting, at the same start."""

    def __init__(self, imported: Session, own: Session, twin: Twin) -> None:
        self.imported, self.own, self._twin = imported, own, twin
        self._likeness = Likeness()
        self.state: TwinState = {}

    async def begin(self) -> str:
        """Undo all calls. Returns how the states at the start differ, or nothing."""
        await self.imported.rewind()
        await self.own.rewind()
        self._likeness = Likeness()
        return await self._states_differ()

    def as_imported(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Arguments that may hold made-up ids of the rewriting, with those of the imported side."""
        return self._likeness.as_imported(arguments)

    async def call(self, tool: str, arguments: dict[str, Any]) -> Compared:
        """Make a call on both sides. Arguments are those of the imported side."""
        self._likeness.see(arguments)
        imported = await self.imported.call(tool, arguments)
        own = await self.own.call(tool, self._likeness.translated(arguments))
        changed = bool(imported.changes or own.changes)
        wrong, declared = self._kinds_differ(tool, imported, own)
        if declared is not None and self._twin.differences[declared].kind == "refuses" and imported.changes:
            return Compared(imported, own, declared=declared, over=True)  # their states have parted
        if changed and not wrong:
            wrong = await self._states_differ()  # first: it pairs ids that were made up
            wrong = wrong and f"afterwards the states differ: {wrong}"
        if not wrong and declared is None:
            wrong, declared = self._answers_differ(tool, imported, own)
        return Compared(
            imported,
            own,
            wrong,
            declared,
            in_order_only=declared is not None and self._twin.differences[declared].kind == "order",
            over=bool(wrong),
            compared_states=changed,
        )

    def _kinds_differ(self, tool: str, imported: CallOutcome, own: CallOutcome) -> tuple[str, int | None]:
        """How the outcomes differ, or the declared difference that they show."""
        fault = imported.kind in FAULTS
        if own.kind in FAULTS:
            return f"the rewritten tool broke: {own.detail or own.text}", None
        if imported.kind == own.kind:
            return "", None
        if own.kind == "refused" and (fault or imported.kind == "ok"):
            declared = self._declared(tool, "fault" if fault else "refuses", own.text)
            if declared is not None:
                return "", declared
        there = "raised an exception" if fault else f"was {imported.kind}"
        return f"the imported tool {there}: {_told(imported)}; the rewritten one was {own.kind}: {_told(own)}", None

    def _answers_differ(self, tool: str, imported: CallOutcome, own: CallOutcome) -> tuple[str, int | None]:
        """How results, or the words of refusals, differ."""
        if own.kind == "refused":
            if not self._likeness.difference(imported.text, own.text):
                return "", None
            declared = self._declared(tool, "words", own.text)
            told = f"both refuse, the imported tool with {imported.text!r}, the rewritten one with {own.text!r}"
            return ("", declared) if declared is not None else (told, None)
        if own.kind != "ok":
            return "", None
        wrong = self._likeness.difference(imported.structured, own.structured)
        if not wrong:
            return "", None
        declared = self._declared(tool, "order", "")
        if declared is not None and self._likeness.differs_in_order_only(imported.structured, own.structured):
            return "", declared
        return f"the results differ: {wrong}", None

    def _declared(self, tool: str, kind: str, text: str) -> int | None:
        return next(
            (
                number
                for number, one in enumerate(self._twin.differences)
                if one.tool == tool and one.kind == kind and is_said(one, text)
            ),
            None,
        )

    async def _states_differ(self) -> str:
        async with self.imported.reading() as reader:
            self.state = imported_state(reader)
        try:
            async with self.own.reading() as reader:
                own = mapped_state(reader, self._twin.state)
        except QueryError as error:
            return f"the mapping does not run: {error}"
        found = state_difference(self.state, own, self._likeness)
        self._likeness.see({name: attribute.entries for name, attribute in self.state.items()}, own)
        return found


def is_said(difference: DeclaredDifference, text: str) -> bool:
    """True if a refusal is of the declared kind."""
    return difference.kind == "order" or (bool(difference.says) and difference.says in text)


def _told(outcome: CallOutcome) -> str:
    return (outcome.detail or outcome.text)[:LONGEST]


def call_text(tool: str, arguments: dict[str, Any]) -> str:
    """A call for a reader."""
    return f"{tool}({json.dumps(arguments, ensure_ascii=False)[:LONGEST]})"


def calls_text(calls: Sequence[tuple[str, dict[str, Any]]]) -> str:
    """The calls of a run for a reader."""
    return "; ".join(call_text(tool, arguments) for tool, arguments in calls)
