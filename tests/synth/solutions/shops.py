"""Small bundles to make and examine scenarios of."""

import copy
from pathlib import Path
from typing import Any

from servers.scenario.scenario import Scenario
from synth.certify.certifier import Examined, examine
from synth.play.playground import Playground
from tests.bundles import write_bundle

GOAL: dict[str, Any] = {
    "id": "priced",
    "role": "goal",
    "question": "Does the bell cost 2.50?",
    "kind": "sql",
    "sql": "SELECT cents FROM things WHERE id = 't2'",
    "expect": [[250]],
}
LOGGED: dict[str, Any] = {
    "id": "logged",
    "role": "goal",
    "question": "Is the new price in the log?",
    "kind": "sql",
    "sql": "SELECT what FROM log",
    "expect": [["t2 200 -> 250"]],
}
GUARD: dict[str, Any] = {
    "id": "nothing_else",
    "role": "guard",
    "question": "Has nothing else changed?",
    "kind": "footprint",
    "allow": [
        {"table": "things", "operation": "update", "columns": ["cents"], "where": "id = 't2'", "rows": 1},
        {"table": "log", "operation": "insert", "rows": 1},
    ],
}
SOUND: dict[str, Any] = {
    "id": "dearer",
    "title": "Make the bell dearer",
    "task": "Please let the bell cost 2.50.",
    "checkpoints": [GOAL, LOGGED, GUARD],
    "solution": {
        "calls": [
            {"tool": "find", "arguments": {"text": "bell"}},
            {"tool": "price", "arguments": {"id": "${1.things[0].id}", "cents": 250}},
        ],
        "answer": "Done.",
    },
}


def python(source: str, **changes: Any) -> dict[str, Any]:
    """A Python checkpoint."""
    return {"id": "odd", "role": "goal", "question": "Is it odd enough?", "kind": "python", "python": source, **changes}


def with_checkpoints(*checkpoints: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The sound scenario with other checkpoints."""
    return {**copy.deepcopy(SOUND), "checkpoints": list(checkpoints), **changes}


async def examined(folder: Path, scenario: dict[str, Any], **bundle: Any) -> Examined:
    """What is seen of a scenario of a shop."""
    await write_bundle(folder / "shop", scenarios=[], **bundle)
    async with Playground(folder / "shop", call_seconds=2) as stage:
        return await examine(stage, Scenario.model_validate(scenario))
