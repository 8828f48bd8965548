"""Imports of benchmarks that are damaged, or that end in the middle: clear errors, and never half a bundle."""

import json
import random
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from servers.bundle.environment import load
from servers.bundle_library import Library
from servers.errors import RequestError
from servers.scenario.scenario_file import load_scenarios
from servers.text.json_values import is_list, is_object
from synth.interop.benchmarks.acebench import acebench
from synth.interop.benchmarks.bfcl import bfcl, bfcl_source
from synth.interop.benchmarks.clone import Clone
from synth.interop.benchmarks.tau_bench import tau_bench
from tests.benchmarks.replays import STAND_INS
from tests.benchmarks.test_bfcl import needs_mpmath
from tests.benchmarks.test_tau_bench import imported
from tests.processes import farm, started, until

PACKAGE = STAND_INS / "bfcl" / "bfcl_eval"
MISS_FUNC = "BFCL_v4_multi_turn_miss_func.json"
DATA = (f"data/{MISS_FUNC}", f"data/possible_answer/{MISS_FUNC}", "data/multi_turn_func_doc/ticket_api.json")
CODE = "eval_checker/multi_turn_eval/func_source_code/ticket_api.py"
ODD: tuple[Any, ...] = (
    *(None, True, -1, 1e999, "", "\ud800", "a\0b", "'; --", 2**70, "é" * 5000, [], {}, [[]], [None], [[["x"]]]),
    *({"1": "hang"}, {"x": ["hang"]}, {"1": [None]}, {"-1": ["hang"]}, {"9" * 30: ["hang"]}, {"a": {"a": {}}}),
)
JUNK = (b"(", b"[" * 300, b"\x00", b'"', b"'", b"\n", b"\\", b"9" * 5000, b"\xff\xfe")
RUNS = 60


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values in a value of JSON, but of the whole."""
    keys: Sequence[Any] = [*value] if is_object(value) else range(len(value)) if is_list(value) else ()
    inside: Any = value
    for key in keys:
        yield (*at, key)
        yield from places(inside[key], (*at, key))


def with_an_odd_value(text: str, chance: random.Random) -> str:
    """A file of rows, one of which has another value somewhere, or lacks one."""
    rows = [json.loads(line) for line in text.splitlines()]
    row = chance.choice(rows)
    *way, last = chance.choice(list(places(row)))
    for key in way:
        row = row[key]
    if chance.random() < 0.2:
        del row[last]
    else:
        row[last] = chance.choice(ODD)
    return "\n".join(map(json.dumps, rows))


def with_junk(content: bytes, chance: random.Random) -> bytes:
    """A file that lost a part, or has something in it that does not belong there."""
    at = chance.randrange(len(content))
    return content[:at] + chance.choice(JUNK) + content[at + chance.choice((0, 1, 100, len(content))) :]


def trouble_of(package: Path) -> str | None:
    """What an import says of a package. None if it reads it, with tools and tasks."""
    try:
        bundle = bfcl(bfcl_source("v4", None, package), "miss_func", any_version=True)
    except RequestError as error:
        return str(error)
    assert len(bundle.tools) > 2
    assert bundle.scenarios
    return None


@needs_mpmath
def test_a_damaged_package_is_read_or_told_by_file_and_row(tmp_path: Path) -> None:
    """Sixty damages of one seed. What is read all the same has all of its tasks."""
    chance = random.Random(16)  # noqa: S311 - the same damages each time
    told = 0
    for number in range(RUNS):
        package = tmp_path / str(number) / "bfcl_eval"
        shutil.copytree(PACKAGE, package)
        name = chance.choice((*DATA, CODE))
        file = package / name
        if name != CODE and number % 4:
            file.write_text(with_an_odd_value(file.read_text(encoding="utf-8"), chance), encoding="utf-8")
        else:
            file.write_bytes(with_junk(file.read_bytes(), chance))
        error = trouble_of(package)
        if error is not None:
            told += 1
            assert str(package) in error, name
            is_of_all = "UTF-8" in error or "is empty" in error
            assert "row " in error or name == CODE or is_of_all, error
    assert RUNS // 3 < told < RUNS


def stand_in(folder: Path, name: str) -> Path:
    shutil.copytree(STAND_INS / name, folder / name)
    return folder / name


def of_bfcl(clone: Path) -> object:
    return bfcl(bfcl_source("v4", None, clone), "base", any_version=True)


def of_tau_bench(clone: Path) -> object:
    return tau_bench(Clone(clone, "tau-bench"), "retail", "test", any_version=True)


def of_acebench(clone: Path) -> object:
    return acebench(Clone(clone, "ACEBench"), "en", "multi_turn", any_version=True)


@needs_mpmath
@pytest.mark.parametrize(
    ("read", "name", "path", "text"),
    [
        (of_bfcl, "bfcl", "bfcl_eval/data/BFCL_v4_multi_turn_base.json", "\n"),
        (of_tau_bench, "tau-bench", "tau_bench/envs/retail/tasks_test.py", "TASKS_TEST = []\n"),
        (of_acebench, "acebench", "data_all/data_en/data_agent_multi_turn.json", ""),
    ],
)
def test_a_benchmark_without_tasks_is_an_error(
    tmp_path: Path, read: Callable[[Path], object], name: str, path: str, text: str
) -> None:
    clone = stand_in(tmp_path, name)
    (clone / path).write_text(text, encoding="utf-8")
    with pytest.raises(RequestError, match="is empty") as error:
        read(clone)
    assert str(clone / path) in str(error.value)


@needs_mpmath
@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('["walk_to(', '["walk = (', f"possible_answer/{MISS_FUNC}: row 1: SyntaxError"),
        ("miss_func_1", "miss_func_0", f"possible_answer/{MISS_FUNC}: row 2: ValueError: has the id .* of row 1"),
        ("miss_func_1", "miss_func_9", f"data/{MISS_FUNC}: row 2: ValueError: .* has no truth in"),
        ('"ground_truth"', '"ground"', f"possible_answer/{MISS_FUNC}: row 1: KeyError: 'ground_truth'"),
    ],
)
def test_a_truth_that_cannot_be_read_is_told_by_its_own_row(tmp_path: Path, old: str, new: str, told: str) -> None:
    clone = stand_in(tmp_path, "bfcl")
    file = clone / "bfcl_eval/data/possible_answer" / MISS_FUNC
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(RequestError, match=told):
        bfcl(bfcl_source("v4", None, clone), "miss_func", any_version=True)


async def test_an_import_that_is_killed_leaves_what_was_there_whole(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("import", "tau-bench", str(STAND_INS / "tau-bench"), "--domain", "retail", "--any-version", "--out", out)
    await imported(STAND_INS / "tau-bench", out)
    [bundle] = out.iterdir()
    running = await started(*command, home=tmp_path)
    await until(lambda: bool(list(out.glob(".*"))) or not running.runs, "the import begins to write")
    running.send(signal.SIGKILL)
    await running.ended()
    if bundle.exists():  # between two renames there is none
        assert len(load_scenarios(load(bundle))) == 3
    assert set(Library([out]).ids()) <= {bundle.name}
    done = await farm(*command, home=tmp_path)
    assert (done.code, [one.name for one in out.iterdir()]) == (0, [bundle.name])
