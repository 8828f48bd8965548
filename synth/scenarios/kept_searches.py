"""Stored searches for holes, so that an interrupted command continues.

A stored search counts only for the same scenario, files of the bundle, number of runs and judge of answers.
"""

import hashlib
import json
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from servers.answer import JUDGE_VERSION
from servers.files.atomic_write import write_whole
from servers.files.named_file import text_named
from synth.certify.agents.exploit_search import Searched
from synth.scenarios.certify_job import CertifyOrder

SEARCHED_FILE = "searched.jsonl"
LINES = TypeAdapter(tuple[str, Searched])


class KeptSearches:
    """The searches with a number of runs for each scenario: a line each, written as soon as it is known."""

    def __init__(self, folder: Path, budget: int) -> None:
        self._path = folder / SEARCHED_FILE
        self._budget = budget
        folder.mkdir(parents=True, exist_ok=True)
        there = text_named(self._path) if self._path.exists() else ""
        lines = there.splitlines(keepends=True)
        self._made = dict(read for line in lines if (read := _read(line)) is not None)
        if there and not there.endswith("\n"):  # a killed process left it unfinished
            write_whole(self._path, "".join(lines[:-1]))

    def find(self, case: CertifyOrder) -> Searched | None:
        """The stored search of a scenario, if there is one."""
        return self._made.get(self._name(case))

    def keep(self, case: CertifyOrder, searched: Searched) -> None:
        line = LINES.dump_json((self._name(case), searched)).decode()
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    def _name(self, case: CertifyOrder) -> str:
        scenario = case.scenario.model_dump_json(exclude={"certificate", "provenance"}, exclude_defaults=True)
        told = [case.bundle.folder.name, *case.bundle.files, scenario, self._budget, JUDGE_VERSION]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:32]


def _read(line: str) -> tuple[str, Searched] | None:
    """The content of a line. None if it is incomplete, or from another version."""
    try:
        return LINES.validate_json(line)
    except ValidationError:
        return None
