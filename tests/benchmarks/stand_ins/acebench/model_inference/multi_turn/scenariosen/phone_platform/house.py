"""What every part of the greenhouse shares."""

from typing import Any


class House:
    def __init__(self) -> None:
        self.power = False

    def switch_power(self, on: bool) -> dict[str, Any]:
        """Switch the power."""
        self.power = on
        return {"done": True, "power": "on" if on else "off"}
