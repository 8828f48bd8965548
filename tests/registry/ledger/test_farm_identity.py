"""One farm to a ledger, in SQLite and in PostgreSQL: another is refused, and the farm that comes back goes on."""

import shutil
import socket
import sqlite3
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from registry.client import FarmClient
from registry.farm import Options, running
from registry.ledger.database import LedgerError
from registry.ledger.store import KeptFarm, Ledger
from servers.errors import RequestError
from servers.files.file_lock import locked
from tests.registry.postgres import WITH_POSTGRES, postgres_server

ONE = KeptFarm("one", "/one", "here", 1_000.0)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=[WITH_POSTGRES, pytest.mark.slow])])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'shared.db'}"
        return
    with postgres_server() as server:
        yield server.database("farm")


async def test_a_second_farm_on_a_ledger_is_refused_and_the_first_keeps_all(
    shelf: Path, tmp_path: Path, url: str
) -> None:
    first = Options(library=(shelf,), state=tmp_path / "first", port=0, ledger=url)
    second = replace(first, state=tmp_path / "second")
    async with running(first) as address, FarmClient(address.url, address.token) as client:
        [lease] = await client.launch("shop")
        with pytest.raises(RequestError, match="another farm uses the ledger"):
            async with running(second):
                pass
        assert (await client.lease(lease.instance)).token == lease.token
    with pytest.raises(RequestError, match=f"belongs to another farm, that of the state folder {first.state} on "):
        async with running(second):
            pass
    async with running(first) as address, FarmClient(address.url, address.token) as client:
        assert (await client.lease(lease.instance)).token == lease.token
        assert (await client.state(lease.instance)).items


async def test_a_copy_of_a_state_folder_is_refused_while_the_first_lives(shelf: Path, tmp_path: Path, url: str) -> None:
    first = Options(library=(shelf,), state=tmp_path / "first", port=0, ledger=url)
    async with running(first) as address, FarmClient(address.url, address.token) as client:
        [lease] = await client.launch("shop")
        shutil.copytree(first.state, tmp_path / "copy")
        with pytest.raises(RequestError, match="another farm uses the ledger"):
            async with running(replace(first, state=tmp_path / "copy")):
                pass
        assert (await client.lease(lease.instance)).status == "live"


async def test_a_new_ledger_under_old_instances_is_refused_and_they_stay(shelf: Path, tmp_path: Path, url: str) -> None:
    own = Options(library=(shelf,), state=tmp_path / "state", port=0)
    async with running(own) as address, FarmClient(address.url, address.token) as client:
        [lease] = await client.launch("shop")
    with pytest.raises(RequestError, match="knows none of the 1 instance in"):
        async with running(replace(own, ledger=url)):
            pass
    async with running(own) as address, FarmClient(address.url, address.token) as client:
        assert (await client.lease(lease.instance)).status == "live"


def test_of_farms_that_race_for_a_new_ledger_one_gets_it_and_the_others_are_told(url: str) -> None:
    together = threading.Barrier(4)

    def open_one(_number: int) -> Ledger | RequestError:
        together.wait()
        try:
            return Ledger.open(url)
        except RequestError as error:
            return error

    with ThreadPoolExecutor(4) as threads:
        opened = list(threads.map(open_one, range(4)))
    [one] = (found for found in opened if isinstance(found, Ledger))
    refusals = [str(found) for found in opened if isinstance(found, RequestError)]
    assert [refusal.startswith("another farm uses the ledger") for refusal in refusals] == [True] * 3
    assert one.claim(ONE) == ONE
    one.tick(1_010.0)
    one.close()
    other = Ledger.open(url)
    assert other.claim(ONE).time == 1_010.0
    other.close()


def test_a_ledger_that_another_farm_makes_just_now_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "new.db", isolation_level=None) as making:
        making.execute("BEGIN EXCLUSIVE")
        lock = locked(tmp_path / "new.db.lock", unusable=LedgerError, taken=RequestError)
        with lock, pytest.raises(RequestError, match="another farm uses the ledger"):
            Ledger.open(f"sqlite:///{tmp_path / 'new.db'}")
    making.close()


def test_a_ledger_with_a_second_name_is_refused_by_either(tmp_path: Path) -> None:
    """SQLite keeps what is new beside the name, so that each farm would read another ledger."""
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'one.db'}")
    ledger.claim(ONE)
    (tmp_path / "two.db").hardlink_to(tmp_path / "one.db")
    with pytest.raises(RequestError, match=r"two\.db has a second name"):
        Ledger.open(f"sqlite:///{tmp_path / 'two.db'}")
    ledger.close()
    with pytest.raises(RequestError, match=r"one\.db has a second name"):
        Ledger.open(f"sqlite:///{tmp_path / 'one.db'}")


def test_a_ledger_that_knows_another_farm_takes_no_time_of_this_one(url: str) -> None:
    ledger = Ledger.open(url)
    try:
        ledger.claim(ONE)
        with ledger._writing() as connection:  # pyright: ignore[reportPrivateUsage]
            connection.exec_driver_sql("UPDATE farm SET id = 'other'")
        with pytest.raises(LedgerError, match="does not know this farm any more"):
            ledger.tick(2_000.0)
    finally:
        ledger.close()


def test_a_farm_tells_where_it_is(url: str, tmp_path: Path) -> None:
    for host in (socket.gethostname(), "elsewhere"):
        ledger = Ledger.open(url)
        ledger.claim(ONE._replace(folder=str(tmp_path), host=host))
        assert ledger.belongs_to() == "one"
        ledger.close()
