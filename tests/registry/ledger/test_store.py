"""The ledger on disk: made, opened again, brought up to date, refused."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory

from registry.ledger import database
from registry.ledger.database import LedgerError
from registry.ledger.store import KeptLease, Ledger, TakenInstance
from registry.ledger.tables import REVISIONS
from registry.migrations.__main__ import config
from servers.errors import FarmError, RequestError

LEASE = KeptLease("a" * 16, "local", "/i/x/mcp", "shop", None, 2**63 - 1, 60, "live", 1_000.0, 1_060.0)


def url(folder: Path) -> str:
    return f"sqlite:///{folder / 'ledger.db'}"


def schema(folder: Path) -> set[tuple[str, ...]]:
    """Every column and index of a ledger, in words."""
    connection = sqlite3.connect(folder / "ledger.db")
    found: set[tuple[str, ...]] = set()
    for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        for _, name, kind, required, _, key in connection.execute(f"PRAGMA table_info({table})").fetchall():
            found.add((table, name, kind, str(required), str(key)))
        for row in connection.execute(f"PRAGMA index_list({table})").fetchall():
            columns = [column for _, _, column in connection.execute(f"PRAGMA index_info({row[1]})").fetchall()]
            found.add((table, row[1], *columns))
    connection.close()
    return found


def execute(folder: Path, sql: str) -> None:
    connection = sqlite3.connect(folder / "ledger.db")
    connection.executescript(sql)
    connection.close()


def test_a_ledger_opened_again_has_what_was_written(tmp_path: Path) -> None:
    ledger = Ledger.open(url(tmp_path))
    ledger.add([LEASE])
    ledger.close()
    again = Ledger.open(url(tmp_path))
    assert again.find(LEASE.instance) == LEASE
    assert again.loads() == {"local": 1}
    again.close()


def test_new_leases_are_written_all_or_none(tmp_path: Path) -> None:
    ledger = Ledger.open(url(tmp_path))
    ledger.add([LEASE])
    with pytest.raises(TakenInstance):
        ledger.add([LEASE._replace(instance="b" * 16), LEASE])
    assert ledger.find("b" * 16) is None
    ledger.close()


def test_a_lease_that_was_prolonged_in_the_meantime_is_not_expired(tmp_path: Path) -> None:
    ledger = Ledger.open(url(tmp_path))
    ledger.add([LEASE])
    assert ledger.prolong(LEASE.instance, until=2_000.0, over_since=1_050.0)
    assert ledger.expire(now=1_060.0, at=1.0, limit=10) == []
    assert ledger.expire(now=2_000.0, at=1.0, limit=10) == [LEASE._replace(expires_at=2_000.0)]
    assert not ledger.prolong(LEASE.instance, until=3_000.0, over_since=2_000.0)
    assert ledger.forget(over_since=1_999.0, at=1.0, limit=10) == []
    assert [kept.instance for kept in ledger.forget(over_since=2_000.0, at=1.0, limit=10)] == [LEASE.instance]
    assert not ledger.prolong(LEASE.instance, until=3_000.0, over_since=0.0)
    assert ledger.close_leases([LEASE.instance], at=2_001.0) == 0
    ledger.close()


def test_writers_of_one_process_wait_for_each_other_however_many_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_MILLISECONDS", 0)  # SQLite itself lets nobody wait
    ledger = Ledger.open(url(tmp_path))

    def add(number: int) -> bool:
        return ledger.add([LEASE._replace(instance=f"{number:016}")])

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(add, range(400)))
    assert len(ledger.instances_on(LEASE.worker)) == 400
    ledger.close()


def test_the_migrations_lead_to_the_tables_that_a_new_ledger_has(tmp_path: Path) -> None:
    for name in ("new", "old"):
        (tmp_path / name).mkdir()
        Ledger.open(url(tmp_path / name)).close()
    before = schema(tmp_path / "new")
    execute(
        tmp_path / "old",
        "DROP TABLE farm; DROP TABLE leases; DROP TABLE workers; DROP TABLE scores; DELETE FROM alembic_version;",
    )
    ledger = Ledger.open(url(tmp_path / "old"))
    ledger.add([LEASE])
    ledger.close()
    assert schema(tmp_path / "old") == before


def test_the_revisions_are_those_of_the_migrations() -> None:
    scripts = ScriptDirectory.from_config(config("sqlite://"))
    assert tuple(reversed([script.revision for script in scripts.walk_revisions()])) == REVISIONS


def test_a_ledger_from_the_future_is_refused_and_left_alone(tmp_path: Path) -> None:
    Ledger.open(url(tmp_path)).close()
    execute(tmp_path, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(LedgerError, match="is at revision '9999', newer than this farm; update envfarm"):
        Ledger.open(url(tmp_path))
    assert ("alembic_version", "version_num", "VARCHAR(32)", "1", "1") in schema(tmp_path)


def test_a_migration_that_fails_says_why(tmp_path: Path) -> None:
    Ledger.open(url(tmp_path)).close()
    execute(tmp_path, "DELETE FROM alembic_version")
    with pytest.raises(LedgerError, match=r"cannot be brought up to date: .*"):
        Ledger.open(url(tmp_path))


def test_a_database_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    execute(tmp_path, "CREATE TABLE workers (wage INTEGER)")
    with pytest.raises(LedgerError, match="has tables like a ledger's, and is none"):
        Ledger.open(url(tmp_path))


def test_a_ledger_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    Ledger.open(url(tmp_path)).close()
    with pytest.raises(LedgerError, match="attempt to write a readonly database"):
        Ledger.open(f"sqlite:///file:{tmp_path / 'ledger.db'}?mode=ro&uri=true")


@pytest.mark.parametrize(
    ("where", "kind", "why"),
    [
        ("sqlite:////nowhere/ledger.db", LedgerError, "No such file or directory"),
        ("nonsense", RequestError, "not one of SQLAlchemy"),
        ("nobase://x", RequestError, "not in nobase"),
    ],
)
def test_a_ledger_that_is_not_there_is_refused_with_its_reason(where: str, kind: type[FarmError], why: str) -> None:
    with pytest.raises(kind, match=why):
        Ledger.open(where)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_bytes(b"spoilt" * 1000)
    with pytest.raises(LedgerError, match="file is not a database"):
        Ledger.open(url(tmp_path))


def test_a_database_of_another_kind_is_told_which_there_are() -> None:
    with pytest.raises(RequestError, match=r"SQLite \(sqlite:///FILE\) or PostgreSQL \(.*\), not in mysql$"):
        Ledger.open("mysql://farm@db/farm")
