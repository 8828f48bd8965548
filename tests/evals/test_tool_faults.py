"""What goes wrong inside a tool is shown to its author, and to nobody at the agent's door."""

from pathlib import Path

from agent_client.play import Limits
from evals.demo import gold_model
from evals.rollout import rollout
from registry.client import FarmClient
from registry.farm import private
from servers.authoring.new_bundle import new_bundle
from tests.processes import farm

FAULT = "division by zero of nobody"


def broken(folder: Path) -> tuple[Path, int]:
    """A new bundle whose `lend_game` raises, and the line where it does."""
    bundle = new_bundle("games", folder)
    source = (bundle / "tools.py").read_text()
    line = '    loan_id = db.new_id("loan")'
    (bundle / "tools.py").write_text(source.replace(line, f'    raise ArithmeticError("{FAULT}")\n{line}'))
    return bundle, source[: source.index(line)].count("\n") + 1


async def test_play_shows_the_author_the_line_of_a_fault(tmp_path: Path) -> None:
    bundle, line = broken(tmp_path)
    done = await farm("play", "games", "--scenario", "lend_for_the_evening", "--gold", home=tmp_path)
    assert (done.code, done.err) == (1, "")
    assert f"call 2, lend_game: {bundle / 'tools.py'}:{line}: ArithmeticError: {FAULT}" in done.out


async def test_the_agent_is_told_of_a_fault_and_not_of_its_text(tmp_path: Path) -> None:
    broken(tmp_path)
    async with private((tmp_path,)) as address, FarmClient(address.url, address.token) as client:
        detail = await client.scenario("games", "lend_for_the_evening")
        model = gold_model(detail.scenario.reference())
        run = await rollout(client, detail, model, limits=Limits(), with_effects=True)
    assert run.trace is not None
    assert FAULT not in run.trace.model_dump_json()
    assert [(effect.outcome, FAULT in (effect.fault or "")) for effect in run.effects or ()] == [
        ("ok", False),
        ("failed", True),
    ]


async def test_play_says_what_keeps_a_bundle_from_starting(tmp_path: Path) -> None:
    tools = new_bundle("games", tmp_path) / "tools.py"
    whole = tools.read_text()
    tools.write_text(f"{whole}def broken(:\n")
    done = await farm("play", "games", "--scenario", "swap_a_game", "--gold", home=tmp_path)
    line = whole.count("\n") + 1
    assert done == (1, "", f"farm: games/tools.py: line {line}: not Python: invalid syntax\n")
