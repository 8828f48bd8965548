"""The commands of EnvScaler's files: `farm import envscaler`, `farm audit`, `farm export envscaler`."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from servers.bundle.environment import Environment, load
from servers.cli.command_options import bundle_of
from servers.errors import RequestError
from servers.files.atomic_write import write_whole
from servers.files.named_file import text_found, text_named
from servers.files.trouble import trouble
from servers.sandbox.guest_pool import Guests
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import load_scenarios
from servers.text.terminal import Terminal
from servers.text.wording import counted
from synth.interop.audit.audit import EnvironmentAudit, audit, imported_in
from synth.interop.audit.audit_table import sums_of, table_of
from synth.interop.audit.reference_solutions import certify
from synth.interop.audit.wrong_agents import WrongAgents, earned_in, table_of_agents
from synth.interop.exports.exporter import ExportedBundle, export
from synth.interop.imports.converter import (
    Arrival,
    ImportOrigin,
    convert,
)
from synth.interop.imports.dataset import Files, read
from synth.interop.imports.told_arrivals import arrival_counter, make, refuse_clock, told

app = typer.Typer()
imports = typer.Typer(no_args_is_help=True, help="Import environments of others as bundles.")
app.add_typer(imports, name="import")
exports = typer.Typer(no_args_is_help=True, help="Write bundles in the formats of others.")
app.add_typer(exports, name="export")
out = Terminal()
err = Terminal(stderr=True)

ENVIRONMENTS, SCENARIOS = "env_metadata.json", "rl_scenario_metadata.json"
NOTICES = ("LICENSE*", "LICENCE*", "COPYING*")


@imports.callback()
def imported() -> None:
    """Import environments of others as bundles."""


@imports.command(name="envscaler")
def import_envscaler(
    env_metadata: Annotated[Path, typer.Argument(help="EnvScaler's file of environments.")],
    scenarios: Annotated[Path, typer.Argument(help="EnvScaler's file of scenarios.")],
    to: Annotated[Path, typer.Option("--out", help="The folder that the bundles are written into.")],
    keep_schemas: Annotated[
        bool, typer.Option("--keep-schemas", help="Keep the tool schemas that came along, instead of rebuilding them.")
    ] = False,
    clock: Annotated[
        str | None,
        typer.Option(help="The time at which all instances begin; by default each scenario's dates decide."),
    ] = None,
    results: Annotated[
        Literal["ours", "theirs"],
        typer.Option(help="theirs: each result is the text that EnvScaler shows, and a failed call keeps its changes."),
    ] = "ours",
    strict_episodes: Annotated[
        bool, typer.Option("--strict-episodes", help="A call that raises takes the whole reward, as in EnvScaler.")
    ] = False,
    licence: Annotated[
        Path | None, typer.Option(help="The licence's text; by default the LICENSE file beside the environments.")
    ] = None,
) -> None:
    """Import EnvScaler's environments and scenarios. Exit code 1 when an environment is left out."""
    refuse_clock(clock)
    notice = _notice(env_metadata, licence)
    origin = ImportOrigin(
        date=datetime.now(UTC).date().isoformat(),
        licence=_licence(notice),
        notice=notice,
        clock=clock,
        keep_schemas=keep_schemas,
        their_results=results == "theirs",
        strict=strict_episodes,
    )
    files = read(env_metadata, scenarios)
    make(to)
    arrivals = asyncio.run(_import(files, to, origin))
    if told(arrivals, files.left_out):
        raise typer.Exit(1)


async def _import(files: Files, to: Path, origin: ImportOrigin) -> list[Arrival]:
    async with Guests() as guests:
        return await convert(files, to, origin, guests, arrival_counter(len(files.environments)))


def _notice(metadata: Path, licence: Path | None) -> str | None:
    beside = [path for pattern in NOTICES for path in sorted(metadata.parent.glob(pattern)) if path.is_file()]
    path = licence or (beside[0] if beside else None)
    if path is None:
        return None
    try:
        return text_named(path) if licence else text_found(metadata.parent, path.name)
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{path}: cannot be read: {trouble(error)}") from None


def _licence(notice: str | None) -> str:
    """The name of a licence and its holder, from the first lines of its text."""
    if notice is None:
        return "unknown"
    lines = [line.strip() for line in notice.splitlines() if line.strip()]
    held = next((line for line in lines if line.lower().startswith("copyright")), "")
    return ", ".join(part for part in (lines[0] if lines else "", held) if part) or "unknown"


@exports.callback()
def exported() -> None:
    """Write bundles in the formats of others."""


@exports.command(name="envscaler")
def export_envscaler(
    bundle: Annotated[Path, typer.Argument(help="A bundle's folder, or the id of one of the farm's own environments.")],
    to: Annotated[Path, typer.Option("--out", help="The folder that the two files are written into.")],
) -> None:
    """Write a bundle as EnvScaler's two files, and say what their format cannot express."""
    environment = load(bundle_of(bundle))
    scenarios = list(load_scenarios(environment).values())
    found = asyncio.run(_export(environment, scenarios))
    make(to)
    for name, entries in ((ENVIRONMENTS, found.environments), (SCENARIOS, found.scenarios)):
        write_whole(to / name, json.dumps(entries, indent=1, ensure_ascii=False) + "\n")
    for line in found.lost:
        out.print(f"lost: {line}", soft_wrap=True, markup=False)
    checks = sum(len(scenario["checklist"]) for scenario in found.scenarios)
    size = f"{counted(len(environment.tools), 'tool')}, {counted(len(found.scenarios), 'scenario')}"
    out.print(f"{to}: {size}, {counted(checks, 'check')}")


async def _export(environment: Environment, scenarios: list[Scenario]) -> ExportedBundle:
    async with Guests() as guests:
        return await export(environment, scenarios, guests)


@app.command(name="audit")
def audit_bundles(
    folder: Annotated[Path, typer.Argument(help="A folder of imported bundles, or one of them.")],
    to: Annotated[Path | None, typer.Option("--json", help="Write everything that was found into this file.")] = None,
    solutions: Annotated[
        bool, typer.Option("--solutions", help="Write what was found to earn 1 into the bundles, once playing it has.")
    ] = False,
) -> None:
    """Run imported environments: which tools work, what the checks are worth, what is not repeatable."""
    folders = imported_in(folder)
    audits = asyncio.run(_audit(folders))
    if to is not None:
        to.write_text(json.dumps([one.model_dump(mode="json") for one in audits], indent=1) + "\n", encoding="utf-8")
    out.print(table_of(audits))
    for line in sums_of(audits):
        out.print(line, soft_wrap=True, markup=False)
    if solutions:
        asyncio.run(_certify(folders, audits))
    agents = asyncio.run(_wrong_agents(folders))
    if agents:
        out.print("What wrong agents earn, where a reference solution is known:")
        out.print(table_of_agents(agents))
        for one in agents:
            told = one.problem or ", ".join(name for name, reward in one.earned.items() if reward >= 1)
            out.print(f"{one.environment}: {one.scenario}: {told or 'nobody earns 1'}", soft_wrap=True, markup=False)


async def _wrong_agents(folders: list[Path]) -> list[WrongAgents]:
    return [found for folder in folders for found in await earned_in(folder)]


async def _certify(folders: list[Path], audits: list[EnvironmentAudit]) -> None:
    for folder, found in zip(folders, audits, strict=True):
        for name in await certify(folder, found):
            out.print(f"{found.id}: {name}: has a reference solution now", soft_wrap=True, markup=False)


async def _audit(folders: list[Path]) -> list[EnvironmentAudit]:
    async with Guests() as guests:
        return await audit(folders, guests, lambda environment, scenario: err.print(f"{environment} {scenario}"))
