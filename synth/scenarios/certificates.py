"""The certificates in a bundle's `scenarios.jsonl`; everything else in a line stays as its author wrote it."""

import json
from pathlib import Path
from typing import Any

from servers.bundle_files import text_of, write_text
from servers.scenario import Certificate


def write_certificate(folder: Path, scenario: str, certificate: Certificate | None) -> None:
    """Put a certificate into the line of its scenario, or take away the one that is there. The file is written whole.

    Raises:
        BundleError: it cannot be written.
    """
    path = folder / "scenarios.jsonl"
    lines = [_with(line, scenario, certificate) for line in text_of(path).split("\n")]
    write_text(path, "\n".join(lines))


def _with(line: str, scenario: str, certificate: Certificate | None) -> str:
    told: dict[str, Any] = json.loads(line) if line.strip() else {}
    if told.get("id") != scenario:
        return line
    told.pop("certificate", None)
    if certificate is not None:
        told["certificate"] = certificate.model_dump(mode="json", exclude_defaults=True)
    return json.dumps(told, ensure_ascii=False)
