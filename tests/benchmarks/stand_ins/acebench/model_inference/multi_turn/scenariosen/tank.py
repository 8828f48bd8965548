"""The tank for rain."""

from typing import Any


class Tank:
    def __init__(self) -> None:
        self.litres = 50.0

    def _load_scenario(self, told: dict[str, Any]) -> None:
        self.litres = told.get("litres", self.litres)

    def fill_tank(self, litres: float) -> dict[str, Any]:
        """Fill the tank up."""
        self.litres += litres
        return {"done": True, "litres": self.litres}
