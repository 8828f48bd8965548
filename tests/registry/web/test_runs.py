"""The pages of runs: what they show of evaluations, training and synthesis, and of folders that are none."""

import asyncio
import gzip
import json
import os
import signal
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from registry.web.line_chart import line_chart
from registry.web.pages.run_questions import RunQuestion, RunReaderProcess
from servers.errors import InfraError, NotFound
from synth.pipeline.environment_run import rejection_of
from synth.runner.exchange_texts import ExchangeTexts
from tests.bundles import write_bundle
from tests.evals.run_folders import write_evaluation, write_exchanges, write_synthesis, write_training
from tests.evals.suite_runs import SCENARIOS
from tests.processes import farm
from tests.registry.web.browsers import Visitor, in_one_task

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def visitor(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Visitor]:
    """A farm with runs of every kind, one that is not finished, and folders that are no runs."""
    library, runs = tmp_path_factory.mktemp("library"), tmp_path_factory.mktemp("runs")
    await write_bundle(library / "shop", scenarios=SCENARIOS)
    async with in_one_task(library, tmp_path_factory.mktemp("state"), (runs,)) as visitor:
        await write_evaluation(visitor.client, runs / "gold")
        cut = await write_evaluation(visitor.client, runs / "idle", "idle")
        text = (cut.path / "rollouts.jsonl").read_bytes()
        (cut.path / "rollouts.jsonl").write_bytes(text[: len(text) - 100])
        write_episodes(write_training(runs / "rl"))
        write_synthesis(runs / "blood")
        write_exchanges(library / "shop")
        (runs / "broken").mkdir()
        (runs / "broken" / "run.json").write_text('{"version": 1}')
        (runs / "broken" / "rollouts.jsonl").write_text("nothing\n")
        (runs / "broken_log").mkdir()
        (runs / "broken_log" / "metrics.jsonl").write_text("nothing\n")
        yield visitor


def write_episodes(run: Path) -> None:
    """Fifty episodes of a second step, the best first."""
    told = [{"input": "a" * 9000, "output": f"episode {at:03}", "score": at / 50, "step": 2} for at in range(50)]
    lines = "".join(json.dumps(one) + "\n" for one in reversed(told))
    (run / "episodes" / "2.jsonl").write_text(lines, encoding="utf-8")


async def ids(visitor: Visitor) -> dict[str, str]:
    page = await visitor.page("/runs")
    found = (line.split('href="/runs/')[1] for line in page.splitlines() if '<a href="/runs/' in line)
    parts = (one.partition('"><b>') for one in found)
    return {name.partition("<")[0]: address.split("=")[-1].split("/")[-1] for address, _, name in parts}


async def test_all_runs_stand_side_by_side(visitor: Visitor) -> None:
    page = await visitor.page("/runs")
    for part in ("4 of 4", "3 of 4", "50.0", "2 steps", "0 of 1 accepted", "no head of an evaluation", "no JSON"):
        assert part in page, part
    found = await visitor.page("/runs?kind=training&q=RL")
    assert "2 steps" in found
    assert "4 of 4" not in found
    assert "No run is here that fits" in await visitor.page("/runs?q=zeppelin")


async def test_a_run_has_the_data_of_its_report_and_says_when_nothing_is_new(visitor: Visitor) -> None:
    found = await ids(visitor)
    page = await visitor.page(f"/runs/show?run={found['gold']}&run={found['idle']}")
    assert f'data-runs="run={found["gold"]}&amp;run={found["idle"]}"' in page
    told = json.loads(await visitor.page(f"/runs/data?run={found['gold']}&run={found['idle']}"))
    assert [len(run["rollouts"]) for run in told["runs"]] == [4, 3]
    assert told["runs"][1]["torn"] > 0
    assert len(told["comparisons"]) == 1
    same = await visitor.http.get(f"/runs/data?run={found['gold']}&run={found['idle']}&mark={told['mark']}")
    assert (same.status_code, same.content) == (204, b"")
    rollout = json.loads(await visitor.page(f"/runs/rollout?run={found['gold']}&name=shop/easy%230"))
    assert rollout["verdicts"][0]["holds"]
    assert json.loads(await visitor.page(f"/runs/subject?run={found['gold']}&name=shop/easy"))["reference"] is not None


@pytest.mark.parametrize(
    ("address", "status", "told"),
    [
        ("/runs/data?run=000000000000", 404, "no such run"),
        ("/runs/data", 404, "no run was asked for"),
        ("/runs/data?run={broken}", 422, "no head of an evaluation"),
        ("/runs/data?run={rl}", 422, "is no evaluation"),
        ("/runs/rollout?run={gold}&name=shop/easy%2399", 404, "no rollout"),
        ("/runs/show", 422, "tick one or more evaluations"),
        ("/runs/show", 422, 'href="/runs">To the runs'),
        ("/runs/show?run=nope", 404, "no such run: nope"),
        ("/runs/show?run={gold}&run=nope", 404, 'href="/runs">To the runs'),
        ("/runs/training/{broken_log}", 422, "no JSON"),
        ("/runs/training/{gold}", 404, "is not there"),
        ("/runs/training/{rl}/episodes/7", 404, "no episodes of step 7"),
        ("/runs/training/{rl}/episodes/x", 404, "a step is a number"),
        ("/runs/synthesis/{blood}/nobody", 404, "no environment"),
        ("/runs/synthesis/{blood}/blood_bank/2", 404, "there are 1"),
        ("/runs/synthesis/{blood}/blood_bank/x", 404, "an exchange is a number"),
        ("/runs/synthesis/{blood}/..%2f..%2fgold", 404, "no such page"),
    ],
)
async def test_what_is_not_there_or_no_run_is_told(address: str, status: int, told: str, visitor: Visitor) -> None:
    found = {name.replace("-", "_"): one for name, one in (await ids(visitor)).items()}
    answer = await visitor.http.get(address.format(**found))
    assert (answer.status_code, told in answer.text) == (status, True), answer.text[-2000:]


async def test_training_shows_its_curve_its_figures_and_its_episodes(visitor: Visitor) -> None:
    run = (await ids(visitor))["rl"]
    page = await visitor.page(f"/runs/training/{run}")
    for part in ("held out: shop", '<b class="num">0.5</b>', "actor/entropy", f"/runs/training/{run}/episodes/1"):
        assert part in page, part
    assert "critic/rewards/mean" not in await visitor.page(f"/runs/training/{run}?q=entropy")
    page = await visitor.page(f"/runs/training/{run}/episodes/1")
    assert page.index(">0.00<") < page.index(">1.00<")
    assert "Mean score 0.500" in page


async def test_many_long_episodes_are_shown_some_at_a_time(visitor: Visitor) -> None:
    run = (await ids(visitor))["rl"]
    for begin, words in ((0, "1 to 20"), (20, "21 to 40"), (40, "41 to 50")):
        answer = await visitor.http.get(f"/runs/training/{run}/episodes/2?from={begin}")
        assert [at for at in range(50) if f"episode {at:03}" in answer.text] == [*range(begin, min(begin + 20, 50))]
        assert f'rel="prev" href="/runs/training/{run}/episodes/1"' in answer.text
        assert f"50 episodes, the worst first, {words}" in answer.text
        assert answer.headers["content-encoding"] == "gzip"
        assert int(answer.headers["content-length"]) < len(answer.content) / 10


async def test_synthesis_shows_stages_refusals_and_cost(visitor: Visitor) -> None:
    run = (await ids(visitor))["blood"]
    page = await visitor.page(f"/runs/synthesis/{run}")
    for part in ("Blood bank", "rejected", "no table has a key", "1,010"):
        assert part in page, part
    page = await visitor.page(f"/runs/synthesis/{run}/blood_bank")
    assert "given up" in page
    assert "refused" in page


async def test_an_exchange_shows_what_was_asked_answered_and_refused(visitor: Visitor) -> None:
    own = f"/runs/synthesis/{(await ids(visitor))['blood']}/blood_bank"
    assert f'href="{own}/1"' in await visitor.page(own)
    page = await visitor.page(f"{own}/1")
    for part in (
        "Design the tables.",
        "# A bank of blood",
        "no table has a key",
        "CREATE TABLE",
        "schema_sql",
        "1 of 1",
    ):
        assert part in page, part
    assert "Answer with one JSON value" not in page  # the schema stands apart from the task
    cache = next(path for path in visitor.runs[0].glob("blood/cache/*/*.json"))
    for other in ("{", cache.read_text(encoding="utf-8").replace("# A bank", "# Another bank")):
        cache.with_name("other.json").write_text(other, encoding="utf-8")
        assert "# A bank of blood" in await visitor.page(f"{own}/1")


async def test_an_environment_shows_the_words_of_the_exchanges_that_made_it(visitor: Visitor) -> None:
    own = "/environments/shop/exchanges"
    assert f'href="{own}/2"' in await visitor.page("/environments/shop")
    page = await visitor.page(f"{own}/1")
    run = (await ids(visitor))["blood"]
    for part in ("Design the tables.", "# A bank of blood", "CREATE TABLE", "accepted", f"/runs/synthesis/{run}"):
        assert part in page, part
    page = await visitor.page(f"{own}/2")
    for part in ("Its words are not here", f"No run below {visitor.runs[0]} has them", "a row has no key", "0" * 64):
        assert part in page, part
    for other in ("0", "3", "x"):
        assert "has 2 exchanges" in await visitor.page(f"{own}/{other}", 404)


async def test_an_exchange_whose_words_are_elsewhere_has_none(tmp_path: Path) -> None:
    write_synthesis(tmp_path / "run")
    rejection = rejection_of(tmp_path / "run" / "environments" / "blood_bank")
    assert rejection is not None
    asked = next((one.prompt, one.model) for one in rejection.exchanges)
    found = ExchangeTexts().find(tmp_path / "run", *asked)
    assert found is not None
    assert [said.text for said in found.asked] == ["Design the tables.", "# A bank of blood"]
    assert ExchangeTexts(most=-1).find(tmp_path / "run", *asked) is None  # no more is searched than is allowed
    (tmp_path / "run" / "cache").rename(tmp_path / "cache")
    assert ExchangeTexts().find(tmp_path / "run", *asked) is None
    (tmp_path / "run" / "cache").symlink_to(tmp_path / "cache")
    assert ExchangeTexts().find(tmp_path / "run", *asked) is None  # a link out of the run is not followed


async def test_runs_need_the_cookie(visitor: Visitor) -> None:
    visitor.http.cookies, kept = type(visitor.http.cookies)(), visitor.http.cookies
    for path in ("/runs", "/runs/data?run=x", "/runs/rollout?run=x&name=y"):
        await visitor.page(path, 404)
        asked = await visitor.http.get(path, headers={"Accept": "text/html"})
        assert asked.status_code == 401  # a browser is asked to sign in
    visitor.http.cookies = kept


async def test_a_reader_that_dies_is_told_and_started_again(tmp_path: Path) -> None:
    write_training(tmp_path / "rl")
    reader = RunReaderProcess((tmp_path,))
    try:
        told = await reader.told(RunQuestion(kind="list"))
        [run] = told["runs"]
        assert reader.pid is not None
        os.kill(reader.pid, signal.SIGSTOP)
        task = asyncio.create_task(reader.told(RunQuestion(kind="training", runs=(run["id"],))))
        await asyncio.sleep(0)
        os.kill(reader.pid, signal.SIGKILL)
        with pytest.raises(InfraError, match="ended"):
            await task
        body = await reader.packed(RunQuestion(kind="training", runs=(run["id"],)))
        assert body is not None
        assert json.loads(gzip.decompress(body))["steps"] == 2
        with pytest.raises(NotFound):
            await reader.packed(RunQuestion(kind="training", runs=("nobody",)))
    finally:
        await reader.end()


async def test_a_chart_leaves_out_what_is_no_number() -> None:
    assert line_chart({"a": [(1, None), (2, float("nan"))]}) is None
    chart = line_chart({"a": [(1, 5.0), (2, None), (3, 7.0)], "b": []})
    assert chart is not None
    assert [line.name for line in chart.lines] == ["a"]
    assert chart.lines[0].last == "7"
    many = line_chart({"a": [(step, float(step)) for step in range(5000)]})
    assert many is not None
    assert len(many.lines[0].points.split()) < 1000
    assert many.lines[0].last == "4999"


async def test_a_folder_of_runs_that_is_not_there_is_told(tmp_path: Path) -> None:
    done = await farm("up", "--runs", "/nowhere/runs", home=tmp_path)
    assert done.code == 2
    assert "--runs /nowhere/runs: there is no such folder" in done.err
