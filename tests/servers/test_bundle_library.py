"""What a library keeps of its bundles: a bounded amount, and no first rows."""

import tracemalloc
from pathlib import Path

import pytest

from servers.bundle.environment import load
from servers.bundle_library import Library
from servers.errors import BundleError
from servers.messages import Launch
from servers.worker.worker import Worker
from tests.bundles import SEED, write_bundle

LARGE_SEED = SEED + f"-- {'x' * 1_000_000}\n"


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    for name in ("one", "other"):
        await write_bundle(tmp_path / "library" / name)
    return tmp_path / "library"


def test_readings_above_the_budget_are_freed_and_read_again(folder: Path) -> None:
    library = Library([folder], most_read=1)
    first = library.environment("one")
    assert (library.current("one"), library.keeps(first)) == (first, True)
    assert len(library.scenarios("other")) == 1
    assert (library.current("one"), library.keeps(first)) == (None, False)
    again = library.environment("one")
    assert (again == first, library.keeps(again), library.keeps(first)) == (True, True, False)


def test_scenarios_are_counted_once(folder: Path) -> None:
    library = Library([folder], most_read=1)
    assert library.number_of_scenarios("one") == 1
    library.environment("other")
    freed = library.forgotten
    assert (library.number_of_scenarios("one"), library.forgotten) == (1, freed)
    scenarios = folder / "one" / "scenarios.jsonl"
    scenarios.write_text(scenarios.read_text() * 2)
    with pytest.raises(BundleError, match="line 2"):
        library.number_of_scenarios("one")


def test_first_rows_are_not_kept(folder: Path) -> None:
    (folder / "one" / "seed.sql").write_text(LARGE_SEED)
    library = Library([folder])
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        environment = library.environment("one")
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert environment.seed == LARGE_SEED
    assert after - before < len(LARGE_SEED) / 2


def test_first_rows_that_have_changed_meanwhile_are_not_taken(folder: Path) -> None:
    environment = load(folder / "one")
    (folder / "one" / "seed.sql").write_text(LARGE_SEED)
    with pytest.raises(BundleError, match=r"seed.sql: has changed while it was used"):
        _ = environment.seed


async def test_instances_of_a_freed_environment_are_closed_and_there_again(folder: Path, tmp_path: Path) -> None:
    async with Worker(Library([folder], most_read=1), tmp_path / "state") as worker:
        tickets = {name: (await worker.launch(Launch(environment=name)))[0].instance for name in ("one", "other")}
        for _ in range(2):
            for name, instance in tickets.items():
                used = await worker.opened(instance)
                assert (await used.call("price", {"id": "t2", "cents": 250})).kind == "ok"
                assert used.environment.id == name
                assert len(worker.in_use) == 1
        assert [(await worker.standing(one)).calls for one in tickets.values()] == [2, 2]
