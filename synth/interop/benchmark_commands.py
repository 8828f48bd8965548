"""The commands that import public benchmarks and Agent World Model: `farm import tau-bench`, `bfcl`, `awm` …"""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from servers.sandbox.guest_pool import Guests
from servers.text.terminal import Terminal
from servers.text.wording import counted
from synth.interop.awm.importer import AWM_CLOCK, ServerOrigin, import_servers
from synth.interop.awm.rows import ForeignRows, rows_in
from synth.interop.benchmarks.acebench import AceKind, AceLanguage, acebench
from synth.interop.benchmarks.bfcl import BfclCategory, BfclVersion, bfcl, bfcl_source, categories
from synth.interop.benchmarks.bundle_writer import BenchmarkBundle, write
from synth.interop.benchmarks.clone import Clone
from synth.interop.benchmarks.tau_bench import TauDomain, TauSplit, tau_bench
from synth.interop.imports.converter import Arrival
from synth.interop.imports.told_arrivals import arrival_counter, make, refuse_clock, told

app = typer.Typer()
imports = typer.Typer(no_args_is_help=True, help="Import environments of others as bundles.")
app.add_typer(imports, name="import")
out = Terminal()
err = Terminal(stderr=True)

OutFolder = Annotated[Path, typer.Option("--out", help="The folder that the bundles are written into.")]
AnyVersion = Annotated[
    bool, typer.Option("--any-version", help="Import another version than the one whose scores were compared.")
]
HERE = Path("imported")


@imports.callback()
def imported() -> None:
    """Import environments of others as bundles."""


@imports.command(name="tau-bench")
def import_tau_bench(
    clone: Annotated[Path, typer.Argument(help="Your clone of tau-bench.")],
    domain: Annotated[TauDomain, typer.Option(help="The domain.")],
    split: Annotated[TauSplit, typer.Option(help="The split of the tasks.")] = "test",
    to: OutFolder = HERE,
    any_version: AnyVersion = False,
) -> None:
    """Import a domain of tau-bench as a benchmark. The official checker judges it."""
    err.print(f"tau-bench: reading {domain}, {split}", soft_wrap=True, markup=False)
    _write([tau_bench(Clone(clone, "tau-bench"), domain, split, any_version=any_version)], to)


@imports.command(name="bfcl")
def import_bfcl(
    path: Annotated[Path | None, typer.Argument(help="The folder of the data; for v4 the installed package's.")] = None,
    version: Annotated[BfclVersion, typer.Option(help="The version of the data.")] = "v4",
    category: Annotated[BfclCategory | None, typer.Option(help="A category; by default all four.")] = None,
    package: Annotated[Path | None, typer.Option(help="The folder of bfcl-eval, if it is not installed here.")] = None,
    to: OutFolder = HERE,
    any_version: AnyVersion = False,
) -> None:
    """Import BFCL's multi-turn categories as benchmarks. The official checker judges them."""
    bundles: list[BenchmarkBundle] = []
    for one in categories(category):
        err.print(f"bfcl: reading {version}, {one}", soft_wrap=True, markup=False)
        bundles.append(bfcl(bfcl_source(version, path, package), one, any_version=any_version))
    _write(bundles, to)


@imports.command(name="acebench")
def import_acebench(
    clone: Annotated[Path, typer.Argument(help="Your clone of ACEBench.")],
    language: Annotated[AceLanguage | None, typer.Option(help="The language; by default both.")] = None,
    to: OutFolder = HERE,
    any_version: AnyVersion = False,
) -> None:
    """Import ACEBench's agent tasks as benchmarks. The official checker judges them."""
    languages: tuple[AceLanguage, ...] = (language,) if language else ("en", "zh")
    kinds: tuple[AceKind, ...] = ("multi_step", "multi_turn")
    bundles = [
        acebench(Clone(clone, "ACEBench"), one, kind, any_version=any_version) for one in languages for kind in kinds
    ]
    _write(bundles, to)


@imports.command(name="awm")
def import_awm(
    folder: Annotated[Path, typer.Argument(help="The folder of AgentWorldModel-1K's files.")],
    to: OutFolder = HERE,
    clock: Annotated[str, typer.Option(help="The time at which instances begin.")] = AWM_CLOCK,
    licence: Annotated[str, typer.Option(help="The licence of the files.")] = "CC-BY-4.0",
) -> None:
    """Import Agent World Model's environments. Exit code 1 when an environment is left out."""
    refuse_clock(clock)
    rows = rows_in(folder)
    make(to)
    origin = ServerOrigin(date=datetime.now(UTC).date().isoformat(), licence=licence, clock=clock)
    arrivals = asyncio.run(_import(rows, to, origin))
    if told(arrivals, rows.left_out):
        raise typer.Exit(1)


async def _import(rows: ForeignRows, to: Path, origin: ServerOrigin) -> list[Arrival]:
    async with Guests() as guests:
        return await import_servers(rows, to, origin, guests, arrival_counter(len(rows.servers)))


def _write(bundles: list[BenchmarkBundle], to: Path) -> None:
    asyncio.run(_written(bundles, to))


async def _written(bundles: list[BenchmarkBundle], to: Path) -> None:
    async with Guests() as guests:
        for number, bundle in enumerate(bundles, start=1):
            folder = await write(bundle, to, guests)
            size = f"{counted(len(bundle.tools), 'tool')}, {counted(len(bundle.scenarios), 'scenario')}"
            err.print(f"{number}/{len(bundles)} {bundle.id}: {size}", soft_wrap=True, markup=False)
            out.print(f"{folder}", soft_wrap=True, markup=False)
