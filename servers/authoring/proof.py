"""The digests in a bundle's proof: of the files that it covers, to the byte."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from servers.bundle.examples import EXAMPLES_FILE
from servers.bundle.files import SERVED_FILES, files_of, name_in_commands, opened, text_if_there
from servers.bundle.rules import RULES_FILE
from servers.errors import BundleError

PROOF_FILE = "proof.json"
PROVED_FILES = (*SERVED_FILES, RULES_FILE, EXAMPLES_FILE)


class _Proved(BaseModel):
    """The part of a proof that names the files it covers."""

    model_config = ConfigDict(frozen=True)

    files: dict[str, str]


def digests_of(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """The digest of each existing file of the named ones.

    Raises:
        BundleError: the folder, or one of the files, cannot be read.
    """
    with opened(folder) as files:
        texts = {name: files.text_if_there(name) for name in names}
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items() if text is not None}


def digests(folder: Path) -> dict[str, str]:
    """The digest of each existing file that a proof covers. Raises like `digests_of`."""
    return digests_of(folder, files_of(folder, PROVED_FILES))


def proof_findings(folder: Path) -> list[str]:
    """A finding if the proof is out of date or cannot be read. A bundle without a proof is sound."""
    path = folder / PROOF_FILE
    try:
        text = text_if_there(path)
        changed = [] if text is None else _changed(_Proved.model_validate_json(text).files, digests(folder))
    except ValidationError:
        return [f"{path}: is no proof; `farm prove {name_in_commands(folder)} --write` makes it anew"]
    except BundleError as error:
        return [str(error)]
    if not changed:
        return []
    since = f"{', '.join(changed)} changed since"
    return [f"{path}: is out of date: {since}; `farm prove {name_in_commands(folder)} --write` renews it"]


def _changed(proved: dict[str, str], now: dict[str, str]) -> list[str]:
    names = dict.fromkeys((*PROVED_FILES, *now, *proved))
    return [name for name in names if proved.get(name) != now.get(name)]
