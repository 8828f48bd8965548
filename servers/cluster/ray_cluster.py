"""A Ray cluster: the one that is there, or a local one; its nodes, and actors on them. Needs `envfarm[scale]`."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false

import logging
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, NamedTuple

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from servers.errors import InfraError

SECONDS_TO_ANSWER = 10
OPTIONS: dict[str, Any] = {"num_cpus": 0}
"""Cores are counted by us: an actor that reserved one would wait for ever where another program has them."""


class ClusterNode(NamedTuple):
    """A machine of the cluster."""

    id: str
    address: str
    cores: int


@contextmanager
def cluster(address: str) -> Generator[int]:
    """The cluster at an address, else a local one while the context is open. Yields its number of cores.

    Raises:
        InfraError: there is no such cluster.
    """
    try:
        _make_sure_of(address)
        context: Any = ray.init(
            address or "local",  # not what `ray start` left behind, which may have ended
            log_to_driver=False,
            include_dashboard=False,
            ignore_reinit_error=True,
            logging_level=logging.ERROR,
        )
    except Exception as error:  # of no class of its own where a cluster does not start
        reason = str(error).strip().partition("\n")[0]
        raise InfraError(f"--engine ray: no cluster at {address or 'this machine'}: {reason}") from None
    with context:
        yield int(ray.cluster_resources().get("CPU", 1))


def _make_sure_of(address: str) -> None:
    """Check that something listens there: Ray itself would retry for ever."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), SECONDS_TO_ANSWER).close()


def nodes() -> dict[str, ClusterNode]:
    """The live nodes, by id."""
    return {
        str(node["NodeID"]): ClusterNode(
            str(node["NodeID"]), str(node["NodeManagerAddress"]), int(node["Resources"].get("CPU", 1))
        )
        for node in ray.nodes()
        if node["Alive"]
    }


def own_address() -> str:
    """This machine's address in the cluster."""
    return str(ray.util.get_node_ip_address())


def cluster_address() -> str:
    """The address at which other processes find the cluster."""
    return str(ray.get_runtime_context().gcs_address)


def on_node(node: str, kind: type, *arguments: Any, **options: Any) -> Any:
    """An actor on a node, and on no other."""
    there = NodeAffinitySchedulingStrategy(node, soft=False)
    return ray.remote(kind).options(**OPTIONS, scheduling_strategy=there, **options).remote(*arguments)
