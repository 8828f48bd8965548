"""A new bundle: a renamed copy of a small, complete one. Nothing is overwritten."""

import json
import keyword
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

from servers.bundle_library import OWN_LIBRARY
from servers.errors import RequestError
from servers.files.atomic_write import write_whole
from servers.files.trouble import trouble
from servers.records import NAME

TEMPLATE = Path(__file__).resolve().parent / "template"
"""A bundle that passes `farm check`, `certify`, `prove` and `play` unchanged. It has comments for authors."""


def new_bundle(name: str, parent: Path) -> Path:
    """Make a bundle of this name in a folder, and return its path.

    Raises:
        RequestError: the name cannot be an environment's, is taken, or the folder cannot be written.
    """
    _make_sure_of(name)
    folder = parent / name
    if folder.exists() or folder.is_symlink():
        raise RequestError(f"{folder}: is there already and is left as it is; choose another name")
    description = json.loads((TEMPLATE / "environment.json").read_text(encoding="utf-8"))
    description |= {"id": name, "title": name.replace("_", " ").capitalize()}
    description["provenance"]["date"] = datetime.now(UTC).date().isoformat()
    try:
        folder.mkdir()
        for path in sorted(TEMPLATE.iterdir()):
            if path.suffix in (".md", ".sql", ".py", ".json", ".jsonl"):
                shutil.copyfile(path, folder / path.name)
        write_whole(folder / "environment.json", json.dumps(description, indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        raise RequestError(f"{folder}: cannot be written: {trouble(error)}") from None
    return folder


def _make_sure_of(name: str) -> None:
    """Check that an environment can have this name. Raises RequestError with advice."""
    if "/" in name or "\\" in name:
        raise RequestError(f"{name}: is a path; go to the folder where the bundle shall lie, and give its name alone")
    if not re.fullmatch(NAME, name):
        proposed = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_0123456789")[:64]
        example = f", such as {proposed}" if re.fullmatch(NAME, proposed) else ""
        raise RequestError(
            f"{name!r} is no name of an environment: at most 64 lower case letters, digits and `_`, a letter first"
            + example
        )
    if keyword.iskeyword(name):
        raise RequestError(f"{name!r} is a word of Python, and no name of an environment, such as {name}_desk")
    if (OWN_LIBRARY / name).exists():
        raise RequestError(f"{name} is one of the farm's own environments; choose another name")
