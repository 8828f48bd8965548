"""The comparison of ways to credit turns: what is read of its runs, and how they are set beside each other."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.credit import Held, Plan, is_done, read_tests, reward_at, spread, table, write_result
from bench.processor_watch import ProcessorTime, last_step, watched
from tests.processes import until


def log(run: Path, rewards: list[float], *, tokens: float = 100.0) -> None:
    """A trainer's log with a test after every second step, and one before the first."""
    run.mkdir(parents=True)
    lines = [{"step": 0, "data": rewarded(rewards[0])}]
    for step in range(1, 2 * len(rewards) - 1):
        trained = {"farm/tokens": tokens, "timing_s/step": 12.0, "timing_s/testing": 0.0 if step % 2 else 2.0}
        lines.append({"step": step, "data": trained})
        if step % 2 == 0:
            lines.append({"step": step, "data": rewarded(rewards[step // 2])})
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    used = [30.0 + 10.0 * step + 5.0 * (step // 2) for step in range(2 * len(rewards) - 1)]
    noted = [{"step": step, "seconds": seconds} for step, seconds in enumerate(used)]
    (run / "processor.jsonl").write_text("".join(json.dumps(line) + "\n" for line in noted))


def rewarded(reward: float) -> dict[str, float]:
    return {"val-core/scenarios/reward/mean@1": reward, "val-core/level/reward/mean@1": reward / 2}


def test_a_test_is_placed_by_the_tokens_and_the_time_of_training_before_it(tmp_path: Path) -> None:
    log(tmp_path / "run", [0.25, 0.5])
    assert read_tests(tmp_path / "run") == [
        Held(0, 0.0, 0.0, 0.0, {"scenarios": 0.25, "level": 0.125}),
        Held(2, 200.0, 24.0, 20.0, {"scenarios": 0.5, "level": 0.25}),
    ], "ten processor seconds a step: what the test after the second one took is not in them"
    assert (is_done(tmp_path / "run", 2), is_done(tmp_path / "run", 3)) == (True, False)
    assert not is_done(tmp_path / "none", 1)


def test_runs_are_compared_where_the_shortest_of_them_ends(tmp_path: Path) -> None:
    log(tmp_path / "GRPO-0", [0.0, 0.4])
    log(tmp_path / "GRPO-1", [0.2, 0.4])
    log(tmp_path / "branching-0", [0.0, 0.4, 1.0], tokens=200.0)
    write_result(tmp_path, Plan(2, 4, 400, 500, 2, 4, ("GRPO", "progress", "branching")))
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["budgets"] == {"tokens": 200.0, "processor": 20.0}
    assert list(result["runs"]) == ["GRPO", "branching"], "one that has not begun is not there"
    rows = (tmp_path / "table.md").read_text().splitlines()
    assert rows[2:] == [
        "| GRPO | 2 | 100 | 10.0 | 0.10 ± 0.10 | 0.40 ± 0.00 | 0.40 ± 0.00 | 0.05 ± 0.05 | 0.20 ± 0.00 | 0.20 ± 0.00 |",
        "| branching | 1 | 200 | 10.0 | 0.00 | 0.20 | 0.40 | 0.00 | 0.10 | 0.20 |",
    ]


def test_a_budget_that_no_test_reaches_has_no_reward(tmp_path: Path) -> None:
    log(tmp_path / "run", [0.0, 1.0])
    tests = read_tests(tmp_path / "run")
    assert reward_at(tests, 50.0, "tokens", "scenarios") == pytest.approx(0.25)
    assert reward_at(tests, 201.0, "tokens", "scenarios") is None
    assert spread([None]) == "–"
    assert "| GRPO | 1 |" in table({"GRPO": [tests]}, {"tokens": 201.0, "processor": 1.0})


def test_the_processor_time_of_a_process_that_has_ended_still_counts() -> None:
    busy = "import time\nwhile time.process_time() < 0.2: pass\nprint(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", busy], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        timed = ProcessorTime(child.pid)
        seen = timed.look()
        child.communicate(b"\n")
    assert 0.1 < seen == timed.look()


async def test_each_step_of_a_training_is_noted_with_the_processor_time_up_to_then(tmp_path: Path) -> None:
    noted, metrics = tmp_path / "processor.jsonl", tmp_path / "metrics.jsonl"
    with watched(noted, metrics):
        metrics.write_text('{"step": 0}\n')
        await until(noted.is_file, "the first step is noted")
        metrics.write_text('{"step": 0}\n{"step": 1}\n{"step": ')
        assert last_step(metrics) == 1, "a line that is still being written is not read"
    steps = [json.loads(line) for line in noted.read_text().splitlines()]
    assert [one["step"] for one in steps] == [0, 1]
    assert steps[0]["seconds"] <= steps[1]["seconds"]
