"""The command `farm audit`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from servers.files.atomic_write import write_whole
from servers.text.terminal import Terminal
from synth.pipeline.plan import Engine
from synth.processes.inline_loop import run_alone
from synth.processes.process_pool import PoolSettings

if TYPE_CHECKING:  # importing these takes a second
    from synth.interop.audit.audit import AuditOrder, AuditPart, EnvironmentAudit
    from synth.processes.kept_results import KeptResults

app = typer.Typer()
out = Terminal()
err = Terminal(stderr=True)


@app.command(name="audit")
def audit_bundles(
    folder: Annotated[Path, typer.Argument(help="A folder of imported bundles, or one of them.")],
    to: Annotated[
        Path | None,
        typer.Option("--out", help="A folder for what is found; with it, a stopped audit goes on."),
    ] = None,
    written: Annotated[
        Path | None, typer.Option("--json", help="Write everything that was found into this file.")
    ] = None,
    witnesses: Annotated[
        bool, typer.Option("--witnesses", help="Write calls that were found to earn 1 into the bundles.")
    ] = False,
    solutions: Annotated[bool, typer.Option("--solutions", hidden=True)] = False,
    most: Annotated[int, typer.Option("--most", min=0, help="How many of the weakest scenarios are listed.")] = 20,
    jobs: Annotated[int | None, typer.Option(min=1, max=64, help="Processes at once; one a core.")] = None,
    engine: Annotated[Engine, typer.Option(help="Where these processes are.")] = "asyncio",
) -> None:
    """Run imported environments: which tools work, what the checks are worth, what is not repeatable."""
    from synth.interop.audit.audit import imported_in
    from synth.interop.audit.audit_job import kept_audits
    from synth.interop.audit.audit_table import sums_of, table_of, table_of_agents, weakest

    folders = imported_in(folder)
    if solutions:
        err.print("--solutions is called --witnesses now: what a search finds is no reference solution.")
    kept = kept_audits(to) if to is not None else None
    audits = run_alone(_audited(folders, kept, PoolSettings(jobs, engine)))
    if written is not None:
        write_whole(written, json.dumps([one.model_dump(mode="json") for one in audits], indent=1) + "\n")
    out.print(table_of(audits))
    for line in sums_of(audits):
        out.print(line, soft_wrap=True, markup=False)
    for heading, table in (("", weakest(audits, most)), (AGENTS, table_of_agents(audits))):
        if table is not None:
            out.print(heading)
            out.print(table)
    if witnesses or solutions:
        _write_witnesses(folders, audits)
    if not all(audit.is_whole for audit in audits):
        raise typer.Exit(1)


AGENTS = "What wrong agents earn, where a reference solution or a witness is known:"


async def _audited(
    folders: Sequence[Path], kept: "KeptResults[AuditOrder, AuditPart] | None", pool: PoolSettings
) -> list["EnvironmentAudit"]:
    """The audits of bundles, in order."""
    from synth.interop.audit.audit import EnvironmentAudit, environment_audit, orders_of
    from synth.interop.audit.audit_job import Auditing
    from synth.processes.progress import Shown, all_shown

    planned = {folder: orders_of(folder) for folder in folders}
    orders = [order for found in planned.values() if not isinstance(found, EnvironmentAudit) for order in found]

    def on_done(order: "AuditOrder") -> None:
        if not err.is_terminal and order.scenario is not None:
            err.print(f"{order.bundle.folder.name} {order.scenario.id}", markup=False)

    parts = iter(await all_shown(orders, Auditing(), pool, kept, Shown(err, "part", "audited"), on_done))
    return [
        found if isinstance(found, EnvironmentAudit) else environment_audit(folder, [next(parts) for _ in found])
        for folder, found in planned.items()
    ]


def _write_witnesses(folders: Sequence[Path], audits: Sequence["EnvironmentAudit"]) -> None:
    from servers.bundle.environment import load
    from servers.scenario.scenario_file import load_scenarios
    from synth.certify.certificates import write_scenario

    for folder, audit in zip(folders, audits, strict=True):
        found = {one.id: one.witness for one in audit.scenarios if one.witness is not None}
        scenarios = load_scenarios(load(folder)) if found else {}
        for name, witness in found.items():
            write_scenario(folder, scenarios[name].model_copy(update={"witness": witness}))
            out.print(f"{audit.id}: {name}: has a witness now", soft_wrap=True, markup=False)
