"""Each part of each benchmark in small: imported, served, replayed over HTTP, compared with what its code says.

The tests of the real benchmarks need users' clones, and are slow. These hold the same on stand-ins: the truth passes,
less does not, and every result has the text that the code gives outside of the farm.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from servers.sandbox.guest_pool import Guests
from servers.scenario.checkpoints.official import OfficialCheckpoint
from servers.scenario.scenario import PlannedCall, Scenario
from synth.interop.benchmarks.acebench import acebench
from synth.interop.benchmarks.bfcl import BfclCategory, bfcl, bfcl_source, categories
from synth.interop.benchmarks.bundle_writer import BenchmarkBundle, write
from synth.interop.benchmarks.clone import Clone
from synth.interop.benchmarks.tau_bench import tau_bench
from tests.benchmarks.replays import MARK, STAND_INS, Calls, farm_of, milestones, nothing, replayed, truth, turns
from tests.benchmarks.test_bfcl import OFFICIAL, needs_mpmath

BFCL, V3 = STAND_INS / "bfcl", STAND_INS / "bfcl-v3"
TAU = """
import json, sys, types
sys.modules["litellm"] = types.ModuleType("litellm")
sys.modules["litellm"].completion = None
from importlib import import_module
from pathlib import Path
from tau_bench.envs import base
told = {}
for domain, tasks in (("retail", "TASKS_TEST"), ("airline", "TASKS")):
    place = f"tau_bench.envs.{domain}"
    tools = import_module(f"{place}.tools").ALL_TOOLS
    files = sorted(Path("tau_bench/envs", domain, "data").glob("*.json"))
    load = lambda: {one.stem: json.loads(one.read_text(encoding="utf-8")) for one in files}
    for number, task in enumerate(getattr(import_module(f"{place}.tasks_test"), tasks)):
        env = base.Env(load, tools, task)
        told[f"tau_bench_{domain}_test/task_{number}"] = [env.step(action) for action in task.actions]
print(json.dumps(told))
"""
ACE = """
import json, sys
from importlib import import_module
told = {}
for language in ("en", "zh"):
    for kind, role, name in (("turn", "", "EXECUTION"), ("step", "_step", "EXECUTION_STEP")):
        make = getattr(import_module(f"model_inference.multi_{kind}.execution_role{role}"), name)
        path = f"data_all/data_{language}/{{}}data_agent_multi_{kind}.json"
        files = [open(path.format(one), encoding="utf-8") for one in ("", "possible_answer/")]
        for row, answer in zip(*([json.loads(line) for line in file] for file in files)):
            one = make("m", row["initial_config"], row["involved_classes"], f"{language}_{kind}_" + row["id"], language)
            stones = answer["mile_stone"]
            calls = stones[0] if isinstance(stones[0], list) else stones
            key = f"acebench_{language}_multi_{kind}/task_" + row["id"].rsplit("_", 1)[1]
            told[key] = [str(one.respond([{"message": call}])[0]["message"]) for call in calls]
print(json.dumps(told))
"""
V3_CATEGORIES: tuple[BfclCategory, ...] = ("base", "miss_func")
TRUTHS: dict[str, Calls] = {"bfcl": turns, "acebench": milestones, "tau_bench": truth}
"""How the calls of a benchmark's truth are found, by its checker."""
ELSEWHERE = (
    "tau_bench_retail_test",
    "bfcl_v4_base",
    "bfcl_v4_miss_func",
    "acebench_en_multi_turn",
    "acebench_en_multi_step",
)
"""The parts of which other tests show that less than the truth does not pass."""


def bundles() -> list[BenchmarkBundle]:
    """All parts of all benchmarks."""
    tau, ace = Clone(STAND_INS / "tau-bench", "tau-bench"), Clone(STAND_INS / "acebench", "ACEBench")
    return [
        *(tau_bench(tau, domain, "test", any_version=True) for domain in ("retail", "airline")),
        *(bfcl(bfcl_source("v4", None, BFCL), one, any_version=True) for one in categories(None)),
        *(bfcl(bfcl_source("v3", V3, BFCL), one, any_version=True) for one in V3_CATEGORIES),
        *(
            acebench(ace, lang, kind, any_version=True)
            for lang in ("en", "zh")
            for kind in ("multi_turn", "multi_step")
        ),
    ]


def said_directly(script: str, folder: Path, *arguments: Path) -> dict[str, list[str]]:
    """What a script prints that calls the code of a stand-in in a process without a farm."""
    run = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        check=True,
        text=True,
        cwd=folder,
        env={**os.environ, "TZ": "UTC", "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    return json.loads(run.stdout)


def texts_of_bfcl() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    v4 = BFCL / "bfcl_eval" / "data"
    for version, data, among in (("v4", v4, categories(None)), ("v3", V3, V3_CATEGORIES)):
        for category in among:
            name = f"BFCL_{version}_multi_turn_{category}.json"
            told = said_directly(OFFICIAL, BFCL, data / name, data / "possible_answer" / name)
            found |= {f"bfcl_{version}_{category}/{task}": texts for task, texts in told.items()}
    return found


def true_calls(scenario: Scenario) -> Sequence[PlannedCall]:
    [checkpoint] = scenario.checkpoints
    assert isinstance(checkpoint, OfficialCheckpoint)
    return TRUTHS[checkpoint.checker](scenario)


def without_last(scenario: Scenario) -> Sequence[PlannedCall]:
    calls = list(true_calls(scenario))
    del calls[max(place for place, call in enumerate(calls) if call is not MARK)]
    return calls


def controls_of(name: str) -> Sequence[Calls]:
    """What is less than the truth. Other tests show that no call at all is no truth of BFCL."""
    if name in ELSEWHERE:
        return ()
    return (without_last,) if name.startswith("bfcl") else (nothing, without_last)


@needs_mpmath
async def test_every_part_passes_by_its_truth_alone_and_says_what_its_code_says(tmp_path: Path) -> None:
    names: list[str] = []
    async with Guests() as guests:
        for bundle in bundles():
            names.append(bundle.id)
            await write(bundle, tmp_path / "imported", guests)
    assert len(names) == 12
    told = {
        **said_directly(TAU, STAND_INS / "tau-bench"),
        **said_directly(ACE, STAND_INS / "acebench"),
        **texts_of_bfcl(),
    }
    seen: dict[str, list[str]] = {}
    async with farm_of(tmp_path / "imported", tmp_path / "state") as client:
        for name in names:
            found = await replayed(client, name, true_calls)
            assert all(one.passed for one in found.values()), name
            seen |= {f"{name}/{task}": one.texts for task, one in found.items()}
            for less in controls_of(name):
                found = await replayed(client, name, less)
                assert not any(one.passed for one in found.values()), (name, less)
        [former] = bfcl(bfcl_source("v3", V3, BFCL), "base", any_version=True).scenarios
        found = await replayed(client, "bfcl_v4_base", lambda _: turns(former), most=1)
        assert [one.passed for one in found.values()] == [False], "the truth of v3 is not that of v4"
    assert seen == told
