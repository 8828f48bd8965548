"""Everything that is wrong with a bundle: what its text shows, and what a guest finds when it loads it."""

from pathlib import Path
from typing import Any

from servers.bundle import Environment, read_environment, read_scenarios
from servers.certified import is_current
from servers.environment import Tool
from servers.errors import BundleError
from servers.examples import example_findings
from servers.gate import checkpoint_problems, tool_problems
from servers.guests import START_SECONDS, GuestDied, GuestLate, Guests
from servers.imported_gate import imported_problems
from servers.phrases import read_phrases
from servers.rules import rule_findings
from servers.scenario import Scenario
from servers.starts import built


async def findings(folder: Path, guests: Guests) -> list[str]:
    """All findings, the text's first; empty when the bundle can be served and its scenarios started."""
    environment, found = await environment_findings(folder, guests)
    wrong, scenarios = read_scenarios(folder, environment)
    found += wrong
    found += _checkpoint_findings(folder, environment, scenarios)
    if environment is not None:
        found += read_phrases(folder, environment)[0]
        found += _certificate_findings(environment, scenarios)
        found += await _setup_findings(environment, scenarios, guests)
    return found


async def environment_findings(folder: Path, guests: Guests) -> tuple[Environment | None, list[str]]:
    """The environment of a bundle, if it can be read, and everything that is wrong with it, scenarios apart."""
    found, environment = read_environment(folder)
    if environment is None:
        return None, found
    path = folder / "tools.py"
    problems = imported_problems if _is_imported(environment) else tool_problems
    found += [f"{path}: {problem}" for problem in problems(environment.source) if "not Python" not in problem]
    found += rule_findings(folder, policy=environment.policy, schema=environment.schema, source=environment.source)
    found += example_findings(folder, environment.tools)
    if not any("tools.py" in finding and "not Python" in finding for finding in found):
        found += await _tool_findings(environment, guests)
        _, wrong = await built(environment, "", environment.description.clock, guests)
        found += [f"{folder}: {wrong}"] if wrong else []
    return environment, found


def _is_imported(environment: Environment | None) -> bool:
    return environment is not None and environment.description.imported is not None


def _checkpoint_findings(folder: Path, environment: Environment | None, scenarios: list[Scenario]) -> list[str]:
    """What the Python of checkpoints says and may not. Text that is no Python has been found before."""
    problems = imported_problems if _is_imported(environment) else checkpoint_problems
    return [
        f"{folder / 'scenarios.jsonl'}: scenario {scenario.id!r}: checkpoints.{checkpoint.id}: {problem}"
        for scenario in scenarios
        for checkpoint in scenario.checkpoints
        if checkpoint.kind == "python"
        for problem in problems(checkpoint.python)
        if "not Python" not in problem
    ]


def _certificate_findings(environment: Environment, scenarios: list[Scenario]) -> list[str]:
    """Certificates of something that has changed since."""
    path = environment.folder / "scenarios.jsonl"
    return [
        f"{path}: scenario {scenario.id!r}: certificate: is of another version of it or of the environment; "
        "`farm certify BUNDLE --write` renews it"
        for scenario in scenarios
        if scenario.certificate is not None and not is_current(environment, scenario)
    ]


async def derived(folder: Path, guests: Guests) -> list[Tool]:
    """The tool schemas that `tools.py` itself tells, by its signatures and docstrings.

    Raises:
        BundleError: a signature or docstring from which no schema can be made.
    """
    path = folder / "tools.py"
    try:
        source = path.read_bytes()
    except OSError as error:
        raise BundleError(f"{path}: cannot be read: {error.strerror}") from None
    tools, found = await _described(source, guests)
    if found:
        raise BundleError("\n".join(f"{folder}: {finding}" for finding in found))
    return [Tool.model_validate(tool) for tool in tools]


async def _tool_findings(environment: Environment, guests: Guests) -> list[str]:
    """Where the tools' own words and environment.json differ."""
    tools, found = await _described(environment.source.encode(), guests)
    wrong = [f"{environment.folder}: {finding}" for finding in found]
    path = environment.folder / "environment.json"
    imported = environment.description.imported
    kept = imported is not None and imported.schemas == "kept"
    compared = ("writes",) if kept else ("description", "arguments", "result", "writes")
    for told in tools:
        declared = environment.tools.get(told["name"])
        if declared is None:
            continue
        fields = declared.model_dump()
        wrong += [
            f"{path}: tools.{declared.name}.{field}: is not what tools.py says; "
            "`farm derive BUNDLE --write` brings it up to date"
            for field in compared
            if told[field] != fields[field]
        ]
    return wrong


async def _described(source: bytes, guests: Guests) -> tuple[list[dict[str, Any]], list[str]]:
    try:
        head, _ = await guests.job({"do": "describe"}, source, seconds=START_SECONDS)
    except GuestLate:
        return [], [f"tools.py: takes more than {START_SECONDS:g} s to load"]
    except GuestDied:
        return [], ["tools.py: the process ended while it was loaded"]
    return head["tools"], head["findings"]


async def _setup_findings(environment: Environment, scenarios: list[Scenario], guests: Guests) -> list[str]:
    """Every setup, run; nothing where the environment itself does not start, which has been found before."""
    if (await built(environment, "", environment.description.clock, guests))[1]:
        return []
    found: list[str] = []
    for scenario in scenarios:
        clock = scenario.clock or environment.description.clock
        _, wrong = await built(environment, scenario.setup, clock, guests)
        if wrong:
            found.append(f"{environment.folder / 'scenarios.jsonl'}: scenario {scenario.id!r}: {wrong}")
    return found
