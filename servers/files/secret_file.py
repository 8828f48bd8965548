"""A secret in a file of its own: made once, whole or not at all, and for its owner's eyes alone."""

from pathlib import Path

from servers.files.private_files import write_private


def kept(path: Path, fresh: bytes) -> bytes:
    """What a file keeps; a fresh secret is put into it when it keeps nothing yet. Raises OSError."""
    try:
        found = path.read_bytes()
    except FileNotFoundError:
        found = b""
    if found:
        return found
    write_private(path, fresh)
    return fresh
