"""A secret in a file of its own: made once, whole or not at all, and for its owner's eyes alone."""

import os
from pathlib import Path


def kept(path: Path, fresh: bytes) -> bytes:
    """What a file keeps; a fresh secret is put into it when it keeps nothing yet. Raises OSError."""
    try:
        found = path.read_bytes()
    except FileNotFoundError:
        found = b""
    if found:
        return found
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(fresh)
        part.rename(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
    return fresh
