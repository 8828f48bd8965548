"""Runs that pages look at: found by their files, read on while they grow, and told when they are none."""

import json
import os
from pathlib import Path

import pytest

from evals.report.report import read_report
from evals.report.run_shelf import again, found_runs
from evals.report.training_log import episodes_of, steps_of, training_data
from evals.report.watched_runs import MOST_ROLLOUTS, WatchedRun, WatchedRuns, page_data
from evals.runs.folder import RunFolder
from servers.errors import NotFound, RequestError
from tests.evals.run_folders import write_evaluation, write_synthesis, write_training
from tests.evals.suite_runs import shop


async def test_a_run_that_grows_is_read_on_and_has_the_figures_of_the_report(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as farm:
        run = (await write_evaluation(farm, tmp_path / "runs" / "one")).path
    lines = (run / "rollouts.jsonl").read_bytes().splitlines(keepends=True)
    (run / "rollouts.jsonl").write_bytes(b"".join(lines[:1]) + lines[1][:40])
    watched = WatchedRun(run)
    [found] = found_runs([tmp_path / "runs"])

    def clock() -> float:
        return 0.0

    first, mark = watched.report(found, clock=clock)
    assert (len(first.rollouts), first.torn, first.missing) == (1, 40, 3)
    with (run / "rollouts.jsonl").open("ab") as file:
        file.write(lines[1][40:] + b"".join(lines[2:]))
    second, after = watched.report(again(found), clock=clock)
    assert after != mark
    whole = read_report(RunFolder(run))
    assert second._replace(subjects=whole.subjects) == whole
    assert watched.subject("shop/easy") == whole.subjects["shop/easy"]
    assert all(one.reference is None or one.reference.trace is None for one in second.subjects.values())
    (run / "rollouts.jsonl").unlink()  # another run takes its place
    (run / "rollouts.jsonl").write_bytes(lines[3])
    third, _ = watched.report(again(found), clock=clock)
    assert len(third.rollouts) == 1


async def test_a_run_that_costs_much_to_read_is_not_read_at_every_look(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as farm:
        run = (await write_evaluation(farm, tmp_path / "one")).path
    [found] = found_runs([run])
    now = [0.0]
    watched = WatchedRun(run)

    def clock() -> float:
        now[0] += 1.0
        return now[0]

    _, mark = watched.report(found, clock=clock)
    os.utime(run / "rollouts.jsonl")
    assert watched.report(again(found), clock=clock)[1] == mark
    now[0] += 100
    assert watched.report(again(found), clock=clock)[1] != mark


async def test_a_page_has_runs_rollouts_and_subjects_by_name(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as farm:
        await write_evaluation(farm, tmp_path / "runs" / "gold")
        await write_evaluation(farm, tmp_path / "runs" / "idle", "idle")
    runs = sorted(found_runs([tmp_path / "runs"]), key=lambda run: run.name)
    watched = WatchedRuns()
    reports, _ = watched.reports(runs)
    told = page_data(runs, reports)
    assert [one["name"] for one in told["runs"]] == ["test", "test"]
    assert [one["id"] for one in told["runs"]] == [run.id for run in runs]
    [compared] = told["comparisons"]
    assert compared["success"]["difference"][0] == -0.5
    rollout = watched.rollout(runs[0], "shop/easy#1")
    assert [call["tool"] for turn in rollout["turns"] for call in turn["calls"]] == ["price"]
    assert watched.subject(runs[0], "shop/easy")["title"] == "Make the bell dearer"
    with pytest.raises(NotFound, match="no rollout"):
        watched.rollout(runs[0], "shop/easy#9")
    with pytest.raises(NotFound, match="no scenario"):
        watched.subject(runs[0], "shop/nothing")


async def test_a_result_of_five_megabytes_does_not_reach_a_page(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as farm:
        run = (await write_evaluation(farm, tmp_path / "one")).path
    told = json.loads((run / "rollouts.jsonl").read_text().splitlines()[0])
    told["rollout"]["trace"]["turns"][0]["results"][0]["text"] = "w" * 5_000_000
    (run / "rollouts.jsonl").write_text(json.dumps(told) + "\n")
    [found] = found_runs([run])
    [name] = [one.key for one in WatchedRun(run).report(found)[0].rollouts]
    page = json.dumps(WatchedRuns().rollout(found, name))
    assert len(page) < 50_000
    assert "4,980,000 more characters" in page


async def test_a_run_too_large_for_a_browser_is_told(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as farm:
        run = (await write_evaluation(farm, tmp_path / "one")).path
    header = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**header, "rollouts": MOST_ROLLOUTS + 1}))
    with pytest.raises(RequestError, match="farm report"):
        WatchedRun(run).report(found_runs([run])[0])


def test_runs_are_known_by_their_files_and_links_are_not_followed(tmp_path: Path) -> None:
    write_training(tmp_path / "runs" / "rl" / "seed-0")
    write_synthesis(tmp_path / "runs" / "blood")
    (tmp_path / "runs" / "other").mkdir()
    (tmp_path / "runs" / "other" / "run.json").write_text("{}")
    (tmp_path / "runs" / "loop").symlink_to(tmp_path / "runs")
    (tmp_path / "runs" / ".hidden").mkdir()
    write_training(tmp_path / "runs" / ".hidden" / "rl")
    found = found_runs([tmp_path / "runs", tmp_path / "nowhere"])
    assert sorted((run.name, run.kind) for run in found) == [("blood", "synthesis"), ("rl/seed-0", "training")]
    assert len({run.id for run in found}) == 2


def test_a_training_log_has_its_curves_and_the_episodes_of_a_step(tmp_path: Path) -> None:
    run = write_training(tmp_path / "rl")
    told = training_data(run)
    assert told["held_out"] == [{"name": "shop", "points": [(0, 0.25), (2, 0.5)]}]
    assert told["trained"] == [(1, 0.5), (2, 0.75)]
    assert (told["steps"], told["episodes"]) == (2, [1])
    assert [one["score"] for one in episodes_of(run, 1)] == [1.0, 0.0]
    with pytest.raises(NotFound, match="step 2"):
        episodes_of(run, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"step": 1}\n', "line 1: no step"),
        ("[]\n", "line 1: no JSON object"),
        ('{"step": 1, "data": {}}\n{"st\n', "line 2: no JSON"),
        ("[" * 100_000 + "\n", "line 1: no JSON"),
    ],
)
def test_what_is_no_training_log_is_told_by_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text(text)
    with pytest.raises(RequestError, match=message):
        steps_of(tmp_path / "metrics.jsonl")


def test_a_line_of_a_log_that_is_being_written_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "data": {"a": 1}}\n{"step": 2, "da')
    assert [one.step for one in steps_of(tmp_path / "metrics.jsonl")] == [1]
