"""Beds with plants, in Chinese."""

from typing import Any


class Beds:
    def __init__(self) -> None:
        self.power = False
        self.beds: dict[int, str] = {1: "薄荷", 2: "辣椒"}

    def _load_scenario(self, told: dict[str, Any]) -> None:
        self.power = told.get("power", False)

    def switch_power(self, on: bool) -> dict[str, Any]:
        """Switch the power."""
        self.power = on
        return {"完成": True}

    def plant_bed(self, bed: int, plant: str) -> dict[str, Any]:
        """Plant a bed anew."""
        if not self.power:
            return {"完成": False, "原因": "没有电"}
        self.beds[bed] = plant
        return {"完成": True, "植物": plant}
