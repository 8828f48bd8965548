"""EnvScaler's entries as bundles: the class in `tools.py`, its attributes as rows, its checks as checkpoints."""

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from servers.authoring.check import derived
from servers.bundle.description import (
    Description,
    ImportedOrigin,
    Provenance,
    Tool,
)
from servers.bundle.environment import as_json
from servers.errors import BundleError
from servers.sandbox.guest_pool import Guests
from servers.scenario.checkpoints.python import PythonCheckpoint
from servers.scenario.scenario import Scenario
from synth.interop.imports.dataset import Files, ForeignEnvironment, ForeignScenario, Unreadable, objects
from synth.interop.imports.source import class_source
from synth.interop.imports.source_writer import checkpoint_text, tools_text, wrappers_of
from synth.interop.imports.start_rows import Begun, begin, schema

CLOCK = "2025-07-01 09:00:00"
SOURCE = "EnvScaler"
LONGEST_TITLE = 72


@dataclass(frozen=True)
class ImportOrigin:
    """The stated origin of the files."""

    date: str
    licence: str
    notice: str | None
    clock: str = CLOCK
    keep_schemas: bool = False


@dataclass
class Arrival:
    """The result for one environment: its bundle, or the reason why there is none, and the parts left out."""

    id: str
    folder: Path | None = None
    tools: int = 0
    scenarios: int = 0
    reason: str | None = None
    notes: list[str] = field(default_factory=list[str])


async def convert(
    files: Files, out: Path, origin: ImportOrigin, guests: Guests, on_arrival: Callable[[Arrival], None]
) -> list[Arrival]:
    """Write a bundle for each convertible environment. Existing ones are replaced."""
    arrivals: list[Arrival] = []
    for environment in files.environments.values():
        scenarios = [scenario for scenario in files.scenarios if scenario.environment == environment.id]
        arrival = Arrival(name_of(environment.id, "env"))
        try:
            await _convert(environment, scenarios, out / arrival.id, origin, guests, arrival)
        except (Unreadable, BundleError) as problem:
            arrival.reason = str(problem)
        arrivals.append(arrival)
        on_arrival(arrival)
    return arrivals


async def _convert(
    environment: ForeignEnvironment,
    scenarios: list[ForeignScenario],
    folder: Path,
    origin: ImportOrigin,
    guests: Guests,
    arrival: Arrival,
) -> None:
    class_name = environment.class_name or (scenarios[0].class_name if scenarios else "")
    source = class_source(environment.code, class_name)
    wrappers, notes = wrappers_of(source, dict(environment.kinds))
    arrival.notes += notes
    if not wrappers:
        raise Unreadable("env_class_code: has no method that could be a tool")
    named = _named(scenarios, arrival)
    configs = {name: scenario.config for name, scenario in named.items()} or {"": {}}
    begun = await begin(source, configs, origin.clock, guests)
    arrival.notes += [f"scenario {name}: left out: {reason}" for name, reason in begun.reasons.items() if name]
    if not begun.scripts:
        raise Unreadable(f"init_config: no object can be made: {next(iter(begun.reasons.values()))}")
    first = next(iter(begun.scripts.values()))
    kept = _scenarios(named, begun, arrival)
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        _write(part, "policy.md", _policy(environment))
        _write(part, "schema.sql", schema(begun.containers))
        _write(part, "seed.sql", first)
        _write(part, "tools.py", tools_text(source, wrappers))
        _write(
            part, "scenarios.jsonl", "".join(scenario.model_dump_json(exclude_none=True) + "\n" for scenario in kept)
        )
        if origin.notice:
            _write(part, "LICENSE", origin.notice)
        tools = await derived(part, guests)
        if origin.keep_schemas:
            methods = {wrapper.name: wrapper.method for wrapper in wrappers}
            tools = [_theirs(tool, methods[tool.name], environment, arrival) for tool in tools]
        _write(part, "environment.json", as_json(_description(folder.name, environment, tuple(tools), origin)))
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
    arrival.folder, arrival.tools, arrival.scenarios = folder, len(tools), len(kept)


def _write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")


def name_of(text: str, prefix: str) -> str:
    """A valid name from one of theirs."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:50]
    return name if name[:1].isalpha() else f"{prefix}_{name}".strip("_")


def _named(scenarios: list[ForeignScenario], arrival: Arrival) -> dict[str, ForeignScenario]:
    """The scenarios that can be judged, by a unique id."""
    found: dict[str, ForeignScenario] = {}
    for scenario in scenarios:
        told = scenario.id.removeprefix(f"{scenario.environment}-")
        name = free = name_of(told, "task")
        number = 2
        while free in found:
            free, number = f"{name}_{number}", number + 1
        if free != name:
            arrival.notes.append(f"scenario {scenario.id}: its id was used before; here it is {free}")
        if not scenario.checks:
            arrival.notes.append(f"scenario {scenario.id}: left out: it has no check function, so nothing can judge it")
            continue
        if scenario.empty_checks:
            arrival.notes.append(f"scenario {free}: {scenario.empty_checks} check functions are empty: left out")
        found[free] = scenario
    return found


def _scenarios(named: dict[str, ForeignScenario], begun: Begun, arrival: Arrival) -> list[Scenario]:
    kept: list[Scenario] = []
    for name, scenario in named.items():
        if name not in begun.scripts:
            continue
        checkpoints = _checkpoints(name, scenario, arrival)
        if not checkpoints:
            arrival.notes.append(f"scenario {name}: left out: none of its check functions is Python")
            continue
        title = " ".join(scenario.task.split())
        kept.append(
            Scenario(
                id=name,
                title=title if len(title) <= LONGEST_TITLE else f"{title[:LONGEST_TITLE]}…",
                task=scenario.task,
                setup=begun.scripts[name],
                tags=("envscaler",),
                checkpoints=tuple(checkpoints),
            )
        )
    return kept


def _checkpoints(name: str, scenario: ForeignScenario, arrival: Arrival) -> list[PythonCheckpoint]:
    found: list[PythonCheckpoint] = []
    for number, check in enumerate(scenario.checks, start=1):
        try:
            text = checkpoint_text(check.source)
        except (SyntaxError, ValueError, RecursionError) as error:
            arrival.notes.append(f"scenario {name}: check {number} left out: not Python: {error}")
            continue
        found.append(PythonCheckpoint(id=f"c{number:02}", role="goal", question=check.item, kind="python", python=text))
    return found


def _policy(environment: ForeignEnvironment) -> str:
    rules = "".join(f"- {rule}\n" for rule in environment.rules)
    return f"# {environment.title}\n\n{rules or 'There are no rules beyond what the tools say.'}\n"


def _description(
    name: str, environment: ForeignEnvironment, tools: tuple[Tool, ...], origin: ImportOrigin
) -> Description:
    return Description(
        id=name,
        title=environment.title,
        description=environment.introduction,
        version="1.0.0",
        clock=origin.clock,
        tools=tools,
        provenance=Provenance(
            source=f"{SOURCE}, {environment.id}",
            licence=origin.licence,
            date=origin.date,
            notes="Imported by `farm import envscaler`; the files do not say which model wrote it.",
        ),
        imported=ImportedOrigin(schemas="kept" if origin.keep_schemas else "rebuilt"),
    )


def _theirs(tool: Tool, method: str, environment: ForeignEnvironment, arrival: Arrival) -> Tool:
    """The same tool with the original words and arguments, if the arguments' names are equal."""
    functions = objects([told.get("function", told) for told in environment.tools])
    for function in (one for one in functions if one.get("name") == method):
        for arguments in objects([function.get("parameters")]):
            if set(arguments.get("properties") or ()) == set(tool.arguments["properties"]):
                description = str(function.get("description") or tool.description)
                return tool.model_copy(update={"description": description, "arguments": arguments})
    arrival.notes.append(f"{method}: its own schema names other arguments; it was rebuilt")
    return tool
