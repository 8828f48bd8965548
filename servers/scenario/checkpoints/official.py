"""Checkpoints of kind `official`: a public benchmark's own checker, unmodified, in a guest of its own."""

import json
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from servers.errors import GuestDied, GuestLate
from servers.guest.sqlite.image import Image
from servers.scenario.checkpoints.checkpoint import (
    CheckpointKind,
    CheckpointResult,
    JudgedRun,
)

LONGEST_ERROR = 500
LONGEST_SEEN = 500
QUESTION = "Does upstream's {checker} say so?"
"""What every checkpoint of this kind asks, so that a score tells that it is a benchmark's."""
CONTAMINATED = (
    "is of a public benchmark: a model that was trained on its tasks has no score on it any more (contamination);"
    " leave it out"
)
SOURCE = """\
import json
from servers.imported.benchmarks import {module} as _official
TRUTH = json.loads({truth!r})


def check(start, final, answer, calls):
    return _official.judged(start, final, answer, calls, TRUTH)
"""


class OfficialCheckpoint(CheckpointKind):
    """Holds when the official checker says so.

    A checker that raises, dies or takes too long is a fault of the farm: it gives no reward, and never a zero.
    """

    kind: Literal["official"]
    checker: Literal["tau_bench", "bfcl", "acebench"]
    truth: dict[str, Any]
    """The task's row, as the checker takes it."""

    cost: ClassVar[int] = 4
    needs_images: ClassVar[bool] = True
    needs_calls: ClassVar[bool] = True

    @classmethod
    async def asked_together(cls, checkpoints: Sequence[CheckpointKind], case: JudgedRun) -> list[CheckpointResult]:
        return [await one._asked(case) for one in checkpoints if isinstance(one, cls)]

    async def _asked(self, case: JudgedRun) -> CheckpointResult:
        head = {"do": "judge", "now": case.now, "answer": case.answer}
        images = await case.in_thread(case.reader.images)
        source = SOURCE.format(module=self.checker, truth=json.dumps(self.truth))
        seconds = case.reader.budget.seconds
        parts: list[Image] = [source.encode(), *images, case.calls]
        if case.environment:
            parts.append(await case.guests.compiled(case.environment, images[0], seconds=seconds))
        try:
            reply, _ = await case.guests.job(head, *parts, seconds=seconds)
        except (GuestDied, GuestLate) as error:
            raise self.broken(f"the official checker did not finish: {error}") from None
        problem = reply.get("broken") or reply.get("error")
        if problem:
            raise self.broken(f"the official checker raised: {str(problem)[:LONGEST_ERROR]}")
        return CheckpointResult(holds=reply.get("holds") is True, seen=str(reply.get("seen", ""))[:LONGEST_SEEN])

    def hidden_texts(self) -> Sequence[str]:
        return (json.dumps(self.truth),)
