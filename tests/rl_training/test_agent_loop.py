# pyright: basic, reportMissingImports=false
"""What verl's own worker makes of episodes at a real farm: tokens, masks, log probabilities, rewards, ends."""

from pathlib import Path
from typing import Any

import pytest

from rl_training.errors import RowError
from tests.bundles import SOUND_SCENARIO, write_bundle
from tests.rl_training.rig import RESPONSE_LENGTH, Rig, ScriptedServer, hang, rig
from tests.rl_training.texts import DEARER, LOOK

pytestmark = pytest.mark.rl


def said(at: Rig) -> list[list[int]]:
    """The tokens that the server's script says, turn by turn."""
    return [[*at.tokenizer.encode(turn), at.tokenizer.eos_token_id] for turn in at.server.script]


def told(out: Any, name: str) -> Any:
    """What stands under a name in the only row."""
    [value] = out.non_tensor_batch[name].tolist()
    return value


async def test_what_the_model_said_and_nothing_else_is_learnt_from(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    async with rig(tiny, shelf, tmp_path, ScriptedServer([LOOK, DEARER, "Done."])) as at:
        out = await at.rollouts()
        responses, mask = out.batch["responses"][0].tolist(), out.batch["response_mask"][0].tolist()
        learnt = [token for token, kept in zip(responses, mask, strict=True) if kept]
        assert learnt == [token for turn in said(at) for token in turn]
        logprobs = out.batch["rollout_log_probs"][0].tolist()
        expected = [-(number + 1) - place / 1000 for number, turn in enumerate(said(at)) for place in range(len(turn))]
        assert [value for value, kept in zip(logprobs, mask, strict=True) if kept] == pytest.approx(expected)
        assert all(value == 0 for value, kept in zip(logprobs, mask, strict=True) if not kept)
        assert set(mask) == {0, 1}


async def test_each_turn_sees_exactly_the_tokens_of_all_before(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    async with rig(tiny, shelf, tmp_path, ScriptedServer([LOOK, DEARER, "Done."])) as at:
        out = await at.rollouts()
        prompts = [one.prompt_ids for one in at.server.asked]
        for before, turn, after in zip(prompts, said(at), prompts[1:], strict=False):
            assert after[: len(before) + len(turn)] == before + turn
        whole = out.batch["input_ids"][0][out.batch["attention_mask"][0].bool()].tolist()
        assert whole == prompts[-1] + said(at)[-1]
        assert len({one.request_id for one in at.server.asked}) == 1


async def test_the_text_of_the_tokens_is_the_conversation(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    async with rig(tiny, shelf, tmp_path, ScriptedServer([DEARER, "Done."])) as at:
        out = await at.rollouts()
        whole = at.text(out.batch["input_ids"][0][out.batch["attention_mask"][0].bool()])
        assert whole == (
            "<|im_start|>tools\nfind(text)\nmake(name, cents)\nprice(id, cents)\nscrap(id)\n<|im_end|>\n"
            "<|im_start|>user\nPlease let the bell cost 2.50.<|im_end|>\n"
            f"<|im_start|>assistant\n{DEARER}<|im_end|>\n"
            '<|im_start|>tool\n{"id": "t2", "cents": 250}<|im_end|>\n'
            "<|im_start|>assistant\nDone.<|im_end|>"
        )


async def test_the_reward_stands_on_the_last_token(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    async with rig(tiny, shelf, tmp_path, ScriptedServer([DEARER, "Done."])) as at:
        out = await at.rollouts()
        rewards = out.batch["rm_scores"][0].tolist()
        last = int(out.batch["attention_mask"][0][-RESPONSE_LENGTH:].sum()) - 1
        assert rewards == [1.0 if place == last else 0.0 for place in range(RESPONSE_LENGTH)]
        assert (told(out, "success"), told(out, "ended_finished"), told(out, "lost")) == (1.0, 1.0, 0.0)
        assert (told(out, "turns"), told(out, "calls"), told(out, "verdicts")) == (2.0, 1.0, '{"priced": true}')
        assert (told(out, "min_global_steps"), told(out, "max_global_steps")) == (0, 1)
        assert await at.live() == 0


async def test_calls_of_one_turn_are_all_made_in_their_order(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    cheaper = DEARER.replace("250", "1")
    async with rig(tiny, shelf, tmp_path, ScriptedServer([cheaper + LOOK + DEARER, "Done."])) as at:
        out = await at.rollouts()
        assert (told(out, "calls"), out.batch["rm_scores"].sum().item()) == (3.0, 1.0)
        results = at.text(at.server.asked[1].prompt_ids).split("<|im_start|>tool\n")[1:]
        assert [one.partition("<|im_end|>")[0] for one in results] == [
            '{"id": "t2", "cents": 1}',
            '{"things": [{"id": "t2", "name": "bell", "cents": 1, "made_at": "2026-03-16 09:00:00"}]}',
            '{"id": "t2", "cents": 250}',
        ]


async def test_a_group_begins_at_the_same_and_is_one_row_each(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    row = {"environment": "shop", "scenario": "dearer", "seed": 7}
    async with rig(tiny, shelf, tmp_path, ScriptedServer([LOOK, DEARER, "Done."])) as at:
        out = await at.rollouts(*[row] * 8)
        assert out.batch["rm_scores"].sum(dim=1).tolist() == [1.0] * 8
        assert len({tuple(row) for row in out.batch["responses"].tolist()}) == 1
        assert (await at.live(), await at.launched()) == (0, 8)
        assert {lease.seed for lease in (await at.farm.leases()).items} == {7}


@pytest.mark.parametrize(
    ("script", "options", "end", "reward"),
    [
        ([DEARER, DEARER, DEARER], {"turns": 2}, "turn_limit", 1.0),
        ([LOOK] * 9, {}, "token_limit", 0.0),
        ([DEARER, "Done. " * 200], {}, "token_limit", 1.0),
        ([DEARER, "Done. " * 20], {"turn_tokens": 40}, "token_limit", 1.0),
        ([DEARER, hang], {"seconds": 3.0}, "time_limit", 1.0),
    ],
)
async def test_a_limit_ends_an_episode_that_keeps_what_it_earned(
    tiny: Path, shelf: Path, tmp_path: Path, script: list[Any], options: dict[str, Any], end: str, reward: float
) -> None:
    async with rig(tiny, shelf, tmp_path, ScriptedServer(script), **options) as at:
        out = await at.rollouts()
        assert (told(out, f"ended_{end}"), out.batch["rm_scores"].sum().item()) == (1.0, reward)
        mask = out.batch["response_mask"][0][out.batch["attention_mask"][0][-RESPONSE_LENGTH:].bool()].tolist()
        assert mask[-1] == 1, "it ends with what the model said"
        assert len(mask) <= RESPONSE_LENGTH
        assert await at.live() == 0


async def test_calls_of_a_turn_that_was_cut_off_are_not_made(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    async with rig(tiny, shelf, tmp_path, ScriptedServer([DEARER + "Done. " * 20]), turn_tokens=40) as at:
        out = await at.rollouts()
        assert at.text(out.batch["responses"][0]).startswith(DEARER)
        assert (told(out, "ended_token_limit"), told(out, "calls")) == (1.0, 0.0)
        assert out.batch["rm_scores"].sum().item() == 0.0


@pytest.mark.parametrize(
    ("turn", "answer"),
    [
        ("<tool_call>\n{price the bell}\n</tool_call>", "could not be read"),
        ('<tool_call>\n{"name": "price", "arguments": [1]}\n</tool_call>', "an object {...} is needed"),
        ('<tool_call>\n{"name": "burn", "arguments": {}}\n</tool_call>', "no tool named 'burn'"),
        ('<tool_call>\n{"name": "price", "arguments": {"id": "t9", "cents": 1}}\n</tool_call>', "no thing 't9'"),
        ("", "You said nothing and called no tool"),
    ],
)
async def test_what_the_policy_does_wrong_is_told_and_stays_its_own(
    tiny: Path, shelf: Path, tmp_path: Path, turn: str, answer: str
) -> None:
    async with rig(tiny, shelf, tmp_path, ScriptedServer([turn, DEARER, "Done."])) as at:
        out = await at.rollouts()
        assert answer in at.text(at.server.asked[1].prompt_ids)
        assert (out.batch["rm_scores"].sum().item(), told(out, "lost"), told(out, "retried")) == (1.0, 0.0, 0.0)


async def test_saying_nothing_twice_ends_the_episode(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    async with rig(tiny, shelf, tmp_path, ScriptedServer(["", ""])) as at:
        out = await at.rollouts()
        assert (told(out, "ended_agent_error"), out.batch["rm_scores"].sum().item()) == (1.0, 0.0)


async def test_thinking_and_the_end_of_a_turn_are_no_part_of_the_answer(tiny: Path, tmp_path: Path) -> None:
    asked = {
        "id": "answered",
        "role": "goal",
        "question": "Is it said, and nothing else?",
        "kind": "python",
        "python": "def check(start, final, answer, calls):\n    return answer == 'Done.'\n",
    }
    scenario = {**SOUND_SCENARIO, "checkpoints": [asked], "solution": {"calls": [], "answer": "Done."}}
    await write_bundle(tmp_path / "shelf" / "shop", scenarios=[scenario])
    async with rig(tiny, tmp_path / "shelf", tmp_path, ScriptedServer(["<think>2.50?</think>\nDone."])) as at:
        out = await at.rollouts()
        assert (out.batch["rm_scores"].sum().item(), told(out, "ended_finished")) == (1.0, 1.0)


async def test_a_long_result_is_read_without_its_middle(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    async with rig(tiny, shelf, tmp_path, ScriptedServer([LOOK, "Done."]), longest_result=20) as at:
        await at.rollouts()
        assert '{"things":\n[70 characters left out]\n:00:00"}]}' in at.text(at.server.asked[1].prompt_ids)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"environment": "shop", "scenario": "cheaper"}, "shop/cheaper cannot be played: .*no scenario 'cheaper'"),
        ({"environment": "zoo", "scenario": "dearer"}, "no environment 'zoo'"),
        ({"environment": "shop"}, "names no task .scenario: is missing"),
        ({}, "`farm rl prepare` writes rows"),
    ],
)
async def test_a_row_that_cannot_be_played_is_told_at_once(
    tiny: Path, shelf: Path, tmp_path: Path, row: dict[str, Any], said: str
) -> None:
    async with rig(tiny, shelf, tmp_path, ScriptedServer(["Done."]), on_infra_failure="mask") as at:
        with pytest.raises(RowError, match=said):
            await at.rollouts(row)
        assert (await at.launched(), at.server.asked) == (0, [])


async def test_a_prompt_is_never_cut(tiny: Path, shelf: Path, tmp_path: Path) -> None:
    async with rig(tiny, shelf, tmp_path, ScriptedServer(["Done."])) as at:
        with pytest.raises(RowError, match=r"a prompt of \d+ tokens .* longer than data.max_prompt_length=256"):
            await at.rollouts(task="bell " * 300)
        assert await at.live() == 0
