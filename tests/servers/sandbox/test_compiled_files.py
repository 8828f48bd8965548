"""Benchmarks' files are compiled once in an environment, by a guest that runs none of them."""

from servers.guest.python_checkpoint import compiled
from servers.guest.sqlite import start_image
from servers.guest.sqlite.connection import connect
from servers.guest.sqlite.sql_text import sql_literal
from servers.imported.benchmarks import package
from servers.imported.benchmarks.package import Upstream
from servers.sandbox.compiled_files import MOST_HELD
from servers.sandbox.guest_pool import Guests
from servers.toolkit import Database
from synth.interop.benchmarks.bundle_writer import UPSTREAM_TABLE

NOW = "2024-05-15 15:00:00"


def image_of(**files: str) -> bytes:
    """A state with the files in its table `upstream`."""
    rows = [
        f"INSERT INTO upstream VALUES ({sql_literal(f'{name}.py')}, {sql_literal(text)});"
        for name, text in files.items()
    ]
    image, findings = start_image.build(UPSTREAM_TABLE, "\n".join(rows), "", NOW)
    assert not findings
    return image


def upstream_of(image: bytes) -> Upstream:
    connection = connect()
    connection.deserialize("main", image)
    return Upstream(Database(connection, now=NOW, id_seed=""))


async def test_an_environments_files_are_compiled_once_for_all_judgements() -> None:
    image = image_of(scores="VALUE = 1")
    async with Guests() as guests:
        first = await guests.compiled("digest", image, seconds=20)
        assert first
        assert guests.started == 1
        assert await guests.compiled("digest", image_of(scores="VALUE = 2"), seconds=20) is first
        assert guests.started == 1


async def test_code_is_remembered_up_to_a_size() -> None:
    """Two of a bit more than half. One that is larger alone is not kept, and its judgements compile for themselves."""
    texts = {f"text_{number}": f"TEXT = {str(number) * (MOST_HELD // 5)!r}" for number in range(5)}
    half, larger = image_of(**dict(list(texts.items())[:3])), image_of(**texts)
    async with Guests() as guests:
        for digest in ("one", "other", "other", "one"):
            assert len(await guests.compiled(digest, half, seconds=20)) > MOST_HELD // 2
        assert guests.started == 3
        assert await guests.compiled("larger", larger, seconds=20) == b""


async def test_a_state_without_such_files_has_no_code_and_ends_nothing() -> None:
    image, _ = start_image.build("CREATE TABLE plain (id INTEGER PRIMARY KEY);", "", "", NOW)
    async with Guests() as guests:
        assert await guests.compiled("digest", image, seconds=20) == b""


def test_code_stands_for_the_text_that_it_was_made_of() -> None:
    package.take(compiled(image_of(of_test_compiled="VALUE = 1", broken_compiled="def (")))
    assert upstream_of(image_of(of_test_compiled="VALUE = 1")).module("of_test_compiled").VALUE == 1
    assert upstream_of(image_of(of_test_compiled="VALUE = 2")).module("of_test_compiled").VALUE == 2
    name = upstream_of(image_of(of_test_compiled="VALUE = 1")).module("of_test_compiled").__name__
    assert name == "of_test_compiled"
