"""verl's trainer as a process: its command line, its environment, and the file that names the agent loop."""

import json
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from registry.client import Address
from rl_training.config import TrainConfig, overrides
from rl_training.errors import TrainingError
from servers.errors import RequestError
from servers.text.json_values import is_object

LOOP_FILE = "agent_loops.yaml"
PASS_RATES = "pass_rates.jsonl"  # noqa: S105 - no secret
USER_KEY = "${oc.env:USER_OPENAI_API_KEY,none}"
CPU_ENVIRONMENT = {
    "VERL_PLATFORM": "cpu",
    "VERL_USE_EXTERNAL_MODULES": "rl_training.cpu.plugin",
    "VERL_ENGINE_DEVICE": "cuda",  # under which verl registers its FSDP engine; nothing in it needs CUDA
    "OMP_NUM_THREADS": "2",
}
"""Environment variables of verl's processes on a machine without a GPU."""
MODULES = "VERL_USE_EXTERNAL_MODULES"
STOPPING_SECONDS = 30.0
"""How long an interrupted trainer may take to end, before it is killed."""
RAY_ENVIRONMENT = {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}
OWN_RAY = {"RAY_ADDRESS": "local"}
"""Without it Ray joins any cluster that somebody has started on this machine."""


def command_of(config: TrainConfig, run: Path, more: Mapping[str, Any]) -> list[str]:
    """verl's own command, with all settings."""
    settings = [
        *overrides(config.verl),
        *overrides(_by_rows(config, run)),
        *overrides(_by_partial(config)),
        *overrides(_watched(config)),
        *overrides(_by_estimator(config)),
        *overrides(dict(more)),
        *overrides({"actor_rollout_ref.rollout.agent.agent_loop_config_path": str(run / LOOP_FILE)}),
        *overrides({"trainer.default_local_dir": str(run / "checkpoints")}),
        f"hydra.run.dir={run / 'hydra'}",
    ]
    return [sys.executable, "-m", "verl.trainer.main_ppo", *settings]


def environment_of(config: TrainConfig, address: Address, run: Path, inherited: Mapping[str, str]) -> dict[str, str]:
    """The environment variables of the trainer's processes: the farm's address, and those of the platform."""
    return {
        **(OWN_RAY if _nodes(config) == 1 else {}),
        **inherited,
        **RAY_ENVIRONMENT,
        **(cpu_environment(inherited) if config.platform == "cpu" else {}),
        MODULES: ",".join(filter(None, [inherited.get(MODULES), *_modules(config)])),
        "FARM_URL": address.url,
        "FARM_TOKEN": address.token,
        "VERL_FILE_LOGGER_PATH": str(run / "metrics.jsonl"),
        "NO_PROXY": ",".join(filter(None, [inherited.get("NO_PROXY"), "127.0.0.1", "localhost"])),
    }


def cpu_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """Those of verl's processes on a machine without a GPU. A number of threads that was given before stays."""
    return {**CPU_ENVIRONMENT, "OMP_NUM_THREADS": inherited.get("OMP_NUM_THREADS", CPU_ENVIRONMENT["OMP_NUM_THREADS"])}


def _nodes(config: TrainConfig) -> Any:
    return _below(config.verl, "trainer").get("nnodes", 1)


def _by_partial(config: TrainConfig) -> dict[str, Any]:
    """verl's own asynchronous trainer on the same machines, and weights for tokens that older weights generated."""
    wanted = config.partial_episodes
    if wanted is None:
        return {}
    return {
        "trainer.v1.trainer_mode": "colocate_async",
        "trainer.v1.colocate_async.num_warmup_batches": wanted.ahead,
        "trainer.v1.sampler.max_off_policy_threshold": wanted.versions,
        "trainer.v1.sampler.max_off_policy_strategy": wanted.too_old,
        "algorithm.rollout_correction.rollout_is": "token",
        "algorithm.rollout_correction.rollout_is_threshold": 2.0,
    }


def _watched(config: TrainConfig) -> dict[str, Any]:
    """The replay buffer that makes the figures of a step, if the config does not need another."""
    v1 = _below(_below(config.verl, "trainer"), "v1")
    sampler = _below(v1, "sampler")
    path = _below(sampler, "custom_sampler").get("path")
    is_async = config.partial_episodes is not None or v1.get("trainer_mode", "sync") != "sync"
    if path is None:
        filters = _below(_below(config.verl, "algorithm"), "filter_groups").get("enable")
        if filters or sampler.get("sync_refill_failed_groups"):
            return {}  # verl hands these to its own buffer alone
        name = "WatchedAsyncBuffer" if is_async else "WatchedBuffer"
        custom = {"path": "pkg://rl_training.verl.watched_buffer", "name": name}
    elif str(path).startswith("pkg://rl_training."):
        custom = {"name": "QuickAsyncBuffer"} if is_async and str(path).endswith(".quick_buffer") else {}
    else:
        return {}
    return {
        **{f"trainer.v1.sampler.custom_sampler.{key}": value for key, value in custom.items()},
        "trainer.v1.sampler.sampler_kwargs.rollout_n": "${actor_rollout_ref.rollout.n}",
    }


def _below(settings: dict[str, Any], key: str) -> dict[str, Any]:
    found = settings.get(key)
    return found if is_object(found) else {}


def _modules(config: TrainConfig) -> list[str]:
    """The modules that verl loads in each of its processes."""
    cpu = ["rl_training.cpu.plugin"] if config.platform == "cpu" else []
    return [*cpu, "rl_training.verl.turn_advantages"] if _by_estimator(config) else cpu


def _by_estimator(config: TrainConfig) -> dict[str, Any]:
    if config.branching is not None:
        return {"algorithm.adv_estimator": "farm_branches"}
    if config.progress is not None:
        return {"algorithm.adv_estimator": "farm_progress", "algorithm.lam": config.progress.lam}
    return {}


def _by_rows(config: TrainConfig, run: Path) -> dict[str, Any]:
    """The farm's dataset, read in the trainer's own process: workers would draw rows long before they are due."""
    if config.curriculum is None and config.over_sampling is None:
        return {}
    more: dict[str, Any] = {}
    if config.curriculum is not None:
        more["data.curriculum"] = {"pass_rates": str(run / PASS_RATES), **config.curriculum.model_dump()}
    if config.over_sampling is not None:
        more["data.extra_episodes"] = config.over_sampling.extra
        more["data.kept_episodes"] = "${actor_rollout_ref.rollout.n}"
    return {
        "data.custom_cls.path": "pkg://rl_training.data.curriculum_dataset",
        "data.custom_cls.name": "CurriculumData",
        "data.dataloader_num_workers": 0,
        **more,
    }


def write_loop(run: Path, config: TrainConfig) -> None:
    """Name the agent loop in a file. The farm's token is in the environment and in no file."""
    loop = {
        "name": "farm",
        "_target_": "rl_training.agent_loop.FarmAgentLoop",
        "farm_url": "${oc.env:FARM_URL}",
        "farm_token": "${oc.env:FARM_TOKEN}",
        **config.episodes.model_dump(),
        **({} if config.user is None else {"user": config.user.model_dump(), "user_key": USER_KEY}),
        **({} if config.branching is None else {"branching": config.branching.model_dump(mode="json")}),
        **({} if config.progress is None else {"progress": True}),
        **({} if config.over_sampling is None else {"over_sampling": config.over_sampling.model_dump()}),
        **({} if config.curriculum is None else {"pass_rates": str(run / PASS_RATES)}),
    }
    run.mkdir(parents=True, exist_ok=True)
    (run / LOOP_FILE).write_text(json.dumps([loop], indent=2) + "\n", encoding="utf-8")  # JSON is YAML


def need_verl() -> None:
    """Raise RequestError if verl is not installed. This is quicker than an import."""
    if not any((Path(folder) / "verl").is_dir() for folder in sys.path):
        raise RequestError("training needs verl, which is not installed: see docs/how-to/training.md for how")


@contextmanager
def log_kept(run: Path) -> Generator[Path]:
    """The log of this start. Earlier logs are kept beside it."""
    log = run / "log.txt"
    if log.exists():
        log.rename(run / f"log-{len(list(run.glob('log*.txt')))}.txt")
    yield log


def run_trainer(command: list[str], environment: Mapping[str, str], log: Path) -> None:
    """Run the trainer to its end.

    Raises:
        TrainingError: it failed. The message has the log's path and last lines.
    """
    with log.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(command, env=dict(environment), stdout=file, stderr=subprocess.STDOUT)
        try:
            code = process.wait()
        except BaseException:
            _stop(process)
            raise
    if code != 0:
        raise TrainingError(f"the trainer ended with {code}; {log} says: {_last_words(log)}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOPPING_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _last_words(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    ours = [line for line in lines if "rl_training.errors." in line]  # verl goes on after these, and fails over nothing
    telling = ours or [line for line in lines if "Error" in line] or lines
    return telling[-1][-500:] if telling else "nothing"
