"""A bundle with tools that go well, and tools that break, each in its own way."""

from pathlib import Path

from tests.bundles import TOOLS, write_bundle

BREAKING = '''

def fail(db: Database, *, word: str) -> dict:
    """Break.

    Args:
        word: A word.
    """
    return {"word": word, "half": 1 // (len(word) - len(word))}


def leave(db: Database) -> dict:
    """End the process."""
    os._exit(3)


def hang(db: Database) -> dict:
    """Never end."""
    while True:
        pass
'''


async def write_frail(folder: Path) -> Path:
    """Write it; its id is the folder's name."""
    return await write_bundle(folder, tools=f"import os\n{TOOLS}{BREAKING}")
