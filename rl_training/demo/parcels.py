"""The scenarios of the parcel room, drawn by chance: which item lies where, what to send, how many, where to."""

import json
import random
from pathlib import Path
from typing import Any

BUNDLE = Path(__file__).parent / "parcel_room"
ITEMS = ("bolts", "glue", "nails", "paint", "rope", "screws", "tape", "wire")
TOWNS = ("Bern", "Cork", "Gent", "Graz", "Lyon", "Oslo", "Riga", "Rome")
SHELVES = tuple(f"{row}{number}" for row in "ABCD" for number in range(1, 5))
COUNTS = range(2, 10)


def parcels(count: int, *, seed: int) -> list[dict[str, Any]]:
    """Scenarios, no two of which send the same."""
    chance = random.Random(seed)  # noqa: S311 - a repeatable draw, not a secret
    orders = [(item, many, town) for item in ITEMS for many in COUNTS for town in TOWNS]
    drawn = chance.sample(orders, count)
    return [_parcel(number, *order, chance.sample(SHELVES, len(ITEMS))) for number, order in enumerate(drawn, start=1)]


def write_parcels(path: Path, count: int, *, seed: int) -> None:
    """Write scenarios as a bundle keeps them."""
    lines = [json.dumps(parcel) + "\n" for parcel in parcels(count, seed=seed)]
    path.write_text("".join(lines), encoding="utf-8")


def _parcel(number: int, item: str, many: int, town: str, shelves: list[str]) -> dict[str, Any]:
    places = dict(zip(ITEMS, shelves, strict=True))
    rows = ", ".join(f"('{shelf}', '{name}', 20)" for name, shelf in places.items())
    return {
        "id": f"parcel_{number}",
        "title": f"{many} {item} to {town}",
        "task": f"Send {many} {item} to {town}.",
        "persona": None,
        "setup": f"DELETE FROM shelves; INSERT INTO shelves (id, item, stock) VALUES {rows};",
        "clock": None,
        "tags": [item],
        "checkpoints": [
            _goal("item", f"Were {item} sent?", f"item = '{item}'"),
            _goal("count", f"Were {many} pieces sent?", f"count = {many}"),
            _goal("town", f"Was something sent to {town}?", f"town = '{town}'"),
            {
                "id": "others_untouched",
                "role": "guard",
                "question": f"Is nothing but {item} gone, and at most one parcel sent?",
                "kind": "footprint",
                "allow": [
                    {"table": "shelves", "operation": "update", "columns": ["stock"], "where": f"item = '{item}'"},
                    {"table": "taken", "operation": "insert"},
                    {"table": "parcels", "operation": "insert", "rows": 1},
                ],
            },
        ],
        "solution": {
            "calls": [
                {"tool": "find", "arguments": {"item": item}},
                {"tool": "take", "arguments": {"shelf": "${1.shelf}", "count": many}},
                {"tool": "send", "arguments": {"town": town}},
            ],
            "answer": "Sent.",
        },
    }


def _goal(name: str, question: str, condition: str) -> dict[str, Any]:
    return {
        "id": name,
        "role": "goal",
        "question": question,
        "kind": "sql",
        "sql": f"SELECT count(*) FROM parcels WHERE {condition}",
        "expect": {"op": ">=", "value": 1},
    }
