"""The measured environment: one table, and one tool with one SELECT and one UPDATE."""

import json
from pathlib import Path
from typing import Any

SCHEMA = """
CREATE TABLE items (id TEXT PRIMARY KEY, name TEXT NOT NULL, stock INTEGER NOT NULL CHECK (stock >= 0)) WITHOUT ROWID;
"""
ITEMS = [(f"item_{n}", f"Item number {n}", n) for n in range(1, 501)]
SEED = "INSERT INTO items VALUES " + ", ".join(map(str, ITEMS)) + ";\n"
TOOLS = '''"""The one tool of the benchmark."""

from servers.toolkit import Database, ToolError


def add_to_stock(db: Database, *, item_id: str, count: int) -> dict:
    """Add to the stock of an item.

    Args:
        item_id: The item.
        count: How many come in.
    """
    row = db.one("SELECT * FROM items WHERE id = :id", id=item_id)
    if row is None:
        raise ToolError(f"no item {item_id!r}")
    stock = row["stock"] + count
    db.run("UPDATE items SET stock = :stock WHERE id = :id", stock=stock, id=item_id)
    return {"item_id": item_id, "name": row["name"], "stock": stock}
'''
TOOL_ARGUMENTS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "item_id": {"type": "string", "description": "The item."},
        "count": {"type": "integer", "description": "How many come in."},
    },
    "required": ["item_id", "count"],
    "additionalProperties": False,
}
TOOL = "add_to_stock"
ARGUMENTS = {"item_id": "item_7", "count": 1}
SCENARIO: dict[str, Any] = {
    "id": "stock_up",
    "title": "Stock up",
    "task": "Three more of item 7 came in.",
    "checkpoints": [
        {
            "id": "stocked",
            "role": "goal",
            "question": "Are there ten?",
            "kind": "sql",
            "sql": "SELECT stock FROM items WHERE id = 'item_7'",
            "expect": [[10]],
        }
    ],
    "solution": {
        "calls": [{"tool": TOOL, "arguments": {"item_id": "item_7", "count": 3}}],
        "answer": "Done.",
    },
}


ROW_BYTES = 200
"""The approximate bytes of a row that is there to make a state large."""


def write_bundle(folder: Path, size: int = 0) -> None:
    """Write the environment as a bundle; its id is the folder's name. Further items bring its rows to some bytes."""
    folder.mkdir(parents=True)
    if size:
        (folder / "seed").mkdir()
        filler = "x" * (ROW_BYTES - 25)
        rows = (f"more_{number:08},{filler},{number}\n" for number in range(size // ROW_BYTES))
        with (folder / "seed" / "items.csv").open("w", encoding="utf-8") as file:
            file.writelines(("id,name,stock\n", *rows))
    tool = {
        "name": TOOL,
        "description": "Add to the stock of an item.",
        "arguments": TOOL_ARGUMENTS,
        "result": {"type": "object"},
        "writes": True,
    }
    environment = {
        "id": folder.name,
        "title": "A store",
        "description": "A store room.",
        "version": "1.0.0",
        "clock": "2026-01-05 08:00:00",
        "tools": [tool],
        "provenance": {"source": "benchmark", "licence": "MIT", "date": "2026-11-21"},
    }
    files = {
        "environment.json": json.dumps(environment),
        "policy.md": "1. Count twice.\n",
        "schema.sql": SCHEMA,
        "seed.sql": SEED,
        "tools.py": TOOLS,
        "scenarios.jsonl": json.dumps(SCENARIO) + "\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
