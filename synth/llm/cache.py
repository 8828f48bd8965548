"""A cache of paid exchanges on disk, by content: a repeated request costs nothing.

Each exchange is a file named by its digest and written atomically, so that several runs may share a folder. Each is a
line of a recording.
"""

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agent_client.models.completion import Completion
from servers.files.named_file import bytes_named
from servers.files.private_files import write_private
from synth.llm.exchange import Exchanged
from synth.llm.writer import digest_of


class Cache:
    """A folder of exchanges."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, request: dict[str, Any]) -> Completion | None:
        """The cached answer. A damaged file counts as missing."""
        try:
            return Exchanged.model_validate_json(bytes_named(self._path(request))).response
        except (OSError, ValidationError):
            return None

    def keep(self, request: dict[str, Any], response: dict[str, Any]) -> None:
        """Store an exchange atomically."""
        path = self._path(request)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"request": request, "response": response}, ensure_ascii=False) + "\n"
        write_private(path, text.encode(errors="surrogatepass"))

    def _path(self, request: dict[str, Any]) -> Path:
        digest = digest_of(request)
        return self.folder / digest[:2] / f"{digest}.json"
