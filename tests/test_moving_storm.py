"""Instances that are called all the time, while they are moved to and fro and everything is killed with kill -9."""

import asyncio
import random
import signal
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent_client.errors import FarmUnreachable
from registry.client import FarmClient
from registry.messages import Lease
from servers.errors import FarmError
from tests.counting import SEED, connected, whole_history, write_counter
from tests.processes import free_ports, until, watching_for_orphans
from tests.test_storm import Joined, Keeper, joining, until_all

INSTANCES, CYCLES, MOVERS, WORKERS = 8, 30, 3, 3
MOVES_BETWEEN = 6
SPARED = 4
"""Of so many strikes one is spared, so that some moves end without any."""


@dataclass
class MovingLoad:
    """What becomes of instances that are called and moved."""

    keeper: Keeper
    chance: random.Random
    answered: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    unanswered: Counter[str] = field(default_factory=Counter[str])
    moves: int = 0
    refused: Counter[str] = field(default_factory=Counter[str])
    enough: bool = False

    async def lease(self, instance: str) -> Lease:
        up = await self.keeper.answering()
        async with FarmClient(up.url, up.token) as client:
            return await client.lease(instance)

    async def call(self, instance: str) -> None:
        """Call an instance wherever its lease says that it is, and note every answer."""
        answers = self.answered.setdefault(instance, [])
        while not self.enough:
            with suppress(FarmError, FarmUnreachable):
                lease = await self.lease(instance)
                if lease.mcp_url is None:
                    continue
                async with connected([lease]) as [caller]:
                    while not self.enough:
                        self.unanswered[instance] += 1
                        result = await caller.toolbox.call("add", {})
                        assert not result.is_error, result.text
                        self.unanswered[instance] -= 1
                        answers.append(result.text)

    async def move(self, instances: list[str]) -> None:
        while not self.enough:
            up = await self.keeper.answering()
            try:
                async with FarmClient(up.url, up.token) as client:
                    await client.move(self.chance.choice(instances))
                    self.moves += 1
            except (FarmError, FarmUnreachable) as error:
                self.refused[type(error).__name__] += 1
                await asyncio.sleep(0.02)

    async def strike(self) -> None:
        """kill -9 of the registry or of a worker."""
        up = await self.keeper.answering()
        victim = self.chance.choice([None, *self.keeper.joined])
        if victim is None:
            self.keeper.kill_the_farm()
        elif victim.started is not None:
            victim.started.send(signal.SIGKILL)
            self.keeper.struck["workers"] += 1
        assert up


@pytest.mark.slow
async def test_whatever_is_moved_and_killed_every_answered_call_is_in_the_one_instance(tmp_path: Path) -> None:
    await write_counter(tmp_path / "library")
    chance = random.Random(18)  # noqa: S311
    port = free_ports(WORKERS + 1)
    options = ("--port", str(port), "--library", str(tmp_path / "library"), "--workers", "0", "--keep", "0")
    keeper = Keeper(tmp_path / "state", options, tmp_path)
    keeper.joined = [Joined(joining(tmp_path, port, number + 1), tmp_path) for number in range(WORKERS)]
    storm = MovingLoad(keeper, chance)
    with watching_for_orphans() as left:
        async with keeper.kept():
            up = await keeper.answering()
            async with FarmClient(up.url, up.token) as client:
                await until_all(client, WORKERS)
                leases = await client.launch("counter", "whole", count=INSTANCES, seed=SEED, ttl_seconds=86400)
            instances = [lease.instance for lease in leases]
            async with asyncio.TaskGroup() as group:
                for instance in instances:
                    group.create_task(storm.call(instance))
                for _ in range(MOVERS):
                    group.create_task(storm.move(instances))
                for cycle in range(CYCLES):
                    most = storm.moves + chance.randint(1, MOVES_BETWEEN)
                    await until(lambda most=most: storm.moves >= most, "instances are moved")
                    if cycle % SPARED:
                        await asyncio.sleep(chance.random() * 0.05)
                        await storm.strike()
                await keeper.answering()
                storm.enough = True
            up = await keeper.answering()
            async with FarmClient(up.url, up.token) as client:
                await until_all(client, WORKERS)
                for instance in instances:
                    await _is_whole(client, storm, instance)
                assert (await client.health()).instances == INSTANCES
        assert keeper.up is not None
        keeper.up.started.err.close()
        await until(lambda: not left(), "all processes of the farms are gone")
    calls = sum(map(len, storm.answered.values()))
    told = f"{calls} answered calls, {sum(storm.unanswered.values())} unanswered, {storm.moves} moves"
    print(told, dict(keeper.struck), dict(storm.refused))  # noqa: T201


async def _is_whole(client: FarmClient, storm: MovingLoad, instance: str) -> None:
    """See that an instance has every answered call, each once and in order, and earns its reward."""
    history: list[str] | None = None
    while history is None:  # a move whose registry was killed is given up after a minute
        try:
            history = [call.text for call in await whole_history(client, instance)]
        except FarmError:
            await asyncio.sleep(0.5)
    left = iter(history)
    missing = [text for text in storm.answered[instance] if text not in left]
    assert missing == [], f"{len(missing)} answered calls of {instance} are lost"
    assert len(history) <= len(storm.answered[instance]) + storm.unanswered[instance]
    assert (await client.score(instance)).reward == 1
