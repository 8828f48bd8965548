"""`farm bench`: what it prints of given figures, and that a quick run on this machine ends with a table and a plot."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench import budget, engine, subject
from bench.budget import ARGUMENTS, DOOR, FILES, FUNCTIONS, GUEST, LOOP, PARTS, TOOL, Budget, Cost, part_of
from bench.load import HANDSHAKE, MODERN, percentile
from bench.measuring import BARE, COPYING, FARM, FRESH, Latency, Row
from bench.peers.copying_environment import difference
from bench.table import as_json, page
from servers.bundle.environment import load
from servers.sandbox.guest_pool import Guests
from servers.state.start_images import built

ROWS = [
    Row(COPYING, 1, {"reset": Latency(1, 2), "call": Latency(10, 20)}, {"": 100.0}, {"": 10_000.0}, 200_000.0),
    Row(FRESH, 8, {"launch": Latency(900, 1200)}, {"": 300.0}, {"": 3000.0}, 56_000_000.0),
    Row(
        FARM, 64, {"call": Latency(1, 3)}, {MODERN: 3000.0, HANDSHAKE: 2000.0}, {MODERN: 400.0, HANDSHAKE: 500.0}, 60e3
    ),
    Row(
        BARE, 64, {"call": Latency(1, 2)}, {MODERN: 4000.0, HANDSHAKE: 1000.0}, {MODERN: 250.0, HANDSHAKE: 800.0}, None
    ),
]


def test_the_table_gives_the_ratios_to_the_bare_server_in_both_eras() -> None:
    text = page(ROWS)
    assert "| 64 | 3,000 / 2,000 | 4,000 / 1,000 | 0.75 / 2.00 | 400 / 500 | 250 / 800 |" in text
    assert "| process per instance | 8 | 900.00 (1200.00) |" in text
    assert "| farm | 64 | 60 |" in text


def test_programs_read_the_same_figures() -> None:
    rows = json.loads(as_json(ROWS))["rows"]
    assert [row["subject"] for row in rows] == [COPYING, FRESH, FARM, BARE]
    assert rows[2]["latencies"]["call"] == {"p50": 1, "p99": 3}


def test_a_percentile_is_one_of_the_values() -> None:
    assert percentile([], 0.5) == 0
    assert percentile([3, 1, 2], 0.5) == 2
    assert percentile(range(100), 0.99) == 99


def test_the_peer_that_compares_whole_states_finds_what_differs() -> None:
    before = {"items": {"a": {"stock": 1}, "b": {"stock": 1}}}
    after = {"items": {"a": {"stock": 2}, "b": {"stock": 1}}}
    assert difference(before, after) == {"items": {"a": {"stock": {"old": 1, "new": 2}}}}
    assert difference(before, before) is None


def test_without_matplotlib_it_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['matplotlib'] = None; sys.argv[1:] = ['bench']; import farm; farm.main()"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "envfarm[bench]" in done.stderr


SERVERS = Path(__file__).resolve().parents[1] / "servers"


def test_each_place_of_the_budget_is_in_the_code() -> None:
    for file in FILES:
        assert len(list(SERVERS.rglob(file))) == 1, file
    instance = (SERVERS / "worker" / "instance.py").read_text(encoding="utf-8")
    for named in FUNCTIONS:
        file, _, function = named.partition(":")
        assert file == "instance.py"
        assert f"def {function}(" in instance, named


def test_a_moment_of_a_call_belongs_to_the_innermost_part_that_is_known() -> None:
    door, call = "/farm/servers/doors/mcp.py:_let_in", "/farm/servers/worker/instance.py:call"
    checked = "/farm/servers/worker/instance.py:_checked"
    assert part_of(["/lib/json/decoder.py:decode", checked, call, door]) == ARGUMENTS
    assert part_of([call, door]) == DOOR
    assert part_of(["/lib/asyncio/runners.py:run"]) == LOOP


def test_the_budget_adds_up() -> None:
    one = Budget(1, dict.fromkeys((*PARTS, TOOL, GUEST), 10.0))
    text = budget.page([one, one._replace(instances=64)], [Cost("walls", 250.0, 3.0)])
    assert "| all | 100 | 100 |" in text
    assert "| 1 instance | 64 instances |" in text
    assert "| walls | 250 | 3 |" in text


def test_a_ratio_is_the_median_of_rounds_that_followed_each_other() -> None:
    ours = [engine.Speed(per_second, 300.0) for per_second in (90.0, 30.0, 80.0)]
    theirs = [engine.Speed(per_second, 200.0) for per_second in (100.0, 40.0, 50.0)]
    rounds = {engine.FARM: ours, engine.SDK: theirs}
    assert engine.ratio("calls", rounds, engine.FARM, engine.SDK, 0.9).found == "0.90 (80 and 50)"
    assert engine.ratio("calls", rounds, engine.FARM, engine.SDK, 0.9).met
    assert not engine.ratio("calls", rounds, engine.FARM, engine.SDK, 0.91).met


async def test_a_bundle_may_be_made_of_some_size(tmp_path: Path) -> None:
    subject.write_bundle(tmp_path / "store", 1_000_000)
    async with Guests() as guests:
        image, wrong = await built(load(tmp_path / "store"), "", "2026-01-05 08:00:00", guests)
    assert (wrong, 1_000_000 < len(image) < 1_500_000) == ("", True)


@pytest.mark.slow
def test_a_quick_run_writes_a_table_and_a_plot(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "farm", "bench", "--quick", "--out", str(tmp_path / "out")]
    subprocess.run(command, check=True, timeout=180)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"table.md", "table.json", "plot.svg"}
    assert (tmp_path / "out" / "plot.svg").read_text(encoding="utf-8").rstrip().endswith("</svg>")


def test_the_official_code_is_asked_for_before_it_is_played(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['bfcl_eval'] = None; sys.argv[1:] = ['bench', '--official']; import farm; farm.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install --no-deps bfcl-eval==" in done.stderr
