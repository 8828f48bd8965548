"""A run plays every rollout once, goes on where it was killed, tries again what broke, and drops nothing."""

import asyncio
import re
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
from fastapi.responses import HTMLResponse, Response

from agent_client.errors import EndpointError
from agent_client.model import Message, Reply
from agent_client.models.endpoint import ATTEMPTS_TO_CHECK, Retries
from agent_client.trace import ToolSpec
from evals.runs.folder import RunFolder
from evals.runs.players import players
from evals.runs.progress import RolloutCounts, SuiteProgress
from evals.runs.suite import ModelEndpoint, ScenarioChoice
from evals.runs.suite_run import MOST_BROKEN_IN_A_ROW
from registry.client import FarmClient
from registry.farm import private
from servers.bundle_library import OWN_LIBRARY
from servers.errors import InfraError, RequestError
from servers.text.terminal import Terminal
from tests.bundles import write_bundle
from tests.doubles import StubEndpoint, refused, said
from tests.evals.suite_runs import SCENARIOS, evaluated, shop, suite
from tests.processes import LONG, Started, farm, farm_up, side_by_side, started, until


class Failing:
    """A model whose endpoint is down for the first so many turns, and then does nothing."""

    name = "failing"

    def __init__(self, times: int) -> None:
        self.left = times

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        self.left -= 1
        if self.left >= 0:
            raise EndpointError("the endpoint is down")
        return Reply(text="I did nothing.")


async def test_a_run_has_a_line_for_every_attempt_with_all_that_tells_what_made_it(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as client:
        told = suite(run={"attempts": 2, "seed": 7, "concurrency": 2})
        seen = await evaluated(client, tmp_path / "run", told)
        assert sorted(seen.played) == ["shop/easy#0", "shop/easy#1", "shop/half#0", "shop/half#1"]
        run = RunFolder(tmp_path / "run")
        header = run.header()
        assert (header.scenarios, header.rollouts, header.suite) == (2, 4, told)
        environment = await client.environment("shop")
        for at in run.rollouts():
            played, scenario = at.played, run.subjects()[f"shop/{at.played.rollout.scenario}"]
            assert (played.suite_digest, played.agent_digest, played.agent) == (told.digest, told.agent_digest, "gold")
            assert played.rollout.seed == 7 + played.attempt
            assert played.rollout.scenario_digest == scenario.detail.digest
            assert played.rollout.environment_digest == environment.digest
            assert played.rollout.effects is not None
            assert run.rollout_at(at.offset, at.length) == played
            assert scenario.reference is not None
            assert scenario.reference.reward == played.rollout.reward == (1.0 if scenario.name == "shop/easy" else 0.5)
        assert (await client.leases(status="live")).total == 0


async def test_a_run_goes_on_where_it_was_killed_and_mends_its_last_line(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as client:
        told = suite(run={"attempts": 2, "concurrency": 1})
        await evaluated(client, tmp_path / "run", told)
        file = tmp_path / "run" / "rollouts.jsonl"
        whole = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(whole[0] + whole[1] + whole[2][:100])
        run = RunFolder(tmp_path / "run")
        assert (len(list(run.rollouts())), run.torn) == (2, 100)
        seen = await evaluated(client, tmp_path / "run", told)
        assert (len(seen.kept), len(seen.played), seen.prepared) == (2, 2, 0)
        assert sorted(seen.kept + seen.played) == ["shop/easy#0", "shop/easy#1", "shop/half#0", "shop/half#1"]
        assert (len(list(run.rollouts())), run.torn) == (4, 0)
        again = await evaluated(client, tmp_path / "run", told)
        assert (len(again.kept), again.played) == (4, [])


async def test_what_broke_is_tried_again_on_a_fresh_instance(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as client:
        waits: list[float] = []

        async def wait(seconds: float) -> None:
            waits.append(seconds)

        model = Failing(2)
        told = suite(agent={"kind": "idle"}, scenarios={"ids": ["easy"]}, run={"retries": 2})
        before = (await client.leases()).total
        await evaluated(client, tmp_path / "run", told, model=lambda: model, sleep=wait)
        [at] = RunFolder(tmp_path / "run").rollouts()
        assert at.played.broken == ("the endpoint is down", "the endpoint is down")
        assert (at.played.rollout.outcome, at.played.rollout.reward) == ("scored", 0.0)
        assert waits == [1.0, 2.0]
        assert (await client.leases()).total - before == 4  # with the one of the reference solution


async def test_what_stays_broken_is_written_down_and_played_again_next_time(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as client:
        told = suite(agent={"kind": "idle"}, scenarios={"ids": ["easy"]}, run={"retries": 1})
        await evaluated(client, tmp_path / "run", told, model=lambda: Failing(9))
        [at] = RunFolder(tmp_path / "run").rollouts()
        assert (at.played.rollout.outcome, at.played.rollout.reward) == ("infra_error", None)
        seen = await evaluated(client, tmp_path / "run", told, model=lambda: Failing(0))
        assert (seen.kept, seen.played) == ([], ["shop/easy#0"])
        assert [at.played.rollout.outcome for at in RunFolder(tmp_path / "run").rollouts()] == ["infra_error", "scored"]
        assert (await evaluated(client, tmp_path / "run", told)).played == []


async def test_a_run_stops_when_everything_breaks_and_keeps_what_it_has(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as client:
        told = suite(agent={"kind": "idle"}, run={"attempts": 50, "retries": 0, "concurrency": 4})
        with pytest.raises(InfraError, match=f"{MOST_BROKEN_IN_A_ROW} tries in a row broke, the last one by: the end"):
            await evaluated(client, tmp_path / "run", told, model=lambda: Failing(9))
        lines = [at.played.rollout.outcome for at in RunFolder(tmp_path / "run").rollouts()]
        assert MOST_BROKEN_IN_A_ROW <= len(lines) < 30
        assert set(lines) == {"infra_error"}
        assert (await client.leases(status="live")).total == 0


async def test_tries_that_break_count_before_their_rollouts_are_given_up(tmp_path: Path) -> None:
    down = Failing(1_000)
    async with shop(tmp_path / "shelf") as client:
        told = suite(agent={"kind": "idle"}, run={"attempts": 50, "retries": 9, "concurrency": 4})
        with pytest.raises(InfraError, match=f"{MOST_BROKEN_IN_A_ROW} tries in a row broke"):
            await evaluated(client, tmp_path / "run", told, model=lambda: down)
        assert MOST_BROKEN_IN_A_ROW <= 1_000 - down.left < MOST_BROKEN_IN_A_ROW + 4
        assert (await client.leases(status="live")).total == 0


def test_the_time_left_is_told_by_what_was_judged() -> None:
    progress = SuiteProgress(Terminal(), "suite")
    progress.total = RolloutCounts(planned=200, done=8, broken=8)
    progress.began_at -= 80
    assert " left" not in str(progress.table().title)
    progress.total = RolloutCounts(planned=200, done=16, broken=8, judged=8)
    assert str(progress.table().title).endswith(", 31 min left")


@pytest.mark.parametrize(
    ("answer", "error", "why"),
    [
        (
            HTMLResponse("<h1>It works!</h1>"),
            RequestError,
            "(3 attempts); the base URL seems wrong; nothing was played",
        ),
        (refused(500, "boom"), InfraError, "answered HTTP 500: boom (3 attempts); nothing was played"),
    ],
)
async def test_an_endpoint_that_is_broken_or_none_is_found_before_the_first_rollout(
    answer: Response, error: type[Exception], why: str
) -> None:
    stub = StubEndpoint([answer] * ATTEMPTS_TO_CHECK, models=HTMLResponse("<h1>It works!</h1>"))
    told = suite(agent={"kind": "chat", "model": "m"})
    async with stub.serve() as url:
        with pytest.raises(error, match=re.escape(why)):
            async with players(told, ModelEndpoint(url), ask_models=True, retries=Retries(sleep=_no_wait)):
                pass


async def _no_wait(_: float) -> None:
    return


async def test_a_farm_that_dies_in_the_middle_stops_the_run_and_another_farm_goes_on(tmp_path: Path) -> None:
    await write_bundle(tmp_path / "shelf" / "shop", scenarios=SCENARIOS)
    told = suite(agent={"kind": "idle"}, run={"attempts": 15, "retries": 0, "concurrency": 2})
    async with (
        farm_up(tmp_path / "state", "--port", "0", "--library", tmp_path / "shelf", home=tmp_path) as up,
        FarmClient(up.url, up.token) as client,
    ):
        turns = iter(range(100))

        class Killer:
            name = "killer"

            async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
                if next(turns) == 4:
                    await up.ended_by(signal.SIGKILL)
                return Reply(text="I did nothing.")

        chosen = told.model_copy(update={"scenarios": ScenarioChoice(environments=("shop",))})
        with pytest.raises(InfraError, match="in a row broke, the last one by: InfraError: no farm answers"):
            await evaluated(client, tmp_path / "run", chosen, model=Killer)
    before = [at.played.rollout.outcome for at in RunFolder(tmp_path / "run").rollouts()]
    assert 1 <= before.count("scored") <= 5
    async with shop(tmp_path / "shelf") as client:
        seen = await evaluated(client, tmp_path / "run", chosen)
    assert len(seen.kept) == before.count("scored")
    assert len(seen.kept) + len(seen.played) == 30
    last = {at.played.key: at.played.rollout.outcome for at in RunFolder(tmp_path / "run").rollouts()}
    assert list(last.values()) == ["scored"] * 30


async def test_a_folder_takes_one_suite_and_one_evaluation(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as client:
        await evaluated(client, tmp_path / "run", suite())
        with pytest.raises(RequestError, match="holds a run of another suite"):
            await evaluated(client, tmp_path / "run", suite(name="other"))
        with (
            RunFolder(tmp_path / "run").writing(),
            pytest.raises(RequestError, match="another evaluation writes into it"),
        ):
            await evaluated(client, tmp_path / "run", suite())


async def test_a_scenario_that_changed_is_not_mixed_with_what_it_was(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as client:
        await evaluated(client, tmp_path / "run", suite())
        await write_bundle(tmp_path / "shelf" / "shop", scenarios=[{**SCENARIOS[0], "task": "Else."}, SCENARIOS[1]])
        with pytest.raises(RequestError, match="shop/easy has changed since"):
            await evaluated(client, tmp_path / "run", suite())


SUITE = """
name = "killed"
[agent]
kind = "gold"
[run]
attempts = 40
concurrency = 4
"""


async def lines_written(run: Started, file: Path, count: int) -> None:
    await until(lambda: file.exists() and file.read_bytes().count(b"\n") >= count, f"{count} rollouts are written")


async def test_farm_eval_survives_kill_9_and_repeats_nothing(tmp_path: Path) -> None:
    await write_bundle(tmp_path / "shelf" / "shop", scenarios=SCENARIOS)
    (tmp_path / "suite.toml").write_text(SUITE + '[scenarios]\nenvironments = ["shop"]\n')
    command = ("eval", "suite.toml", "--out", "run", "--library", "shelf")
    file = tmp_path / "run" / "rollouts.jsonl"
    one = await started(*command, home=tmp_path)
    await lines_written(one, file, 5)
    one.send(signal.SIGKILL)
    await one.ended()
    before = file.read_bytes()
    done = await farm(*command, home=tmp_path)
    assert (done.code, done.err) == (0, "")
    whole = before[: before.rfind(b"\n") + 1]
    assert file.read_bytes().startswith(whole)
    keys = [at.played.key for at in RunFolder(tmp_path / "run").rollouts()]
    assert len(keys) == len(set(keys)) == 80
    assert done.out.startswith("Starting a farm for ")
    assert "80/80" in done.out


@pytest.mark.parametrize(
    ("suite_text", "arguments", "said"),
    [
        (SUITE.replace("kind", "kin"), (), "suite.toml: agent: 'kind' is missing"),
        (SUITE + '[scenarios]\ntags = ["none"]\n', (), "passes the filters of [scenarios]: tags = ('none',)"),
        (SUITE.replace('kind = "gold"', 'kind = "chat"\nmodel = "m"'), (), "needs a key"),
        (SUITE, ("--farm", "http://127.0.0.1:9", "--workers", "2"), "are for a farm of its own"),
        (SUITE, ("--library", "no/such"), "--library no/such: no such folder"),
    ],
)
async def test_a_user_s_mistake_is_one_line(
    tmp_path: Path, suite_text: str, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "suite.toml").write_text(suite_text)
    done = await farm("eval", "suite.toml", "--out", "run", *arguments, home=tmp_path)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert said in done.err


async def test_a_run_is_a_folder_and_not_a_file(tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text(SUITE)
    (tmp_path / "README.md").write_text("mine")
    done = await farm("eval", "suite.toml", "--out", "README.md", home=tmp_path)
    assert done == (2, "", "farm: README.md: is a file, and a run is a folder; choose another name\n")
    assert (tmp_path / "README.md").read_text() == "mine"


async def test_a_farm_that_is_asked_without_a_token_says_so_and_one_that_is_not_there_too(tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text(SUITE)
    async with private((OWN_LIBRARY,)) as address:
        done = await farm("eval", "suite.toml", "--out", "run", "--farm", address.url, home=tmp_path)
        wants = f"the farm at {address.url} wants its control token: FARM_TOKEN or --token-file"
        assert done == (2, "", f"farm: {wants}\n")
    done = await farm("eval", "suite.toml", "--out", "run", "--farm", address.url, home=tmp_path)
    assert done == (1, "", f"farm: no farm answers at {address.url}; start one with `farm up`\n")


async def test_an_interrupted_run_gives_its_leases_back(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as client:
        asked = asyncio.Event()

        class Ponderer:
            name = "ponderer"

            async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
                asked.set()
                await asyncio.Event().wait()
                raise AssertionError

        told = suite(run={"concurrency": 1})  # so that no other is under way when the one that was asked is cancelled
        run = asyncio.create_task(evaluated(client, tmp_path / "run", told, model=Ponderer))
        async with asyncio.timeout(LONG):
            await asked.wait()
        run.cancel()
        async with asyncio.timeout(LONG):
            with pytest.raises(asyncio.CancelledError):
                await run
        assert (await client.leases(status="live")).total == 0


async def test_what_eval_needs_is_looked_at_before_the_first_rollout(shelf: Path, tmp_path: Path) -> None:
    suites = {
        "chat.toml": 'name = "x"\n[agent]\nkind = "chat"\nmodel = "m"\n',
        "gold.toml": 'name = "x"\n[agent]\nkind = "gold"\n',
    }
    for name, text in suites.items():
        (tmp_path / name).write_text(text)
    unsolved = [{**one, "solution": None} for one in SCENARIOS]
    await write_bundle(tmp_path / "shelf" / "puzzles", scenarios=[*unsolved])
    suite = (tmp_path / "gold.toml").read_text() + '[scenarios]\nenvironments = ["puzzles"]\n'
    (tmp_path / "gold.toml").write_text(suite)
    chat = ("eval", "chat.toml", "--out", "run", "--library", shelf, "--base-url")
    other = ("eval", "chat.toml", "--out", "run1", "--library", shelf, "--base-url")
    async with StubEndpoint([], models=refused(401, "no such key")).serve() as url, private((shelf,)) as up:
        wrong_key, no_endpoint, wrong_token, unsolvable = await side_by_side(
            farm(*chat, url, home=tmp_path, OPENAI_API_KEY="sk-wrong"),
            farm(*other, "http://127.0.0.1:9/v1", home=tmp_path),
            farm("eval", "gold.toml", "--out", "run2", "--farm", up.url, home=tmp_path, FARM_TOKEN="wrong"),
            farm("eval", "gold.toml", "--out", "run3", "--library", "shelf", home=tmp_path),
        )
    assert (wrong_key.code, wrong_key.err.count("\n")) == (2, 1)
    assert "HTTP 401: no such key; the key is wrong (OPENAI_API_KEY); nothing was played" in wrong_key.err
    assert (no_endpoint.code, no_endpoint.err.count("\n")) == (1, 1)
    assert "cannot reach http://127.0.0.1:9/v1: " in no_endpoint.err
    assert (wrong_token.code, "token" in wrong_token.err) == (2, True)
    assert (unsolvable.code, unsolvable.err.count("\n")) == (2, 1)
    assert "of 2 scenarios 2 have none: puzzles/easy, puzzles/half; min_calls = 0" in unsolvable.err


async def test_a_model_that_is_not_there_is_told_before_anything_is_played(shelf: Path, tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text('name = "x"\n[agent]\nkind = "chat"\nmodel = "m"\n')
    asked = ("eval", "suite.toml", "--out", "run", "--library", shelf, "--base-url")
    endpoint = StubEndpoint([refused(404, "model m does not exist")])
    async with endpoint.serve() as url:
        done = await farm(*asked, url, home=tmp_path)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "model m does not exist" in done.err
    assert "nothing was played" in done.err
    assert [(one["model"], one["max_tokens"]) for one in endpoint.requests] == [("m", 1)]
    assert not (tmp_path / "run" / "rollouts.jsonl").exists()


async def test_a_run_of_which_nothing_is_judged_fails_with_the_reason(shelf: Path, tmp_path: Path) -> None:
    """The endpoint has the model when it is asked first, and refuses each request after that."""
    (tmp_path / "suite.toml").write_text(
        'name = "x"\n[agent]\nkind = "chat"\nmodel = "m"\n[run]\nretries = 0\n[scenarios]\nenvironments = ["shop"]\n'
    )
    asked = ("eval", "suite.toml", "--out", "run", "--library", shelf, "--base-url")
    async with StubEndpoint([said("."), refused(404, "the model has gone")]).serve() as url:
        done = await farm(*asked, url, home=tmp_path)
    assert done.code == 1
    assert done.err.startswith("farm: nothing was judged: ")
    assert "the model has gone" in done.err
    assert "The last one broke by: " in done.out


async def test_eval_says_what_it_cost(shelf: Path, tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text(
        'name = "x"\n[agent]\nkind = "chat"\nmodel = "m"\n[scenarios]\nenvironments = ["shop"]\n'
    )
    prices = ("--prompt-price", "100000", "--completion-price", "200000")
    async with StubEndpoint(
        [said("."), said("No.")]
    ).serve() as url:  # the first is asked for before anything is played
        done = await farm(
            "eval", "suite.toml", "--out", "run", "--library", shelf, "--base-url", url, *prices, home=tmp_path
        )
    assert (done.code, done.err) == (0, "")
    assert "1 of 1 rollout, 0 broken, 15 tokens, 2.00 spent\n" in done.out
    assert "The agent's models took 15 tokens, 2.00 spent.\n" in done.out
