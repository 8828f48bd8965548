"""tau-bench: an import of a clone, its tools over real HTTP with state in SQLite, and upstream's own reward."""

import json
import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from registry.client import FarmClient
from rl_training.data.rows import scenarios_of
from rl_training.errors import RowError
from servers.errors import RequestError
from servers.sandbox.guest_pool import Guests
from servers.scenario.scenario import PlannedCall, Scenario
from synth.interop.audit.audit import EnvironmentAudit, environment_audit, orders_of
from synth.interop.audit.audit_job import Auditing
from synth.interop.benchmarks.bundle_writer import write
from synth.interop.benchmarks.clone import Clone
from synth.interop.benchmarks.tau_bench import TauDomain, TauSplit, tau_bench
from tests.benchmarks.replays import STAND_INS, UPSTREAM, farm_of, nothing, replayed, truth
from tests.processes import farm

STAND_IN = STAND_INS / "tau-bench"
FULL = UPSTREAM / "tau-bench"
RETAIL = "tau_bench_retail_test"
GET_INFO = 'class Calculate:\n def get_info():\n  return {"function": '
PROMPT = """class LLMUserSimulationEnv:
  def reset(self):
    return [{"role": "user", "content": "Hi!"}]
  def build_system_prompt(self, instruction):
"""
DOUBLED = "    instruction = instruction + instruction\n" * 40 + "    return instruction"
needs_upstream = pytest.mark.skipif(
    not FULL.is_dir(), reason="needs a clone of tau-bench in ../shared/upstream, or in FARM_UPSTREAM"
)


async def imported(clone: Path, out: Path, domain: TauDomain = "retail", split: TauSplit = "test") -> None:
    async with Guests() as guests:
        await write(tau_bench(Clone(clone, "tau-bench"), domain, split, any_version=clone == STAND_IN), out, guests)


@asynccontextmanager
async def tau_bench_farm(folder: Path) -> AsyncGenerator[FarmClient]:
    """A farm with the bundle of the stand-in."""
    await imported(STAND_IN, folder / "imported")
    async with farm_of(folder / "imported", folder / "state") as client:
        yield client


def without_last_write(scenario: Scenario) -> Sequence[PlannedCall]:
    return [call for call in truth(scenario) if call.tool != "swap_plant"]


async def test_the_truth_earns_1_and_anything_less_earns_0(tmp_path: Path) -> None:
    async with tau_bench_farm(tmp_path) as client:
        assert [one.passed for one in (await replayed(client, RETAIL)).values()] == [True, True, True]
        assert not any(one.passed for one in (await replayed(client, RETAIL, nothing)).values())
        assert not any(one.passed for one in (await replayed(client, RETAIL, without_last_write)).values())


async def test_an_output_that_was_not_told_earns_0(tmp_path: Path) -> None:
    async with tau_bench_farm(tmp_path) as client:
        untold = await replayed(client, RETAIL, answers=False)
        assert [one.passed for one in untold.values()] == [True, True, False]
        score = untold["task_2"].score
        assert score is not None
        assert json.loads(score.verdicts[0].seen) == {"database": True, "missing": ["58.00"]}


async def test_an_audit_lets_the_wrong_agents_play_the_truths_of_a_benchmark(tmp_path: Path) -> None:
    await imported(STAND_IN, tmp_path / "imported")
    orders = orders_of(tmp_path / "imported" / RETAIL)
    assert not isinstance(orders, EnvironmentAudit)
    async with Auditing().open() as audit:
        parts = [await audit(order) for order in orders]
    found = environment_audit(tmp_path / "imported" / RETAIL, parts)
    assert found.loads
    assert [one.problem for one in found.scenarios] == [None, None, None]
    assert all(one.wrong_agents["claimer"] == 0 for one in found.scenarios)
    assert found.scenarios[-1].wrong_agents["paster"] == 1, "an output may stand anywhere in what was said"


async def test_a_call_is_answered_in_upstreams_words_and_changes_the_rows_it_touches(tmp_path: Path) -> None:
    async with tau_bench_farm(tmp_path) as client, client.leased(RETAIL, "task_0") as live, live.connect() as toolbox:
        assert toolbox.instructions == (STAND_IN / "tau_bench/envs/retail/wiki.md").read_text(encoding="utf-8")
        scenario = (await client.scenario(RETAIL, "task_0")).scenario
        texts = [(await toolbox.call(call.tool, call.arguments)).text for call in truth(scenario)]
        order = json.loads(texts[-1])
        assert order["status"] == "potting again"
        [change] = (await client.diff(live.id)).items
        assert (change.table, change.operation) == ("orders", "update")
        missing = await toolbox.call("get_order", {"order_id": "N0"})
        assert (missing.text, missing.is_error) == ("Error: no such order", False)


async def test_a_tool_that_raises_keeps_what_it_changed_before(tmp_path: Path) -> None:
    async with tau_bench_farm(tmp_path) as client, client.leased(RETAIL, "task_0") as live, live.connect() as toolbox:
        many = await toolbox.call("swap_plant", {"order_id": "N1", "old": "lavender", "new": "olive", "count": 3})
        assert (many.text, many.is_error) == ("Error: only 2 of olive are left", False)
        order = json.loads((await toolbox.call("get_order", {"order_id": "N1"})).text)
        assert (order["status"], order["notes"]) == ("potting", ["asked for olive"])


async def test_arguments_are_as_free_as_upstream(tmp_path: Path) -> None:
    async with tau_bench_farm(tmp_path) as client, client.leased(RETAIL, "task_0") as live, live.connect() as toolbox:
        wrong = await toolbox.call("get_order", {"order": "N1"})
        assert wrong.text == "Error: GetOrder.invoke() got an unexpected keyword argument 'order'"
        odd = await toolbox.call("calculate", {"expression": "__import__('os').system('true')"})
        assert odd.text == "Error: only numbers and + - * / ( ) are allowed"


async def test_two_runs_of_one_task_share_nothing(tmp_path: Path) -> None:
    async with tau_bench_farm(tmp_path) as client:
        calls = truth((await client.scenario(RETAIL, "task_0")).scenario)
        async with client.leased(RETAIL, "task_0") as one, client.leased(RETAIL, "task_0") as other:
            async with one.connect() as toolbox:
                for call in calls:
                    await toolbox.call(call.tool, call.arguments)
            assert (await one.score()).success
            assert not (await other.score()).success
            assert (await client.diff(other.id)).items == ()
            await client.rewind(one.id, 1)
            assert not (await one.score()).success


async def test_nobody_trains_on_a_benchmark(tmp_path: Path) -> None:
    async with tau_bench_farm(tmp_path) as client:
        with pytest.raises(RowError, match="is of a public benchmark"):
            await scenarios_of(client, [RETAIL])
    library = ("--library", str(tmp_path / "imported"))
    done = await farm("environments", *library, "--benchmarks", "--json", home=tmp_path)
    assert [one["id"] for one in json.loads(done.out)] == [RETAIL]
    done = await farm("environments", *library, "--json", home=tmp_path)
    assert RETAIL not in [one["id"] for one in json.loads(done.out)]
    reference = ("--reference", str(tmp_path / "imported"))
    done = await farm("export", "sft", *reference, "--out", str(tmp_path / "sft"), home=tmp_path)
    assert (done.code, "(contamination)" in done.err) == (2, True)


async def test_a_checker_that_raises_is_no_zero(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(STAND_IN, clone)
    base = clone / "tau_bench/envs/base.py"
    base.write_text(base.read_text(encoding="utf-8").replace("reward = 1.0", "reward = 1 / 0"), encoding="utf-8")
    async with Guests() as guests:
        await write(tau_bench(Clone(clone, "tau-bench"), "retail", "test", any_version=True), tmp_path / "b", guests)
    async with farm_of(tmp_path / "b", tmp_path / "state") as client, client.leased(RETAIL, "task_0") as live:
        score = await live.score()
        assert (score.outcome, score.reward) == ("infra_error", None)
        assert "the official checker raised: ZeroDivisionError" in (score.error or "")


@pytest.mark.parametrize(
    ("path", "text", "told"),
    [
        ("tau_bench/envs/retail/data/orders.json", None, "orders.json: is missing"),
        ("tau_bench/envs/retail/data/orders.json", "[", "orders.json: is not JSON"),
        ("tau_bench/envs/retail/tasks_test.py", "TASKS_TEST = [Task(user_id=1)]", "task 0 (line 1): cannot be read"),
        ("tau_bench/envs/retail/tasks_test.py", "TASKS_TEST = open('x')", "lists no TASKS_TEST"),
        ("tau_bench/envs/retail/tools/calculate.py", "class Calculate: pass", "returns no literal description"),
        ("tau_bench/envs/retail/tools/calculate.py", "def (", "calculate.py: is not Python"),
        ("tau_bench/envs/retail/tools/calculate.py", GET_INFO + '{"name": "calculate"}}', "KeyError: 'description'"),
        (
            "tau_bench/envs/retail/tools/calculate.py",
            GET_INFO + '{"name": "a(): pass #", "description": "-", "parameters": {}}}',
            "returns no literal description: name: must match",
        ),
        ("tau_bench/envs/retail/tools/calculate.py", GET_INFO + "+" * 600 + "1}", "literal description"),
        ("tau_bench/envs/retail/tasks_test.py", f"TASKS_TEST = [{'-' * 600}1]", "task 0 (line 1): cannot be read"),
        ("tau_bench/envs/user.py", PROMPT + "    return " + "+".join(["instruction"] * 600), "RecursionError"),
        ("tau_bench/envs/user.py", PROMPT + DOUBLED, "is composed"),
    ],
)
def test_a_clone_that_cannot_be_read_is_told_by_file(tmp_path: Path, path: str, text: str | None, told: str) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(STAND_IN, clone)
    (clone / path).unlink() if text is None else (clone / path).write_text(text, encoding="utf-8")
    with pytest.raises(RequestError) as error:
        tau_bench(Clone(clone, "tau-bench"), "retail", "test", any_version=True)
    assert told in str(error.value)


async def test_another_version_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("import", "tau-bench", str(STAND_IN), "--out", str(out), "--domain")
    done = await farm(*command, "retail", home=tmp_path)
    assert done.code == 2
    assert "is not tau-bench at 59a200c" in done.err
    assert not out.exists()
    done = await farm(*command, "airline", "--split", "dev", home=tmp_path)
    assert (done.code, "airline has none; there is: test" in done.err) == (2, True)
    done = await farm(*command, "retail", "--any-version", home=tmp_path)
    assert (done.code, [one.name for one in out.iterdir()]) == (0, [RETAIL])
    description = json.loads((out / RETAIL / "environment.json").read_text(encoding="utf-8"))
    assert description["benchmark"]["version"].startswith("unknown, digest ")
    assert (out / RETAIL / "LICENSE").read_text(encoding="utf-8") == (STAND_IN / "LICENSE").read_text(encoding="utf-8")


@needs_upstream
async def test_upstreams_own_tools_answer_in_its_words(tmp_path: Path) -> None:
    await imported(FULL, tmp_path / "imported")
    async with (
        farm_of(tmp_path / "imported", tmp_path / "state") as client,
        client.leased(RETAIL, "task_0") as live,
        live.connect() as toolbox,
    ):
        assert toolbox.instructions == (FULL / "tau_bench/envs/retail/wiki.md").read_text(encoding="utf-8")
        missing = await toolbox.call("get_order_details", {"order_id": "W0"})
        assert (missing.text, missing.is_error) == ("Error: order not found", False)
        wrong = await toolbox.call("get_order_details", {"order": "#W2378156"})
        assert wrong.text == "Error: GetOrderDetails.invoke() got an unexpected keyword argument 'order'"
        odd = await toolbox.call("calculate", {"expression": "__import__('os').system('true')"})
        assert odd.text == "Error: invalid characters in expression"


@needs_upstream
async def test_a_call_costs_what_it_touches(tmp_path: Path) -> None:
    """Of 2,000 reservations, a call reads and writes the ones that it names."""
    await imported(FULL, tmp_path / "imported", "airline")
    async with farm_of(tmp_path / "imported", tmp_path / "state") as client:
        some = await replayed(client, "tau_bench_airline_test", most=3)
        assert all(one.passed for one in some.values())
        async with client.leased("tau_bench_airline_test", "task_0") as live, live.connect() as toolbox:
            for call in truth((await client.scenario("tau_bench_airline_test", "task_0")).scenario):
                await toolbox.call(call.tool, call.arguments)
            changed = {(one.table, one.operation) for one in (await client.diff(live.id)).items}
            assert changed == {("reservations", "insert"), ("users", "update")}


@needs_upstream
@pytest.mark.slow
@pytest.mark.parametrize(
    ("domain", "split", "tasks", "idle"),
    [("retail", "test", 115, 7), ("retail", "train", 500, 5), ("retail", "dev", 20, 1), ("airline", "test", 50, 19)],
)
async def test_every_truth_replayed_over_http_passes(
    tmp_path: Path, domain: TauDomain, split: TauSplit, tasks: int, idle: int
) -> None:
    await imported(FULL, tmp_path / "imported", domain, split)
    name = f"tau_bench_{domain}_{split}"
    async with farm_of(tmp_path / "imported", tmp_path / "state", workers=2) as client:
        assert sum(one.passed for one in (await replayed(client, name)).values()) == tasks
        done = await replayed(client, name, nothing, answers=False)
        assert sum(one.passed for one in done.values()) == idle


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "wiki.md").open("wb") as file:
        file.truncate(16 * 1024 * 1024 + 1)
    with pytest.raises(RequestError, match=r"wiki.md: cannot be read: it is larger than 16 MiB$"):
        Clone(tmp_path, "tau-bench").text("wiki.md")


def test_files_that_are_too_large_together_are_refused(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.md").write_text("x" * 1000)
    clone = Clone(tmp_path, "tau-bench", largest=2500)
    assert clone.text("0.md") == clone.text("0.md") == clone.text("1.md")
    with pytest.raises(RequestError, match="its files are larger than 2 KiB together"):
        clone.text("2.md")
