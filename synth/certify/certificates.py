"""Writes certificates into a bundle's `scenarios.jsonl`. The rest of a line stays unchanged."""

import json
from pathlib import Path
from typing import Any

from servers.bundle.files import text_of, write_text
from servers.scenario.scenario import Certificate, Scenario


def write_certificate(folder: Path, scenario: str, certificate: Certificate | None) -> None:
    """Write a certificate into its scenario's line, or remove it. The write is atomic.

    Raises:
        BundleError: it cannot be written.
    """
    path = folder / "scenarios.jsonl"
    lines = [_with(line, scenario, certificate) for line in text_of(path).split("\n")]
    write_text(path, "\n".join(lines))


def write_scenario(folder: Path, scenario: Scenario) -> None:
    """Write a scenario's task, checkpoints, solution, witness and provenance into its line. The write is atomic.

    Raises:
        BundleError: it cannot be written.
    """
    path = folder / "scenarios.jsonl"
    told = scenario.model_dump(mode="json", exclude_defaults=True)
    parts = {name: told[name] for name in ("task", "checkpoints", "solution", "witness", "provenance") if name in told}
    lines = [_changed(line, scenario.id, parts) for line in text_of(path).split("\n")]
    write_text(path, "\n".join(lines))


def _changed(line: str, scenario: str, parts: dict[str, Any]) -> str:
    told: dict[str, Any] = json.loads(line) if line.strip() else {}
    if told.get("id") != scenario:
        return line
    return json.dumps({**told, **parts}, ensure_ascii=False)


def _with(line: str, scenario: str, certificate: Certificate | None) -> str:
    told: dict[str, Any] = json.loads(line) if line.strip() else {}
    if told.get("id") != scenario:
        return line
    told.pop("certificate", None)
    if certificate is not None:
        told["certificate"] = certificate.model_dump(mode="json", exclude_defaults=True)
    return json.dumps(told, ensure_ascii=False)
