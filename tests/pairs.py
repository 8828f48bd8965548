"""Two small environments, and a scenario over both of them."""

from pathlib import Path
from typing import Any

from tests.bundles import write_bundle

ROOMS = '''
def price(db: Database, *, id: str, cents: int) -> dict:
    """Set the price of a room.

    Args:
        id: The room.
        cents: The price.
    """
    if not db.run("UPDATE things SET cents = :cents WHERE id = :id", id=id, cents=cents):
        raise ToolError(f"there is no room {id!r}")
    return {"id": id, "cents": cents}


def rooms(db: Database) -> dict:
    """List the rooms."""
    return {"rooms": db.all("SELECT id, name, cents FROM things ORDER BY id")}
'''


def _priced(name: str, thing: str, cents: int) -> dict[str, Any]:
    return {
        "id": name,
        "role": "goal",
        "question": f"Does {thing} cost {cents}?",
        "kind": "sql",
        "sql": f"SELECT cents FROM things WHERE id = '{thing}'",
        "expect": [[cents]],
    }


def _only_price(name: str, thing: str) -> dict[str, Any]:
    allowed = [
        {"table": "things", "operation": "update", "columns": ["cents"], "where": f"id = '{thing}'", "rows": 1},
        {"table": "log", "operation": "insert", "rows": 1},
    ]
    return {"id": name, "role": "guard", "question": "Did nothing else change?", "kind": "footprint", "allow": allowed}


TRIP: dict[str, Any] = {
    "id": "trip",
    "title": "A bell and a room",
    "task": "Our guest breaks the bell 'bell'. Let it cost what the room called attic costs, and the attic 4.50 then.",
    "checkpoints": [_priced("bell_priced", "t2", 300), _only_price("bell_only", "t2")],
    "second": {
        "environment": "inn",
        "setup": "UPDATE things SET name = 'attic' WHERE id = 't3';",
        "checkpoints": [_priced("attic_priced", "t3", 450), _only_price("attic_only", "t3")],
    },
    "solution": {
        "calls": [
            {"tool": "rooms", "arguments": {}},
            {"tool": "find", "arguments": {"text": "bell"}},
            {"tool": "shop__price", "arguments": {"id": "${2.things[0].id}", "cents": "${1.rooms[2].cents}"}},
            {"tool": "inn__price", "arguments": {"id": "${1.rooms[2].id}", "cents": 450}},
        ],
        "answer": "Both are done.",
    },
}


async def write_pair(folder: Path, **changes: Any) -> Path:
    """Write the bundles `shop` and `inn`. The first has a scenario over both, with some keys changed."""
    await write_bundle(folder / "shop", scenarios=[{**TRIP, **changes}])
    await write_bundle(folder / "inn", tools=ROOMS)
    return folder
