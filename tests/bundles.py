"""Small bundles for tests, written as an author writes them: the schemas are derived from the tools, in a guest."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from servers.authoring.check import derived
from servers.sandbox.guest_pool import Guests

HEAD = """
from typing import Any, Literal, NotRequired, TypedDict

from servers.toolkit import Database, ToolError
"""

SCHEMA = """
CREATE TABLE things (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    cents INTEGER NOT NULL DEFAULT 0 CHECK (cents >= 0),
    made_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) WITHOUT ROWID;
CREATE TABLE parts (
    id INTEGER PRIMARY KEY,
    thing_id TEXT NOT NULL REFERENCES things (id),
    note TEXT
);
CREATE TABLE log (id INTEGER PRIMARY KEY, what TEXT NOT NULL);
CREATE TRIGGER things_are_logged AFTER UPDATE ON things
BEGIN
    INSERT INTO log (what) VALUES (OLD.id || ' ' || OLD.cents || ' -> ' || NEW.cents);
END;
CREATE TRIGGER nothing_is_sacred BEFORE DELETE ON things WHEN OLD.name = 'anvil'
BEGIN
    SELECT RAISE(ABORT, 'the anvil stays where it is');
END;
"""

SEED = """
INSERT INTO things (id, name, cents) VALUES ('t1', 'anvil', 100), ('t2', 'bell', 200), ('t3', 'candle', 300);
INSERT INTO parts (thing_id, note) VALUES ('t1', 'horn'), ('t2', 'clapper');
"""

TOOLS = '''
def find(db: Database, *, text: str = "") -> dict:
    """Find things.

    Args:
        text: A part of the name.
    """
    sql = "SELECT id, name, cents, made_at FROM things WHERE instr(name, :text) > 0 ORDER BY id"
    return {"things": db.all(sql, text=text)}


def make(db: Database, *, name: str, cents: int = 0) -> dict:
    """Make a thing.

    Args:
        name: Its name.
        cents: Its price.
    """
    thing_id = db.new_id("thing")
    db.run("INSERT INTO things (id, name, cents) VALUES (:id, :name, :cents)", id=thing_id, name=name, cents=cents)
    return {"id": thing_id, "now": db.now()}


def price(db: Database, *, id: str, cents: int) -> dict:
    """Set a price.

    Args:
        id: The thing.
        cents: The price.
    """
    if not db.run("UPDATE things SET cents = :cents WHERE id = :id", id=id, cents=cents):
        raise ToolError(f"there is no thing {id!r}")
    return {"id": id, "cents": cents}


def scrap(db: Database, *, id: str) -> dict:
    """Delete a thing and its parts.

    Args:
        id: The thing.
    """
    db.run("DELETE FROM parts WHERE thing_id = :id", id=id)
    return {"deleted": db.run("DELETE FROM things WHERE id = :id", id=id)}
'''

SOUND_SCENARIO: dict[str, Any] = {
    "id": "dearer",
    "title": "Make the bell dearer",
    "task": "Please let the bell cost 2.50.",
    "checkpoints": [
        {
            "id": "priced",
            "role": "goal",
            "question": "Does the bell cost 2.50?",
            "kind": "sql",
            "sql": "SELECT cents FROM things WHERE id = 't2'",
            "expect": [[250]],
        }
    ],
    "solution": {"calls": [{"tool": "price", "arguments": {"id": "t2", "cents": 250}}], "answer": "Done."},
}


async def write_bundle(
    folder: Path,
    *,
    tools: str = TOOLS,
    schema: str = SCHEMA,
    seed: str = SEED,
    scenarios: Sequence[Mapping[str, Any]] = (SOUND_SCENARIO,),
    policy: str = "# Rules\n\nA thing has a price.\n",
) -> Path:
    """Write a bundle whose id is the folder's name; `tools` is the text after the usual imports."""
    texts = {
        "policy.md": policy,
        "schema.sql": schema,
        "seed.sql": seed,
        "tools.py": HEAD + tools,
        "scenarios.jsonl": "".join(json.dumps(scenario) + "\n" for scenario in scenarios),
    }
    write(folder, texts)
    description: dict[str, Any] = {
        "id": folder.name,
        "title": "Things",
        "description": "A shop of things.",
        "version": "1.0.0",
        "clock": "2026-03-16 09:00:00",
        "tools": await _described(folder, texts["tools.py"]),
        "provenance": {"source": "a test", "licence": "MIT", "date": "2026-03-16"},
    }
    write(folder, {"environment.json": json.dumps(description, indent=2)})
    return folder


DERIVED: dict[str, list[dict[str, Any]]] = {}
"""The tools' descriptions by source. Deriving takes a guest, and most bundles here have the same tools."""


async def _described(folder: Path, source: str) -> list[dict[str, Any]]:
    if source not in DERIVED:
        async with Guests() as guests:
            DERIVED[source] = [tool.model_dump() for tool in await derived(folder, guests)]
    return DERIVED[source]


def write(folder: Path, texts: Mapping[str, str]) -> None:
    """Write files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def with_description(folder: Path, **fields: Any) -> None:
    """Change fields of a bundle's environment.json."""
    path = folder / "environment.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))
