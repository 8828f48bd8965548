"""What `farm rl` says to whoever misuses it, before anything is started."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.processes import farm

MISUSES: list[tuple[tuple[str, ...], str]] = [
    (("prepare", "--out", "{home}/data", "--library", "{home}/nowhere"), "nowhere: no such folder"),
    (
        ("prepare", "--out", "{home}/data", "--library", "{home}", "--farm", "http://127.0.0.1:9"),
        "--library is for a farm of its",
    ),
    (("prepare", "--out", "{home}/data", "--max-prompt-tokens", "9"), "--max-prompt-tokens needs --tokenizer"),
    (("train", "tiny_cpu", "--run", "{home}/run", "--library", "{home}/nowhere"), "nowhere: no such folder"),
    (
        ("train", "tiny_cpu", "--run", "{home}/run", "--library", "{home}", "--farm", "http://127.0.0.1:9"),
        "--library is for a",
    ),
    (
        ("train", "sft_nothing", "--run", "{home}/run"),
        "no config 'sft_nothing': give a TOML file, or one of: grpo_qwen3,",
    ),
    (
        ("sft", "nothing", "--run", "{home}/run", "--data", "{home}"),
        "no config 'nothing': give a TOML file, or one of: sft_qwen3,",
    ),
    (
        ("sft", "sft_tiny_cpu", "--run", "{home}/run", "--data", "{home}"),
        "no train.parquet in it; `farm export sft --format verl`",
    ),
    (("serve", "{home}", "--", "true"), "no model in it (config.json); a checkpoint has one in actor/huggingface"),
]


@pytest.mark.parametrize(("arguments", "says"), MISUSES, ids=[" ".join(one) for one, _ in MISUSES])
async def test_what_is_misused_is_said_and_nothing_is_started(
    arguments: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    done = await farm("rl", *(one.format(home=tmp_path) for one in arguments), home=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert not (tmp_path / "data").exists()
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(find_spec("verl") is not None, reason="verl is installed")
@pytest.mark.parametrize(
    "command", [("prepare", "--out", "{home}/data"), ("demo", "--run", "{home}/run")], ids=" ".join
)
async def test_a_missing_extra_is_a_misuse_as_it_is_elsewhere(command: tuple[str, ...], tmp_path: Path) -> None:
    done = await farm("rl", *(one.format(home=tmp_path) for one in command), home=tmp_path)
    assert done.code == 2
    assert "training needs verl, which is not installed: see docs/how-to/training.md" in done.err


@pytest.mark.parametrize("config", ["sft_qwen3_1_7b", "sft_qwen3_4b", "sft_qwen3_8b"])
async def test_a_warm_start_is_verls_own_command(config: str, tmp_path: Path) -> None:
    done = await farm("rl", "sft", config, "--run", tmp_path / "warm", "--data", tmp_path, "--dry-run", home=tmp_path)
    assert done.code == 0, done.err
    told = done.out.splitlines()
    assert told[1:7] == ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "8", "-m"]
    assert told[7] == "verl.trainer.sft_trainer"
    assert {"++optim.lr=1e-06", f"++data.train_files='{tmp_path / 'train.parquet'}'"} <= set(told)
