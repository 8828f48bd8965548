"""The commands of a farm, run as people run them: what each does, and what it says to who misuses it."""

import asyncio
import json
import os
import shlex
import shutil
import stat
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from agent_client.toolbox import connect
from evals.runs.folder import RunFolder
from farm import LISTED
from registry.client import FarmClient
from registry.farm import Options, running
from registry.messages import Lease, Score
from servers.bundle_library import OWN_LIBRARY, Library
from tests.bundles import SOUND_SCENARIO, write_bundle
from tests.doubles import StubEndpoint, refused, said
from tests.processes import (
    LONG,
    Done,
    environment_of,
    farm,
    side_by_side,
    until,
    watching_for_orphans,
    write_forked_programs,
)

ROOT = Path(__file__).parent.parent
DEARER = "Please let the bell cost 2.50."
"""The task of `shop`'s scenario."""
PRICE = {"id": "call_1", "name": "price", "arguments": '{"id": "t2", "cents": 250}'}


@pytest.fixture
def shop(shelf: Path) -> Path:
    """A bundle's folder."""
    return shelf / "shop"


@asynccontextmanager
async def running_farm(shelf: Path, home: Path) -> AsyncGenerator[FarmClient]:
    """A farm on the folder that the commands look into when they are told nothing."""
    options = Options(library=(shelf,), state=home / ".envfarm", port=0)
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        yield client


def named(folder: Path) -> set[str]:
    """What is in a folder."""
    return {path.name for path in folder.iterdir()}


def misused(done: Done, *words: str) -> bool:
    """Whether a command said one line, with some words in it, and that it was misused."""
    assert "Traceback" not in done.err, done.err
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("farm: ")
    assert done.err.count("\n") == 1
    assert all(word in done.err for word in words), done.err
    return True


async def test_what_is_asked_wrongly_is_told_in_a_line_that_says_what_there_is(shop: Path, tmp_path: Path) -> None:
    gold = ("play", shop, "--gold", "--scenario")
    model = ("play", shop, "--scenario", "dearer", "--model", "m")
    choose = "choose one: --gold, --me, --solution FILE, --model NAME, or --agent COMMAND"
    asked: dict[tuple[str | Path, ...], str] = {
        ("play", shop, "--scenario", "dearer"): choose,
        (*gold, "dearer", "--model", "m"): choose,
        ("play", "zoo", "--scenario", "x", "--gold"): "`farm environments` lists those that there are",
        (*gold, "cheaper"): "shop has no scenario 'cheaper'; did you mean 'dearer'?",
        (*gold, "derer"): "shop has no scenario 'derer'; did you mean 'dearer'?",
        (*gold, "../x"): "farm: ",
        (
            *gold,
            "dearer",
            "--save",
            shop / "tools.py",
        ): "tools.py: cannot be written: it is a file",
        (*gold, "dearer", "--save", "/proc/x"): "/proc/x: cannot be written: No such file or directory",
        (*gold, "dearer", "--user", "m"): "--user NAME plays the user of a conversation with --model NAME or --me",
        (
            *model,
            "--base-url",
            "127.0.0.1:8000/v1",
        ): "--base-url: '127.0.0.1:8000/v1' is no URL: one begins with http://",
        (*model, "--base-url", "http://[::1/v1"): "--base-url: 'http://[::1/v1' is no URL: Invalid IPv6 URL",
        (*model, "--base-url", "http:///v1"): "one looks like http://127.0.0.1:8000/v1",
        (*model, "--user", "m", "--base-url", "http://127.0.0.1:9/v1"): "scenario 'dearer' has no persona",
        ("score", "The one before"): "The one before: not the id of an instance; `farm launch` prints it",
        ("play", shop, "--scenario", "dearer", "--model", "m"): "the endpoint needs a key: OPENAI_API_KEY",
        ("export", "sft", "--reference", tmp_path / "no", "--out", "x"): f"--reference {tmp_path}/no: no such folder",
        ("environments", "--library", tmp_path / "no"): f"--library {tmp_path}/no: no such folder",
        ("scenarios", tmp_path): f"{tmp_path}: no bundle: it has no environment.json",
        ("launch", "shop"): "`farm up --state ",
        ("score", "0123456789abcdef", "--state", tmp_path / "no"): "no farm was started on",
        ("connect", "json", "hotel"): "hotel: no such bundle; did you mean 'hotel_bookings'?",
        (
            "connect",
            "json",
            "library_loans",
            "--scenario",
            "x",
        ): "library_loans has no scenario 'x'; `farm scenarios library_loans` lists those that there are",
        ("connect", "claude", "library_loans", "--lease"): "no farm was started on",
    }
    answers = await side_by_side(*(farm(*arguments, home=tmp_path) for arguments in asked))
    for done, words in zip(answers, asked.values(), strict=True):
        assert misused(done, words)
    assert named(tmp_path) == set()


async def test_a_key_or_a_token_that_no_header_takes_is_refused_and_not_shown(shop: Path, tmp_path: Path) -> None:
    play = ("play", shop, "--scenario", "dearer", "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    for secret in ("schlüssel", "sk-1\r", "a\nb", " "):
        played = await farm(*play, home=tmp_path, OPENAI_API_KEY=secret)
        assert misused(played, "OPENAI_API_KEY has a character that no key has")
        assert misused(await farm("ps", home=tmp_path, FARM_TOKEN=secret), "FARM_TOKEN has a character")
        assert secret.strip() == "" or secret.strip() not in played.err
    token = tmp_path / "token"
    token.write_text("schlüssel\n", encoding="utf-8")
    assert misused(await farm("ps", "--token-file", token, home=tmp_path), "the token has a character that no key has")


async def test_a_farm_is_asked_at_a_url(shop: Path, tmp_path: Path) -> None:
    suite = tmp_path / "suite.toml"
    suite.write_text('name = "s"\n[agent]\nkind = "gold"\n')
    done = await farm("eval", suite, "--farm", "127.0.0.1:8700", "--out", tmp_path / "run", home=tmp_path)
    assert misused(done, "'127.0.0.1:8700' is no URL: one begins with http:// or https://")
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "url").write_text("?")
    done = await farm("ps", "--state", tmp_path / "state", home=tmp_path)
    assert misused(done, "holds no address of a farm; `farm up --state ")


async def test_help_lists_every_command_below_a_heading_the_first_one_to_try_first(tmp_path: Path) -> None:
    done = await farm("--help", home=tmp_path)
    frames = [line.split("─")[1].strip() for line in done.out.splitlines() if line.startswith("╭")]
    assert (done.code, frames) == (0, ["Options", "Look and play", "Operate", "Write and prove", "Evaluate and train"])
    below = done.out.partition(frames[1])[2].splitlines()
    listed = [line[2:].split(" ")[0] for line in below if line.startswith("│")]
    assert {name for name in listed if name} == {name for name, one in LISTED.items() if not one.hidden}
    assert listed[0] == "demo"


async def test_a_command_or_an_option_that_is_not_there_is_a_misuse(tmp_path: Path) -> None:
    asked = (["fly"], ["up", "--fast"], ["launch"], ["up", "--port", "80000"], ["connect", "emacs"])
    for done in await side_by_side(*(farm(*arguments, home=tmp_path) for arguments in asked)):
        assert (done.code, done.out) == (2, "")
        assert "Usage: " in done.err
        assert "Traceback" not in done.err


async def test_the_version_is_said(tmp_path: Path) -> None:
    assert await farm("--version", home=tmp_path) == (0, f"envfarm {metadata.version('envfarm')}\n", "")


@pytest.mark.library
async def test_the_demo_plays_the_first_scenarios_of_every_environment_three_ways(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    with watching_for_orphans() as left:
        done = await farm("demo", home=tmp_path, TMPDIR=str(tmp_path / "tmp"))
        await until(lambda: not left(), "no process of the demo is left")
    assert (done.code, done.err) == (0, "")
    library = Library([OWN_LIBRARY])
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in done.out.splitlines() if "│" in line]
    scenarios = {(name, scenario) for name in library.ids() for scenario in list(library.scenarios(name))[:2]}
    assert {(row[0], row[1]) for row in rows} == scenarios
    assert len(rows) == len(scenarios) == 2 * len(library.ids())
    for environment, scenario, calls, gold, idle, sabotaged, mark in rows:
        assert int(calls) == len(library.scenario(environment, scenario).reference().calls)
        assert (gold, idle, mark) == ("1.00", "0.00", "ok")
        assert float(sabotaged) < 1
    assert f"{3 * len(rows)} rollouts, " in done.out
    assert named(tmp_path / "tmp") == set()


async def test_the_demo_reports_a_solution_that_does_not_solve(tmp_path: Path) -> None:
    """In a copy of the sources, since the demo plays the farm's own bundles."""
    copy = tmp_path / "copy"
    for part in ("agent_client", "bench", "evals", "registry", "rl_training", "servers", "synth"):
        shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "farm.py", copy)
    library = copy / "servers" / "library"
    for other in set(Library([OWN_LIBRARY]).ids()) - {"library_loans"}:
        shutil.rmtree(library / other)
    lines = (library / "library_loans" / "scenarios.jsonl").read_text().splitlines()
    broken = json.loads(lines[0])
    broken["solution"]["calls"] = broken["solution"]["calls"][:-1]
    (library / "library_loans" / "scenarios.jsonl").write_text("\n".join([json.dumps(broken), *lines[1:]]) + "\n")
    done = await farm("demo", home=copy, cold=True)
    assert (done.code, done.err) == (1, "")
    assert f"library_loans/{broken['id']} is not as it must be" in done.out
    assert done.out.count("│ wrong │") == 1
    assert done.out.count("│ ok    │") == 1


async def test_play_gold_shows_the_episode_and_the_verdicts(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    done = await farm(
        "play",
        shop,
        "--scenario",
        "dearer",
        "--gold",
        "--save",
        "run",
        home=tmp_path,
        TMPDIR=str(tmp_path / "tmp"),
    )
    assert (done.code, done.err) == (0, "")
    assert "Please let the bell cost 2.50." in done.out
    assert "price" in done.out
    assert "Does the bell cost 2.50?" in done.out
    assert "rows changed\n  price\n    + log 1" in done.out
    assert "    ~ things t2: cents 200 → 250\n" in done.out
    assert "outcome scored, reward 1.00\n" in done.out
    assert named(tmp_path / "tmp") == set()
    [run] = [at.played.rollout for at in RunFolder(tmp_path / "run").rollouts()]
    assert (run.outcome, run.reward, run.success, run.error) == ("scored", 1.0, True, "")
    assert run.trace is not None
    assert [call.tool for turn in run.trace.turns for call in turn.calls] == ["price"]


async def test_what_play_saves_is_a_run_that_every_command_opens(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "wrong.json").write_text(json.dumps({"calls": [], "answer": "Done."}))
    what = ("play", shop, "--scenario", "dearer", "--solution", "wrong.json", "--save", "runs/mine")
    played = await farm(*what, home=tmp_path)
    assert (played.code, played.err) == (1, "")
    shown, report, judged, again = await side_by_side(
        farm("show", "runs/mine", "shop/dearer#0", home=tmp_path),
        farm("report", "runs/mine", "--html", "page.html", home=tmp_path),
        farm("judge", "runs/mine", "--with", shop, home=tmp_path),
        farm(*what, home=tmp_path),
    )
    assert (shown.code, report.code, judged.code) == (0, 0, 0)
    assert "~ things t2" in shown.out  # what the reference solution changes, beside what was played
    assert (tmp_path / "page.html").stat().st_size > 0
    assert "1 of 1 rollout judged again; 0 rewards changed." in judged.out
    assert misused(again, "--save runs/mine: holds a run already; choose another folder")


async def test_play_says_what_a_checkpoint_saw_that_does_not_hold(shop: Path, tmp_path: Path) -> None:
    calls = [{"tool": "price", "arguments": {"id": "t2", "cents": 7}}]
    (tmp_path / "wrong.json").write_text(json.dumps({"calls": calls, "answer": "Done."}))
    done = await farm("play", shop, "--scenario", "dearer", "--solution", "wrong.json", home=tmp_path)
    assert done.code == 1
    assert "    ~ things t2: cents 200 → 7" in done.out
    [line] = [line for line in done.out.splitlines() if "Does the bell cost 2.50?" in line]
    assert " no " in line
    assert line.rstrip().endswith("[[7]]")


async def test_play_with_a_model_asks_its_endpoint(shop: Path, tmp_path: Path) -> None:
    endpoint = StubEndpoint([said("I look.", calls=[PRICE]), said("It costs 2.50 now.")])
    async with endpoint.serve() as url:
        done = await farm(
            "play",
            shop,
            "--scenario",
            "dearer",
            "--model",
            "stub",
            home=tmp_path,
            OPENAI_BASE_URL=url,
            OPENAI_API_KEY="sk-mine",
        )
    assert (done.code, done.err) == (0, "")
    assert "It costs 2.50 now." in done.out
    assert done.out.endswith("outcome scored, reward 1.00\n")
    assert endpoint.keys_seen == ["Bearer sk-mine"] * 2
    assert {request["model"] for request in endpoint.requests} == {"stub"}
    tools = {tool["function"]["name"] for tool in endpoint.requests[0]["tools"]}
    assert tools == {"find", "make", "price", "scrap"}


async def test_play_with_a_model_that_fails_exits_1(shop: Path, tmp_path: Path) -> None:
    endpoint = StubEndpoint([said("I will not.")])
    async with endpoint.serve() as url:
        done = await farm("play", shop, "--scenario", "dearer", "--model", "m", "--base-url", url, home=tmp_path)
    assert (done.code, done.err) == (1, "")
    assert done.out.endswith("outcome scored, reward 0.00\n")


async def test_play_tells_each_retry_of_its_endpoint(shop: Path, tmp_path: Path) -> None:
    endpoint = StubEndpoint([refused(429, "slow down", retry_after="0"), said("I will not.")])
    async with endpoint.serve() as url:
        done = await farm("play", shop, "--scenario", "dearer", "--model", "m", "--base-url", url, home=tmp_path)
    assert f"the endpoint: {url} answered HTTP 429" in done.out
    assert "attempt 2 of 6 follows in 0.0 s" in done.out


async def test_play_plays_a_conversation(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    await write_bundle(shop, scenarios=[{**SOUND_SCENARIO, "persona": "You own the shop."}])
    endpoint = StubEndpoint([said("The bell is too cheap."), said("I will see to it."), said("Good.\n[END]")])
    what = ("play", shop, "--scenario", "dearer", "--model", "m")
    async with endpoint.serve() as url:
        done = await farm(*what, "--user", "u", "--base-url", url, home=tmp_path)
    assert [request["model"] for request in endpoint.requests] == ["u", "m", "u"]
    assert "The bell is too cheap." in done.out
    assert "outcome scored, reward 0.00" in done.out
    async with StubEndpoint([said("No.")]).serve() as url:
        done = await farm(*what, "--base-url", url, home=tmp_path)
    assert "The task is told outright; with --user NAME it is a conversation with a user." in done.out


async def test_a_person_plays_at_the_terminal(shop: Path, tmp_path: Path) -> None:
    typed = "? price\nprice id=t2\nprise id=t2 cents=250\nprice id=t2 cents=250\n= It costs 2.50 now.\n"
    what = ("play", shop, "--scenario", "dearer", "--me")
    done = await farm(*what, "--save", "mine", home=tmp_path, typed=typed)
    assert (done.code, done.err) == (0, "")
    assert "  cents: integer. The price." in done.out
    assert "No tool is called 'prise'. Did you mean price?" in done.out
    assert '→ price(id="t2")\n  ✗ ' in done.out  # the environment refuses the call without a price
    assert "outcome scored, reward 1.00" in done.out
    [run] = [at.played.rollout for at in RunFolder(tmp_path / "mine").rollouts()]
    assert run.trace is not None
    assert (run.trace.model, run.trace.calls, run.trace.answer) == ("human", 2, "It costs 2.50 now.")


async def test_a_person_who_stops_is_judged_by_what_was_done(shop: Path, tmp_path: Path) -> None:
    what = ("play", shop, "--scenario", "dearer", "--me")
    for typed in ("price id=t2 cents=250\nquit\n", "price id=t2 cents=250"):
        done = await farm(*what, home=tmp_path, typed=typed)
        assert "the person who plays stopped without an answer" in done.out
        assert "outcome agent_error" in done.out


async def test_a_person_plays_in_a_conversation(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    await write_bundle(shop, scenarios=[{**SOUND_SCENARIO, "persona": "You own the shop."}])
    endpoint = StubEndpoint([said("The bell is too cheap."), said("2.50, please."), said("Good.\n[END]")])
    typed = "= What is it to cost?\nprice id=t2 cents=250\n= Done.\n"
    what = ("play", shop, "--scenario", "dearer", "--me", "--user", "u")
    async with endpoint.serve() as url:
        done = await farm(*what, "--base-url", url, home=tmp_path, typed=typed)
    assert [request["model"] for request in endpoint.requests] == ["u", "u", "u"]
    assert "user 2.50, please." in done.out
    assert (done.code, done.err) == (0, "")


async def test_an_endpoint_that_refuses_is_no_zero(shop: Path, tmp_path: Path) -> None:
    async with StubEndpoint([refused(401, "no such key")]).serve() as url:
        done = await farm("play", shop, "--scenario", "dearer", "--model", "m", "--base-url", url, home=tmp_path)
    assert (done.code, done.err) == (2, "")
    assert done.out.endswith("outcome infra_error, no reward\n")
    assert done.out.count("HTTP 401: no such key; no key was given: set OPENAI_API_KEY") == 1
    assert "checkpoint" not in done.out


async def test_instances_are_launched_scored_and_closed_on_a_running_farm(shelf: Path, tmp_path: Path) -> None:
    async with running_farm(shelf, tmp_path) as client:
        launched = await farm("launch", "shop", "--scenario", "dearer", "--count", "2", "--seed", "7", home=tmp_path)
        assert launched.code == 0
        leases = [Lease.model_validate(lease) for lease in json.loads(launched.out)]
        assert [(lease.environment, lease.scenario, lease.seed) for lease in leases] == [("shop", "dearer", 7)] * 2
        first, second = leases
        assert launched.err == (
            f"The agent's task: {DEARER}\n"
            f'To score instance {first.instance}: farm score {first.instance} --answer "the agent\'s last words"\n'
            f"To end it: farm close {first.instance} {second.instance}\n"
        )
        assert first.mcp_url is not None
        assert first.token is not None
        async with connect(first.mcp_url, first.token) as toolbox:
            assert not (await toolbox.call("price", {"id": "t2", "cents": 250})).is_error
        for lease, reward in ((first, 1.0), (second, 0.0)):
            scored = await farm("score", lease.instance, "--answer", "Done.", home=tmp_path)
            assert (scored.code, scored.err) == (0, "")
            assert Score.model_validate_json(scored.out).reward == reward
        closed = await farm("close", first.instance, second.instance, home=tmp_path)
        assert closed == (0, "", "")
        assert (await client.leases(status="live")).total == 0


async def test_what_to_do_next_names_a_state_folder_that_is_not_the_usual_one(shelf: Path, tmp_path: Path) -> None:
    elsewhere, state = tmp_path / "elsewhere", tmp_path / ".envfarm"
    elsewhere.mkdir()
    async with running_farm(shelf, tmp_path):
        done = await farm("launch", "shop", "--scenario", "dearer", "--state", state, home=elsewhere)
        [score] = [line for line in done.err.splitlines() if line.startswith("To score")]
        scored = await farm(*shlex.split(score.partition(": farm ")[2]), home=elsewhere)
        assert (scored.code, scored.err) == (0, "")
        [end] = [line for line in done.err.splitlines() if line.startswith("To end")]
        assert (await farm(*shlex.split(end.partition(": farm ")[2]), home=elsewhere)).code == 0
        by_variable = await farm("launch", "shop", "--scenario", "dearer", home=elsewhere, FARM_STATE=str(state))
        assert "--state" not in by_variable.err


async def typed(command: str, home: Path) -> tuple[int | None, str]:
    """The exit code of a line of shell, and what it said to stderr."""
    write_forked_programs(home / "bin")
    variables = environment_of(home)
    process = await asyncio.create_subprocess_exec(
        *("/bin/sh", "-c", command),
        cwd=home,
        env={**variables, "PATH": f"{home / 'bin'}:{variables['PATH']}"},
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(LONG):
        _, said = await process.communicate()
    return process.returncode, said.decode()


@pytest.mark.parametrize(("command", "count"), [("launch --count 2", 2), ("connect json --lease", 1)])
async def test_a_lease_that_cannot_be_printed_ends(shelf: Path, tmp_path: Path, command: str, count: int) -> None:
    async with running_farm(shelf, tmp_path) as client:
        code, said = await typed(f"farm {command} shop > /dev/full", tmp_path)
        assert (code, said) == (1, "farm: the output cannot be written: No space left on device\n")
        assert ((await client.leases()).total, (await client.leases(status="live")).total) == (count, 0)


async def test_leases_that_are_printed_into_a_pipe_that_nobody_reads_end(shelf: Path, tmp_path: Path) -> None:
    async with running_farm(shelf, tmp_path) as client:
        assert await typed("farm launch --count 2 shop | true", tmp_path) == (0, "")
        assert ((await client.leases()).total, (await client.leases(status="live")).total) == (2, 0)


async def test_what_a_running_farm_does_not_have_is_told(shelf: Path, tmp_path: Path) -> None:
    assert (await farm("new", "game_shelf", home=tmp_path)).code == 0
    async with running_farm(shelf, tmp_path) as client:
        nobody = "0123456789abcdef"
        asked = {
            ("score", nobody): f"there is no instance '{nobody}'; it was never launched",
            ("score", "TOKEN"): "not the id of an instance",
            ("launch", "zoo"): "no environment 'zoo' in the library; there are: shop",
            ("launch", "./zoo"): "`farm up --library .` serves it, and its id is zoo",
            ("launch", "game_shelf"): "`farm up --library .` serves the bundle game_shelf of this folder",
            ("instances", "--environment", "shp"): "no environment 'shp' in the library; did you mean 'shop'?",
            ("launch", "shop", "--scenario", "cheaper"): "shop has no scenario 'cheaper'; did you mean 'dearer'?",
        }
        answers = await side_by_side(*(farm(*arguments, home=tmp_path) for arguments in asked))
        for done, words in zip(answers, asked.values(), strict=True):
            assert misused(done, words)
        [lease] = await client.launch("shop")
        assert misused(await farm("score", lease.instance, home=tmp_path), "nothing to judge by")
        done = await farm("close", nobody, "x", lease.instance, home=tmp_path)
        assert (done.code, done.out) == (2, "")
        assert done.err.splitlines() == [
            f"farm: there is no instance '{nobody}'; it was never launched",
            "farm: x: not the id of an instance; `farm launch` prints it as `instance`",
        ]
        assert (await client.leases(status="live")).total == 0


async def test_a_farm_that_has_ended_is_said_to_be_down(shelf: Path, tmp_path: Path) -> None:
    async with running(Options(library=(shelf,), state=tmp_path / ".envfarm", port=0)) as up:
        pass
    done = await farm("launch", "shop", home=tmp_path)
    assert done == (1, "", f"farm: no farm answers at {up.url}; start one with `farm up`\n")


async def test_a_farm_with_a_token_of_its_own_wants_it_from_the_commands_too(shelf: Path, tmp_path: Path) -> None:
    async with running(Options(library=(shelf,), state=tmp_path / ".envfarm", port=0, token="a token of my own")):
        (tmp_path / "its-token").write_text("a token of my own\n")
        none, wrong, shown, in_file, in_environment = await side_by_side(
            farm("launch", "shop", home=tmp_path),
            farm("launch", "shop", home=tmp_path, FARM_TOKEN="wrong"),
            farm("launch", "shop", "--token", "a token of my own", home=tmp_path),
            farm("launch", "shop", "--token-file", "its-token", home=tmp_path),
            farm("launch", "shop", home=tmp_path, FARM_TOKEN="a token of my own"),
        )
        assert misused(none, "give it here too, with FARM_TOKEN or --token-file")
        assert misused(wrong, "refuses the control token of FARM_TOKEN", str(tmp_path / ".envfarm" / "url"))
        assert misused(shown, "--token on the command line shows in the list of processes: set FARM_TOKEN or give")
        assert (in_file.code, in_environment.code) == (0, 0)


async def test_the_entry_that_connect_prints_starts_a_server(tmp_path: Path) -> None:
    done = await farm("connect", "json", "library_loans", "--scenario", "renew_card", home=tmp_path)
    assert (done.code, done.err) == (0, "")
    entry = json.loads(done.out)
    assert entry.pop("type") == "stdio"
    client = Client(StdioServerParameters(**entry, cwd=tmp_path))
    async with asyncio.timeout(60), client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == set(Library([OWN_LIBRARY]).environment("library_loans").tools)


async def test_the_entry_has_the_farm_that_was_called_and_no_other_of_the_path(tmp_path: Path) -> None:
    other = tmp_path / "farm"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = await farm("connect", "json", "library_loans", home=tmp_path, PATH=path)
    assert json.loads(done.out)["command"] == str(Path(sys.executable).with_name("farm"))


async def test_a_bundle_by_its_folder_is_connected_to_from_everywhere(shop: Path) -> None:
    done = await farm("connect", "json", shop.name, home=shop.parent)
    assert json.loads(done.out)["args"] == ["serve", str(shop)]


async def test_connect_without_write_changes_no_file(tmp_path: Path) -> None:
    clients = ("claude", "desktop")
    for done in await side_by_side(*(farm("connect", one, "library_loans", home=tmp_path) for one in clients)):
        assert (done.code, done.err) == (0, "")
        assert set(json.loads(done.out)["mcpServers"]) == {"library_loans"}
    assert named(tmp_path) == set()


@pytest.mark.parametrize(("client", "file"), [("claude", ".mcp.json"), ("desktop", None)])
async def test_connect_merges_into_what_is_there(tmp_path: Path, client: str, file: str | None) -> None:
    path = tmp_path / (file or ".config/Claude/claude_desktop_config.json")
    before: dict[str, Any] = {
        "theme": "hell – dunkel",
        "mcpServers": {"mine": {"command": "x", "args": ["ü"]}, "library_loans": {"command": "old"}},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(before))
    path.chmod(0o600)
    done = await farm("connect", client, "library_loans", "--write", home=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "library_loans is there now" in done.out
    after = json.loads(path.read_text())
    assert after.pop("mcpServers") == {
        "mine": before["mcpServers"]["mine"],
        "library_loans": {
            "type": "stdio",
            "command": after_command(path),
            "args": ["serve", "library_loans"],
            "env": {},
        },
    }
    assert after == {"theme": before["theme"]}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert named(path.parent) == {path.name}


def after_command(path: Path) -> str:
    """The command of an entry: a program that is there."""
    command: str = json.loads(path.read_text())["mcpServers"]["library_loans"]["command"]
    assert os.access(command, os.X_OK)
    return command


async def test_connect_makes_the_file_where_there_is_none(tmp_path: Path) -> None:
    paths = {"claude": ".mcp.json", "desktop": ".config/Claude/claude_desktop_config.json"}
    what = ("hotel_bookings", "--scenario", "burst_pipe", "--write")
    for done in await side_by_side(*(farm("connect", client, *what, home=tmp_path) for client in paths)):
        assert done.code == 0
    for path in paths.values():
        entry = json.loads((tmp_path / path).read_text())["mcpServers"]["hotel_bookings"]
        assert entry["args"] == ["serve", "hotel_bookings", "--scenario", "burst_pipe"]


HALF_A_CHARACTER = b'{"mcpServers": {"x": {"command": "\\ud83d"}}}'
A_KEY_TWICE = b'{"mcpServers": {"x": {}, "x": {}}}'


async def test_connect_leaves_a_broken_file_alone(tmp_path: Path) -> None:
    contents = [
        b"{",
        b"[]",
        b"null",
        b'{"mcpServers": []}',
        b'{"mcpServers": "x"}',
        b"\xff",
        HALF_A_CHARACTER,
        A_KEY_TWICE,
        b'{"mcpServers": {}, "x": 1e400}',
        b'{"mcpServers": {}, "x": NaN}',
    ]
    homes = [tmp_path / str(number) for number in range(len(contents))]
    for home, content in zip(homes, contents, strict=True):
        home.mkdir()
        (home / ".mcp.json").write_bytes(content)
    what = ("connect", "claude", "library_loans", "--write")
    answers = await side_by_side(*(farm(*what, home=home) for home in homes))
    for home, content, done in zip(homes, contents, answers, strict=True):
        assert misused(done, ".mcp.json: is not a client's configuration, and was left alone")
        assert (home / ".mcp.json").read_bytes() == content
        assert named(home) == {".mcp.json"}


async def test_connect_changes_the_file_that_a_link_leads_to(tmp_path: Path) -> None:
    (tmp_path / "kept.json").write_text('{"mcpServers": {"library_loans": {"command": "mine"}}, "x": 1}')
    (tmp_path / ".mcp.json").symlink_to("kept.json")
    done = await farm("connect", "claude", "library_loans", "--write", home=tmp_path)
    assert done.code == 0
    assert "another entry of that name was replaced: library_loans" in done.out
    assert (tmp_path / ".mcp.json").is_symlink()
    kept = json.loads((tmp_path / "kept.json").read_text())
    assert kept["x"] == 1
    assert kept["mcpServers"]["library_loans"]["command"] != "mine"
    again = await farm("connect", "claude", "library_loans", "--write", home=tmp_path)
    assert "replaced" not in again.out


async def test_connect_refuses_a_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").symlink_to(".mcp.json")
    assert misused(await farm("connect", "claude", "library_loans", "--write", home=tmp_path), "leads back to itself")


async def test_connect_says_where_it_cannot_write(tmp_path: Path) -> None:
    (tmp_path / ".config").write_text("")
    done = await farm("connect", "desktop", "library_loans", "--write", home=tmp_path)
    assert misused(done, "claude_desktop_config.json: cannot be written")


async def test_connect_with_a_lease_gives_an_instance_that_can_be_scored(shelf: Path, tmp_path: Path) -> None:
    async with running_farm(shelf, tmp_path) as client:
        done = await farm("connect", "claude", "shop", "--scenario", "dearer", "--lease", "--write", home=tmp_path)
        [lease] = (await client.leases(status="live")).items
        assert done.code == 0
        assert (
            f"The agent's task: {DEARER}\nTo score instance {lease.instance}: farm score {lease.instance}" in done.err
        )
        entry = json.loads((tmp_path / ".mcp.json").read_text())["mcpServers"]["shop"]
        assert entry["type"] == "http"
        token = entry["headers"]["Authorization"].removeprefix("Bearer ")
        async with connect(entry["url"], token) as toolbox:
            await toolbox.call("price", {"id": "t2", "cents": 250})
            assert lease.instance in entry["url"]
            assert (await client.score(lease.instance)).success is True
        assert misused(await farm("connect", "json", "zoo", "--lease", home=tmp_path), "there are: shop")
        folder = farm("connect", "json", str(shelf / "shop"), "--lease", home=tmp_path)
        assert misused(await folder, "here goes the id of an environment", "its id is shop")


async def test_connect_looks_at_the_file_before_it_leases(shelf: Path, tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text('{"mcpServers": 3}')
    async with running_farm(shelf, tmp_path) as client:
        done = await farm("connect", "claude", "shop", "--lease", "--write", home=tmp_path)
        assert misused(done, "left alone: mcpServers is not an object; mend or move the file")
        assert (await client.leases()).total == 0


SENDS_CTRL_C = """
import atexit, os, sys

def send():
    os.kill(os.getpid(), 2)

def look(event, arguments):
    if event == "import":
        seen.append(arguments[0])
        if moment == arguments[0] or moment == "the first import" and seen[-2:-1] == ["farm"]:
            send()

moment, seen = sys.argv.pop(1), []
atexit.register(lambda: moment == "the end" and send())
sys.addaudithook(look)
from farm import main
main()
"""
"""A script as pip writes it for `farm`, which gets Ctrl-C where it is told to. So no clock decides what it meets."""


@pytest.mark.parametrize("moment", ["the first import", "typer", "servers.errors", "pydantic", "the end"])
async def test_a_ctrl_c_while_farm_starts_or_ends_is_quiet(moment: str, tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SENDS_CTRL_C, moment, "tools", "parcel_room"),
        env={**environment_of(tmp_path), "PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert (process.returncode, err.decode()) == (130, "farm: interrupted\n")
    assert bool(out) is (moment == "the end")
