"""Beds with plants."""

from datetime import datetime
from typing import Any

from model_inference.multi_turn.scenariosen.phone_platform.house import House


class Beds(House):
    def __init__(self) -> None:
        super().__init__()
        self.beds: dict[int, dict[str, Any]] = {
            1: {"plant": "basil", "water": 2},
            2: {"plant": "pepper's friend", "water": 0},
        }
        self._watered: list[datetime] = []

    def _load_scenario(self, told: dict[str, Any]) -> None:
        self.power = told.get("power", False)

    def water_bed(self, bed: int, cans: int) -> dict[str, Any]:
        """Water a bed."""
        if not self.power:
            return {"done": False, "why": "the power is off"}
        self._watered.append(datetime.now())
        self.beds[bed]["water"] += cans
        return {"done": True, "water": self.beds[bed]["water"]}

    def plant_bed(self, bed: int, plant: str) -> dict[str, Any]:
        """Plant a bed anew."""
        self.beds[bed] = {"plant": plant, "water": 0}
        return {"done": True}
