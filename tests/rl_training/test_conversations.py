# pyright: basic, reportMissingImports=false
"""Episodes with a user that a model plays: what the policy sees of them, what is learnt from, and what breaks."""

from pathlib import Path
from typing import Any

import pytest

from rl_training.errors import RolloutLost
from tests.doubles import StubEndpoint, refused, said
from tests.rl_training.rig import Rig, ScriptedServer, rig
from tests.rl_training.texts import DEARER, TASK

pytestmark = pytest.mark.rl
ROW = {"environment": "shop", "scenario": "dearer", "persona": "A hurried cook."}
OPENING, THANKS = "It is about the bell.", "Please let it cost 2.50."


def told(out: Any, name: str) -> Any:
    [value] = out.non_tensor_batch[name].tolist()
    return value


def conversation(at: Rig, out: Any) -> str:
    return at.text(out.batch["input_ids"][0][out.batch["attention_mask"][0].bool()])


async def test_the_policy_hears_the_user_and_never_the_task(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    user = StubEndpoint([said(OPENING), said(THANKS), said("[END]")])
    server = ScriptedServer(["What about it?", DEARER, "Done."])
    async with user.serve() as url, rig(tiny, shelf, tmp_path, server, user={"model": "u", "base_url": url}) as at:
        out = await at.rollouts(ROW)
        assert TASK not in conversation(at, out)
        assert conversation(at, out).partition("<|im_start|>user\n")[2] == (
            f"{OPENING}<|im_end|>\n<|im_start|>assistant\nWhat about it?<|im_end|>\n"
            f"<|im_start|>user\n{THANKS}<|im_end|>\n<|im_start|>assistant\n{DEARER}<|im_end|>\n"
            '<|im_start|>tool\n{"id": "t2", "cents": 250}<|im_end|>\n<|im_start|>assistant\nDone.<|im_end|>'
        )
        assert (out.batch["rm_scores"].sum().item(), told(out, "ended_finished")) == (1.0, 1.0)
        assert "A hurried cook." in str(user.requests[0]["messages"])
        assert TASK in str(user.requests[0]["messages"]), "the user knows what it wants"


async def test_what_the_user_says_is_not_learnt(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    user = StubEndpoint([said(OPENING), said(THANKS), said("[END]")])
    server = ScriptedServer(["What about it?", DEARER, "Done."])
    async with user.serve() as url, rig(tiny, shelf, tmp_path, server, user={"model": "u", "base_url": url}) as at:
        out = await at.rollouts(ROW)
        responses, mask = out.batch["responses"][0].tolist(), out.batch["response_mask"][0].tolist()
        learnt = at.text([token for token, kept in zip(responses, mask, strict=True) if kept])
        assert learnt == f"What about it?<|im_end|>{DEARER}<|im_end|>Done.<|im_end|>"


async def test_its_row_has_the_measures_of_any_other(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    user = StubEndpoint([said(OPENING), said("[END]")])
    server = ScriptedServer(["Done."])
    async with user.serve() as url, rig(tiny, shelf, tmp_path, server, user={"model": "u", "base_url": url}) as at:
        talked = await at.rollouts(ROW)
        told_outright = await at.rollouts({**ROW, "persona": None})
        assert set(talked.meta_info["reward_extra_keys"]) == set(told_outright.meta_info["reward_extra_keys"])
        assert (told(talked, "user_tokens"), told(told_outright, "user_tokens")) == (30.0, 0.0)
        assert told(talked, "user_seconds") > told(told_outright, "user_seconds") == 0
        assert TASK in conversation(at, told_outright)


async def test_without_a_model_for_it_a_persona_is_told_its_task(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    async with rig(tiny, shelf, tmp_path, ScriptedServer(["Done."])) as at:
        assert TASK in conversation(at, await at.rollouts(ROW))


async def test_a_user_that_breaks_is_no_fault_of_the_policy(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    user = StubEndpoint([refused(401, "no such key")] * 2)
    server = ScriptedServer(["Done."])
    async with user.serve() as url, rig(tiny, shelf, tmp_path, server, user={"model": "u", "base_url": url}) as at:
        with pytest.raises(RolloutLost, match=r"lost after 2 attempts: .*no such key"):
            await at.rollouts(ROW)
        assert (await at.live(), await at.launched()) == (0, 2)
