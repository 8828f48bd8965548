"""When an instance may begin: dates that the calendar has, and that leave time for calls."""

import shutil
from pathlib import Path

import pytest

from servers.bundle.environment import load
from servers.bundle_library import Library
from servers.errors import BundleError
from servers.messages import Launch
from servers.worker.worker import Worker
from tests.bundles import with_description

WRONG = {
    "2024-13-01 00:00:00": "month must be in 1..12",
    "2023-02-29 00:00:00": "day (29 must be in range 1..28|is out of range) for month",
    "0000-01-01 00:00:00": "year (0 is out of range|must be in 1..9999)",
    "9999-12-31 23:59:59": "year must be in 1..9899",
    "2024-01-01 24:00:00": "hour must be in 0..23",
    "2024-01-01 00:00:00+01:00": "must match",
}


@pytest.mark.parametrize("clock", WRONG)
def test_a_date_that_is_none_is_refused_with_its_reason(shelf: Path, tmp_path: Path, clock: str) -> None:
    shop = shutil.copytree(shelf / "shop", tmp_path / "shop")
    with_description(shop, clock=clock)
    with pytest.raises(BundleError, match=WRONG[clock]):
        load(shop)


@pytest.mark.parametrize("clock", ["2024-02-29 23:59:59", "0001-01-01 00:00:00", "9899-12-31 23:59:59"])
async def test_dates_at_the_edges_are_played_from(shelf: Path, tmp_path: Path, clock: str) -> None:
    async with Worker(Library([shelf]), tmp_path / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="shop", clock=clock))
        for _ in range(2):
            assert not (await worker.find(ticket.instance).call("find", {})).is_error
        assert (await worker.standing(ticket.instance)).calls == 2
