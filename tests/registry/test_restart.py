"""A farm that is started again over the same folders is the same farm."""

from pathlib import Path

from servers.bundle_library import Library
from tests.registry.farms import Clock, running


async def test_leases_tokens_and_states_are_there_after_a_restart(
    library: Library, tmp_path: Path, clock: Clock
) -> None:
    async with running(library, tmp_path / "farm", clock) as farm:
        [lease] = await farm.client.launch("shop", "dearer", ttl_seconds=60)
        await farm.call(lease.instance, "price", id="t2", cents=250)
        score = await farm.client.score(lease.instance)
    async with running(library, tmp_path / "farm", clock) as farm:
        again = await farm.client.lease(lease.instance)
        assert again.model_copy(update={"mcp_url": lease.mcp_url}) == lease
        assert again.mcp_url == f"{farm.url}/i/{lease.instance}/mcp"
        assert (await farm.client.history(lease.instance)).total == 1
        assert await farm.client.score(lease.instance) == score
        assert (await farm.client.health()).instances == 1
        assert farm.ledger.scores(lease.instance) == [score, score]
        await farm.client.close(lease.instance)
        assert farm.worker.ids() == []
