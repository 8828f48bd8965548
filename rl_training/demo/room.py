"""Scenarios to train on, made as anybody makes them: backward, of one command of a library environment."""

import shutil
import subprocess
import sys
from pathlib import Path

from rl_training.errors import TrainingError
from servers.library import OWN_LIBRARY

ENVIRONMENT = "parcel_room"
MADE = ("--backward", "--seed", "1", "--commands", "1", "--tool", "send_parcel", "--no-refusals")


def make_room(library: Path, count: int) -> Path:
    """A library with a copy of the parcel room, and so many certified scenarios in it: a parcel each.

    What is there already stays.

    Raises:
        TrainingError: they could not be made.
    """
    bundle = library / ENVIRONMENT
    if not bundle.is_dir():
        shutil.copytree(OWN_LIBRARY / ENVIRONMENT, bundle, ignore=shutil.ignore_patterns("__pycache__"))
        (bundle / "scenarios.jsonl").write_text("", encoding="utf-8")
    command = [sys.executable, "-m", "farm", "synth", "scenarios", str(bundle), *MADE, "--n", str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise TrainingError(f"{' '.join(command[1:])}: {(done.stderr or done.stdout).strip()}")
    return library
