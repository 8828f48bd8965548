"""Trial calls on a session, which are undone afterwards.

Undoing costs more than a call, for the guest is given the rows anew: so what changed nothing stays in the history for a
while, and is undone together with the next call that changed something.
"""

from typing import Any

from servers.worker.instance import CallOutcome
from synth.play.playground import Session

MOST_LEFT = 40
"""So many calls that changed nothing are left in the history: each of them takes a minute of the instance's time."""


class Trying:
    """One scene that is walked over and over."""

    def __init__(self, scene: Session, *, most_left: int = MOST_LEFT) -> None:
        self.scene = scene
        self._most_left = most_left
        self._kept = 0

    async def begin(self) -> None:
        """Go back to where the scene began."""
        self._kept = 0
        if self.scene.calls:
            await self.scene.rewind(0)

    async def call(self, tool: str, arguments: dict[str, Any]) -> CallOutcome:
        """What a call would come to now."""
        outcome = await self.scene.call(tool, arguments)
        if outcome.changes or self.scene.calls > self._kept + self._most_left:
            await self.scene.rewind(self._kept)
        return outcome

    async def keep(self, tool: str, arguments: dict[str, Any]) -> CallOutcome:
        """Make a call that stays."""
        outcome = await self.scene.call(tool, arguments)
        self._kept = self.scene.calls
        return outcome
