"""Commands over a bundle whose texts are meant for the terminal: none is obeyed, and none ends in a traceback."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import TypeAlias

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
    ("play", "SHOP", "--scenario", "dearer", "--gold"),
    ("hack", "SHOP", "--budget", "3", "--jobs", "1", "--out", "HOLES"),
    ("synth", "backward", "SHOP", "--n", "1", "--jobs", "1", "--out", "MADE"),
    ("check", HOSTILE.replace("\x00", "")),
)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_no_command_obeys_or_breaks_on_a_text(shop: Path, command: tuple[str, ...]) -> None:
    """A scenario whose task is such a text is played to its end, and examined to its end."""
    is_clean(ended(command, shop))


@pytest.mark.slow
def test_no_command_over_a_run_obeys_or_breaks_on_a_text(shop: Path) -> None:
    is_clean(ended(("play", "SHOP", "--scenario", "dearer", "--gold", "--save", "RUN"), shop))
    over = (
        ("show", "RUN"),
        ("report", "RUN"),
        ("judge", "RUN", "--with", "SHOP"),
        ("export", "sft", "RUN", "--out", "DATA"),
    )
    for done in two_at_a_time(over, shop):
        is_clean(done)
        assert done.returncode != 2, done.stderr


Ended: TypeAlias = subprocess.CompletedProcess[bytes]


def two_at_a_time(commands: Sequence[tuple[str, ...]], shop: Path) -> list[Ended]:
    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(ended, commands, repeat(shop)))


def ended(command: tuple[str, ...], shop: Path) -> Ended:
    home = shop.parent.parent
    words = {
        "LIBRARY": shop.parent,
        "SHOP": shop,
        "RUN": home / "run",
        "HOLES": home / "holes",
        "DATA": home / "data",
        "MADE": home / "made",
    }
    arguments = [sys.executable, str(ROOT / "farm.py"), *(str(words.get(word, word)) for word in command)]
    environment = {**os.environ, "COLUMNS": "100"}
    return subprocess.run(arguments, capture_output=True, env=environment, check=False, timeout=120, cwd=home)


def is_clean(done: Ended) -> None:
    for said in (done.stdout.decode(), done.stderr.decode()):
        assert "Traceback" not in said, said[-3000:]
        assert not OBEYED.search(said), ascii(said)[-3000:]
    assert done.returncode in (0, 1, 2)
