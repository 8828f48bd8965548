"""The figures of a training step, and the settings under which verl makes them."""

from pathlib import Path
from typing import Any, get_args

import pytest

from agent_client.trace import End
from registry.client import Address
from rl_training.config import TrainConfig, load_config
from rl_training.errors import TrainingError
from rl_training.verl.step_figures import MEANS, SECONDS, SUMS, PlayedEpisode, step_figures
from rl_training.verl.trainer import command_of, environment_of

BUFFER = "++trainer.v1.sampler.custom_sampler.name="


def played(
    group: str, reward: float, *, environment: str = "shop", level: int | None = 1, **more: Any
) -> PlayedEpisode:
    measures = {
        **dict.fromkeys((*MEANS, *SUMS, *SECONDS), 1.0),
        "tokens_dropped": 0.0,
        **{f"ended_{end}": float(end == "finished") for end in get_args(End)},
        "success": float(reward == 1.0),
        **more,
    }
    return PlayedEpisode(group, environment, level, reward, measures)


def test_rewards_are_told_by_environment_and_level() -> None:
    episodes = [played("a", 1.0), played("a", 0.5, level=2), played("b", 0.0, environment="zoo", level=None)]
    figures = step_figures(episodes, asked=4, seconds=None)
    assert {name: value for name, value in figures.items() if name.startswith("farm/reward")} == {
        "farm/reward": 0.5,
        "farm/reward/environment/shop": 0.75,
        "farm/reward/environment/zoo": 0.0,
        "farm/reward/level/1": 1.0,
        "farm/reward/level/2": 0.5,
    }
    assert figures["farm/lost"] == 0.25, "of four that were asked for, one broke, and it is in no mean"


def test_pass_at_k_is_that_of_the_groups_that_are_large_enough() -> None:
    groups = [played("a", 1.0), played("a", 0.0), played("a", 0.0), played("a", 0.0), played("b", 0.0)]
    figures = step_figures(groups, asked=None, seconds=None)
    assert (figures["farm/pass@1"], figures["farm/pass@2"], figures["farm/pass@4"]) == (0.125, 0.5, 1.0)
    assert "farm/pass@8" not in figures
    assert "farm/lost" not in figures


def test_ends_tokens_and_the_farms_share_of_a_step() -> None:
    quick = played("a", 1.0, generated_tokens=10.0, branch_tokens=0.0)
    took: dict[str, Any] = dict.fromkeys(("launch_seconds", "score_seconds"), 0.5)
    took |= {"tool_seconds": 1.0, "episode_seconds": 9.0}
    ended: dict[str, Any] = {"ended_finished": 0.0, "ended_time_limit": 1.0}
    slow = played("a", 0.0, generated_tokens=20.0, branch_tokens=5.0, **took, **ended)
    figures = step_figures([quick, slow], asked=2, seconds=20.0)
    assert (figures["farm/ended/finished"], figures["farm/ended/time_limit"]) == (0.5, 0.5)
    assert (figures["farm/tokens"], figures["farm/generated_tokens"]) == (35.0, 15.0)
    assert figures["farm/share_of_step"] == 0.1, "two of twenty seconds: those of the episode that took longest"
    assert step_figures([], asked=2, seconds=1.0) == {}


@pytest.mark.parametrize(
    ("verl", "buffer"),
    [
        ({}, "'WatchedBuffer'"),
        ({"trainer": {"v1": {"trainer_mode": "colocate_async"}}}, "'WatchedAsyncBuffer'"),
        ({"trainer": {"v1": {"sampler": {"custom_sampler": {"path": "mine.py", "name": "Mine"}}}}}, "'Mine'"),
        ({"algorithm": {"filter_groups": {"enable": True}}}, None),
        ({"trainer": {"v1": {"sampler": {"sync_refill_failed_groups": True}}}}, None),
    ],
    ids=["plain", "asynchronous", "one of the config", "filtered groups", "refilled groups"],
)
def test_a_config_that_needs_another_buffer_keeps_it(verl: dict[str, Any], buffer: str | None) -> None:
    command = command_of(TrainConfig(verl=verl), Path("run"), {})
    assert [one.removeprefix(BUFFER) for one in command if one.startswith(BUFFER)] == ([buffer] if buffer else [])
    watched = any("rollout_n" in one for one in command)
    assert watched == (buffer is not None and "Watched" in buffer)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("[branching]\nbranches = 0", "branching.branches"),
        ("[branching]\nbranches = 17", "branching.branches"),
        (f"[branching]\nafter = {list(range(1, 18))}", "branching.after"),
        ("[branching]\nafter = [1, 1]", "a turn is named twice"),
        ("[branching]\nafter = []", "branching.after"),
        ("[progress]\nlam = 2.0", "progress.lam"),
        ("[branching]\n[progress]", "give branching or progress"),
        ("[over_sampling]\nextra = 0", "over_sampling.extra"),
        ("[over_sampling]\nextra = 65", "over_sampling.extra"),
        ("[partial_episodes]\nversions = 0", "partial_episodes.versions"),
    ],
)
def test_a_wrong_table_is_told(table: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(table)
    with pytest.raises(TrainingError, match=says):
        load_config(tmp_path / "config.toml")


@pytest.mark.parametrize(
    ("table", "settings"),
    [
        ("[branching]", {"++algorithm.adv_estimator='farm_branches'"}),
        (
            "[partial_episodes]\nversions = 2",
            {
                "++trainer.v1.trainer_mode='colocate_async'",
                "++trainer.v1.sampler.max_off_policy_threshold=2",
                "++trainer.v1.sampler.max_off_policy_strategy='wait'",
                "++trainer.v1.sampler.custom_sampler.name='WatchedAsyncBuffer'",
                "++algorithm.rollout_correction.rollout_is='token'",
            },
        ),
        ("[over_sampling]\nextra = 3", {"++data.extra_episodes=3", "++data.custom_cls.name='CurriculumData'"}),
        ("[progress]\nlam = 0.9", {"++algorithm.adv_estimator='farm_progress'", "++algorithm.lam=0.9"}),
    ],
)
def test_a_table_gives_verl_its_settings(table: str, settings: set[str], tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(table)
    command = command_of(load_config(tmp_path / "config.toml"), tmp_path, {})
    assert settings <= set(command)


def test_a_training_on_one_node_joins_no_cluster_that_somebody_else_has_started(tmp_path: Path) -> None:
    nobody = Address("http://127.0.0.1:1", "token")

    def address(verl: dict[str, Any], **inherited: str) -> str | None:
        return environment_of(TrainConfig(verl=verl), nobody, tmp_path, inherited).get("RAY_ADDRESS")

    assert address({}) == address({"trainer": {"nnodes": 1}}) == "local"
    assert address({}, RAY_ADDRESS="10.0.0.1:6379") == "10.0.0.1:6379", "one that is named is joined"
    assert address({"trainer": {"nnodes": 2}}) is None


def test_a_number_of_threads_that_was_given_stays_on_a_cpu(tmp_path: Path) -> None:
    nobody = Address("http://127.0.0.1:1", "token")
    on_a_cpu = TrainConfig(platform="cpu")
    assert environment_of(on_a_cpu, nobody, tmp_path, {})["OMP_NUM_THREADS"] == "2"
    assert environment_of(on_a_cpu, nobody, tmp_path, {"OMP_NUM_THREADS": "1"})["OMP_NUM_THREADS"] == "1"
