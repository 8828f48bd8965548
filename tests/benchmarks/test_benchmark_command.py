"""`farm benchmark`: one command from an endpoint to the number."""

import asyncio
import json
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi import Request, Response
from playwright.async_api import Locator, async_playwright, expect

from evals.report.report import read_report
from evals.runs.folder import RunFolder
from tests.benchmarks.replays import STAND_INS
from tests.benchmarks.test_acebench import import_acebench
from tests.benchmarks.test_bfcl import bfcl_farm, needs_mpmath
from tests.benchmarks.test_tau_bench import RETAIL, tau_bench_farm
from tests.doubles import StubEndpoint, said
from tests.processes import LONG, farm, started
from tests.registry.web.browsers import CHROMIUM, FLAGS, NEEDS_BROWSER

ACE = "acebench_en_multi_step"
BASE = "bfcl_v4_base"
PROBES = 1
"""The requests by which a command learns that its model answers."""


@dataclass
class TurnEndpoint(StubEndpoint):
    """Answers each request by a word, and tells when the request with a number has come, which stays unanswered."""

    hangs_at: int | None = None

    def __post_init__(self) -> None:
        self.hangs = asyncio.Event()

    async def _complete(self, request: Request) -> Response:
        await request.json()  # whole, so that it counts even if its sender is killed now
        self.answers.append(said("ok") if len(self.requests) != self.hangs_at else None)
        if self.answers[-1] is None:
            self.hangs.set()
        return await super()._complete(request)


async def test_it_plays_and_prints_the_number_and_goes_on(tmp_path: Path) -> None:
    async with tau_bench_farm(tmp_path):
        pass
    once = [said("Hello there."), said("What can I do?"), said("###STOP###")]
    endpoint = StubEndpoint([said("ok"), said("ok"), *once, *once, *once, said("ok"), said("ok")])
    async with endpoint.serve() as url:
        told = ("benchmark", "tau-bench", "--model", "m", "--user-model", "u", "--base-url", url, "--only", RETAIL)
        where = ("--imported", tmp_path / "imported", "--out", tmp_path / "run", "--concurrency", "1", "--json")
        done = await farm(*told, *where, home=tmp_path)
        assert done.code == 0, done.err
        found = json.loads(done.out)
        assert (found["model"], found["user_model"], found["numbers"]) == ("m", "u", {"tau_bench": 0.0})
        [part] = found["parts"]
        assert (part["judged"], part["tasks"]) == (3, 3)
        assert part["source"].startswith("tau-bench (unknown, digest ")
        assert "; checker tau_bench/envs/base.py " in part["source"]
        again = await farm(*told, *where, home=tmp_path)
        assert json.loads(again.out)["parts"] == found["parts"]
    [number] = read_report(RunFolder(tmp_path / "run")).benchmarks
    assert number.success is not None
    assert number.success.value == 0.0


@needs_mpmath
async def test_its_report_tells_the_turn_at_which_an_episode_failed(tmp_path: Path) -> None:
    async with bfcl_farm(tmp_path, "base"):
        pass
    async with StubEndpoint([said("ok")] * 20).serve() as url:
        told = ("benchmark", "bfcl-v4", "--model", "m", "--base-url", url, "--only", "bfcl_v4_base")
        where = ("--imported", tmp_path / "imported", "--out", tmp_path / "run", "--concurrency", "1")
        done = await farm(*told, *where, home=tmp_path)
        assert done.code == 0, done.err
    report = read_report(RunFolder(tmp_path / "run"))
    assert [(one.name, one.judged) for one in report.groups["failed at turn"]] == [("1", report.all.judged)]


@needs_mpmath
async def test_one_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    """The first task has three turns and the second has two. The command is killed in the last turn of all."""
    async with bfcl_farm(tmp_path, "base"):
        pass
    endpoint = TurnEndpoint([], hangs_at=PROBES + 4)
    async with endpoint.serve() as url:
        told = ("benchmark", "bfcl-v4", "--model", "m", "--base-url", url, "--only", BASE)
        where = ("--imported", tmp_path / "imported", "--out", tmp_path / "run", "--concurrency", "1", "--json")
        running = await started(*told, *where, home=tmp_path)
        async with asyncio.timeout(LONG):
            await endpoint.hangs.wait()
        running.send(signal.SIGKILL)
        await running.ended()
        lines = (tmp_path / "run" / "rollouts.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(one)["rollout"]["scenario"] for one in lines] == ["task_0"]
        done = await farm(*told, *where, home=tmp_path)
    assert done.code == 0, done.err
    assert [(one["judged"], one["tasks"]) for one in json.loads(done.out)["parts"]] == [(2, 2)]
    assert len(endpoint.requests) == PROBES + 3 + 2 + PROBES + 2, "the task that was finished is not played again"
    assert (tmp_path / "run" / "rollouts.jsonl").read_text(encoding="utf-8").splitlines()[:1] == lines


SWAP = {"order_id": "N3", "old": "thyme", "new": "lavender", "count": 6}
BYE = json.dumps({"summary": "Otto"})


@dataclass
class ClerkEndpoint(StubEndpoint):
    """Plays the user `u`, who tells all at once, and the agent. A trained one knows what Otto Birch needs."""

    async def _complete(self, request: Request) -> Response:
        asked = await request.json()
        messages = asked["messages"]
        last = str(messages[-1].get("content"))
        if asked["model"] == "u":
            self.answers.append(said(messages[0]["content"] if len(messages) == 2 else "###STOP###"))
        elif asked["model"] == "trained" and "Otto" in last:
            self.answers.append(said(calls=[{"id": "1", "name": "swap_plant", "arguments": json.dumps(SWAP)}]))
        elif messages[-1]["role"] == "tool":
            self.answers.append(said(calls=[{"id": "2", "name": "transfer_to_human_agents", "arguments": BYE}]))
        else:
            self.answers.append(said("finish conversation"))
        return await super()._complete(request)


async def of_both(folder: Path, url: str, model: str, run: str) -> list[dict[str, Any]]:
    """The numbers of a model on tau-bench and ACEBench, by one command."""
    only = ("--only", RETAIL, "--only", ACE)
    where = ("--imported", folder / "imported", "--out", folder / run, "--concurrency", "1", "--json")
    done = await farm("benchmark", "--model", model, "--user-model", "u", "--base-url", url, *only, *where, home=folder)
    assert done.code == 0, done.err
    return json.loads(done.out)


@pytest.fixture
async def both_runs(tmp_path: Path) -> list[Path]:
    """The runs of a checkpoint before and after its training."""
    async with tau_bench_farm(tmp_path):
        pass
    await import_acebench(STAND_INS / "acebench", tmp_path / "imported", "en", "multi_step")
    async with ClerkEndpoint([]).serve() as url:
        [tau, ace] = await of_both(tmp_path, url, "base", "before")
        assert (tau["benchmark"], ace["benchmark"]) == ("tau-bench", "acebench")
        assert (tau["numbers"], ace["numbers"]) == ({"tau_bench": 0.0}, {"acebench": 0.0})
        [tau, ace] = await of_both(tmp_path, url, "trained", "after")
        assert (round(tau["numbers"]["tau_bench"], 1), ace["numbers"]) == (33.3, {"acebench": 0.0})
        assert [one["figures"]["acebench"] for one in ace["references"]] == [60.0, 72.5]
    return [tmp_path / run / name for run in ("before", "after") for name in ("tau-bench", "acebench")]


async def test_all_benchmarks_are_played_by_one_command_before_and_after_training(
    both_runs: list[Path], tmp_path: Path
) -> None:
    done = await farm("report", *both_runs, "--json", home=tmp_path)
    told = json.loads(done.out)
    found = [(Path(one["first"]).parent.name, Path(one["other"]).parent.name) for one in told["comparisons"]]
    assert found == [("before", "after"), ("before", "after")]
    tau, ace = told["comparisons"]
    assert (len(tau["scenarios"]), len(ace["scenarios"])) == (3, 2)
    assert (round(tau["success"]["difference"][0], 3), ace["success"]["difference"][0]) == (0.333, 0.0)
    done = await farm("report", *both_runs, home=tmp_path)
    said_by_paper = "for reference: Qwen3-8B + EnvScaler 44.8 % (EnvScaler's paper, after SFT and RL"
    assert said_by_paper in done.out
    few = "(only 1 of 2 parts: not the benchmark's own number)"
    assert f"tau_bench: 33.3 %, the mean over its parts {few}" in done.out
    assert "; checker tau_bench/envs/base.py " in done.out
    assert "base (user: u; limits: official)" in done.out


@NEEDS_BROWSER
async def test_the_page_shows_the_models_beside_each_other_and_what_the_paper_reports(
    both_runs: list[Path], tmp_path: Path
) -> None:
    await farm("report", *both_runs, "--html", "page.html", home=tmp_path)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS])
        page = await browser.new_page()
        await page.goto((tmp_path / "page.html").as_uri())
        section = page.locator("section", has=page.get_by_role("heading", name="Public benchmarks"))
        rows = [[await cell.inner_text() for cell in await row.locator("td").all()] for row in await rows_of(section)]
        played = "user: u, limits: official, 1 trial, of tau_bench only 1 of 2 parts, of acebench only 1 of 4 parts"
        assert rows[:2] == [[f"base\nbefore; {played}", "0.0", "0.0"], [f"trained\nafter; {played}", "0.0", "33.3"]]
        [paper] = [row for row in rows if row[0].startswith("Qwen3-8B + EnvScaler, for reference")]
        assert (paper[0].splitlines()[1][:17], paper[1:]) == ("EnvScaler's paper", ["72.5", "44.8"])
        [part] = [row for row in rows if row[0].startswith(RETAIL)]
        assert "checker tau_bench/envs/base.py" in part[0]
        assert part[1].startswith("0.0 [")
        assert part[2].startswith("33.3 [")
        assert part[2].endswith("3 of 3 judged")
        await expect(page.get_by_role("heading", name="after/tau-bench against before/tau-bench")).to_be_visible()
        await browser.close()


async def rows_of(section: Locator) -> list[Locator]:
    return await section.locator("tbody tr").all()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("bfcl",), "there is no benchmark 'bfcl'; there are: tau-bench, bfcl-v3, bfcl-v4, acebench"),
        (("tau-bench",), "a model plays the user of tau-bench: name one with --user-model"),
        (
            ("bfcl-v4", "--only", "bfcl_v3_base"),
            "--only bfcl_v3_base: no such environment is of bfcl-v4; there are:",
        ),
        (("acebench", "--user-model", "u"), "is not imported; give your clone or data of acebench with --from"),
        (("acebench", "--user-model", "u", "--from", "nowhere"), "nowhere: is no folder"),
    ],
)
async def test_what_cannot_be_played_is_told_before(tmp_path: Path, arguments: tuple[str, ...], why: str) -> None:
    url = ("--base-url", "http://127.0.0.1:9/v1")
    where = ("--model", "m", "--out", tmp_path / "run", "--imported", tmp_path / "imported")
    done = await farm("benchmark", *arguments, *url, *where, home=tmp_path)
    assert (done.code, why in done.err) == (2, True), done.err
    assert not (tmp_path / "run" / "run.json").exists()


async def test_a_command_cannot_play_a_benchmark(tmp_path: Path) -> None:
    await import_acebench(STAND_INS / "acebench", tmp_path / "imported", "en", "multi_step")
    options = ("--library", tmp_path / "imported", "--environment", "acebench_en_multi_step")
    done = await farm("eval", "--agent", "true", *options, "--out", tmp_path / "run", home=tmp_path)
    assert (done.code, "a command plays by itself, so give the agent as a model" in done.err) == (2, True), done.err
