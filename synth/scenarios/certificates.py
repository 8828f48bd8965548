"""The certificates in a bundle's `scenarios.jsonl`; everything else in a line stays as its author wrote it."""

import json
from pathlib import Path
from typing import Any

from servers.errors import BundleError
from servers.scenario import Certificate
from servers.whole import write_whole


def write_certificate(folder: Path, scenario: str, certificate: Certificate | None) -> None:
    """Put a certificate into the line of its scenario, or take away the one that is there. The file is written whole.

    Raises:
        BundleError: it cannot be written.
    """
    path = folder / "scenarios.jsonl"
    lines = [_with(line, scenario, certificate) for line in path.read_text(encoding="utf-8").splitlines()]
    try:
        write_whole(path, "".join(f"{line}\n" for line in lines))
    except OSError as error:
        raise BundleError(f"{path}: cannot be written: {error.strerror}") from None


def _with(line: str, scenario: str, certificate: Certificate | None) -> str:
    told: dict[str, Any] = json.loads(line) if line.strip() else {}
    if told.get("id") != scenario:
        return line
    told.pop("certificate", None)
    if certificate is not None:
        told["certificate"] = certificate.model_dump(mode="json", exclude_defaults=True)
    return json.dumps(told, ensure_ascii=False)
