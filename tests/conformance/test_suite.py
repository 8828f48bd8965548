"""The MCP conformance suite, and what we make of its results."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.conformance.process import output
from tests.conformance.scenarios import BEYOND_AN_INSTANCE, EXCLUDED
from tests.conformance.suite import Check
from tests.conformance.verdict import judged

HERE = Path(__file__).parent
WITHOUT_NODE = shutil.which("npm") is None or shutil.which("node") is None


@pytest.mark.slow
@pytest.mark.skipif(WITHOUT_NODE, reason="the conformance suite is an npm package; there is no node or no npm here")
async def test_every_scenario_that_can_apply_passes() -> None:
    said = await output(sys.executable, "-m", "tests.conformance.run", folder=HERE.parent.parent, seconds=600)
    assert "passed" in said
    assert "FAILED" not in said


def test_the_readme_says_why_each_scenario_or_check_is_left_out() -> None:
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    left_out = {name for names in (*EXCLUDED.values(), *BEYOND_AN_INSTANCE.values()) for name in names}
    assert {name for name in left_out if f"`{name}`" not in readme} == set()


def test_a_scenario_passes_when_something_of_its_own_succeeded_and_nothing_failed() -> None:
    assert judged("here", [Check("own", "SUCCESS"), Check("other", "INFO")]).passed


@pytest.mark.parametrize(
    "checks",
    [
        [],
        [Check("wire-schema-valid", "SUCCESS")],
        [Check("skipped", "SKIPPED")],
        [Check("own", "SUCCESS"), Check("other", "WARNING")],
        [Check("own", "SUCCESS"), Check("wire-schema-valid", "FAILURE")],
    ],
    ids=["nothing ran", "only messages were looked at", "only skipped", "a warning", "a malformed message"],
)
def test_a_scenario_does_not_pass_when(checks: list[Check]) -> None:
    verdict = judged("here", checks)
    assert not verdict.passed
    assert verdict.failures


def test_a_check_beyond_a_server_counts_neither_way() -> None:
    beyond = Check("images", "FAILURE", "no tool answers with an image")
    assert judged("here", [Check("own", "SUCCESS"), beyond], beyond=["images"]).passed
    assert not judged("here", [beyond], beyond=["images"]).passed
