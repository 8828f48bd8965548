"""A file is written whole or not at all."""

from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file so that whoever reads it, also after a kill, sees the old one or the new one.

    It is not forced to the disk: that takes longer than all else here. After a power cut digests tell what is whole.
    """
    part = path.with_name(f".{path.name}.part")
    with part.open("w", encoding="utf-8") as file:
        file.write(text)
    part.replace(path)
