"""The commands of EnvScaler's files: `farm import envscaler` and `farm export envscaler`."""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.progress import Progress

from servers.bundle.environment import Environment, load
from servers.bundle.files import write_text
from servers.cli.command_options import bundle_of, shelves
from servers.errors import RequestError
from servers.files.atomic_write import write_whole
from servers.files.named_file import text_found, text_named
from servers.files.trouble import trouble
from servers.sandbox.guest_pool import Guests
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import lines_of, load_scenarios
from servers.text.terminal import Terminal
from servers.text.wording import counted
from synth.interop.exports.export_entries import ExportedBundle
from synth.interop.exports.exporter import export
from synth.interop.imports.converter import (
    Arrival,
    ImportOrigin,
    convert,
)
from synth.interop.imports.dataset import Files, read
from synth.interop.imports.told_arrivals import arrival_counter, make, refuse_clock, tell_left_out, told
from synth.interop.imports.written_files import WrittenFiles
from synth.processes.inline_loop import run_alone
from synth.processes.process_pool import PoolSettings

if TYPE_CHECKING:
    from synth.interop.audit.audit import AuditOrder, AuditPart

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
    clean: Annotated[
        bool,
        typer.Option("--clean", help="Audit the scenarios, and make guards and footprints of what their checks lack."),
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
    if clean:
        _clean(to, arrivals)
    if told(arrivals, files.left_out):
        raise typer.Exit(1)


@imports.command(name="trajectories")
def import_trajectories(
    file: Annotated[Path, typer.Argument(help="A file of trajectories that EnvScaler recorded.")],
    library: Annotated[Path, typer.Option("--library", help="The folder with the imported bundles.")],
    to: Annotated[Path, typer.Option("--out", help="The folder of the run that is written.")],
) -> None:
    """Play recorded trajectories again in imported bundles, and write a judged run. Exit code 1 if one is left out."""
    from evals.runs.folder import RunFolder
    from synth.interop.trajectories.recorded_runs import RecordedRun, runs_in
    from synth.interop.trajectories.replay import replayed

    shelves([library])
    folder = RunFolder(to)
    if folder.is_begun:
        raise RequestError(f"--out {to}: holds a run already; choose another folder")
    there = list(runs_in(file))
    runs = [one for one in there if isinstance(one, RecordedRun)]
    unread = [one for one in there if isinstance(one, str)]
    if not runs:
        raise RequestError(f"{file}: has no run that can be read: {'; '.join(unread[:3]) or 'it is empty'}")
    with Progress(console=err, transient=True) as progress:
        bar = progress.add_task("playing", total=len(runs))
        found = asyncio.run(replayed(runs, library, folder, lambda: progress.advance(bar)))
    left_out = [*unread, *found.left_out]
    tell_left_out(err, left_out)
    judged = [one.reward for one in found.rollouts if one.reward is not None]
    earned = f"{sum(judged) / len(judged):.2f} on average" if judged else "none"
    whole = sum(one.success is True for one in found.rollouts)
    made = counted(len(found.rollouts), "rollout")
    out.print(
        f"{made} in {to}: reward {earned}, {whole} with all; {len(left_out)} left out",
        soft_wrap=True,
        markup=False,
    )
    if left_out or len(judged) < len(found.rollouts):
        raise typer.Exit(1)


async def _import(files: Files, to: Path, origin: ImportOrigin) -> list[Arrival]:
    async with Guests() as guests:
        return await convert(files, to, origin, guests, arrival_counter(len(files.environments)))


def _clean(to: Path, arrivals: Sequence[Arrival]) -> None:
    """Replace the scenarios of imported bundles by cleaned ones, and note what was done to each."""
    from synth.interop.audit.audit import orders_of
    from synth.interop.audit.audit_job import Auditing
    from synth.processes.kept_results import all_done

    planned = {arrival.folder: orders_of(arrival.folder) for arrival in arrivals if arrival.folder is not None}
    orders = [one for found in planned.values() if isinstance(found, list) for one in found if one.scenario is not None]
    done = run_alone(all_done(orders, Auditing(clean=True), PoolSettings(), None, _count_cleaned))
    parts: dict[Path, list[AuditPart]] = {folder: [] for folder in planned}
    for order, part in zip(orders, done, strict=True):
        parts[order.bundle.folder].append(part)
    written = WrittenFiles(to)
    for arrival in arrivals:
        if arrival.folder is None:
            continue
        for part in parts[arrival.folder]:
            if part.scenario is not None:
                why = part.cleaning or (f"left out: {part.scenario.problem}",)
                arrival.notes.append(f"scenario {part.scenario.id}: {'; '.join(why)}")
        kept = [part.cleaned for part in parts[arrival.folder] if part.cleaned is not None]
        write_text(arrival.folder / "scenarios.jsonl", lines_of(kept))
        written.keep(arrival.folder)
        arrival.scenarios = len(kept)


def _count_cleaned(order: "AuditOrder") -> None:
    if order.scenario is not None:
        err.print(f"{order.bundle.folder.name} {order.scenario.id}: cleaned", markup=False)


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
