"""The proof of an environment, made by running it: `proof.json`. It is void after a change to the bundle."""

from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from servers.authoring.proof import PROOF_FILE, digests
from servers.bundle.environment import as_json
from servers.bundle.files import name_in_commands, text_if_there, write_text
from servers.bundle.rules import Holder
from servers.errors import BundleError
from servers.records import Record

FORMAT = 1
COVERAGE_WEIGHT, RULES_WEIGHT = 60, 40
ProofCheck = Literal[
    "loads", "answers", "result", "reads_only", "refusal", "integrity", "succeeds", "refuses", "repeats", "shares",
    "rules", "examples",
]  # fmt: skip


class Finding(Record):
    """One fault, with the first call that showed it, and its frequency."""

    check: ProofCheck
    subject: str
    text: str
    times: int = 1


class ToolShown(Record):
    """The successes and refusals of a tool. `can_refuse`: whether its code has a refusal."""

    ok: int
    refused: int
    can_refuse: bool


class RuleShown(Record):
    """The evidence for a rule: calls refused at a place with its name, and states without a breach."""

    holder: Holder
    refused: int
    states: int
    shown: bool


class Coverage(Record):
    """The taken branches of tools.py, and the places of the others."""

    branches: int
    taken: int
    missed: tuple[str, ...]


class Proof(Record):
    """The proof. `score` is 0 with a finding, otherwise up to 100."""

    format: int = FORMAT
    environment: str
    version: str
    files: dict[str, str]
    seed: int
    calls: int
    sound: bool
    score: float
    checks: dict[ProofCheck, int]
    findings: tuple[Finding, ...]
    tools: dict[str, ToolShown]
    rules: dict[str, RuleShown]
    coverage: Coverage


def score_of(findings: tuple[Finding, ...], coverage: Coverage, rules: dict[str, RuleShown]) -> float:
    """0 with any finding, else 60 by the share of taken branches, and 40 by the share of shown rules.

    Only rules that a tool or the schema should enforce count. An environment that lists none gets none of these 40.
    """
    if findings:
        return 0.0
    claimed = [rule for rule in rules.values() if rule.holder != "agent"]
    covered = coverage.taken / coverage.branches if coverage.branches else 1.0
    shown = sum(rule.shown for rule in claimed) / len(claimed) if claimed else 0.0
    return round(COVERAGE_WEIGHT * covered + RULES_WEIGHT * shown, 1)


def load_proof(folder: Path) -> Proof | None:
    """The proof of a bundle, if it covers the present files.

    Raises:
        BundleError: it cannot be read.
    """
    path = folder / PROOF_FILE
    text = text_if_there(path)
    if text is None:
        return None
    try:
        proof = Proof.model_validate_json(text)
    except ValidationError:
        raise BundleError(
            f"{path}: is not a proof of this version; `farm prove {name_in_commands(folder)} --write` makes it anew"
        ) from None
    return proof if proof.files == digests(folder) else None


def write_proof(folder: Path, proof: Proof) -> Path:
    """Write a proof into its bundle atomically.

    Raises:
        BundleError: it does not cover the present files, or the folder cannot be written.
    """
    if proof.files != digests(folder):
        raise BundleError(f"{folder}: changed while it was proved; prove it again")
    path = folder / PROOF_FILE
    write_text(path, as_json(proof))
    return path
