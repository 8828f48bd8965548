"""Checkpoints of kind `python`: a function `check(start, final, answer, calls)`, run in a guest of its own."""

import json
import re
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from servers.errors import GuestDied, GuestLate
from servers.guest.frames import GuestReply
from servers.guest.sqlite.image import Image
from servers.limits.processor_budget import ProcessorBudget
from servers.scenario.checkpoints.checkpoint import (
    NO_CALLS,
    CheckpointKind,
    CheckpointResult,
    GuestJobs,
    JudgedRun,
)
from servers.text.json_values import is_list, is_object

LONGEST_ERROR = 500
IMPORTED_CHECK = "from servers.imported.judging import holds as _holds"
"""The line by which an imported check function is a checkpoint."""
NEVER_RIGHT = ("NameError:", "UnboundLocalError:")
"""Errors that depend on no state, beside those of its text. Others may mean that a goal's row does not exist yet."""
SEEN_IN_THE_TEXT = ("SyntaxError:", "ImportError:", "ModuleNotFoundError:")
NO_BOOLEAN = "; a checkpoint returns True or False"
_READS_ANSWER = re.compile(r"^[^#\n]*\banswer\b", re.MULTILINE)
_SIGNATURE = re.compile(r"def check\([^)]*\)")


class PythonCheckpoint(CheckpointKind):
    """Holds when `check(start, final, answer, calls)` returns True. Runs in a guest of its own."""

    kind: Literal["python"]
    python: str = Field(min_length=1)

    cost: ClassVar[int] = 3
    needs_images: ClassVar[bool] = True
    needs_calls: ClassVar[bool] = True

    @classmethod
    async def asked_together(cls, checkpoints: Sequence[CheckpointKind], case: JudgedRun) -> list[CheckpointResult]:
        own = [one for one in checkpoints if isinstance(one, cls)]
        told = await _told_together([one for one in own if one._is_imported], case)
        found: list[CheckpointResult] = []
        for one in own:
            reply = told.get(one.python)
            found.append(await one._asked(case) if reply is None else one._result(reply))
        return found

    @property
    def _is_imported(self) -> bool:
        """True if it is a check function of others, which sees a copy of the state and nothing else."""
        return IMPORTED_CHECK in self.python

    async def _asked(self, case: JudgedRun) -> CheckpointResult:
        """The result of a guest. An exhausted resource counts if it happens again in another guest."""
        head = {"do": "judge", "now": case.now, "answer": case.answer}
        budget = case.reader.budget
        images = await case.in_thread(case.reader.images)
        seconds = min(case.guests.call_seconds, budget.left)
        if seconds <= 0:
            return CheckpointResult(holds=False, error=f"the checkpoints together took more than {budget.seconds:g} s")
        try:
            reply, _ = await case.guests.job(
                head, self.python.encode(), *images, case.calls, seconds=seconds, doubtful=_ran_short, budget=budget
            )
        except (GuestDied, GuestLate) as error:
            return CheckpointResult(holds=False, error=f"the checkpoint broke: {error}")
        return self._result(reply)

    def _result(self, reply: dict[str, Any]) -> CheckpointResult:
        if "broken" in reply:
            raise self.broken(str(reply["broken"])[:LONGEST_ERROR])
        if "error" in reply:
            return CheckpointResult(holds=False, error=str(reply["error"])[:LONGEST_ERROR])
        return CheckpointResult(holds=reply.get("holds") is True)

    def sources(self) -> Sequence[str]:
        return (self.python,)

    async def run_findings(self, start: Image, clock: str, guests: GuestJobs) -> Sequence[str]:
        head: dict[str, Any] = {"do": "judge", "now": clock, "answer": ""}
        try:
            parts = (self.python.encode(), start, start, NO_CALLS)
            reply, _ = await guests.job(head, *parts, seconds=guests.call_seconds)
        except GuestLate:
            return (f"python: takes more than {guests.call_seconds:g} s on the first state",)
        except GuestDied:
            return ("python: the process that ran it on the first state ended; does it take much memory?",)
        if reply.get("short") is True:
            return ("python: runs out of memory on the first state",)
        broken, error = str(reply.get("broken", "")), str(reply.get("error", ""))
        if broken and not broken.startswith(SEEN_IN_THE_TEXT):
            return (f"python: {broken[:LONGEST_ERROR]}",)
        is_never_right = error.startswith(NEVER_RIGHT) or error.endswith(NO_BOOLEAN)
        return (f"python: {error[:LONGEST_ERROR]}",) if is_never_right else ()

    def looks_for_words(self) -> bool:
        return _READS_ANSWER.search(_SIGNATURE.sub("", self.python)) is not None

    def hidden_texts(self) -> Sequence[str]:
        return (self.python,)


async def _told_together(checkpoints: Sequence[PythonCheckpoint], case: JudgedRun) -> dict[str, dict[str, Any]]:
    """What one guest tells of imported checks, by their texts. Nothing if one of them breaks it, or memory ran out.

    Each is then asked alone, as other checkpoints are. So is a single one.
    """
    budget = case.reader.budget
    if len(checkpoints) < 2 or budget.left <= 0:
        return {}
    texts = [one.python for one in checkpoints]
    head = {"do": "judge_each", "now": case.now, "answer": case.answer}
    images = await case.in_thread(case.reader.images)
    own = ProcessorBudget()
    seconds = min(case.guests.call_seconds, budget.left)
    try:
        reply, _ = await case.guests.job(
            head, json.dumps(texts).encode(), *images, case.calls, seconds=seconds, budget=own
        )
    except (GuestDied, GuestLate):
        return {}
    told = reply.get("told")
    replies = [one for one in told if is_object(one)] if is_list(told) else []
    if len(replies) != len(texts):
        return {}
    budget.charge(own.charged)
    return {text: one for text, one in zip(texts, replies, strict=True) if one.get("short") is not True}


def _ran_short(reply: GuestReply) -> bool:
    return reply[0].get("short") is True
