"""What was shown about an environment by running it: `proof.json`. It is void once a file of the bundle differs."""

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
Check = Literal[
    "loads", "answers", "result", "reads_only", "refusal", "integrity", "succeeds", "refuses", "repeats", "shares",
    "rules", "examples",
]  # fmt: skip


class Finding(Record):
    """One thing that is not as it must be, with the first call that showed it, and how often it was seen."""

    check: Check
    subject: str
    text: str
    times: int = 1


class ToolShown(Record):
    """How often a tool answered, and how often it refused. `can_refuse`: whether its code has a refusal."""

    ok: int
    refused: int
    can_refuse: bool


class RuleShown(Record):
    """How often a rule was seen to hold: calls refused at a place that bears its name, and states without a breach."""

    holder: Holder
    refused: int
    states: int
    shown: bool


class Coverage(Record):
    """The branches of tools.py that were taken, and where the others are."""

    branches: int
    taken: int
    missed: tuple[str, ...]


class Proof(Record):
    """The whole. `score` is what to sort by: 0 for what is not sound, otherwise up to 100."""

    format: int = FORMAT
    environment: str
    version: str
    files: dict[str, str]
    seed: int
    calls: int
    sound: bool
    score: float
    checks: dict[Check, int]
    findings: tuple[Finding, ...]
    tools: dict[str, ToolShown]
    rules: dict[str, RuleShown]
    coverage: Coverage


def score_of(findings: tuple[Finding, ...], coverage: Coverage, rules: dict[str, RuleShown]) -> float:
    """0 with any finding; else 60 by the share of branches taken, and 40 by the share of rules shown.

    Only rules that a tool or the schema claims to hold count; an environment that lists none has none of these 40.
    """
    if findings:
        return 0.0
    claimed = [rule for rule in rules.values() if rule.holder != "agent"]
    covered = coverage.taken / coverage.branches if coverage.branches else 1.0
    shown = sum(rule.shown for rule in claimed) / len(claimed) if claimed else 0.0
    return round(COVERAGE_WEIGHT * covered + RULES_WEIGHT * shown, 1)


def load_proof(folder: Path) -> Proof | None:
    """The proof of a bundle, if there is one and it is about the files as they are now.

    Raises:
        BundleError: there is one that cannot be read.
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
    """Write a proof into its bundle, whole or not at all.

    Raises:
        BundleError: the proof is not about the files as they are now, or the folder cannot be written.
    """
    if proof.files != digests(folder):
        raise BundleError(f"{folder}: changed while it was proved; prove it again")
    path = folder / PROOF_FILE
    write_text(path, as_json(proof))
    return path
