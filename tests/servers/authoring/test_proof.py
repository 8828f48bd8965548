"""A proof is of a bundle's files, and `farm check` says when they have changed since."""

import json
import shutil
from pathlib import Path

import pytest

from servers.authoring.check import findings
from servers.authoring.proof import digests, proof_findings
from servers.bundle_library import OWN_LIBRARY
from servers.cli.command_options import folders_of
from servers.sandbox.guest_pool import Guests


@pytest.fixture
def proved(shelf: Path, tmp_path: Path) -> Path:
    """A bundle with as much of a proof as says of what it is."""
    folder = Path(shutil.copytree(shelf / "shop", tmp_path / "shop"))
    (folder / "proof.json").write_text(json.dumps({"format": 1, "files": digests(folder)}))
    return folder


async def test_a_proof_of_other_files_is_a_finding_that_says_what_to_run(proved: Path) -> None:
    assert proof_findings(proved) == []
    (proved / "policy.md").write_text("Another.")
    (proved / "rules.json").write_text("[]")
    async with Guests() as guests:
        [finding] = await findings(proved, guests)
    assert finding == (
        f"{proved}/proof.json: is out of date: policy.md, rules.json changed since; "
        f"`farm prove {proved} --write` renews it"
    )


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"files": 3}'])
def test_what_is_no_proof_is_a_finding(proved: Path, text: str) -> None:
    (proved / "proof.json").write_text(text)
    assert proof_findings(proved) == [f"{proved}/proof.json: is no proof; `farm prove {proved} --write` makes it anew"]


def test_a_bundle_needs_no_proof(proved: Path) -> None:
    (proved / "proof.json").unlink()
    assert proof_findings(proved) == []


def test_a_folder_of_bundles_stands_for_all_of_them(proved: Path) -> None:
    other = Path(shutil.copytree(proved, proved.parent / "stall"))
    assert folders_of([proved.parent]) == [proved, other]
    assert folders_of([proved, Path("library_loans")]) == [proved, OWN_LIBRARY / "library_loans"]
    (other / "environment.json").unlink()
    assert folders_of([other]) == [other]  # whatever it lacks is a finding
