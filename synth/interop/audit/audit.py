"""The audit of imported environments, by running them.

Which tools work, what the checks say before any call, which of them can become true, and what is not repeatable.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from servers.authoring.check import findings
from servers.bundle.environment import Environment, load
from servers.errors import BundleError, NotFound
from servers.records import Record
from servers.sandbox.guest_pool import Guests
from servers.scenario.checkpoints.python import PythonCheckpoint
from servers.scenario.scenario import PlannedCall, Scenario
from servers.scenario.scenario_file import load_scenarios
from synth.interop.imports.check_values import hints_of
from synth.interop.imports.class_trial import TrialError, open_trial

SECONDS = 300.0
ENTRY = '''

from servers.imported.probing import probe_all as _probe_all


def envfarm_probe(db, *, tools, checks, hints):
    """Everything about one scenario."""
    return _probe_all(_OBJECT, db, tools, checks, hints)
'''


class ToolAudit(Record):
    """The effects of one tool over all tried calls."""

    name: str
    writes: bool
    tries: int = 0
    succeeded: int = 0
    refused: int = 0
    broke: int = 0
    error: str = ""
    refusal: str = ""
    changed_when_refused: int = 0
    changed_when_reading: int = 0
    repeats: bool = True
    draws: bool = False


class CheckAudit(Record):
    """The result of one check at the start, and whether some state was found in which it holds."""

    id: str
    question: str
    at_start: bool
    error_at_start: str
    reached: bool


class ScenarioAudit(Record):
    """The results of a scenario's checks, and the calls that lead furthest."""

    id: str
    checks: tuple[CheckAudit, ...] = ()
    reward_for_nothing: float = 0.0
    reward_found: float = 0.0
    calls: tuple[PlannedCall, ...] = ()
    problem: str | None = None


class EnvironmentAudit(Record):
    """The results about one environment."""

    id: str
    title: str
    loads: bool
    findings: tuple[str, ...] = ()
    tools: tuple[ToolAudit, ...] = ()
    scenarios: tuple[ScenarioAudit, ...] = ()


@dataclass
class _Tally:
    """The sums of one tool over the scenarios."""

    told: dict[str, Any]

    def add(self, more: dict[str, Any]) -> None:
        for name, value in more.items():
            before = self.told.get(name)
            if name == "repeats":
                self.told[name] = value and before is not False
            elif isinstance(value, bool):
                self.told[name] = value or bool(before)
            elif isinstance(value, int):
                self.told[name] = value + int(before or 0)
            else:
                self.told[name] = before or value


def imported_in(folder: Path) -> list[Path]:
    """The bundles of a folder, or the folder itself if it is one.

    Raises:
        NotFound: there is none.
    """
    there = folder.resolve()
    is_bundle = os.path.lexists(there / "environment.json")
    folders = [there] if is_bundle else sorted(path.parent for path in there.glob("*/environment.json"))
    if not folders:
        raise NotFound(f"{folder}: holds no bundle; `farm import envscaler` writes some")
    return folders


async def audit(
    folders: Iterable[Path], guests: Guests, on_scenario: Callable[[str, str], None], seconds: float = SECONDS
) -> list[EnvironmentAudit]:
    """Audit imported bundles, one after another."""
    return [await _audited(folder, guests, on_scenario, seconds) for folder in folders]


async def _audited(
    folder: Path, guests: Guests, on_scenario: Callable[[str, str], None], seconds: float
) -> EnvironmentAudit:
    try:
        environment = load(folder)
        scenarios = load_scenarios(environment)
    except BundleError as error:
        return EnvironmentAudit(id=folder.name, title="", loads=False, findings=(str(error),))
    if environment.description.imported is None:
        raise BundleError(f"{folder}: was not imported; `farm prove` is for bundles of one's own")
    wrong = await findings(folder, guests)
    title = environment.description.title
    tallies = {tool.name: _Tally({"name": tool.name, "writes": tool.writes}) for tool in environment.tools.values()}
    audits: list[ScenarioAudit] = []
    for scenario in scenarios.values():
        on_scenario(environment.id, scenario.id)
        try:
            found = await _probed(environment, scenario, guests, seconds)
        except TrialError as error:
            audits.append(ScenarioAudit(id=scenario.id, problem=str(error)))
            continue
        for name, told in found["tools"].items():
            tallies[name].add(told)
        audits.append(_of_scenario(scenario, found))
    return EnvironmentAudit(
        id=environment.id,
        title=title,
        loads=not wrong,
        findings=tuple(wrong),
        tools=tuple(ToolAudit.model_validate(tally.told) for tally in tallies.values()),
        scenarios=tuple(audits),
    )


async def _probed(environment: Environment, scenario: Scenario, guests: Guests, seconds: float) -> dict[str, Any]:
    checks = [one.python for one in scenario.checkpoints if isinstance(one, PythonCheckpoint)]
    text = environment.source + ENTRY
    clock = scenario.clock or environment.description.clock
    scripts = (environment.schema, environment.seed, scenario.setup)
    async with open_trial(guests, text, clock=clock, seconds=seconds, scripts=scripts) as trial:
        return await trial.call(
            "envfarm_probe",
            tools=[_told(tool) for tool in environment.tools.values()],
            checks=checks,
            hints=[*map(hints_of, checks)],
        )


def _told(tool: Any) -> dict[str, Any]:
    required = set(tool.arguments.get("required", ()))
    return {
        "name": tool.name,
        "method": tool.name,
        "writes": tool.writes,
        "arguments": [
            {"name": name, "required": name in required, "types": _types(schema)}
            for name, schema in tool.arguments.get("properties", {}).items()
        ],
    }


def _types(schema: dict[str, Any]) -> list[str]:
    if "anyOf" in schema:
        return [kind for option in schema["anyOf"] for kind in _types(option)]
    kind: Any = schema.get("type", ["string", "number", "boolean", "array", "object"])
    return [kind] if isinstance(kind, str) else list(kind)


def _of_scenario(scenario: Scenario, found: dict[str, Any]) -> ScenarioAudit:
    checks = tuple(
        CheckAudit(
            id=checkpoint.id,
            question=checkpoint.question,
            at_start=start["holds"],
            error_at_start=start["error"],
            reached=number in found["reached"],
        )
        for number, (checkpoint, start) in enumerate(zip(scenario.checkpoints, found["start"], strict=True))
    )
    held = sum(one["holds"] for one in found["end"])
    return ScenarioAudit(
        id=scenario.id,
        checks=checks,
        reward_for_nothing=round(sum(check.at_start for check in checks) / len(checks), 4),
        reward_found=round(held / len(checks), 4),
        calls=tuple(PlannedCall.model_validate(call) for call in found["calls"]),
    )
