"""What is rendered once and left out, and that the tokens are the same as if it had not been."""

import asyncio

from rl_training.episode.rendering import Renderings
from tests.rl_training.letters import Letters, Messages

TOOLS = [{"type": "function", "function": {"name": "price"}}, {"type": "function", "function": {"name": "scrap"}}]


def user(text: str) -> Messages:
    return [{"role": "user", "content": text}]


def result(text: str, tool: str = "price") -> Messages:
    return [{"role": "tool", "name": tool, "content": text}]


async def test_a_prompt_is_rendered_once_for_all_who_begin_with_it() -> None:
    letters = Letters()
    renderings = Renderings(letters)
    same = await asyncio.gather(*(renderings.of(TOOLS).prompt(user("Sell it.")) for _ in range(8)))
    other = await renderings.of(TOOLS).prompt(user("Keep it."))
    fewer = await renderings.of(TOOLS[:1]).prompt(user("Sell it."))
    assert same == [letters.build_initial_tokens(user("Sell it."), tools=TOOLS)] * 8
    assert (letters.prompts - 1, other == same[0], fewer == same[0]) == (3, False, False)


async def test_nobody_can_spoil_the_prompt_of_others() -> None:
    rendering = Renderings(Letters()).of(TOOLS)
    first = await rendering.prompt(user("Sell it."))
    kept = list(first)
    first.clear()
    assert await rendering.prompt(user("Sell it.")) == kept


async def test_who_is_cancelled_leaves_the_prompt_to_the_others() -> None:
    letters = Letters()
    rendering = Renderings(letters).of(TOOLS)
    leaves, stays = (asyncio.ensure_future(rendering.prompt(user("Sell it."))) for _ in range(2))
    await asyncio.sleep(0)
    leaves.cancel()
    assert await stays == letters.build_initial_tokens(user("Sell it."), tools=TOOLS)
    assert (leaves.cancelled(), letters.prompts) == (True, 2)


async def test_what_is_told_is_rendered_without_the_tools_once_that_was_seen_to_be_the_same() -> None:
    letters = Letters()
    rendering = Renderings(letters).of(TOOLS)
    before = user("Sell it.")
    for text in ("sold", "sold again", "no"):
        found = await rendering.told(before, before + result(text), [1, 2])
        assert list(found.token_ids) == [1, 2, *map(ord, str(result(text)))]
    assert (letters.with_tools, letters.without_tools) == (1, 3)


async def test_other_tools_and_other_speakers_are_looked_at_anew() -> None:
    letters = Letters()
    rendering = Renderings(letters).of(TOOLS)
    before = user("Sell it.")
    for told in (result("sold"), result("gone", "scrap"), user("Go on."), result("sold") + result("sold")):
        await rendering.told(before, before + told, [])
    await Renderings(letters).of(TOOLS[:1]).told(before, before + result("sold"), [])
    assert letters.with_tools == 5


async def test_a_template_whose_glue_hangs_on_the_tools_is_always_given_them() -> None:
    letters = Letters(tool_glue=True)
    rendering = Renderings(letters).of(TOOLS)
    before = user("Sell it.")
    for _ in range(3):
        found = await rendering.told(before, before + result("sold"), [])
        assert list(found.token_ids) == [*map(ord, f"{result('sold')}of 2")]
    assert letters.with_tools == 3
