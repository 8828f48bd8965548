"""Clients of others play with a URL and a token, each with packages of its own from PyPI or npm."""

import asyncio
import os
import shutil
import sys
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path
from typing import NamedTuple

import pytest

from registry.client import FarmClient
from registry.farm import private
from servers.bundle_library import OWN_LIBRARY

SCRIPTS = Path(__file__).parent / "scripts"
LONGEST_INSTALL, LONGEST_RUN = 600.0, 120.0
TYPESCRIPT_1 = "@modelcontextprotocol/sdk@1"


class ForeignClient(NamedTuple):
    """A client: its script, and the packages that the script needs. openai-agents, LangChain and Pydantic AI play
    in the examples of docs/how-to/agents.md (tests/agent_client/test_frameworks.py)."""

    script: str
    packages: tuple[str, ...]


CLIENTS = (
    ForeignClient("mcp_1.py", ("mcp==1.30.0",)),
    ForeignClient("mcp_2.py", ("mcp==2.3.0",)),
    ForeignClient("fastmcp_4.py", ("fastmcp>=4,<5",)),
    ForeignClient("inspect_agents.py", ("inspect-ai", "mcp", "openai")),
    ForeignClient("smolagents_tools.py", ("smolagents[mcp]", "mcp<2")),
    ForeignClient("adk_tools.py", ("google-adk", "mcp<2")),
    ForeignClient("typescript_1.mjs", (TYPESCRIPT_1,)),
    ForeignClient("typescript_2.mjs", ("@modelcontextprotocol/client@2",)),
    ForeignClient("inspector.mjs", ("@modelcontextprotocol/inspector@2", "node@22")),
    ForeignClient("remote.mjs", ("mcp-remote", TYPESCRIPT_1)),
)
CLAUDE_CODE = ForeignClient("claude_code.mjs", ("@anthropic-ai/claude-code",))


async def output(*command: str | Path, folder: Path, seconds: float, **environment: str) -> str:
    """What a command prints, after the assertion that it ended well."""
    process = await asyncio.create_subprocess_exec(
        *map(str, command), cwd=folder, env={**os.environ, **environment}, stdout=PIPE, stderr=STDOUT
    )
    try:
        async with asyncio.timeout(seconds):
            said = (await process.communicate())[0].decode(errors="replace")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, said[-3000:]
    return said


async def installed(client: ForeignClient, folder: Path) -> Path:
    """The program that runs the client's script, with its packages in a folder."""
    if client.script.endswith(".py"):
        await output(sys.executable, "-m", "venv", folder / "venv", folder=folder, seconds=LONGEST_INSTALL)
        python = folder / "venv" / "bin" / "python"
        pip = (python, "-m", "pip", "install", "-q", *client.packages)
        await output(*pip, folder=folder, seconds=LONGEST_INSTALL)
        return python
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    npm = ("npm", "install", "--no-audit", "--no-fund", "--loglevel=error", *client.packages)
    await output(*npm, folder=folder, seconds=LONGEST_INSTALL)
    own = folder / "node_modules" / ".bin" / "node"  # the Inspector wants a Node that machines seldom have
    return own if own.exists() else Path("node")


def test_every_script_has_its_client() -> None:
    assert {path.name for path in SCRIPTS.iterdir() if path.is_file()} == {
        client.script for client in (*CLIENTS, CLAUDE_CODE)
    }


@pytest.mark.frameworks
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.script)
async def test_a_client_of_others_lists_and_calls_tools(client: ForeignClient, tmp_path: Path) -> None:
    program = await installed(client, tmp_path)
    script = shutil.copy(SCRIPTS / client.script, tmp_path)  # Node looks for packages beside the script
    async with private((OWN_LIBRARY,)) as address, FarmClient(address.url, address.token) as farm:
        [lease] = await farm.launch("library_loans", "renew_before_trip")
        assert lease.mcp_url is not None
        assert lease.token is not None
        told = {"MCP_URL": lease.mcp_url, "TOKEN": lease.token}
        said = await output(program, script, folder=tmp_path, seconds=LONGEST_RUN, **told)
        history = await farm.history(lease.instance)
    assert "Ada Lindqvist" in said
    assert [(call.tool, call.outcome) for call in history.items] == [("find_members", "ok")]


@pytest.mark.frameworks
async def test_claude_code_connects_over_http_and_over_stdio(tmp_path: Path) -> None:
    program = await installed(CLAUDE_CODE, tmp_path)
    script = shutil.copy(SCRIPTS / CLAUDE_CODE.script, tmp_path)
    async with private((OWN_LIBRARY,)) as address, FarmClient(address.url, address.token) as farm:
        [lease] = await farm.launch("library_loans", "renew_before_trip")
        assert lease.mcp_url is not None
        assert lease.token is not None
        told = {"MCP_URL": lease.mcp_url, "TOKEN": lease.token, "FARM": str(Path(sys.executable).with_name("farm"))}
        said = await output(program, script, folder=tmp_path, seconds=LONGEST_RUN, **told)
    connected = [line for line in said.splitlines() if "Connected" in line]
    assert [line.partition(":")[0] for line in connected] == ["leased", "own"]
