"""Commands over a bundle whose texts are meant for the terminal: none is obeyed, and none ends in a traceback."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bundles import SOUND_SCENARIO, with_description

ROOT = Path(__file__).parents[2]
HOSTILE = "\x1b[2J\x1b]0;owned\x07[/] [link=http://evil]x[/link] [bold {{data}} </script> \u202e \x9b \x00 \r"
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def shop(shelf: Path, tmp_path: Path) -> Path:
    folder = Path(shutil.copytree(shelf / "shop", tmp_path / "library" / "shop"))
    with_description(folder, title=HOSTILE, description=HOSTILE)
    goal = {**SOUND_SCENARIO["checkpoints"][0], "question": HOSTILE}
    scenario = {**SOUND_SCENARIO, "title": HOSTILE, "task": HOSTILE, "checkpoints": [goal]}
    (folder / "scenarios.jsonl").write_text(json.dumps(scenario))
    text = (folder / "tools.py").read_text()
    (folder / "tools.py").write_text(text.replace("Find things.", "Find things. " + HOSTILE.replace("\x00", "")))
    return folder


COMMANDS = (
    ("environments", "--library", "LIBRARY"),
    ("scenarios", "SHOP"),
    ("check", "SHOP"),
    ("derive", "SHOP"),
    ("prove", "SHOP", "--calls", "5"),
    ("certify", "SHOP"),
    ("play", "SHOP", "dearer", "--gold"),
    ("check", HOSTILE.replace("\x00", "")),
)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_no_command_obeys_or_breaks_on_a_text(shop: Path, command: tuple[str, ...]) -> None:
    words = {"LIBRARY": str(shop.parent), "SHOP": str(shop)}
    arguments = [sys.executable, str(ROOT / "farm.py"), *(words.get(word, word) for word in command)]
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run(arguments, capture_output=True, env=environment, check=False, timeout=120)
    for said in (done.stdout.decode(), done.stderr.decode()):
        assert "Traceback" not in said, said[-3000:]
        assert not OBEYED.search(said), ascii(said)[-3000:]
    assert done.returncode in (0, 1, 2)
