"""A cloakroom: racks with coats, each with a ticket."""

import random
from datetime import datetime
from typing import Any

from .long_context import LONG_NOTE


class Coat:
    """A coat knows its rack, and the rack its coats."""

    def __init__(self, rack: "Rack", owner: str, ticket: str, brought: datetime | None) -> None:
        self.rack = rack
        self.owner = owner
        self.ticket = ticket
        self.brought = brought


class Rack:
    def __init__(self, name: str, hooks: int) -> None:
        self.name = name
        self.hooks = hooks
        self.coats: list[Coat] = []


class TicketAPI:
    def __init__(self) -> None:
        self.racks: dict[str, Rack] = {}
        self.at: Rack | None = None
        self.fee: float = 0.0
        self.notice = ""
        self._random = random.Random(0)  # noqa: S311 - numbers of tickets

    def _load_scenario(self, scenario: dict[str, Any], long_context: bool = False) -> None:
        self._random = random.Random(scenario.get("random_seed", 7))  # noqa: S311 - numbers of tickets
        for name, told in scenario.get("racks", {}).items():
            rack = self.racks[name] = Rack(name, told["hooks"])
            rack.coats += [Coat(rack, owner, self._number(), None) for owner in told["owners"]]
        self.at = next(iter(self.racks.values()), None)
        self.notice = LONG_NOTE if long_context else "Mind your hats."

    def _number(self) -> str:
        return f"T{self._random.randint(100, 999)}"

    def walk_to(self, rack: str) -> dict[str, Any]:
        """Go to a rack."""
        if rack not in self.racks:
            return {"error": f"walk_to: no rack '{rack}'"}
        self.at = self.racks[rack]
        return {"rack": rack, "free": self.at.hooks - len(self.at.coats)}

    def look(self, tickets: bool = False) -> dict[str, Any]:
        """Who has a coat at this rack."""
        coats = self.at.coats if self.at else []
        return {"coats": [f"{one.ticket} {one.owner}" if tickets else one.owner for one in coats]}

    def hang(self, owner: str, fee: float = 1.5) -> dict[str, Any]:
        """Hang a coat at this rack."""
        if self.at is None or len(self.at.coats) >= self.at.hooks:
            return {"error": "hang: no hook is free"}
        coat = Coat(self.at, owner, self._number(), datetime.now())
        self.at.coats.append(coat)
        self.fee += fee
        return {"ticket": coat.ticket, "owner": coat.owner, "rack": coat.rack.name}

    def give_back(self, owner: str) -> dict[str, Any]:
        """Give a coat back to its owner."""
        for coat in self.at.coats if self.at else []:
            if coat.owner == owner:
                coat.rack.coats.remove(coat)
                return {"given": owner}
        raise ValueError(f"{owner} has no coat here")

    def read_notice(self) -> dict[str, Any]:
        """Read the notice on the wall."""
        return {"notice": self.notice}

    def close(self) -> None:
        """Close the cloakroom."""
        self.at = None
