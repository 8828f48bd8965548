"""The audit of imported environments, by running them.

Which tools work, what the checks say before any call, which of them can become true, and what is not repeatable.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from servers.authoring.check import findings
from servers.bundle.environment import Environment, load
from servers.errors import BundleError, NotFound
from servers.records import Record
from servers.sandbox.guest_pool import Guests
from servers.scenario.checkpoints.python import PythonCheckpoint
from servers.scenario.scenario import PlannedCall, Scenario, Solution
from servers.scenario.scenario_file import load_scenarios
from synth.interop.imports.check_values import hints_of, known_in
from synth.interop.imports.class_trial import TrialError, open_trial
from synth.interop.imports.dataset import ODD, trouble_words
from synth.play.pinned_bundle import PinnedBundle

SECONDS = 300.0
ENTRY = '''

from servers.imported.audit.probing import probe_all as _probe_all


def envfarm_probe(db, *, tools, checks, hints, known):
    """Everything about one scenario."""
    return _probe_all(_OBJECT, db, tools, checks, hints, known)
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
    answer: str = ""
    """The last words that go with the calls, where a check reads them."""
    witness: Solution | None = None
    """The calls, if they earned reward 1 when they were played under two seeds."""
    wrong_agents: dict[str, float] = {}
    """The highest reward of each wrong agent, where a solution or a witness is known."""
    problem: str | None = None


class EnvironmentAudit(Record):
    """The results about one environment."""

    id: str
    title: str
    loads: bool
    findings: tuple[str, ...] = ()
    tools: tuple[ToolAudit, ...] = ()
    scenarios: tuple[ScenarioAudit, ...] = ()

    @property
    def is_whole(self) -> bool:
        """True if it loads and each scenario could be audited."""
        return self.loads and not any(one.problem for one in self.scenarios)


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


class AuditOrder(NamedTuple):
    """One scenario to audit. Without one: the bundle itself.

    A bundle without scenarios has its tools tried from the first rows.
    """

    bundle: PinnedBundle
    scenario: Scenario | None


class AuditPart(Record):
    """What an order found."""

    findings: tuple[str, ...] = ()
    tools: tuple[ToolAudit, ...] = ()
    scenario: ScenarioAudit | None = None
    cleaned: Scenario | None = None
    cleaning: tuple[str, ...] = ()
    """What cleaning did, for people. Empty if it was not asked for."""


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


def orders_of(folder: Path) -> list[AuditOrder] | EnvironmentAudit:
    """The orders of one imported bundle, or what is wrong with it if it cannot be read.

    Raises:
        BundleError: it was not imported.
    """
    try:
        environment = load(folder)
        scenarios = load_scenarios(environment)
        bundle = PinnedBundle.of(folder)
    except BundleError as error:
        return EnvironmentAudit(id=folder.name, title="", loads=False, findings=(str(error),))
    if environment.description.imported is None:
        raise BundleError(f"{folder}: was not imported; `farm prove` is for bundles of one's own")
    return [AuditOrder(bundle, None), *(AuditOrder(bundle, one) for one in scenarios.values())]


async def audited(order: AuditOrder, guests: Guests, seconds: float) -> AuditPart:
    """What running the class shows for one order. Benchmarks and endpoints have none: they are played."""
    environment, scenario = load(order.bundle.folder), order.scenario
    if scenario is None:
        wrong = await findings(order.bundle.folder, guests)
        if wrong or load_scenarios(environment):
            return AuditPart(findings=tuple(wrong))
    if environment.description.benchmark is not None or has_endpoints(environment):
        return AuditPart(scenario=scenario and ScenarioAudit(id=scenario.id))
    try:
        found = await _probed(environment, scenario, guests, seconds)
        tools = tuple(
            ToolAudit.model_validate({"name": name, "writes": environment.tools[name].writes, **told})
            for name, told in found["tools"].items()
        )
        if scenario is None:
            return AuditPart(tools=tools)
        return AuditPart(tools=tools, scenario=_of_scenario(scenario, found))
    except TrialError as error:
        return _broken(order, str(error))
    except ODD as error:
        return _broken(order, f"its guest answered oddly: {trouble_words(error)}")


def has_endpoints(environment: Environment) -> bool:
    """True for an imported server, whose tools are its endpoints."""
    imported = environment.description.imported
    return imported is not None and imported.code == "endpoints"


def _broken(order: AuditOrder, problem: str) -> AuditPart:
    if order.scenario is None:
        return AuditPart(findings=(problem,))
    return AuditPart(scenario=ScenarioAudit(id=order.scenario.id, problem=problem))


def environment_audit(folder: Path, parts: Iterable[AuditPart]) -> EnvironmentAudit:
    """The results about one bundle, from those of its orders."""
    environment = load(folder)
    tallies = {tool.name: _Tally({"name": tool.name, "writes": tool.writes}) for tool in environment.tools.values()}
    parts = list(parts)
    for told in (tool for part in parts for tool in part.tools):
        tallies[told.name].add(told.model_dump(exclude={"name", "writes"}))
    wrong = tuple(finding for part in parts for finding in part.findings)
    return EnvironmentAudit(
        id=environment.id,
        title=environment.description.title,
        loads=not wrong,
        findings=wrong,
        tools=tuple(ToolAudit.model_validate(tally.told) for tally in tallies.values()),
        scenarios=tuple(part.scenario for part in parts if part.scenario is not None),
    )


async def _probed(
    environment: Environment, scenario: Scenario | None, guests: Guests, seconds: float
) -> dict[str, Any]:
    checks = [one.python for one in _their_checks(scenario)]
    text = environment.source + ENTRY
    clock = (scenario.clock if scenario is not None else None) or environment.description.clock
    scripts = (environment.schema, environment.seed, scenario.setup if scenario is not None else "")
    async with open_trial(guests, text, clock=clock, seconds=seconds, scripts=scripts) as trial:
        return await trial.call(
            "envfarm_probe",
            tools=[drawn_from(tool) for tool in environment.tools.values()],
            checks=checks,
            hints=[*map(hints_of, checks)],
            known=known_in(environment.source),
        )


def drawn_from(tool: Any) -> dict[str, Any]:
    """A tool as drawing reads it."""
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


def _their_checks(scenario: Scenario | None) -> list[PythonCheckpoint]:
    """The check functions that came with a scenario. Its other checkpoints are the farm's own."""
    asked = scenario.checkpoints if scenario is not None else ()
    return [one for one in asked if isinstance(one, PythonCheckpoint) and "check_func" in one.python]


def _of_scenario(scenario: Scenario, found: dict[str, Any]) -> ScenarioAudit:
    theirs = _their_checks(scenario)
    checks = tuple(
        CheckAudit(
            id=checkpoint.id,
            question=checkpoint.question,
            at_start=start["holds"],
            error_at_start=start["error"],
            reached=number in found["reached"],
        )
        for number, (checkpoint, start) in enumerate(zip(theirs, found["start"], strict=True))
    )
    return ScenarioAudit(
        id=scenario.id,
        checks=checks,
        reward_for_nothing=_reward(theirs, found["start"]),
        reward_found=_reward(theirs, found["end"]),
        calls=tuple(PlannedCall.model_validate(call) for call in found["calls"]),
    )


def _reward(checks: Sequence[PythonCheckpoint], verdicts: Sequence[dict[str, Any]]) -> float:
    """The share of goals that hold. 0 if a guard does not."""
    told = [(check.role, verdict["holds"]) for check, verdict in zip(checks, verdicts, strict=True)]
    goals = [holds for role, holds in told if role == "goal"]
    broken = any(role == "guard" and not holds for role, holds in told)
    return 0.0 if broken or not goals else round(sum(goals) / len(goals), 4)
