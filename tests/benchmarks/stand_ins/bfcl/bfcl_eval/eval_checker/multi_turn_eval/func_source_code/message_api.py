"""A pin board with notes."""

from typing import Any


class MessageAPI:
    def __init__(self) -> None:
        self.notes: dict[int, str] = {}
        self._next = 1

    def _load_scenario(self, scenario: dict[str, Any], long_context: bool = False) -> None:
        del long_context
        self.notes = {int(key): text for key, text in scenario.get("notes", {}).items()}
        self._next = max(self.notes, default=0) + 1

    def pin_note(self, text: str) -> dict[str, Any]:
        """Pin a note."""
        self.notes[self._next] = text
        self._next += 1
        return {"number": self._next - 1}

    def read_notes(self) -> dict[str, Any]:
        """Read all notes."""
        return {"notes": list(self.notes.values())}
