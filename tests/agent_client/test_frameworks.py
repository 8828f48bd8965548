"""Agents of other frameworks play with a URL and a token: the examples of the page, each in its own environment."""

import asyncio
import os
import shlex
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from registry.client import FarmClient
from registry.farm import private
from servers.bundle_library import OWN_LIBRARY
from tests.test_docs import DOCS, Block, blocks

INSTALLS = "not run: pip install "
EXAMPLES = {
    shlex.split(block.mark.removeprefix(INSTALLS))[0]: block
    for block in blocks(DOCS / "how-to" / "agents.md")
    if block.mark.startswith(INSTALLS)
}
SAYS = {"openai-agents": "Ada Lindqvist", "langchain": "Ada Lindqvist", "pydantic-ai-slim[mcp]": "48 Orchard Road"}


async def ran(*command: str | Path, **environment: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *map(str, command), env={**os.environ, **environment}, stdout=PIPE, stderr=PIPE
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()


def test_there_is_an_example_of_each() -> None:
    assert EXAMPLES.keys() == SAYS.keys()


@pytest.mark.frameworks
@pytest.mark.parametrize("framework", sorted(SAYS))
async def test_an_agent_of_another_framework_plays_with_url_and_token(framework: str, tmp_path: Path) -> None:
    example: Block = EXAMPLES[framework]
    await ran(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    await ran(python, "-m", "pip", "install", "-q", *shlex.split(example.mark.removeprefix(INSTALLS)))
    (tmp_path / "example.py").write_text(example.text)
    async with private((OWN_LIBRARY,)) as address, FarmClient(address.url, address.token) as farm:
        [lease] = await farm.launch("library_loans", "renew_before_trip")
        assert lease.mcp_url is not None
        assert lease.token is not None
        said = await ran(python, tmp_path / "example.py", MCP_URL=lease.mcp_url, TOKEN=lease.token)
        history = await farm.history(lease.instance)
    assert SAYS[framework] in said
    assert [call.outcome for call in history.items] == ["ok"]
