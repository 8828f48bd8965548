# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false
"""Most tests of training need verl and torch; where these are not installed, they are not collected."""

import shutil
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

from rl_training.demo.demo import make_room
from tests.rl_training.texts import TEXTS

NEED_VERL = [
    "test_branches.py", "test_progress.py", "test_turn_advantages.py",
    "test_agent_loop.py", "test_configs.py", "test_conversations.py", "test_cpu.py",
    "test_curriculum_data.py", "test_endpoint.py", "test_failures.py", "test_over_sampling.py", "test_training.py",
]  # fmt: skip
collect_ignore = [] if find_spec("verl") else NEED_VERL

if find_spec("verl"):
    with warnings.catch_warnings(action="ignore"):  # in what verl imports; ours are errors all the same
        import verl.experimental.agent_loop
        import verl.utils.tokenizer.continuous_token_wiring  # noqa: F401

        from rl_training.cpu.tiny_model import Size, make_model


@pytest.fixture(scope="session")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with the parcel room of the demo, and six scenarios in it."""
    return make_room(tmp_path_factory.mktemp("room"), 6)


@pytest.fixture(scope="session")
def large_room(room: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with forty scenarios, for trainings."""
    return make_room(shutil.copytree(room, tmp_path_factory.mktemp("large") / "room"), 40)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model that knows nothing, and a tokenizer that knows the texts of these tests."""
    folder = tmp_path_factory.mktemp("tiny")
    make_model(folder, TEXTS, size=Size(hidden=16), seed=0)
    return folder
