"""An instance of one's own: there while it is needed, and gone afterwards, whatever happened to who leased it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from registry.client import FarmClient
from registry.farm import private
from registry.messages import Lease
from servers.errors import InfraError, NotFound


@asynccontextmanager
async def farm_of(shelf: Path, kind: type[FarmClient] = FarmClient) -> AsyncGenerator[FarmClient]:
    async with private((shelf,)) as address, kind(address.url, address.token) as client:
        yield client


class Slow(FarmClient):
    """Its launches are done before it says so."""

    def __init__(self, url: str, token: str, *, seconds: float = 60.0) -> None:
        super().__init__(url, token, seconds=seconds)
        self.is_launched, self.may_say_so = asyncio.Event(), asyncio.Event()

    async def launch(
        self,
        environment: str,
        scenario: str | None = None,
        *,
        count: int = 1,
        ttl_seconds: int = 3600,
        seed: int = 0,
        perturb: str = "",
        pairs: bool = False,
        key: str | None = None,
    ) -> list[Lease]:
        order = {"count": count, "ttl_seconds": ttl_seconds, "seed": seed}
        leases = await super().launch(environment, scenario, **order, perturb=perturb, pairs=pairs, key=key)
        self.is_launched.set()
        await self.may_say_so.wait()
        return leases


async def test_an_instance_is_played_and_scored_and_is_gone_afterwards(shelf: Path) -> None:
    async with farm_of(shelf) as farm:
        async with farm.leased("shop", "dearer", seed=3) as live:
            assert (await farm.lease(live.id)).seed == 3
            async with live.connect() as toolbox:
                await toolbox.call("price", {"id": "t2", "cents": 250})
            assert (await live.score()).reward == 1.0
        assert (await farm.leases(status="live")).total == 0


async def test_what_breaks_inside_is_raised_and_the_instance_is_gone(shelf: Path) -> None:
    async with farm_of(shelf) as farm:
        with pytest.raises(ZeroDivisionError):
            async with farm.leased("shop"):
                raise ZeroDivisionError
        assert ((await farm.leases(status="live")).total, (await farm.leases()).total) == (0, 1)


async def test_who_is_cancelled_while_it_is_launched_leaves_nothing(shelf: Path) -> None:
    async with farm_of(shelf, Slow) as farm:
        assert isinstance(farm, Slow)
        leasing = asyncio.create_task(farm.leased("shop").__aenter__())
        await farm.is_launched.wait()
        leasing.cancel()
        await asyncio.sleep(0)
        farm.may_say_so.set()
        with pytest.raises(asyncio.CancelledError):
            await leasing
        assert ((await farm.leases(status="live")).total, (await farm.leases()).total) == (0, 1)


async def test_an_environment_that_is_not_there_is_said(shelf: Path) -> None:
    async with farm_of(shelf) as farm:
        with pytest.raises(NotFound):
            await farm.leased("zoo").__aenter__()


async def test_a_lease_that_has_ended_has_no_address(shelf: Path) -> None:
    async with farm_of(shelf) as farm:
        [lease] = await farm.launch("shop")
        await farm.close(lease.instance)
        with pytest.raises(InfraError, match="ended before it began"):
            (await farm.lease(lease.instance)).address()
