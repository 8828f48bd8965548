"""What the checks of a scenario come to."""

from collections.abc import Collection
from typing import NamedTuple

from tests.conformance.suite import Check

OF_EVERY_MESSAGE = "wire-schema-valid"


class Verdict(NamedTuple):
    """Whether a scenario passed, in words for a table, and a line for each check that did not succeed."""

    passed: bool
    text: str
    failures: tuple[str, ...] = ()


def judged(where: str, checks: Collection[Check], *, beyond: Collection[str] = ()) -> Verdict:
    """Passed: something of the scenario's own succeeded, and nothing failed that is not beyond the server.

    The suite itself calls a scenario passed that checked nothing, or only warned.
    """
    failed = [check for check in checks if check.status in ("FAILURE", "WARNING") and check.id not in beyond]
    good = sum(check.status == "SUCCESS" and check.id != OF_EVERY_MESSAGE for check in checks)
    if failed:
        lines = tuple(f"{where}: {check.id}: {check.message}" for check in failed)
        return Verdict(False, f"FAILED ({len(failed)})", lines)
    if not good:
        return Verdict(False, "FAILED (no checks)", (f"{where}: nothing was checked",))
    return Verdict(True, f"passed ({good}, not {len(beyond)})" if beyond else f"passed ({good})")
