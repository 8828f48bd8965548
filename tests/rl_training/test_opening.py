"""What the instances of one launch show an agent: asked once, and by each where the first got no answer."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from agent_client.connections import Connections
from registry.client import FarmClient
from registry.farm import private
from registry.messages import Lease
from rl_training.episode.instance_batches import Opening
from servers.errors import InfraError
from tests.pairs import write_pair


class Counting(Connections):
    """Counts requests by what they ask for."""

    def __init__(self) -> None:
        super().__init__(16)
        self.asked: list[str] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request.headers["Mcp-Method"])
        return await super().handle_async_request(request)


@asynccontextmanager
async def farm_of(shelf: Path) -> AsyncGenerator[FarmClient]:
    async with private((shelf,)) as address, FarmClient(address.url, address.token) as client:
        yield client


async def test_a_group_asks_once_and_each_calls_its_own_instance(shelf: Path) -> None:
    async with farm_of(shelf) as farm:
        leases = await farm.launch("shop", "dearer", count=4)
        counting = Counting()
        async with httpx2.AsyncClient(transport=counting, trust_env=False) as http:
            opening = Opening()
            toolboxes = await asyncio.gather(*(opening.toolbox(lease, http) for lease in leases))
            assert sorted(counting.asked) == ["server/discover", "tools/list"]
            await toolboxes[2].call("price", {"id": "t2", "cents": 250})
        assert [(await farm.score(lease.instance)).reward for lease in leases] == [0.0, 0.0, 1.0, 0.0]


async def test_a_group_over_two_environments_asks_once_and_each_calls_its_own_two(tmp_path: Path) -> None:
    async with farm_of(await write_pair(tmp_path)) as farm:
        leases = await farm.launch("shop", "trip", count=3, pairs=True)
        counting = Counting()
        async with httpx2.AsyncClient(transport=counting, trust_env=False) as http:
            opening = Opening()
            toolboxes = [await opening.toolbox(lease, http) for lease in leases]
            assert sorted(counting.asked) == 2 * ["server/discover"] + 2 * ["tools/list"]
            await toolboxes[2].call("inn__price", {"id": "t3", "cents": 450})
        assert [(await farm.score(lease.instance)).reward for lease in leases] == [0.0, 0.0, 0.5]


async def test_where_the_first_gets_no_answer_the_others_ask_for_themselves(shelf: Path) -> None:
    async with farm_of(shelf) as farm:
        gone, *others = await farm.launch("shop", "dearer", count=3)
        await farm.close(gone.instance)
        async with httpx2.AsyncClient(transport=Counting(), trust_env=False) as http:
            opening = Opening()
            found = await asyncio.gather(
                *(opening.toolbox(lease, http) for lease in (gone, *others)), return_exceptions=True
            )
            assert [type(one).__name__ for one in found] == ["FarmUnreachable", "Toolbox", "Toolbox"]


async def test_a_lease_that_has_ended_is_no_fault_of_the_policy(shelf: Path) -> None:
    async with farm_of(shelf) as farm:
        [lease] = await farm.launch("shop", "dearer")
        ended = Lease.model_validate({**lease.model_dump(), "mcp_url": None, "token": None})
        async with httpx2.AsyncClient(transport=Counting(), trust_env=False) as http:
            with pytest.raises(InfraError, match="ended before it began"):
                await Opening().toolbox(ended, http)
