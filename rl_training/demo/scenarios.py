"""Scenarios to train on, made as anybody makes them: backward, of one command of a library environment."""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from rl_training.errors import TrainingError
from servers.bundle_library import OWN_LIBRARY

ENVIRONMENT = "parcel_room"
MADE = ("--backward", "--seed", "1", "--commands", "1", "--tool", "send_parcel", "--no-refusals", "--no-tells")


def make_room(library: Path, count: int) -> Path:
    """A library with a copy of the parcel room, and so many certified scenarios in it: a parcel each.

    What is there already stays.

    Raises:
        TrainingError: they could not be made.
    """
    bundle = library / ENVIRONMENT
    if not bundle.is_dir():
        library.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=library, prefix=".") as fresh:
            copy = Path(shutil.copytree(OWN_LIBRARY / ENVIRONMENT, Path(fresh) / ENVIRONMENT))
            (copy / "scenarios.jsonl").write_text("", encoding="utf-8")
            copy.rename(bundle)
    command = [sys.executable, "-m", "farm", "synth", "scenarios", str(bundle), *MADE, "--n", str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise TrainingError(f"{' '.join(command[1:])}: {(done.stderr or done.stdout).strip()}")
    return library
