"""An environment as a Python object in the caller's process, the way EnvScaler runs one.

A reset executes the class's source again, copies the scenario's rows, and sets them as attributes. A step checks that
the object has an attribute of the tool's name, calls it, makes its result a string, copies the whole state and
computes the difference from the copy before, which copies again at every level. Left out: the language model, the
parsing of its text, the reading of all scenarios per environment, the rewards. No protocol, no process, no wall.

Run as `python -m bench.peers.copying_environment SECONDS`; it prints what it measured as JSON.
"""

import copy
import json
import os
import sys
import time
from types import ModuleType
from typing import Any, NamedTuple, cast

from bench.load import percentile
from bench.processes import memory
from bench.subject import ARGUMENTS, ITEMS

SOURCE = """
class Store:
    def __init__(self, config):
        self.items = config["items"]

    def add_to_stock(self, item_id, count):
        item = self.items.get(item_id)
        if item is None:
            return {"success": False, "error": f"no item {item_id!r}"}
        item["stock"] += count
        return {"success": True, "data": {"item_id": item_id, "name": item["name"], "stock": item["stock"]}}
"""
CONFIG: dict[str, Any] = {"items": {item: {"name": name, "stock": stock} for item, name, stock in ITEMS}}
INSTANCES = 50


class Measured(NamedTuple):
    """Milliseconds of a reset and of a call, calls a second, and bytes for each further instance."""

    reset_p50: float
    reset_p99: float
    call_p50: float
    call_p99: float
    per_second: float
    bytes_each: float


class Environment:
    """One instance, and the trajectory of its steps."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        module = ModuleType("environment")
        exec(SOURCE, module.__dict__)  # noqa: S102 - this is what is measured
        config = copy.deepcopy(CONFIG)
        self.instance: Any = module.__dict__["Store"](config)
        for name, value in config.items():
            setattr(self.instance, name, value)
        self.state = self._copied()
        self.trajectory: list[dict[str, Any]] = []

    def step(self, tool: str, arguments: dict[str, Any]) -> str:
        if not hasattr(self.instance, tool):
            return f"there is no tool {tool}"
        observation = str(getattr(self.instance, tool)(**arguments))
        state = self._copied()
        step = {"observation": observation, "state": state, "difference": difference(self.state, state)}
        self.trajectory.append(step)
        self.state = state
        return observation

    def _copied(self) -> dict[str, Any]:
        own = cast("dict[str, Any]", vars(self.instance))
        return copy.deepcopy({name: value for name, value in own.items() if not name.startswith("__")})


def difference(before: Any, after: Any) -> Any:
    """The difference, as nested dictionaries."""
    before, after = copy.deepcopy(before), copy.deepcopy(after)
    if not (isinstance(before, dict) and isinstance(after, dict)):
        pair: dict[str, Any] = {"old": before, "new": after}
        return None if before == after else pair
    old, new = cast("dict[str, Any]", before), cast("dict[str, Any]", after)
    parts: dict[str, Any] = {key: difference(old.get(key), new.get(key)) for key in {**old, **new}}
    return {key: part for key, part in parts.items() if part is not None} or None


def measured(seconds: float) -> Measured:
    """Resets and steps, one after another, 20 steps an episode."""
    environment = Environment()
    resets: list[float] = []
    calls: list[float] = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        resets.append(_timed(environment.reset))
        calls += [_timed(lambda: environment.step("add_to_stock", ARGUMENTS)) for _ in range(20)]
    before = memory([os.getpid()])
    living = [Environment() for _ in range(INSTANCES)]
    for one in living:
        one.step("add_to_stock", ARGUMENTS)
    grown = (memory([os.getpid()]) - before) / len(living)
    return Measured(
        *(1000 * percentile(some, share) for some in (resets, calls) for share in (0.5, 0.99)),
        per_second=len(calls) / sum(calls),
        bytes_each=grown,
    )


def _timed(run: Any) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


if __name__ == "__main__":
    print(json.dumps(measured(float(sys.argv[1]))._asdict()))
