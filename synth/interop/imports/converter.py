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
from servers.gate.parser import NOT_PYTHON
from servers.sandbox.guest_pool import Guests
from servers.scenario.checkpoints.python import PythonCheckpoint
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import lines_of
from servers.text.wording import counted
from synth.interop.imports.dataset import (
    ODD,
    Files,
    ForeignEnvironment,
    ForeignScenario,
    Unreadable,
    objects,
    trouble_words,
)
from synth.interop.imports.scenario_clock import dates_of
from synth.interop.imports.source import class_source
from synth.interop.imports.source_writer import checkpoint_text, tools_text, wrappers_of
from synth.interop.imports.start_rows import Begun, Start, begin, schema
from synth.interop.imports.written_files import WrittenFiles

CLOCK = "2025-07-01 09:00:00"
SOURCE = "EnvScaler"
LONGEST_TITLE = 72
STRICT = PythonCheckpoint(
    id="no_call_raised",
    role="guard",
    question="Did no call of a tool raise an exception?",
    kind="python",
    python="""def check(start, final, answer, calls):
    return all(call["outcome"] != "failed" for call in calls)
""",
)
"""EnvScaler's rule that an exception ends the episode with reward 0."""


@dataclass(frozen=True)
class ImportOrigin:
    """The stated origin of the files."""

    date: str
    licence: str
    notice: str | None
    clock: str | None = None
    """Where all begin. By default each scenario begins where its dates say."""
    keep_schemas: bool = False
    their_results: bool = False
    """A result is the text that EnvScaler shows, and what a call that failed has changed stays."""
    strict: bool = False
    """A call that raises takes the whole reward."""


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
    """Write a bundle for each convertible environment.

    One that an import wrote is replaced, unless a file of it has changed since. That environment is left out then.
    """
    arrivals: list[Arrival] = []
    written = WrittenFiles(out)
    for environment in files.environments.values():
        scenarios = [scenario for scenario in files.scenarios if scenario.environment == environment.id]
        arrival = Arrival(name_of(environment.id, "env"))
        try:
            written.refuse_foreign(out / arrival.id)
            await _convert(environment, scenarios, out / arrival.id, origin, guests, arrival)
            written.keep(out / arrival.id)
        except (Unreadable, BundleError) as problem:
            arrival.reason = str(problem)
        except ODD as problem:
            arrival.reason = f"has another shape than was expected: {trouble_words(problem)}"
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
    starts = _starts(named, scenarios, origin, arrival)
    begun = await begin(source, starts, guests)
    arrival.notes += [f"scenario {name}: left out: {reason}" for name, reason in begun.reasons.items() if name]
    if not begun.scripts:
        raise Unreadable(f"init_config: no object can be made: {next(iter(begun.reasons.values()))}")
    began, first = next(iter(begun.scripts.items()))
    kept = _scenarios(named, begun, origin, arrival)
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        _write(part, "policy.md", _policy(environment))
        _write(part, "schema.sql", schema(begun.containers))
        _write(part, "seed.sql", first)
        _write(part, "tools.py", tools_text(source, wrappers, theirs=origin.their_results))
        _write(part, "scenarios.jsonl", lines_of(kept))
        if origin.notice:
            _write(part, "LICENSE", origin.notice)
        tools = await derived(part, guests)
        if origin.keep_schemas:
            methods = {wrapper.name: wrapper.method for wrapper in wrappers}
            tools = [_theirs(tool, methods[tool.name], environment, arrival) for tool in tools]
        description = _description(folder.name, environment, tuple(tools), starts[began].clock, origin)
        _write(part, "environment.json", as_json(description))
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    put(part, folder)
    arrival.folder, arrival.tools, arrival.scenarios = folder, len(tools), len(kept)


def put(part: Path, folder: Path) -> None:
    """Put a whole bundle in the place of an older one."""
    if folder.exists():
        older = folder.with_name(f".{folder.name}.older")
        shutil.rmtree(older, ignore_errors=True)
        folder.rename(older)
        part.rename(folder)
        shutil.rmtree(older, ignore_errors=True)
    else:
        part.rename(folder)


def _write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")


def name_of(text: str, prefix: str) -> str:
    """A valid name from one of theirs."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:50]
    return name if name[:1].isalpha() else f"{prefix}_{name}".strip("_")


def _named(scenarios: list[ForeignScenario], arrival: Arrival) -> dict[str, ForeignScenario]:
    """The scenarios that can be judged, by a unique id."""
    found: dict[str, ForeignScenario] = {}
    bare = 0
    for scenario in scenarios:
        told = scenario.id.removeprefix(f"{scenario.environment}-")
        name = free = name_of(told, "task")
        number = 2
        while free in found:
            free, number = f"{name}_{number}", number + 1
        if free != name:
            arrival.notes.append(f"scenario {scenario.id}: its id was used before; here it is {free}")
        if not scenario.checks:
            bare += 1
            continue
        if scenario.empty_checks:
            arrival.notes.append(f"scenario {free}: {scenario.empty_checks} check functions are empty: left out")
        found[free] = scenario
    if bare:
        told = f"{counted(bare, 'scenario')} left out: without a check function nothing can judge an episode"
        arrival.notes.append(told if found else f"{told}; the first start is where the environment begins")
    return found


def _starts(
    named: dict[str, ForeignScenario], scenarios: list[ForeignScenario], origin: ImportOrigin, arrival: Arrival
) -> dict[str, Start]:
    """Where the scenarios begin. If none can be judged, all the others; and without any, an object without a config."""
    if not scenarios:
        arrival.notes.append("there is no scenario: it begins as its class makes it, without a config")
        return {"": Start({}, origin.clock or CLOCK)}
    starts = named or {f"start {number}": one for number, one in enumerate(scenarios, start=1)}
    return {name: Start(one.config, clock_of(one, origin)) for name, one in starts.items()}


def clock_of(scenario: ForeignScenario, origin: ImportOrigin) -> str:
    """The time at which a scenario begins."""
    return origin.clock or dates_of(scenario.config).clock or CLOCK


def _scenarios(
    named: dict[str, ForeignScenario], begun: Begun, origin: ImportOrigin, arrival: Arrival
) -> list[Scenario]:
    kept: list[Scenario] = []
    for name, scenario in named.items():
        if name not in begun.scripts:
            continue
        checkpoints = _checkpoints(name, scenario, arrival)
        if not checkpoints:
            arrival.notes.append(f"scenario {name}: left out: none of its check functions is Python")
            continue
        if origin.strict:
            checkpoints.append(STRICT)
        clock = clock_of(scenario, origin)
        misfit = dates_of(scenario.config).misfit(clock)
        if misfit:
            arrival.notes.append(f"scenario {name}: {misfit}")
        title = " ".join(scenario.task.split())
        kept.append(
            Scenario(
                id=name,
                title=title if len(title) <= LONGEST_TITLE else f"{title[:LONGEST_TITLE]}…",
                task=scenario.task,
                setup=begun.scripts[name],
                clock=clock,
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
        except NOT_PYTHON as error:
            arrival.notes.append(f"scenario {name}: check {number} left out: not Python: {error}")
            continue
        except Unreadable as problem:
            arrival.notes.append(f"scenario {name}: check {number} left out: {problem}")
            continue
        found.append(PythonCheckpoint(id=f"c{number:02}", role="goal", question=check.item, kind="python", python=text))
    return found


def _policy(environment: ForeignEnvironment) -> str:
    rules = "".join(f"- {rule}\n" for rule in environment.rules)
    return f"# {environment.title}\n\n{rules or 'There are no rules beyond what the tools say.'}\n"


def _description(
    name: str, environment: ForeignEnvironment, tools: tuple[Tool, ...], clock: str, origin: ImportOrigin
) -> Description:
    return Description(
        id=name,
        title=environment.title,
        description=environment.introduction,
        version="1.0.0",
        clock=clock,
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
