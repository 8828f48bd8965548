"""The commands of one environment: `farm scenarios` lists, shows or adds scenarios, `farm tools` shows tools."""

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from servers.authoring.added_scenarios import add_scenarios
from servers.bundle.description import Tool
from servers.bundle.environment import Environment
from servers.bundle.files import name_in_commands
from servers.bundle_library import Library
from servers.cli.command_options import AsJson, Bundle, bundle_of, levels_in
from servers.errors import RequestError
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import is_current
from servers.text.terminal import Listing, Terminal, marked
from servers.text.wording import counted, suggestion

app = typer.Typer()
out = Terminal()


@app.command()
def scenarios(
    bundle: Bundle,
    scenario: Annotated[str | None, typer.Argument(help="Show this scenario in full.")] = None,
    long: Annotated[bool, typer.Option("--long", help="Show every scenario in full.")] = False,
    add: Annotated[Path | None, typer.Option(help="Add the scenarios of this file, once they are checked.")] = None,
    level: Annotated[str | None, typer.Option(help="Only of this level, 1 to 5, or of these, as 3..5.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the scenarios of an environment, shortest solution first, show one in full, or add some."""
    folder = bundle_of(bundle)
    levels = levels_in(level)
    if add is not None:
        if scenario is not None:
            raise RequestError(f"--add {add} adds all scenarios of the file: leave {scenario!r} out")
        if not add.is_file():
            raise RequestError(f"--add {add}: {'is a folder' if add.is_dir() else 'no such file'}")
        added = asyncio.run(add_scenarios(folder, add))
        told = f"{folder / 'scenarios.jsonl'}: {counted(len(added), 'scenario')} added"
        out.print_data(added) if as_json else out.print(told, markup=False, soft_wrap=True)
        return
    library = Library([folder.parent])
    environment = library.environment(folder.name)
    if scenario is not None:
        one = library.scenario(folder.name, scenario)
        out.print_data(one.model_dump(mode="json")) if as_json else _show(environment, one)
        return
    every = sorted(library.scenarios(folder.name).values(), key=_length)
    every = [one for one in every if not levels or one.level in levels]
    if as_json:
        out.print_data([_scenario(environment, one) for one in every])
    elif long:
        for one in every:
            _show(environment, one)
    else:
        out.print(_listed(environment, every))
        outdated = sum(one.certificate is not None and not is_current(environment, one) for one in every)
        if outdated:
            out.print(f"{counted(outdated, 'certificate')} out of date: {_renewal(environment)}.", soft_wrap=True)


@app.command()
def tools(
    bundle: Bundle,
    tool: Annotated[str | None, typer.Argument(help="Show this tool in full, with its schemas.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the tools of an environment with their arguments, or show one in full."""
    folder = bundle_of(bundle)
    environment = Library([folder.parent]).environment(folder.name)
    if tool is not None and tool not in environment.tools:
        found = suggestion(tool, list(environment.tools), lister=f"farm tools {name_in_commands(folder)}")
        raise RequestError(f"{environment.id} has no tool {tool!r}; {found}")
    wanted = [one for one in environment.tools.values() if tool in (None, one.name)]
    if as_json:
        out.print_data([one.model_dump(mode="json") for one in wanted])
    elif tool is None:
        table = Listing("tool", "writes", "arguments", "what it does")
        for one in wanted:
            arguments = ", ".join(name if name in one.required else f"[{name}]" for name in one.properties)
            table.add(one.name, "yes" if one.writes else "-", arguments or "-", one.description.splitlines()[0])
        out.print(table)
    else:
        _show_tool(wanted[0])


def _show_tool(tool: Tool) -> None:
    out.print(marked("[bold]{}[/]", tool.name))
    _field("does", tool.description)
    _field("writes", "yes" if tool.writes else "no")
    for name, schema in tool.properties.items():
        kind = str(schema.get("type", "see --json"))
        needed = "" if name in tool.required else ", may be left out"
        _field(name, f"{kind}{needed}. {schema.get('description', '')}")
    _field("returns", json.dumps(tool.result, ensure_ascii=False))


def _length(scenario: Scenario) -> tuple[bool, int]:
    """The sort key: number of calls, scenarios without a solution last."""
    return scenario.solution is None, len(scenario.solution.calls) if scenario.solution else 0


def _listed(environment: Environment, every: list[Scenario]) -> Listing:
    """A line for each scenario."""
    table = Listing("scenario", "level", "calls", "goals", "guards", "kill score", "task")
    for one in every:
        row = _scenario(environment, one)
        calls = "none shown" if row["calls"] is None else str(row["calls"])
        table.add(one.id, str(one.level or "-"), calls, str(row["goals"]), str(row["guards"]), _score(row), one.task)
    return table


def _scenario(environment: Environment, scenario: Scenario) -> dict[str, Any]:
    """A scenario as a list shows it."""
    roles = [checkpoint.role for checkpoint in scenario.judged_by]
    kept = scenario.certificate
    standing = None if kept is None else "current" if is_current(environment, scenario) else "out of date"
    return {
        "id": scenario.id,
        "title": scenario.title,
        "task": scenario.task,
        "tags": scenario.tags,
        "second": scenario.second.environment if scenario.second else None,
        "calls": len(scenario.solution.calls) if scenario.solution else None,
        "goals": roles.count("goal"),
        "guards": roles.count("guard"),
        "certificate": standing,
        "kill_score": kept.kill_score if kept else None,
        "tables": kept.difficulty.tables if kept else (),
        "level": scenario.level,
        "ladder": kept.difficulty.ladder if kept else {},
    }


def _score(row: dict[str, Any]) -> str:
    return {None: "-", "out of date": "out of date"}.get(row["certificate"], f"{row['kill_score'] or 0:.2f}")


def _show(environment: Environment, scenario: Scenario) -> None:
    """Print a scenario for people."""
    row = _scenario(environment, scenario)
    out.print(marked("[bold]{}[/]  {}", scenario.id, _plain(scenario.title)))
    _field("task", scenario.task)
    _field("tags", ", ".join(scenario.tags))
    for checkpoint in scenario.questions:
        _field(checkpoint.role, f"{checkpoint.id} ({checkpoint.kind}): {checkpoint.question}")
    for number, call in enumerate(scenario.solution.calls if scenario.solution else (), start=1):
        given = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
        _field(f"call {number}", f"{call.tool}({given})")
    _field(
        "answer", scenario.solution.answer if scenario.solution else "none shown: nobody knows whether it can be done"
    )
    if scenario.certificate is not None:
        wrong = counted(scenario.certificate.mutants, "wrong run and state", "wrong runs and states")
        renewed = "" if row["certificate"] == "current" else f"; {_renewal(environment)}"
        _field("certificate", f"{row['certificate']}; {scenario.certificate.killed} of {wrong} fail{renewed}")
        _field("changes", ", ".join(row["tables"]))
        failing = [name for name, reward in row["ladder"].items() if reward < 1]
        _field("level", f"{row['level']}; it fails who: {', '.join(failing)}" if failing else "")
    out.print()


def _renewal(environment: Environment) -> str:
    """How certificates that are out of date are made again."""
    return f"`farm certify {name_in_commands(environment.folder)} --stale --write` makes new ones"


def _field(name: str, text: str) -> None:
    if text:
        out.print(f"  {name + ':':13}{text}", markup=False, soft_wrap=True)


def _plain(text: str) -> str:
    return text.replace("[", r"\[")
