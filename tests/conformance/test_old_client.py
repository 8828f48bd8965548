"""The last client of mcp 1.x, in a virtual environment of its own, at our door."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.doors import launched
from tests.conformance.process import output
from tests.told import history_of

OLD_CLIENT = "mcp==1.30.0"
SCRIPT = Path(__file__).parent / "old_client.py"

pytestmark = pytest.mark.slow


async def test_a_client_of_mcp_1_lists_and_calls_tools_and_is_refused_without_the_token(tmp_path: Path) -> None:
    python = await old_python(tmp_path / "venv")
    async with launched(tmp_path / "state") as doors, doors.plain() as url:
        said = await played(python, url, doors.ticket.token)
        turned_away = await played(python, url, "not-the-token")
        calls = await history_of(doors.worker, doors.ticket.instance)

    environment = doors.worker.library.environment("library_loans")
    assert said["version"] == "2025-11-25"
    assert said["server"] == "envfarm"
    assert "rules of the lending desk" in said["instructions"]
    assert said["read_only"] == {tool.name: not tool.writes for tool in environment.description.tools}

    assert not said["query"]["error"]
    assert said["query"]["structured"] == json.loads(said["query"]["text"])
    assert "Ruth Abernathy" in said["query"]["text"]
    assert not said["command"]["error"]
    assert "2027-04-05" in said["command"]["text"]
    assert said["refusal"]["error"]
    assert "2027" in said["refusal"]["text"]
    assert [(call.tool, call.outcome) for call in calls] == [
        ("show_member", "ok"),
        ("renew_card", "ok"),
        ("renew_card", "refused"),
    ]

    assert "401" in " ".join(turned_away["failures"])


async def old_python(folder: Path) -> str:
    """The Python of a fresh virtual environment that has the old client."""
    python = str(folder / "bin" / "python")
    await output(sys.executable, "-m", "venv", str(folder), folder=folder.parent, seconds=120)
    await output(python, "-m", "pip", "install", "-q", OLD_CLIENT, folder=folder.parent, seconds=300)
    return python


async def played(python: str, url: str, token: str) -> dict[str, Any]:
    said = await output(python, str(SCRIPT), url, token, folder=SCRIPT.parent, seconds=60)
    return json.loads(said.splitlines()[-1])
