"""Migrate a ledger: `python -m registry.migrations`.

The URL is read from standard input, since the list of processes shows arguments.
"""

import sys
from pathlib import Path

from alembic import command
from alembic.config import Config


def config(url: str) -> Config:
    """Alembic's configuration for one ledger."""
    made = Config(attributes={"url": url})
    made.set_main_option("script_location", str(Path(__file__).parent))
    return made


if __name__ == "__main__":
    command.upgrade(config(sys.stdin.read().strip()), "head")
