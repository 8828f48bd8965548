"""A report as plain values: for the page and for `--json`."""

from typing import Any

from evals.report.comparison import RunComparison
from evals.report.official_number import REFERENCES, extents, whole_numbers
from evals.report.report import Report

MOST_LISTED = 200
"""The most failed checkpoints in a list, and the most tools."""
MOST_REASONS = 20


def report_data(told: Report) -> dict[str, Any]:
    """The figures of a run, without its rollouts."""
    header = told.header
    return {
        "name": header.suite.name,
        "agent": header.suite.agent_name,
        "path": told.path,
        "began": header.began,
        "version": header.version,
        "suite": header.suite.model_dump(mode="json", exclude_defaults=True),
        "suite_digest": header.suite_digest,
        "agent_digest": header.agent_digest,
        "planned": header.rollouts,
        "left_out": header.left_out,
        "torn": told.torn,
        "all": told.all._asdict(),
        "bounds": told.bounds,
        "outcomes": told.outcomes,
        "broken": told.broken[:MOST_REASONS],
        "passing": [one._asdict() for one in told.passing],
        "groups": {name: [group._asdict() for group in groups] for name, groups in told.groups.items()},
        "causes": [(cause, len(keys)) for cause, keys in told.causes],
        "checkpoints": [one._asdict() for one in told.checkpoints[:MOST_LISTED]],
        "probes": [one._asdict() for one in told.probes[:MOST_LISTED]],
        "tools": [one._asdict() for one in told.tools[:MOST_LISTED]],
        "benchmarks": benchmark_data(told) if told.benchmarks else None,
    }


def benchmark_data(told: Report) -> dict[str, Any]:
    """The numbers of public benchmarks in a run, with all that belongs to them, and what others report."""
    suite = told.header.suite
    numbers = whole_numbers(told.benchmarks)
    return {
        "benchmark": suite.name,
        "model": suite.agent_name,
        "user_model": suite.user.model if suite.user else None,
        "limits_of": suite.limits_of,
        "trials": suite.run.attempts,
        "numbers": numbers,
        "extents": extents(told.benchmarks, suite.scenarios),
        "parts": [one._asdict() for one in told.benchmarks],
        "references": [one._asdict() for one in REFERENCES if one.figures.keys() & numbers.keys()],
    }


def comparison_data(one: RunComparison) -> dict[str, Any]:
    """A comparison of two runs."""
    return {
        **one._asdict(),
        "scenarios": [beside._asdict() for beside in one.scenarios],
        "success": one.success._asdict() if one.success else None,
        "reward": one.reward._asdict() if one.reward else None,
    }
