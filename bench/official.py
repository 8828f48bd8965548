"""The truths of public benchmarks over a farm, beside the official code in process: `farm bench --official`.

Both play all truths of BFCL v4 and of tau-bench's test splits, and judge each. The farm answers over MCP, with the
calls in guests and the state in SQLite. Upstream's code runs in one process, without a server, with objects in memory.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from agent_client.wire import shared_http
from evals.rollout import for_each
from registry.client import FarmClient, LeasedInstance, every_item
from registry.farm import Options, running
from servers.errors import RequestError
from servers.sandbox.guest_pool import Guests
from servers.scenario.checkpoints.official import OfficialCheckpoint
from servers.scenario.scenario import Scenario
from synth.interop.benchmarks.bfcl import INSTALL, bfcl, bfcl_source, categories
from synth.interop.benchmarks.bundle_writer import write
from synth.interop.benchmarks.clone import Clone
from synth.interop.benchmarks.tau_bench import tau_bench

AT_ONCE = 4
WORKERS = 2
BFCL = """
import json, sys, time
from pathlib import Path
import bfcl_eval
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import multi_turn_checker
begin, used, passed, tasks = time.perf_counter(), time.process_time(), 0, 0
for category in ("base", "miss_func", "miss_param", "long_context"):
    data, name = Path(bfcl_eval.__path__[0]) / "data", f"BFCL_v4_multi_turn_{category}.json"
    rows, truths = ([json.loads(line) for line in (data / one / name).open()] for one in (".", "possible_answer"))
    truth = {row["id"]: row["ground_truth"] for row in truths}
    for row in rows:
        wanted = truth[row["id"]]
        calls = [[[call] for call in turn] for turn in wanted]
        passed += multi_turn_checker(calls, wanted, row, f"multi_turn_{category}", "official")["valid"]
        tasks += 1
print(json.dumps([passed, tasks, time.perf_counter() - begin, time.process_time() - used]))
"""
TAU = """
import json, sys, time, types
sys.path.insert(0, sys.argv[1])
sys.modules["litellm"] = types.SimpleNamespace(completion=None)
from tau_bench.envs.airline.env import MockAirlineDomainEnv
from tau_bench.envs.retail.env import MockRetailDomainEnv
from tau_bench.types import Action
begin, used, passed, tasks = time.perf_counter(), time.process_time(), 0, 0
for kind in (MockRetailDomainEnv, MockAirlineDomainEnv):
    env = kind(user_strategy="human", task_split="test", task_index=0)
    env.user = types.SimpleNamespace(step=lambda _: "", get_total_cost=lambda: 0)
    for task in env.tasks:
        env.task, env.data, env.actions = task, env.data_load_func(), []
        for action in task.actions:
            env.step(action)
        env.actions.append(Action(name="respond", kwargs={"content": " ".join(task.outputs)}))
        passed += env.calculate_reward().reward == 1.0
        tasks += 1
print(json.dumps([passed, tasks, time.perf_counter() - begin, time.process_time() - used]))
"""


class Play(NamedTuple):
    """How many truths passed, of how many, the seconds that all took, and the seconds of processor time."""

    passed: int
    tasks: int
    seconds: float
    processor: float

    def __str__(self) -> str:
        return f"{self.passed} of {self.tasks} in {self.seconds:.1f} s ({self.processor:.1f} s)"


def processor_time() -> float:
    """Seconds of processor time of this process, and of those that it started and that have ended."""
    told = os.times()
    return told.user + told.system + told.children_user + told.children_system


def in_process(code: str, *arguments: str) -> Play:
    """What the official code takes in a process of its own, without its start and imports."""
    run = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, check=True, text=True)
    return Play(*json.loads(run.stdout.splitlines()[-1]))


async def over_the_farm(library: Path, state: Path) -> Play:
    """What a farm with two workers takes for all scenarios of a library. Its processor time includes its start."""
    used = processor_time()
    options = Options(library=(library,), state=state, port=0, workers=WORKERS, log_level="error")
    async with running(options) as address, FarmClient(address.url, address.token) as client, shared_http() as http:

        async def play(card: tuple[str, str]) -> bool:
            told = (await client.scenario(*card)).scenario
            async with client.leased(*card, http_client=http) as live:
                return await passes(live, told)

        names = [path.name for path in sorted(library.iterdir())]  # noqa: ASYNC240 - nothing else runs here yet
        cards = [(name, card.id) for name in names for card in await _scenarios(client, name)]
        begin = perf_counter()
        passed = await for_each(cards, play, at_once=AT_ONCE)
        seconds = perf_counter() - begin
    return Play(sum(passed), len(passed), seconds, processor_time() - used)


async def passes(live: LeasedInstance, scenario: Scenario) -> bool:
    """Play the truth of a scenario. True if it is judged right."""
    async with live.connect() as toolbox:
        for turn in _turns(scenario):
            if turn is None:
                await live.mark_turn()
            else:
                await toolbox.call(*turn)
    score = await live.score(scenario.solution.answer if scenario.solution else "")
    return score.success is True


def _turns(scenario: Scenario) -> list[tuple[str, dict[str, Any]] | None]:
    """The calls of the truth. None stands where a turn begins."""
    [checkpoint] = scenario.checkpoints
    if isinstance(checkpoint, OfficialCheckpoint) and checkpoint.checker == "bfcl":
        turns: list[list[tuple[str, dict[str, Any]]]] = checkpoint.truth["calls"]
        return [call for turn in turns for call in (None, *turn)]
    return [(call.tool, call.arguments) for call in scenario.reference().calls]


async def _scenarios(client: FarmClient, environment: str) -> Sequence[Any]:
    return await every_item(lambda offset: client.scenarios(environment, offset=offset))


async def played(folder: Path, clone: Path | None, tell: Callable[[str], None]) -> list[tuple[str, Play, Play]]:
    """What the truths of each benchmark take: those of the official code, and then those of a farm."""
    found: list[tuple[str, Play, Play]] = []
    async with Guests() as guests:
        for category in categories(None):
            await write(bfcl(bfcl_source("v4", None, None), category, any_version=False), folder / "bfcl", guests)
        libraries: list[tuple[str, Path, tuple[str, ...]]] = [("BFCL v4, four categories", folder / "bfcl", (BFCL,))]
        if clone is not None:
            for domain in ("retail", "airline"):
                bundle = tau_bench(Clone(clone, "tau-bench"), domain, "test", any_version=False)
                await write(bundle, folder / "tau", guests)
            libraries.append(("tau-bench, retail and airline test", folder / "tau", (TAU, str(clone))))
    for name, library, code in libraries:
        tell(f"{name}, the official code")
        own = in_process(*code)
        tell(f"{name}, the farm (the official code: {own})")
        found.append((name, own, await over_the_farm(library, folder / f"state-{library.name}")))
        tell(f"{name}: {found[-1][-1]}")
    return found


def page(plays: Sequence[tuple[str, Play, Play]]) -> str:
    """The table in Markdown."""
    lines = ["| truths | official code in process (processor) | farm over MCP (processor) | ratio (processor) |"]
    lines.append("|---|---|---|---|")
    for name, own, farm in plays:
        ratio = f"{farm.seconds / own.seconds:.2f} ({farm.processor / own.processor:.2f})"
        lines.append(f"| {name} | {own} | {farm} | {ratio} |")
    return "\n".join(lines)


def compared(folder: Path, clone: Path | None, tell: Callable[[str], None]) -> str:
    """Play all, and give the table. Raises RequestError: the official code or its data are not there."""
    if find_spec("bfcl_eval") is None:
        raise RequestError(f"the official code of BFCL is not installed: {INSTALL}")
    return page(asyncio.run(played(folder, clone, tell)))
