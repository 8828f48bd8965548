"""The recipes of own-agent.md: agents of others play as programs of `farm eval --agent`, with a scripted model."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evals.runs.folder import RunFolder
from tests.frameworks.installed import LONGEST_INSTALL, READY, environment_with, ran
from tests.frameworks.scripted_endpoint import ScriptedEndpoint
from tests.frameworks.test_adapters import SCENARIO, solution
from tests.processes import Done, farm
from tests.test_docs import DOCS

AGENTS = Path(__file__).parent / "agents"
CHOSEN = ("--environment", "library_loans", "--scenario", SCENARIO, "--out", "run")


class ForeignAgent(NamedTuple):
    """A script, the name of its environment, and the packages that it needs."""

    script: str
    name: str
    packages: Sequence[str]


PYTHON = (
    ForeignAgent("openai_agents.py", "agents", ("openai-agents",)),
    ForeignAgent("pydantic_agent.py", "pydantic", ("pydantic-ai-slim[mcp,openai]",)),
    ForeignAgent(
        "langgraph_agent.py",
        "langgraph",
        ("langchain", "langgraph", "langchain-mcp-adapters", "langchain-openai", "mcp<2"),
    ),
)


def earned(done: Done, folder: Path) -> tuple[float | None, list[str]]:
    """The reward of the run's one rollout, and the tools that were called."""
    assert done.code == 0, done.err
    [at] = RunFolder(folder / "run").rollouts()
    run = at.played.rollout
    assert run.trace is not None, run.error
    return run.reward, [call.tool for turn in run.trace.turns for call in turn.calls]


def test_the_page_shows_each_recipe() -> None:
    page = (DOCS / "how-to" / "own-agent.md").read_text(encoding="utf-8")
    for script in AGENTS.iterdir():
        assert f"`tests/frameworks/agents/{script.name}`" in page
    claude = (AGENTS / "claude_code.sh").read_text(encoding="utf-8")
    assert claude in page


@pytest.mark.frameworks
@pytest.mark.parametrize("agent", PYTHON, ids=lambda agent: agent.name)
async def test_an_agent_of_a_framework_plays_as_a_program(agent: ForeignAgent, tmp_path: Path) -> None:
    programs = await environment_with(agent.name, *agent.packages, folder=tmp_path)
    command = f"{programs / 'python'} {AGENTS / agent.script}"
    async with ScriptedEndpoint(solution()).serve() as url:
        where: dict[str, Any] = {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "none", "MODEL": "scripted"}
        done = await farm("eval", "--agent", command, *CHOSEN, home=tmp_path, **where)
    assert earned(done, tmp_path) == (1.0, [call.tool for call in solution().calls])


@pytest.mark.frameworks
async def test_claude_code_plays_as_a_program(tmp_path: Path) -> None:
    ready = Path(os.environ.get(READY, tmp_path)) / "claude"
    if not ready.exists():
        ready = tmp_path
        npm = ("npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "@anthropic-ai/claude-code")
        await ran(*npm, folder=tmp_path, seconds=LONGEST_INSTALL)
    async with ScriptedEndpoint(solution()).serve() as url:
        where: dict[str, Any] = {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "PATH": f"{ready / 'node_modules' / '.bin'}:{os.environ['PATH']}",
        }
        done = await farm("eval", "--agent", str(AGENTS / "claude_code.sh"), *CHOSEN, home=tmp_path, **where)
    assert earned(done, tmp_path) == (1.0, [call.tool for call in solution().calls])
