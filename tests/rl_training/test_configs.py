# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false
"""The configs that ship: each of their settings is one that verl has, and together they are a config of verl's."""

from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_module
from omegaconf import OmegaConf

from rl_training.config import CONFIGS, load_config, overrides
from rl_training.verl.sft import load_sft

pytestmark = pytest.mark.rl

NOT_IN_VERLS_FILES = {
    "actor_rollout_ref.model.override_config.attn_implementation",
    "actor_rollout_ref.actor.fsdp_config.mixed_precision.param_dtype",
    "actor_rollout_ref.actor.fsdp_config.mixed_precision.reduce_dtype",
    "engine.mixed_precision.param_dtype",
    "engine.mixed_precision.reduce_dtype",
    "model.override_config.attn_implementation",
    "ray_kwargs.ray_init.num_gpus",
    "ray_kwargs.ray_init.include_dashboard",
}
"""Settings that verl reads where they are given."""


def composed(settings: list[str], of: str = "ppo_trainer") -> Any:
    with initialize_config_module("verl.trainer.config", version_base=None):
        return compose(of, settings)


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("sft_*.toml")), ids=lambda path: path.stem)
def test_every_setting_of_a_warm_start_is_one_of_verls(path: Path) -> None:
    given = overrides(load_sft(path).verl)
    names = {one.removeprefix("++").partition("=")[0] for one in given}
    plain = composed([], "sft_trainer_engine")
    unknown = {name for name in names if not _has(plain, name)}
    assert unknown <= NOT_IN_VERLS_FILES
    full = composed(given, "sft_trainer_engine")
    assert "hf_model" in full.checkpoint.save_contents, "what is trained next is read from there"


@pytest.mark.parametrize(
    "path", sorted(set(CONFIGS.glob("*.toml")) - set(CONFIGS.glob("sft_*.toml"))), ids=lambda path: path.stem
)
def test_every_setting_is_one_of_verls(path: Path) -> None:
    given = overrides(load_config(path).verl)
    names = {one.removeprefix("++").partition("=")[0] for one in given}
    plain = composed([])
    unknown = {name for name in names if not _has(plain, name)}
    assert unknown <= NOT_IN_VERLS_FILES
    full = composed(given)
    assert OmegaConf.select(full, "algorithm.adv_estimator") == "grpo"
    assert OmegaConf.select(full, "actor_rollout_ref.rollout.n") == 8


def _has(config: Any, name: str) -> bool:
    parent, _, last = name.rpartition(".")
    node = OmegaConf.select(config, parent) if parent else config
    return node is not None and last in list(node.keys())  # `in` is false of what must be given


def test_the_figures_of_the_paper_stand_in_the_configs_for_qwen3() -> None:
    config = load_config(CONFIGS / "grpo_qwen3_4b.toml")
    full = composed(overrides(config.verl))
    rollout, actor = full.actor_rollout_ref.rollout, full.actor_rollout_ref.actor
    assert full.data.train_batch_size * rollout.n == 512
    assert (rollout.n, actor.optim.lr, actor.kl_loss_coef, actor.optim.lr_warmup_steps) == (8, 1e-6, 0.1, 10)
    assert full.data.max_prompt_length + full.data.max_response_length == 32768
    assert (config.episodes.turns, config.episodes.turn_tokens) == (40, 4096)
    assert full.actor_rollout_ref.model.path == "Qwen/Qwen3-4B"
