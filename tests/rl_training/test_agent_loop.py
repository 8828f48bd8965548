# pyright: basic, reportMissingImports=false
"""What verl's own worker makes of an episode at a real farm: tokens, masks, log probabilities, reward."""

from pathlib import Path

import pytest

from tests.rl_training.rig import ScriptedServer, rig
from tests.rl_training.texts import DEARER, LOOK

pytestmark = pytest.mark.rl


async def test_it_plays(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    async with rig(tiny, shelf, tmp_path, ScriptedServer([LOOK, DEARER, "Done."])) as at:
        out = await at.rollouts()
        print(at.text(out.batch["prompts"][0]))
        print(at.text(out.batch["responses"][0]))
        print(out.batch["response_mask"][0].tolist())
        print(out.batch["rollout_log_probs"][0].tolist())
        print(out.batch["rm_scores"][0].nonzero(), out.batch["rm_scores"].sum())
        print({k: v[0] for k, v in out.non_tensor_batch.items()})
        print(out.meta_info)
        assert await at.live() == 0
