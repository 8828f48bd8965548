"""A small imported environment and its rewriting, written for these tests: a shelf of boxes, with notes on them."""

from pathlib import Path
from typing import Any

from servers.bundle.environment import load
from synth.environments.drafts.bundle_folder import Texts
from synth.environments.drafts.start_images import guests_here
from synth.environments.drafts.tool_signatures import described
from synth.relational.twin_file import DeclaredDifference, MappedAttribute, Twin, imported_digest
from tests.synth.interop.arriving import imported
from tests.synth.interop.entries import scenario

CODE = '''from datetime import datetime
import uuid


class Shelf:
    def __init__(self, init_config: dict):
        self.boxes = {}
        self.notes = {}
        self.init_config = init_config

    def list_boxes(self, place: str) -> dict:
        """List the boxes in a place."""
        found = [box for box in self.boxes.values() if box["place"] == place]
        return {"success": True, "data": found}

    def add_box(self, name: str, count: int, place: str) -> dict:
        """Put a box on the shelf."""
        if not name:
            return {"success": False, "error": "A box has a name"}
        if count < 0:
            return {"success": False, "error": "The count is negative"}
        box_id = str(uuid.uuid4())
        self.boxes[box_id] = {"box_id": box_id, "name": name, "count": count, "place": place}
        return {"success": True, "message": f"added {box_id}", "at": datetime.now().isoformat(sep=" ")}

    def take(self, box_id: str, count: int) -> dict:
        """Take some out of a box."""
        box = self.boxes.get(box_id)
        if box is None:
            return {"success": False, "error": "No such box"}
        if count > box["count"]:
            return {"success": False, "error": f"There are only {box['count']}"}
        box["count"] -= count
        return {"success": True, "left": box["count"]}

    def note(self, box_id: str, text: str) -> dict:
        """Stick a note on a box."""
        if box_id not in self.boxes:
            return {"success": False, "error": "No such box"}
        self.notes[box_id] = {"box_id": box_id, "text": text}
        return {"success": True}

    def drop(self, box_id: str) -> dict:
        """Throw a box away, with its note."""
        del self.boxes[box_id]
        self.notes.pop(box_id, None)
        return {"success": True, "message": "gone"}
'''
SCHEMA = """CREATE TABLE boxes (
  box_id TEXT PRIMARY KEY, name TEXT NOT NULL, count INTEGER NOT NULL, place TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE notes (
  box_id TEXT PRIMARY KEY REFERENCES boxes (box_id), text TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""
LOADING = """INSERT INTO boxes SELECT key, value ->> 'name', value ->> 'count', value ->> 'place'
FROM imported WHERE attribute = 'boxes';
INSERT INTO notes SELECT key, value ->> 'text' FROM imported WHERE attribute = 'notes';
"""
STATE = (
    MappedAttribute(
        attribute="boxes",
        sql="SELECT box_id AS key, json_object('box_id', box_id, 'name', name, 'count', count, 'place', place) AS value"
        " FROM boxes ORDER BY box_id",
    ),
    MappedAttribute(
        attribute="notes",
        sql="SELECT box_id AS key, json_object('box_id', box_id, 'text', text) AS value FROM notes ORDER BY box_id",
    ),
)
TOOLS = '''"""The tools of a shelf."""

from typing import TypedDict, cast

from servers.toolkit import Database, ToolError


class Box(TypedDict):
    box_id: str
    name: str
    count: int
    place: str


class Boxes(TypedDict):
    data: list[Box]


class Added(TypedDict):
    message: str
    at: str


class Left(TypedDict):
    left: int


class Nothing(TypedDict):
    pass


class Done(TypedDict):
    message: str


def list_boxes(db: Database, *, place: str) -> Boxes:
    """List the boxes in a place.

    Args:
        place: The place.
    """
    rows = db.all("SELECT box_id, name, count, place FROM boxes WHERE place = :place ORDER BY box_id", place=place)
    return {"data": cast("list[Box]", rows)}


def add_box(db: Database, *, name: str, count: int, place: str) -> Added:
    """Put a box on the shelf.

    Args:
        name: The name.
        count: The count.
        place: The place.
    """
    if not name:
        raise ToolError("A box has a name")
    if count < 0:
        raise ToolError("The count is negative")
    box_id = db.new_id("box")
    db.run(
        "INSERT INTO boxes VALUES (:box_id, :name, :count, :place)", box_id=box_id, name=name, count=count, place=place
    )
    return {"message": f"added {box_id}", "at": db.now()}


def take(db: Database, *, box_id: str, count: int) -> Left:
    """Take some out of a box.

    Args:
        box_id: The box id.
        count: The count.
    """
    there = _count(db, box_id)
    if count > there:
        raise ToolError(f"There are only {there}")
    db.run("UPDATE boxes SET count = count - :count WHERE box_id = :id", count=count, id=box_id)
    return {"left": there - count}


def note(db: Database, *, box_id: str, text: str) -> Nothing:
    """Stick a note on a box.

    Args:
        box_id: The box id.
        text: The text.
    """
    _count(db, box_id)
    db.run("INSERT OR REPLACE INTO notes VALUES (:id, :text)", id=box_id, text=text)
    return {}


def drop(db: Database, *, box_id: str) -> Done:
    """Throw a box away, with its note.

    Args:
        box_id: The box id.
    """
    if db.one("SELECT 1 FROM boxes WHERE box_id = :id", id=box_id) is None:
        raise ToolError("that box is not on the shelf")
    db.run("DELETE FROM notes WHERE box_id = :id", id=box_id)
    db.run("DELETE FROM boxes WHERE box_id = :id", id=box_id)
    return {"message": "gone"}


def _count(db: Database, box_id: str) -> int:
    row = db.one("SELECT count FROM boxes WHERE box_id = :id", id=box_id)
    if row is None:
        raise ToolError("No such box")
    return int(row["count"])
'''
DIFFERENCES = (
    DeclaredDifference(tool="list_boxes", kind="order", says="", why="boxes come by id here"),
    DeclaredDifference(tool="drop", kind="fault", says="is not on the shelf", why="the class raises a KeyError"),
)
CONFIG = {
    "boxes": {
        "B2": {"box_id": "B2", "name": "nails", "count": 40, "place": "left"},
        "B1": {"box_id": "B1", "name": "screws", "count": 0, "place": "left"},
        "B3": {"box_id": "B3", "name": "hooks", "count": 7, "place": "right"},
    },
    "notes": {"B3": {"box_id": "B3", "text": "the small ones"}},
}
BOX_GONE = """def check_func(final_state):
    return "B3" not in final_state["boxes"]
"""


async def shelf(folder: Path) -> Path:
    """Import the shelf, with one scenario. Returns its bundle."""
    tools = ("list_boxes", "add_box", "take", "note", "drop")
    entry = {
        "env_id": "env_1",
        "environment_summary": "Shelf",
        "environment_introduction": "A shelf of boxes with notes on them.",
        "constraints_rules": ["A box has a name."],
        "operation_list": [
            {"operation_name": name, "operation_type": "query" if name == "list_boxes" else "state_change"}
            for name in tools
        ],
        "env_class_name": "Shelf",
        "env_class_code": CODE,
        "tools": [],
    }
    task = scenario(BOX_GONE, env_class_name="Shelf", init_config=CONFIG, task="Throw the box of hooks away.")
    await imported(folder, [entry], [task])
    return folder / "out" / "env_1"


async def rewritten(folder: Path, source: str = TOOLS) -> Path:
    """A rewriting of the shelf, whose first rows are those of its only start."""
    async with guests_here() as guests:
        tools, wrong = await described(source, guests)
    assert wrong == []
    folder.mkdir(exist_ok=True)  # noqa: ASYNC240
    boxes, notes = CONFIG["boxes"], CONFIG["notes"]
    rows = [f"INSERT INTO boxes VALUES {tuple(one.values())!r};" for one in boxes.values()]
    rows += [f"INSERT INTO notes VALUES {tuple(one.values())!r};" for one in notes.values()]
    texts = Texts(
        id="shelf",
        title="Shelf",
        introduction="A shelf of boxes with notes on them.",
        clock="2025-07-01 09:00:00",
        policy="# Shelf\n\n1. **Names.** A box has a name.\n",
        schema=SCHEMA,
        seed="\n".join(rows),
        source=source,
        tools=list(tools.values()),
        rules=[],
    )
    return texts.write(folder)


def twin(bundle: Path, **changes: Any) -> Twin:
    """The twin file of the rewriting."""
    environment = load(bundle)
    return Twin(
        imported=environment.id,
        source="EnvScaler, env_1",
        digest=imported_digest(environment),
        loading_sql=LOADING,
        state=STATE,
        differences=DIFFERENCES,
    ).model_copy(update=changes)
