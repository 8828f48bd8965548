"""The commands of EnvScaler's files: `farm import envscaler`, `farm audit`, `farm export envscaler`."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from servers.errors import BundleError
from servers.guests import Guests
from synth.envscaler.converting import CLOCK, Arrival, Origin, convert
from synth.envscaler.reading import Files, read

app = typer.Typer()
imports = typer.Typer(no_args_is_help=True, help="Bring environments of others in as bundles.")
app.add_typer(imports, name="import")
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

NOTICES = ("LICENSE*", "LICENCE*", "COPYING*")


@imports.callback()
def imported() -> None:
    """Bring environments of others in as bundles."""


@imports.command(name="envscaler")
def import_envscaler(
    env_metadata: Annotated[Path, typer.Argument(help="EnvScaler's file of environments.")],
    scenarios: Annotated[Path, typer.Argument(help="EnvScaler's file of scenarios.")],
    to: Annotated[Path, typer.Option("--out", help="The folder that the bundles are written into.")],
    keep_schemas: Annotated[
        bool, typer.Option("--keep-schemas", help="Keep the tool schemas that came along, instead of rebuilding them.")
    ] = False,
    clock: Annotated[str, typer.Option(help="The time at which instances begin.")] = CLOCK,
    licence: Annotated[
        Path | None, typer.Option(help="The licence's text; by default the LICENSE file beside the environments.")
    ] = None,
) -> None:
    """Import EnvScaler's environments and scenarios. Exit code 1 when an environment is left out."""
    notice = _notice(env_metadata, licence)
    origin = Origin(
        date=datetime.now(UTC).date().isoformat(),
        licence=_licence(notice),
        notice=notice,
        clock=clock,
        keep_schemas=keep_schemas,
    )
    files = read(env_metadata, scenarios)
    arrivals = asyncio.run(_import(files, to, origin))
    lost = _told(files, arrivals)
    if lost:
        raise typer.Exit(1)


async def _import(files: Files, to: Path, origin: Origin) -> list[Arrival]:
    total = len(files.environments)
    done = 0

    def on_arrival(arrival: Arrival) -> None:
        nonlocal done
        done += 1
        said = (
            f"left out: {arrival.reason}" if arrival.reason else f"{arrival.tools} tools, {arrival.scenarios} scenarios"
        )
        err.print(f"{done}/{total} {arrival.id}: {said}", soft_wrap=True, markup=False)

    async with Guests() as guests:
        return await convert(files, to, origin, guests, on_arrival)


def _told(files: Files, arrivals: list[Arrival]) -> int:
    """Say what came in and what did not; how many environments and entries did not."""
    table = Table("environment", "tools", "scenarios", "notes")
    for arrival in arrivals:
        if arrival.reason is None:
            table.add_row(arrival.id, str(arrival.tools), str(arrival.scenarios), str(len(arrival.notes)))
    out.print(table)
    for arrival in arrivals:
        for note in arrival.notes:
            out.print(f"{arrival.id}: {note}", soft_wrap=True, markup=False)
    lost = [f"{arrival.id}: left out: {arrival.reason}" for arrival in arrivals if arrival.reason]
    lost += [f"left out: {reason}" for reason in files.left_out]
    for line in lost:
        out.print(line, soft_wrap=True, markup=False)
    came = [arrival for arrival in arrivals if arrival.reason is None]
    out.print(f"{len(came)} environments, {sum(arrival.scenarios for arrival in came)} scenarios; {len(lost)} left out")
    return len(lost)


def _notice(metadata: Path, licence: Path | None) -> str | None:
    beside = [path for pattern in NOTICES for path in sorted(metadata.parent.glob(pattern)) if path.is_file()]
    path = licence or (beside[0] if beside else None)
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BundleError(f"{path}: cannot be read: {error}") from None


def _licence(notice: str | None) -> str:
    """The name of a licence and who holds the right, from the first lines of its text."""
    if notice is None:
        return "unknown"
    lines = [line.strip() for line in notice.splitlines() if line.strip()]
    held = next((line for line in lines if line.lower().startswith("copyright")), "")
    return ", ".join(part for part in (lines[0] if lines else "", held) if part) or "unknown"
