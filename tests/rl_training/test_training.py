# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false
"""Whole trainings with verl's unchanged trainer on a CPU. Each takes minutes."""

import asyncio
import inspect
import json
import shutil
import signal
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from verl.experimental.agent_loop.agent_loop import AgentLoopMetrics, AgentLoopOutput
from verl.experimental.agent_loop.tool_parser import ToolParser
from verl.utils import distributed, fsdp_utils
from verl.utils.tokenizer.continuous_token import ContinuousTokenBuilder
from verl.workers.rollout import base
from verl.workers.rollout.llm_server import LLMServerClient

from rl_training.config import CONFIGS
from rl_training.cpu.tiny_model import Size, make_model
from rl_training.evolve.records import EvolutionRecord
from rl_training.verl.sft import model_of
from tests.processes import farm, farm_up, offspring, started

TRAINING = 1800.0
"""Seconds that bound a training here. They measure nothing."""
CONFIG = """
extends = "{tiny}"

[episodes]
retry_seconds = 0.0

[curriculum]

[verl.data]
train_batch_size = 2
val_max_samples = 4
max_prompt_length = 1400
max_response_length = 256

[verl.actor_rollout_ref.actor]
ppo_mini_batch_size = 2
ppo_micro_batch_size_per_gpu = 4

[verl.actor_rollout_ref.rollout]
n = 2
log_prob_micro_batch_size_per_gpu = 4
val_kwargs.n = 1

[verl.trainer]
save_freq = 1
test_freq = 1
"""


def figures(run: Path) -> dict[int, dict[str, Any]]:
    """The trainer's figures, by step."""
    found: dict[int, dict[str, Any]] = {}
    for line in (run / "metrics.jsonl").read_text().splitlines():
        told = json.loads(line)
        found.setdefault(told["step"], {}).update(told["data"])
    return found


@pytest.fixture(scope="session")
def library(large_room: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with the parcel room under another name, and with few words, which a tiny model has to read."""
    folder = tmp_path_factory.mktemp("library")
    bundle = Path(shutil.copytree(large_room / "parcel_room", folder / "small_room"))
    told = json.loads((bundle / "environment.json").read_text())
    (bundle / "environment.json").write_text(json.dumps({**told, "id": "small_room"}))
    (bundle / "policy.md").write_text("Find the shelf and the counter, send it.\n")
    return folder


@pytest.fixture
def made(tiny: Path, tmp_path: Path) -> list[str | Path]:
    """What `farm rl train` needs beside a run's folder and a number of steps."""
    config = tmp_path / "config.toml"
    config.write_text(CONFIG.format(tiny=CONFIGS / "tiny_cpu.toml"))
    return [config, "--model", tiny, "--data", tmp_path / "data"]


async def prepared(folder: Path, library: Path) -> None:
    done = await farm(
        *("rl", "prepare", "--out", folder / "data", "--library", library, "--environment", "small_room"),
        *("--split", "scenario"),
        home=folder,
    )
    assert (done.code, "train: 36 rows" in done.out) == (0, True), done


@pytest.mark.rl
def test_what_is_used_of_verl_is_there() -> None:
    """When it fails, another verl is installed than the one that was tried: each line says what to see to."""
    assert version("verl").split(".")[:2] == ["0", "9"], "run `pytest -m rl` and `pytest -m rl_slow`, then say so here"
    wanted = {"prompt_ids", "response_ids", "response_mask", "response_logprobs", "reward_score", "extra_fields"}
    assert wanted <= set(AgentLoopOutput.model_fields), "rl_training/agent_loop.py fills these"
    assert {"generate_sequences", "tool_calls", "compute_score", "num_preempted"} <= set(AgentLoopMetrics.model_fields)
    told = {name for name, _ in inspect.getmembers(ContinuousTokenBuilder, inspect.isfunction)}
    merges = {"build_initial_tokens", "merge_context_tokens", "merge_assistant_tokens", "align_response_metadata"}
    assert merges <= told, "rl_training/episode/tokens.py calls these"
    assert {"request_id", "prompt_ids", "sampling_params"} <= set(
        inspect.signature(LLMServerClient.generate).parameters
    ), "rl_training/episode/token_model.py asks so"
    assert list(inspect.signature(ToolParser.extract_tool_calls).parameters)[1] == "responses_ids"
    assert callable(distributed.initialize_global_process_group_ray), "rl_training/cpu/plugin.py replaces it"
    assert callable(distributed.initialize_global_process_group), "rl_training/cpu/plugin.py replaces it"
    assert fsdp_utils.CPUOffloadPolicy is not None, "rl_training/cpu/plugin.py replaces it"
    assert ("vllm", "async") in base._ROLLOUT_REGISTRY, "rl_training/cpu/plugin.py adds to it"


@pytest.mark.rl_slow
async def test_a_training_runs_is_measured_and_goes_on_where_it_was(
    made: list[str | Path], library: Path, tmp_path: Path
) -> None:
    await prepared(tmp_path, library)
    run = tmp_path / "run"
    command = ["rl", "train", *made, "--library", library, "--run", run]
    first = await waited(*command, "--steps", "2", home=tmp_path)
    assert first.code == 0, first.err
    steps = figures(run)
    assert set(steps) == {0, 1, 2}
    assert steps[1]["training/rollout_probs_diff_max"] < 1e-4, "the rollout speaks with the weights that are trained"
    assert "val-core/small_room/reward/mean@1" in steps[0]
    assert (run / "checkpoints" / "global_step_2").is_dir()
    assert len((run / "pass_rates.jsonl").read_text().splitlines()) == 8, "two steps of two groups of two"
    second = await waited(*command, "--steps", "3", home=tmp_path)
    assert second.code == 0, second.err
    assert "setting global step to 2" in (run / "log.txt").read_text()
    assert 3 in figures(run)
    assert (run / "log-1.txt").is_file()


@pytest.fixture
def curt(tiny: Path, tmp_path: Path) -> Path:
    """The model that knows nothing, but for one thing: it mostly ends its turn at once. So it is told to go on."""
    folder = Path(shutil.copytree(tiny, tmp_path / "curt"))
    with warnings.catch_warnings(action="ignore"):
        model, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
        asked = [{"role": "user", "content": "Send it."}]
        ids = tokenizer.apply_chat_template(asked, add_generation_prompt=True, tokenize=True, return_dict=True)
        with torch.no_grad():
            for _ in range(5):  # the token is in the prompt too, so what the model sees changes a little
                seen = model.model(torch.tensor([ids["input_ids"]])).last_hidden_state[0, -1]
                model.lm_head.weight[tokenizer.eos_token_id] = 5 * seen / seen.dot(seen)
        model.save_pretrained(folder)
    return folder


@pytest.mark.rl_slow
async def test_a_training_with_branches_credits_turns_and_tells_the_figures_of_its_steps(
    made: list[str | Path], curt: Path, library: Path, tmp_path: Path
) -> None:
    await prepared(tmp_path, library)
    run, config = tmp_path / "run", tmp_path / "branching.toml"
    config.write_text(f'extends = "{made[0]}"\n[branching]\nbranches = 2\n')
    command = ["rl", "train", config, "--model", curt, "--data", tmp_path / "data", "--library", library, "--run", run]
    done = await waited(*command, "--steps", "2", home=tmp_path)
    assert done.code == 0, done.err
    steps = figures(run)
    assert steps[1]["training/rollout_probs_diff_max"] < 1e-4, "masks and log probabilities of branches are right too"
    assert steps[1]["farm/episodes"] == 4
    assert steps[1]["farm/branches"] + steps[2]["farm/branches"] > 0
    assert steps[1]["farm/lost"] == steps[1]["farm/branches_lost"] == steps[1]["farm/forks_failed"] == 0
    assert {"farm/reward/environment/small_room", "farm/pass@1", "farm/pass@2", "farm/tokens"} <= set(steps[1])
    assert 0 < steps[2]["farm/share_of_step"] < 1
    assert "farm_branches" in (run / "hydra" / ".hydra" / "overrides.yaml").read_text()


@pytest.mark.rl_slow
async def test_a_training_with_over_sampling_has_groups_of_the_usual_size(
    made: list[str | Path], curt: Path, library: Path, tmp_path: Path
) -> None:
    await prepared(tmp_path, library)
    run, config = tmp_path / "run", tmp_path / "over_sampling.toml"
    config.write_text(f'extends = "{made[0]}"\n[over_sampling]\nextra = 2\n')
    command = ["rl", "train", config, "--model", curt, "--data", tmp_path / "data", "--library", library, "--run", run]
    done = await waited(*command, "--steps", "2", home=tmp_path)
    assert done.code == 0, done.err
    steps = figures(run)
    assert steps[1]["farm/episodes"] == steps[2]["farm/episodes"] == 4, "two groups of two, of four each that began"
    assert steps[1]["farm/episodes_dropped"] + steps[2]["farm/episodes_dropped"] > 0
    assert steps[1]["farm/lost"] == 0


@pytest.mark.rl_slow
async def test_a_training_with_partial_episodes_goes_on_with_them_in_later_steps(
    made: list[str | Path], curt: Path, library: Path, tmp_path: Path
) -> None:
    await prepared(tmp_path, library)
    run, config = tmp_path / "run", tmp_path / "partial.toml"
    config.write_text(f'extends = "{made[0]}"\n[partial_episodes]\nversions = 3\n')
    command = ["rl", "train", config, "--model", curt, "--data", tmp_path / "data", "--library", library, "--run", run]
    done = await waited(*command, "--steps", "3", home=tmp_path)
    assert done.code == 0, done.err
    steps = figures(run)
    assert [steps[step]["farm/episodes"] for step in (1, 2, 3)] == [4, 4, 4]
    assert any("rollout_is" in name for name in steps[2]), "tokens of older weights are weighed"


@pytest.mark.rl_slow
async def test_a_round_of_an_evolution_evaluates_makes_and_trains_a_real_model(
    made: list[str | Path], curt: Path, library: Path, tmp_path: Path
) -> None:
    ours = f"{sys.executable} -m farm"
    prepare = "rl prepare --out {out}/data --library {library} --environment small_room --split scenario"
    train = f"rl train {made[0]} --run {{out}} --model {{model}} --data {{out}}/data --library {{library}} --steps 1"
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"""
rounds = 1
model = "{curt}"
library = ["{library}"]
environments = ["small_room"]
agent = {{kind = "chat", model = "policy", max_tokens = 32}}
limits = {{turns = 3}}
held_out = {{share = 0.2}}
make = {{scenarios = 2}}
evaluation = {{attempts = 1, serve = ["farm", "rl", "serve", "{{model}}", "--"]}}
[train]
command = "{ours} {prepare} && {ours} {train}"
model = "{{out}}/checkpoints/global_step_*/actor/huggingface"
"""
    )
    done = await waited("evolve", plan, "--run", tmp_path / "run", home=tmp_path)
    assert done.code == 0, done.err
    record = EvolutionRecord.read(tmp_path / "run")
    assert record is not None
    first, last = record.rounds
    assert last.model == str(tmp_path / "run/round-0/train/checkpoints/global_step_1/actor/huggingface")
    assert (first.broken, last.broken) == (0, 0)
    assert sum(one.made for one in first.made or ()) == 2
    assert (tmp_path / "run" / "curve.html").is_file()


async def waited(*arguments: str | Path, home: Path) -> Any:
    """Run `farm` to its end, however long it takes."""
    one = await started(*arguments, home=home, cold=True)
    out, code = await one.out.read(), await one.end
    one.err.seek(0)
    err = one.err.read().decode()
    one.err.close()
    return type("Done", (), {"code": code, "out": out.decode(), "err": err})


@pytest.mark.rl_slow
async def test_a_warm_start_on_exported_data_leaves_a_model_and_goes_on_where_it_was(
    large_room: Path, tmp_path: Path
) -> None:
    exported = await farm(
        *("export", "sft", "--reference", large_room, "--format", "verl", "--out", tmp_path / "data"),
        home=tmp_path,
    )
    assert exported.code == 0, exported
    rows = Dataset.from_parquet(str(tmp_path / "data" / "train.parquet"))
    texts = [message["content"] for row in rows for message in row["messages"]]
    with warnings.catch_warnings(action="ignore"):
        make_model(tmp_path / "model", texts, size=Size(vocabulary=1000, hidden=16, positions=2048), seed=0)
    config = tmp_path / "sft.toml"
    tiny = CONFIGS / "sft_tiny_cpu.toml"
    config.write_text(f'extends = "{tiny}"\n[verl.data]\nmax_length = 2048\n[verl.trainer]\nsave_freq = 2\n')
    run = tmp_path / "run"
    command = ["rl", "sft", config, "--run", run, "--data", tmp_path / "data", "--model", tmp_path / "model"]
    first = await waited(*command, "--steps", "4", home=tmp_path)
    assert first.code == 0, first.err
    assert "global_step_4/huggingface" in first.out.replace("\n", "")
    losses = [figures(run)[step]["train/loss"] for step in (1, 4)]
    assert losses[1] < losses[0]
    second = await waited(*command, "--steps", "5", home=tmp_path)
    assert second.code == 0, second.err
    assert set(figures(run)) == {5}, "it went on from the fourth, and its figures are its own"
    assert model_of(run) == run / "checkpoints" / "global_step_5" / "huggingface"


@pytest.mark.rl_slow
async def test_a_farm_that_dies_in_the_middle_ends_the_training_with_a_word(
    made: list[str | Path], library: Path, tmp_path: Path
) -> None:
    await prepared(tmp_path, library)
    run = tmp_path / "run"
    async with farm_up(tmp_path / "state", "--port", "0", "--library", library, home=tmp_path) as up:
        one = await started(
            *("rl", "train", *made, "--farm", up.url, "--run", run, "--steps", "50"),
            home=tmp_path,
            cold=True,
            FARM_TOKEN=up.token,
        )
        async with asyncio.timeout(TRAINING):
            while not (run / "metrics.jsonl").exists() or 1 not in figures(run):
                assert one.runs
                await asyncio.sleep(0.5)
        up.started.send(signal.SIGKILL)
        await one.out.read()
        one.err.seek(0)
        assert "no farm answers at" in one.err.read().decode()
        one.err.close()
        assert await one.end == 1
    assert [child for child in offspring(one.pid) if "ray" in child.command] == []
