"""Rows in CSV files of `seed/`: they are part of a bundle as `seed.sql` is, and what is wrong with them is told."""

import os
import shutil
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from servers.authoring.added_scenarios import add_scenarios
from servers.authoring.check import findings
from servers.authoring.proof import digests
from servers.bundle.environment import digest_of_bundle, load, read_environment
from servers.bundle_library import Library
from servers.errors import BundleError
from servers.guest.sqlite.row_files import RowFile
from servers.guest.sqlite.start_image import build
from servers.messages import Launch
from servers.sandbox.guest_pool import Guests
from servers.state.readonly_query import Reader
from servers.state.start_images import built
from servers.worker.worker import Worker
from synth.forward.brief import Brief
from synth.play.pinned_bundle import PinnedBundle
from tests.bundles import SCHEMA

CLOCK = "2026-03-16 09:00:00"
THINGS = 'id,name,cents\r\nt1,anvil,100\r\nt2,"bell, ""big""",200\r\nt3,"two\nlines",300\r\n'
PARTS = "thing_id,note\nt1,horn\nt2,\nt4,wick\n"
SEED = "INSERT INTO things (id, name) VALUES ('t4', 'candle');\nUPDATE things SET cents = cents + 1;\n"


@pytest.fixture
def shop(shelf: Path, tmp_path: Path) -> Path:
    """A sound bundle whose first rows are in files."""
    folder = Path(shutil.copytree(shelf / "shop", tmp_path / "library" / "shop"))
    (folder / "seed").mkdir()
    (folder / "seed" / "things.csv").write_bytes(THINGS.encode())
    (folder / "seed" / "parts.csv").write_text(PARTS)
    (folder / "seed.sql").write_text(SEED)
    return folder


async def test_rows_come_from_files_and_then_from_the_seed(shop: Path, tmp_path: Path) -> None:
    async with Worker(Library([shop.parent]), tmp_path / "state") as worker:
        assert await findings(shop, worker.guests) == []
        [ticket] = await worker.launch(Launch(environment="shop", scenario="dearer"))
        things = await worker.query(ticket.instance, "SELECT id, name, cents, typeof(cents), made_at FROM things")
        parts = await worker.query(ticket.instance, "SELECT id, thing_id, note FROM parts")
        log = await worker.query(ticket.instance, "SELECT count(*) FROM log")
    assert things.rows == (
        ("t1", "anvil", 101, "integer", CLOCK),
        ("t2", 'bell, "big"', 201, "integer", CLOCK),
        ("t3", "two\nlines", 301, "integer", CLOCK),
        ("t4", "candle", 1, "integer", CLOCK),
    )
    assert parts.rows == ((1, "t1", "horn"), (2, "t2", None), (3, "t4", "wick"))
    assert log.rows == ((4,),)


def test_an_empty_value_is_null_or_the_empty_text_where_a_text_must_be() -> None:
    schema = "CREATE TABLE a (id INTEGER PRIMARY KEY, must TEXT NOT NULL, may TEXT, many INTEGER, rate REAL) STRICT;"
    rows = RowFile("seed/a.csv", "a", b"id,must,may,many,rate\n1,,,,\n\n7,x,y,2,3\n")
    image, wrong = build(schema, "", "", CLOCK, [rows])
    with closing(Reader(image, image)) as reader:
        told = reader.select("SELECT * FROM a").rows
    assert (wrong, told) == ([], [(1, "", None, None, None), (7, "x", "y", 2, 3.0)])


def test_a_row_is_part_of_what_a_bundle_is(shop: Path) -> None:
    library = Library([shop.parent])
    before, proved, pinned = library.environment("shop"), digests(shop), PinnedBundle.of(shop)
    assert digest_of_bundle(shop) == before.digest
    with pytest.raises(BundleError, match=r"seed: has rows in files; this knows those of seed\.sql alone"):
        _ = before.seed
    (shop / "seed" / "things.csv").write_text(THINGS.replace("100", "111"))
    after = library.environment("shop")
    assert len({before.digest, after.digest, digest_of_bundle(shop)}) == 2
    assert [name for name in proved if proved[name] != digests(shop)[name]] == ["seed/things.csv"]
    with pytest.raises(BundleError, match=r"seed/things\.csv: is not what it was when"):
        pinned.require_unchanged()
    with pytest.raises(BundleError, match=r"seed/things\.csv: has changed while it was used"):
        before.seed_tables[1].text()
    (shop / "seed" / "parts.csv").unlink()
    assert library.environment("shop").digest not in {before.digest, after.digest}


async def test_copies_of_a_bundle_have_its_rows(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "more.jsonl").write_text(
        '{"id": "again", "title": "Once more", "task": "Please let it cost 3.", "checkpoints": ['
        '{"id": "priced", "role": "goal", "question": "?", "kind": "sql", "expect": [[300]], '
        '"sql": "SELECT cents FROM things WHERE id = \'t2\'"}]}\n'
    )
    assert await add_scenarios(shop, tmp_path / "more.jsonl") == ["again"]
    assert "wick" in Brief(load(shop)).holes()["rows"]


DAMAGED = {
    "a row too short": ("t1,anvil\n", "line 2: has 2 values, and there are 3 columns"),
    "a broken rule in the last of many": (
        "".join(f"n{n},thing {n},{n}\n" for n in range(10_000)) + "last,last,-1\n",
        "line 10002: CHECK constraint failed: cents >= 0",
    ),
    "a key twice": ("t1,anvil,1\nt1,bell,2\n", "line 3: UNIQUE constraint failed: things.id"),
    "a number that is none": ("t1,anvil,one\n", "'one' in the column cents is no number"),
    "a number that overflows": (
        "t1,anvil,1\nt2,bell,9e999\n",
        "a number in the column cents is larger than SQLite keeps",
    ),
    "no number where one must be": ("t1,anvil,\n", "line 2: NOT NULL constraint failed: things.cents"),
    "a quote without end": ('t1,"anvil,1\nt2,bell,2\n', "line 3: unexpected end of data"),
    "something behind a quote": ('t1,"anvil"x,1\n', "line 2: ',' expected after '\"'"),
    "a value that is too long": (f"t1,{'x' * 1_000_001},1\n", "line 2: field larger than field limit (1000000)"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damage_is_told_by_file_and_line(damage: str) -> None:
    rows, finding = DAMAGED[damage]
    file = RowFile("seed/things.csv", "things", f"id,name,cents\n{rows}".encode())
    assert build(SCHEMA, "", "", CLOCK, [file]) == (b"", [f"seed/things.csv: {finding}"])


ENDING = """
CREATE TRIGGER things_are_cheap BEFORE INSERT ON things WHEN NEW.cents > 500
BEGIN
    SELECT RAISE(ROLLBACK, 'too dear');
END;
"""


@pytest.mark.parametrize("place", ["seed/things.csv", "seed.sql", "setup"])
def test_rows_whose_fault_ends_their_transaction_are_told_by_their_place(place: str) -> None:
    """`RAISE(ROLLBACK)` does, and `OR ROLLBACK`: SQLite has rolled all back already."""
    dear = "INSERT INTO things (id, name, cents) VALUES ('t1', 'anvil', 501);"
    file = RowFile("seed/things.csv", "things", b"id,name,cents\nt1,anvil,501\n")
    _, [finding] = build(
        SCHEMA + ENDING,
        dear if place == "seed.sql" else "",
        dear if place == "setup" else "",
        CLOCK,
        [file] if place == "seed/things.csv" else [],
    )
    assert "too dear" in finding
    assert place in finding


HEADS = {
    "": "line 1: the first line has no names of columns",
    "id,nme\nt1,anvil\n": "line 1: things has no column 'nme' that can be written",
    "id,name,id\nt1,anvil,t1\n": "line 1: the column id stands twice",
}


@pytest.mark.parametrize("text", HEADS)
def test_a_head_that_does_not_fit_the_table_is_told(text: str) -> None:
    assert build(SCHEMA, "", "", CLOCK, [RowFile("seed/things.csv", "things", text.encode())])[1] == [
        f"seed/things.csv: {HEADS[text]}"
    ]


async def test_a_row_that_points_nowhere_and_a_table_that_is_not_there_are_findings(shop: Path) -> None:
    (shop / "seed" / "parts.csv").write_text("thing_id\nt9\n")
    async with Guests() as guests:
        [found] = await findings(shop, guests)
        assert "the first rows: the row id = 1 of parts points to a row of things that is not there" in found
        (shop / "seed" / "parts.csv").rename(shop / "seed" / "parcels.csv")
        [found] = await findings(shop, guests)
        assert found == f"{shop}: seed/parcels.csv: schema.sql creates no table parcels"


def a_folder_elsewhere(folder: Path) -> None:
    shutil.move(folder, folder.parent.parent / "elsewhere")
    folder.symlink_to(folder.parent.parent / "elsewhere")


def too_many(folder: Path) -> None:
    for number in range(501):
        (folder / f"t{number}.csv").touch()


ODD: dict[str, tuple[Callable[[Path], object], str]] = {
    "a folder that is a link": (a_folder_elsewhere, "seed: cannot be read: it is no folder of files"),
    "too many files": (too_many, "seed: holds more than 500 files"),
    "a file of another kind": (lambda at: (at / "things.parquet").touch(), "is not named after a table"),
    "a folder": (lambda at: (at / "log.csv").mkdir(), "seed/log.csv: cannot be read: it is a folder"),
    "a pipe": (lambda at: os.mkfifo(at / "log.csv"), "seed/log.csv: cannot be read: it is a named pipe"),
    "a link": (lambda at: (at / "log.csv").symlink_to("things.csv"), "log.csv: cannot be read: it is a symbolic link"),
    "bytes that are not UTF-8": (lambda at: (at / "log.csv").write_bytes(b"what\n\xff\n"), "not UTF-8 at byte 5"),
    "a NUL": (lambda at: (at / "log.csv").write_bytes(b"what\n\0\n"), "holds a NUL character, at byte 5"),
    "a byte order mark": (lambda at: (at / "log.csv").write_bytes(b"\xef\xbb\xbfwhat\n"), "a byte order mark"),
    "65 MB": (lambda at: os.truncate(at / "things.csv", 65 * 1024 * 1024), "things.csv: larger than 64 MiB"),
}


@pytest.mark.parametrize("odd", ODD)
def test_odd_files_of_rows_are_refused_by_their_name(shop: Path, odd: str) -> None:
    put_there, finding = ODD[odd]
    put_there(shop / "seed")
    found, _ = read_environment(shop)
    assert [finding in one for one in found] == [True], found


def test_hidden_files_are_none_of_the_bundles(shop: Path) -> None:
    before = load(shop).digest
    (shop / "seed" / ".directory").touch()
    assert load(shop).digest == before


async def test_rows_of_all_files_are_bounded_together_and_not_in_memory(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "".join(f"{n},{'x' * 1000}\n" for n in range(8_000))
    (shop / "seed" / "log.csv").write_text(f"id,what\n{rows}")
    async with Guests(folder=tmp_path) as guests:
        await guests.walls()
        tracemalloc.start()
        try:
            environment = load(shop)
            image, wrong = await built(environment, "", CLOCK, guests)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert (wrong, len(image) > 8_000_000, environment.seed_size > 8_000_000, most < 4_000_000) == (
        "",
        True,
        True,
        True,
    )
    monkeypatch.setattr("servers.bundle.seed_files.LARGEST_SEED", 8_000_000)
    with pytest.raises(BundleError, match=r"shop: seed\.sql and seed/ are together larger than 7 MiB"):
        load(shop)
