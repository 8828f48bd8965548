"""Keeps workers of a farm on a Ray cluster, in a process of its own: one or more on each node that is there.

The order comes as the first line of standard input. The first line of standard output says that the cluster is there,
or why not. When standard input ends, the workers end.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false

import logging
import math
import select
import sys
import time
from contextlib import suppress
from typing import Any

from registry.workers.ray_node import ClusterAnswer, NodePlace, RayNodeWorker, RayOrder
from servers.errors import FarmError
from servers.telemetry.logs import to_stderr

try:
    import ray
    from ray.exceptions import RayError

    from servers.cluster.ray_cluster import cluster, cluster_address, nodes, on_node, own_address
except ModuleNotFoundError as error:
    missing = ClusterAnswer(problem=f"--engine ray: {error}; pip install 'envfarm[scale]'")
    sys.stdout.write(missing.model_dump_json() + "\n")
    sys.exit(1)

LOOK_SECONDS = 1.0
"""Seconds between two looks at the nodes."""
AGAIN_SECONDS = 30.0
"""Seconds until a worker that was refused is tried again."""
SECONDS_TO_END = 15.0
ACTOR_OPTIONS: dict[str, Any] = {"max_restarts": -1, "max_task_retries": -1}
"""Ray starts an actor again that died, and has it serve again, as long as its node lives."""
log = logging.getLogger("farm.ray")


class RayKeeper:
    """The workers on a cluster."""

    def __init__(self, order: RayOrder) -> None:
        host = own_address()
        self._own = host
        registry = order.registry.replace("{host}", f"[{host}]" if ":" in host else host)
        self._order = order.model_copy(update={"registry": registry})
        self._actors: dict[tuple[str, int], Any] = {}
        self._serving: dict[Any, tuple[str, int]] = {}
        self._places: dict[tuple[str, int], NodePlace] = {}
        self._not_before: dict[tuple[str, int], float] = {}

    def look(self) -> None:
        """Note who has ended, and start what is missing."""
        ended, _ = (
            ray.wait(list(self._serving), num_returns=len(self._serving), timeout=0) if self._serving else ([], 0)
        )
        for one in ended:
            self._note_end(one)
        for node in nodes().values():
            if self._order.loopback_only and node.address != self._own:
                continue
            count = self._order.count_for(node.cores)
            for number in range(count):
                key = (node.id, number)
                if key not in self._actors and time.monotonic() >= self._not_before.get(key, 0.0):
                    self._start(key, node.address, count)

    def _start(self, key: tuple[str, int], address: str, count: int) -> None:
        taken = {place.number for place in self._places.values() if place.address == address}
        number = next(one for one in range(1, len(taken) + 2) if one not in taken)
        shown = "127.0.0.1" if self._order.loopback_only else address
        place = NodePlace(address=shown, number=number, of=count)
        self._places[key] = NodePlace(address=address, number=number, of=count)
        actor = self._actors[key] = on_node(key[0], RayNodeWorker, self._order, place, **ACTOR_OPTIONS)
        self._serving[actor.serve.remote()] = key
        log.info("worker placed", extra={"worker": place.name, "node": key[0][:12]})

    def _note_end(self, one: Any) -> None:
        key = self._serving.pop(one)
        name, actor = self._places.pop(key).name, self._actors.pop(key)
        try:
            reason = str(ray.get(one))
        except RayError as error:
            reason = str(error).strip().splitlines()[-1]
            log.error("worker is gone with its node", extra={"worker": name, "error": reason})
        else:
            if reason:
                log.error("worker cannot be one of the farm's", extra={"worker": name, "error": reason})
            else:
                log.info("worker has left", extra={"worker": name})
        was_drained = reason == ""
        self._not_before[key] = math.inf if was_drained else time.monotonic() + AGAIN_SECONDS
        with suppress(RayError):
            ray.kill(actor)

    def end(self) -> None:
        """End all workers. Calls under way may finish."""
        with suppress(RayError, ValueError):
            ending = [actor.end.remote() for actor in self._actors.values()]
            if ending:
                ray.wait(ending, num_returns=len(ending), timeout=SECONDS_TO_END)
        for actor in self._actors.values():
            with suppress(RayError):
                ray.kill(actor)


def keep(order: RayOrder) -> None:
    """Keep workers on a cluster until standard input ends. Raises InfraError if there is no cluster."""
    with cluster(order.address):
        logging.setLogRecordFactory(logging.LogRecord)  # Ray's own adds a field to each line
        keeper = RayKeeper(order)
        _say(ClusterAnswer(address=cluster_address()))
        try:
            while not select.select([sys.stdin], [], [], LOOK_SECONDS)[0]:
                keeper.look()
        finally:
            keeper.end()


def _say(answer: ClusterAnswer) -> None:
    sys.stdout.write(answer.model_dump_json() + "\n")
    sys.stdout.flush()


def main() -> int:
    """Keep the workers that the first line of standard input asks for. Returns the exit code."""
    order = RayOrder.model_validate_json(sys.stdin.readline())
    to_stderr(order.log_level, process="ray")
    try:
        keep(order)
    except FarmError as error:
        _say(ClusterAnswer(problem=str(error)))
        return 1
    except RayError as error:
        log.error("the Ray cluster does not answer", extra={"error": str(error).strip().partition("\n")[0]})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
