# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false
"""The overhead of the farm and its agent loop in a training step: verl's own worker, `farm up`, a scripted model.

Run as `python -m bench.rollouts` where verl is installed. It prints a table. A step is 64 concurrent episodes, in
groups of 8 with a task each, of 3 turns (two tool calls and an answer) in an environment of 19 tools. Launch, calls,
score and close are included. Beside it, the same turns with a loop that only asks the model.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import uvloop
from hydra import compose, initialize_config_module
from omegaconf import OmegaConf
from tensordict import TensorDict
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
from verl.protocol import DataProto
from verl.workers.rollout.replica import TokenOutput

from bench import processes
from bench.farm_process import FarmProcess, running
from registry.client import Address, FarmClient
from rl_training.cpu.tiny_model import Size, make_model
from rl_training.data.rows import Task
from rl_training.episode.farm_connection import Farm, close_links, link_to
from servers.bundle_library import OWN_LIBRARY

EPISODES, ROUNDS, GROUP, LEASES = 64, 3, 8, 512
GENERATION = 2.0
ENVIRONMENT = "library_loans"
IN_SQL, IN_PYTHON = "back1_0030", "renew_card"
"""The same task twice: judged by SQL alone, as 99 of 100 scenarios of the library are, and by Python too."""
SCRIPT = (
    '<tool_call>\n{"name": "find_members", "arguments": {"name": "Ruth Abernathy"}}\n</tool_call>',
    '<tool_call>\n{"name": "renew_card", "arguments": {"member_id": "mem_ruth"}}\n</tool_call>',
    "The card is renewed.\nAnswer: 5 April 2027",
)
GOAL = "Ruth Abernathy speaking. Please renew my library card, and tell me how long it is good for."
TURNS = EPISODES * len(SCRIPT)
WHOLE_TOOLS = """{%- if tools -%}
<|im_start|>tools
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}<|im_end|>
{% endif -%}
"""


class Script:
    """A model's server that gives the same replies in every episode, after some seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.turns: list[list[int]] = []
        self.said: dict[str, int] = {}

    async def generate(
        self, request_id: str, *, prompt_ids: list[int], sampling_params: Mapping[str, Any], **_: Any
    ) -> TokenOutput:
        number = self.said.get(request_id, 0)
        self.said[request_id] = number + 1
        await asyncio.sleep(self.seconds)
        token_ids = self.turns[number]
        return TokenOutput(token_ids=token_ids, log_probs=[0.0] * len(token_ids), extra_fields={"global_steps": 1})


class LikeV1(AgentLoopWorker):
    """Like verl's V1 worker, does not pad episodes to rows of 12,288 tokens: that took two fifths of a step."""

    async def _agent_loop_postprocess(self, output: Any, validate: bool, **kwargs: Any) -> Any:
        return output

    def _postprocess(self, inputs: Any, **kwargs: Any) -> Any:
        return inputs


class Step(NamedTuple):
    """The duration of a step: wall-clock seconds, and processor seconds here and in the farm's processes."""

    seconds: float
    here: float
    farm: float


async def step(worker: LikeV1, farm: FarmProcess, scenario: str, agent: str = "farm") -> Step:
    """Play a step with one of the two loops."""
    groups = [number // GROUP for number in range(EPISODES)]
    columns: dict[str, list[Any]] = {
        "raw_prompt": [[{"role": "user", "content": f"{GOAL} This is request {group}."}] for group in groups],
        "extra_info": [{"environment": ENVIRONMENT, "scenario": scenario, "seed": group} for group in groups],
        "agent_name": [agent] * EPISODES,
        "index": groups,
    }
    arrays = {}
    for name, values in columns.items():
        arrays[name] = np.empty(EPISODES, dtype=object)
        arrays[name][:] = values
    batch = TensorDict({"dummy": torch.zeros(EPISODES, 1)}, batch_size=EPISODES)
    before, begun = _processors(farm), time.perf_counter()
    out = await worker.generate_sequences(DataProto(batch=batch, non_tensor_batch=arrays, meta_info={}))
    seconds, after = time.perf_counter() - begun, _processors(farm)
    assert [one.reward_score for one in out] == [1.0] * EPISODES, "every episode earns everything"
    return Step(seconds, after[0] - before[0], after[1] - before[1])


def _processors(farm: FarmProcess) -> tuple[float, float]:
    """Processor seconds here and in the farm's processes. Guests that judge and end are not included."""
    return time.process_time(), sum(processes.processor_seconds(farm.pids).values())


async def leased(address: Address) -> float:
    """Seconds until all instances are leased and ready, in groups of one scenario each."""
    link = await link_to(Farm(address.url, address.token))
    tasks = [Task(environment=ENVIRONMENT, scenario=IN_SQL, seed=number) for number in range(LEASES // GROUP)]
    begun = time.perf_counter()
    launched = await asyncio.gather(*(link.launches.take(task) for task in tasks for _ in range(GROUP)))
    seconds = time.perf_counter() - begun
    await asyncio.gather(*(link.launches.give_back(one.lease) for one in launched))
    return seconds


async def made_model(address: Address, folder: Path) -> None:
    """A tokenizer trained on the environment's texts, with a template that shows all schemas of its tools."""
    async with (
        FarmClient(address.url, address.token) as farm,
        farm.leased(ENVIRONMENT, IN_SQL) as live,
        live.connect() as toolbox,
    ):
        texts = [toolbox.instructions, *(tool.model_dump_json() for tool in toolbox.tools), *SCRIPT]
    make_model(folder, texts, size=Size(vocabulary=4000, hidden=16), seed=0)
    template = folder / "chat_template.jinja"
    text = template.read_text(encoding="utf-8")
    head = text[: text.index("{%- if tools -%}")]
    template.write_text(head + WHOLE_TOOLS + text[text.index("{%- for message") :], encoding="utf-8")


def made_worker(address: Address, folder: Path, server: Script) -> LikeV1:
    """verl's worker with both loops, for the model in `folder`."""
    ours = {
        "name": "farm",
        "_target_": "rl_training.agent_loop.FarmAgentLoop",
        "farm_url": address.url,
        "farm_token": address.token,
    }
    bare = {"name": "bare", "_target_": "bench.bare_loop.BareLoop", "turns": len(SCRIPT)}
    OmegaConf.save([ours, bare], folder / "loops.yaml")
    with initialize_config_module("verl.trainer.config", version_base=None):
        config = compose(
            "ppo_trainer",
            [
                f"actor_rollout_ref.model.path={folder}",
                "actor_rollout_ref.rollout.name=script",
                f"actor_rollout_ref.rollout.agent.agent_loop_config_path={folder / 'loops.yaml'}",
                "actor_rollout_ref.rollout.prompt_length=8192",
                "actor_rollout_ref.rollout.response_length=4096",
            ],
        )
    worker = LikeV1(config, server)
    server.turns = [[*worker.tokenizer.encode(turn), worker.tokenizer.eos_token_id] for turn in SCRIPT]
    return worker


async def measured(farm: FarmProcess, scratch: Path) -> list[list[str]]:
    """The rows of the table."""
    address = Address(f"http://127.0.0.1:{farm.connection.port}", farm.token)
    await made_model(address, scratch / "model")
    server = Script(0.0)
    worker = made_worker(address, scratch / "model", server)
    for scenario, agent in ((IN_SQL, "farm"), (IN_PYTHON, "farm"), (IN_SQL, "bare")):
        await step(worker, farm, scenario, agent)  # what is loaded once is loaded now
    quick = [await step(worker, farm, IN_SQL) for _ in range(ROUNDS)]
    server.seconds = GENERATION
    slow = [await step(worker, farm, IN_SQL) for _ in range(ROUNDS)]
    python = [await step(worker, farm, IN_PYTHON) for _ in range(ROUNDS)]
    bare = [await step(worker, farm, IN_SQL, "bare") for _ in range(ROUNDS)]
    leases = [await leased(address) for _ in range(ROUNDS)]
    await close_links()
    return [
        ["wall time for a turn, 64 episodes at once", f"{1000 * _median(quick) / TURNS:.1f} ms", "15 ms"],
        ["of a step in which each turn is generated for 2 s", f"{100 * _lost(slow):.1f} %", "10 %"],
        ["of that step, with a checkpoint in Python", f"{100 * _lost(python):.1f} %", ""],
        ["of that step, with a loop that only asks the model", f"{100 * _lost(bare):.1f} %", ""],
        ["processor time of that step, here", f"{statistics.median(one.here for one in slow):.2f} s", ""],
        ["and in the farm's processes", f"{statistics.median(one.farm for one in slow):.2f} s", ""],
        ["512 instances leased", f"{statistics.median(leases):.2f} s", "1 s"],
    ]


def _median(steps: list[Step]) -> float:
    return statistics.median(one.seconds for one in steps)


def _lost(steps: list[Step]) -> float:
    """The share of a step in which no turn is generated."""
    return 1 - GENERATION * len(SCRIPT) / _median(steps)


def main() -> None:
    """Measure, and print."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)  # as Ray's actors have it, and so verl's workers
        with running(OWN_LIBRARY, folder / "state") as farm, runner:
            rows = runner.run(measured(farm, folder))
    lines = [["", "measured", "wanted: under"], ["---"] * 3, *rows]
    sys.stdout.write("".join(f"| {' | '.join(line)} |\n" for line in lines))


if __name__ == "__main__":
    main()
