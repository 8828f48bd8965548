"""A sample of tau-bench's own files: the farm gives the rewards and the texts of the official code, run in process."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from servers.scenario.scenario import PlannedCall, Scenario
from tests.benchmarks.replays import Calls, farm_of, nothing, replayed, truth
from tests.benchmarks.test_tau_bench import RETAIL, imported_of_any_version

SAMPLE = Path(__file__).parent / "samples" / "tau-bench"
OFFICIAL = """
import json, sys, types
sys.path.insert(0, sys.argv[1])
sys.modules["litellm"] = types.SimpleNamespace(completion=None)
from tau_bench.envs.base import Env
from tau_bench.envs.retail.tasks_test import TASKS_TEST
from tau_bench.envs.retail.tools import ALL_TOOLS
from tau_bench.types import Action
def data():
    folder = sys.argv[1] + "/tau_bench/envs/retail/data/"
    return {name: json.load(open(folder + name + ".json")) for name in ("orders", "products", "users")}
env = Env(data, ALL_TOOLS, TASKS_TEST, "", [], "human", "", task_index=0)
env.terminate_tools = ["transfer_to_human_agents"]
env.user = types.SimpleNamespace(step=lambda _: "", get_total_cost=lambda: 0)
told = {}
for name, most in (("truth", None), ("all but the last", -1), ("nothing", 0)):
    told[name] = {}
    for number, task in enumerate(env.tasks):
        env.task, env.data, env.actions = task, env.data_load_func(), []
        texts = [env.step(action).observation for action in task.actions[:most]]
        answer = "" if name == "nothing" else "\\n".join(task.outputs)
        env.actions.append(Action(name="respond", kwargs={"content": answer}))
        told[name][f"task_{number}"] = [env.calculate_reward().reward == 1.0, texts]
print(json.dumps(told))
"""


def without_last(scenario: Scenario) -> Sequence[PlannedCall]:
    return truth(scenario)[:-1]


async def test_the_farm_judges_a_sample_as_the_official_code_does(tmp_path: Path) -> None:
    command = [sys.executable, "-B", "-c", OFFICIAL, str(SAMPLE)]
    run = await asyncio.to_thread(subprocess.run, command, capture_output=True, check=False, text=True)
    assert run.returncode == 0, run.stderr
    official = json.loads(run.stdout)
    await imported_of_any_version(SAMPLE, tmp_path / "imported")
    calls: dict[str, Calls] = {"truth": truth, "all but the last": without_last, "nothing": nothing}
    async with farm_of(tmp_path / "imported", tmp_path / "state") as client:
        replays = {
            name: await replayed(client, RETAIL, played, answers=name != "nothing") for name, played in calls.items()
        }
    ours = {name: {task: [one.passed, one.texts] for task, one in found.items()} for name, found in replays.items()}
    assert ours == official
    assert all(one.passed for one in replays["truth"].values())
    assert not all(one.passed for one in replays["all but the last"].values())
    assert any(text.startswith("Error") for one in replays["truth"].values() for text in one.texts)
