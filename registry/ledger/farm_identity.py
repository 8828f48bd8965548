"""The identity of a farm: which state folder it has, and that its ledger serves no other farm.

A farm deletes instances that its ledger does not name. With another farm's ledger, or a new one, it would delete all.
"""

import hashlib
import secrets
import socket
import time
from pathlib import Path

from registry.ledger.store import KeptFarm, Ledger
from servers.errors import RequestError, StateError
from servers.files.private_files import kept_secret
from servers.files.trouble import trouble
from servers.text.wording import counted

IDENTITY_FILE = "farm"


def shared_identity(join_token: str) -> str:
    """The identity of a farm with several registries: each has a state folder of its own, and the same join token."""
    return hashlib.sha256(b"farm of several registries:" + join_token.encode()).hexdigest()[:32]


def claim(ledger: Ledger, state: Path, *, known_as: str | None = None) -> float:
    """Claim a ledger for the farm of a state folder until it is closed. Returns its lease clock's last reading.

    With `known_as`, the farm has this identity and not that of the state folder.

    Raises:
        RequestError: it is another farm's, or it does not know the instances in the folder.
        StateError: the folder cannot be used.
    """
    folder = state.resolve()
    _make_sure_of(ledger, folder)
    return ledger.claim(KeptFarm(known_as or _identity(folder), str(folder), socket.gethostname(), time.time())).time


def _identity(folder: Path) -> str:
    path = folder / IDENTITY_FILE
    try:
        return kept_secret(path, f"{secrets.token_hex(16)}\n".encode()).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StateError(f"{path}: the farm's identity cannot be kept or read: {trouble(error)}") from None


def _make_sure_of(ledger: Ledger, folder: Path) -> None:
    """Refuse an unclaimed ledger that does not know the instances in the state folder."""
    if ledger.belongs_to() is not None:
        return
    instances = [path.stem for path in folder.glob("worker-*/instances/*.history")]
    if instances and not ledger.known(instances):
        raise RequestError(
            f"the ledger is new, and knows none of the {counted(len(instances), 'instance')} in {folder}: give the"
            f" --ledger that they were launched with, or delete {folder}/worker-*/instances to begin anew"
        )
