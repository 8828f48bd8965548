"""A kind of checkpoint is one file and its place in a list: a farm with one more kind checks and certifies it."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.bundles import write_bundle
from tests.processes import farm, side_by_side
from tests.synth.solutions.shops import GOAL, GUARD, with_checkpoints

ROOT = Path(__file__).parents[3]
KINDS = Path("servers/scenario/checkpoints")
NEW_KIND = Path(__file__).parent / "row_count.py"
LOGGED: dict[str, Any] = {
    "id": "logged",
    "role": "goal",
    "question": "Is there one line in the log?",
    "kind": "row_count",
    "table": "log",
    "rows": 1,
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The farm's source with one more file, and with its class in the list."""
    for name in ("agent_client", "registry", "evals", "synth", "servers"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("library"))
    shutil.copy(ROOT / "farm.py", tmp_path)
    shutil.copy(NEW_KIND, tmp_path / KINDS)
    kinds = tmp_path / KINDS / "kinds.py"
    text = kinds.read_text(encoding="utf-8").replace("EveryKind = ", "EveryKind = RowCountCheckpoint | ")
    first = "from servers.scenario.checkpoints.sql"
    text = text.replace(first, f"from servers.scenario.checkpoints.row_count import RowCountCheckpoint\n{first}")
    kinds.write_text(text, encoding="utf-8")
    return tmp_path


async def test_a_new_kind_is_checked_and_certified(tree: Path) -> None:
    await write_bundle(tree / "shop", scenarios=[with_checkpoints(GOAL, LOGGED, GUARD)])
    await write_bundle(tree / "wrong", scenarios=[with_checkpoints(GOAL, {**LOGGED, "table": "logs"}, GUARD)])
    certified, checked = await side_by_side(
        farm("certify", tree / "shop", home=tree, cold=True), farm("check", tree / "wrong", home=tree, cold=True)
    )
    assert (certified.code, checked.code) == (0, 1), certified.err + checked.err
    assert "checkpoints.logged: no table named 'logs'" in checked.out + checked.err
