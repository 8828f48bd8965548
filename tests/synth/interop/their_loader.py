"""EnvScaler's loader as it is described, in a process of its own behind the walls of a guest.

Standard input: an environment's entry, and plays of it, each a scenario's entry and calls. Standard output: for each
play the reward before and after, and what was refused.
"""

import copy
import json
import sqlite3
import sys
import types
import unicodedata
from typing import Any

from agent_client.references import resolve
from servers.guest import walls


def main() -> None:
    told = json.load(sys.stdin)
    sqlite3.connect(":memory:").execute("SELECT datetime('now')").fetchall()  # loads what behind the walls it cannot
    unicodedata.normalize("NFC", "")  # and so does this
    walls.raise_all(network_left=False)
    json.dump([_played(told["environment"], **one) for one in told["plays"]], sys.stdout)


def _played(environment: dict[str, Any], scenario: dict[str, Any], calls: list[dict[str, Any]]) -> dict[str, Any]:
    module: dict[str, Any] = {"__name__": "environment"}
    exec(environment["env_class_code"], module)  # noqa: S102 - what their loader does, behind walls
    config = copy.deepcopy(scenario["init_config"])
    try:
        made = module[scenario["env_class_name"]](config)
    except TypeError:
        made = module[scenario["env_class_name"]]()
    for name, value in config.items():
        setattr(made, name, value)
    start = _state(made)
    before = _reward(scenario, start, start)
    results: list[Any] = []
    refused: list[Any] = []
    for call in calls:
        answer = getattr(made, call["tool"])(**resolve(call["arguments"], results))
        results.append(types.SimpleNamespace(structured=answer.get("data"), is_error=not answer["success"]))
        if not answer["success"]:
            refused.append(answer)
    return {"before": before, "after": _reward(scenario, start, _state(made)), "refused": refused}


def _state(made: object) -> dict[str, Any]:
    return copy.deepcopy({name: value for name, value in vars(made).items() if not name.startswith("__")})


def _reward(scenario: dict[str, Any], start: dict[str, Any], final: dict[str, Any]) -> float:
    """Passed checks over all; they share the final state, and only True passes."""
    passed = 0
    for check in scenario["checklist_with_func"]:
        module: dict[str, Any] = {"initial_state": copy.deepcopy(start)}
        exec(check["check_func"], module)  # noqa: S102 - what their loader does, behind walls
        passed += module["check_func"](final) is True
    return round(passed / len(scenario["checklist_with_func"]), 4)


if __name__ == "__main__":
    main()
