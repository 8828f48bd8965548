"""The command that proves environments: `farm prove`."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
import uvloop
from rich.table import Table

from servers.authoring.proof import PROOF_FILE, digests
from servers.bundle.files import name_in_commands
from servers.bundle.rules import RULES_FILE
from servers.cli.command_options import AsJson, folders_of
from servers.errors import RequestError
from servers.files.atomic_write import make_sure_of, write_whole
from servers.text.terminal import Terminal, marked
from servers.text.wording import counted, noun
from synth.pipeline.asker import gather_all
from synth.pipeline.plan import Engine
from synth.play.pinned_bundle import PinnedBundle
from synth.processes.inline_loop import run_alone
from synth.processes.process_pool import PoolSettings, cores, process_pool
from synth.processes.progress import progress_on
from synth.prove.picture import card_of, picture
from synth.prove.proof import Proof, load_proof, write_proof
from synth.prove.prover import CALLS, TIMES_MADE, ProofJob, prove

app = typer.Typer()
out = Terminal()
err = Terminal(stderr=True)
WITHOUT_RULES = (
    f"  no {RULES_FILE}: a list of the rules of policy.md, and of who holds each, would show which of them were seen "
    "to refuse, and add up to 40 to the score"
)


@app.command(name="prove")
def prove_bundles(
    bundles: Annotated[list[Path], typer.Argument(help="Bundles' folders, or ids of the farm's own.")],
    calls: Annotated[int, typer.Option(min=1, max=100_000, help="How many calls to draw.")] = CALLS,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the calls: the same gives the same proof.")] = 0,
    write: Annotated[bool, typer.Option("--write", help="Write proof.json into each bundle.")] = False,
    jobs: Annotated[int | None, typer.Option(min=1, max=64, help="Bundles at once; one a core.")] = None,
    engine: Annotated[Engine, typer.Option(help="Where they are proved.")] = "asyncio",
    check: Annotated[
        bool, typer.Option("--check", help="Only see whether proof.json is about the files as they are.")
    ] = False,
    stale: Annotated[
        bool, typer.Option("--stale", help="Prove only what has no proof of its files as they are.")
    ] = False,
    details: Annotated[
        bool, typer.Option("--details", help="Show every tool, every rule and every branch missed.")
    ] = False,
    report: Annotated[
        Path | None, typer.Option(help="A picture of all of them and of their scenarios: an HTML file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Prove an environment by running it, without a model. Exit code 1 if there is a finding."""
    if check and write:
        raise RequestError("choose one: --write makes a proof, --check looks at the one that is there")
    if check and (stale or engine == "ray"):
        raise RequestError("--check makes no proof: leave it out, or --stale and --engine ray")
    if report is not None:
        make_sure_of(report, "--report")
    folders = folders_of(bundles)
    kept = {folder: _kept(folder) for folder in folders if check or stale}
    todo = [folder for folder in folders if not check and kept.get(folder) is None]
    made = _made(todo, ProofJob(calls, seed), PoolSettings(jobs, engine), _written if write else _left)
    proofs = [made.get(folder) or kept.get(folder) for folder in folders]
    if as_json:
        out.print_data([_data(folder, proof) for folder, proof in zip(folders, proofs, strict=True)])
    else:
        for folder, proof in zip(folders, proofs, strict=True):
            _tell(folder, proof, details=details, written=write and folder in made)
    if report is not None:
        write_whole(report, picture([card_of(folder, proof) for folder, proof in zip(folders, proofs, strict=True)]))
        (err if as_json else out).print(f"Picture: {report}", soft_wrap=True)
    if not all(proof is not None and proof.sound for proof in proofs):
        raise typer.Exit(1)


def _kept(folder: Path) -> Proof | None:
    digests(folder)
    return load_proof(folder)


def _left(_folder: Path, _proof: Proof) -> None: ...


def _written(folder: Path, proof: Proof) -> None:
    """Write a proof, unless nothing of the bundle could be run: an earlier one says more."""
    if proof.tools:
        write_proof(folder, proof)


def _made(
    folders: list[Path],
    proving: ProofJob,
    pool: PoolSettings,
    on_proof: Callable[[Path, Proof], object],
) -> dict[Path, Proof]:
    """Proofs of bundles. `on_proof` gets each one immediately."""
    if folders and (pool.engine == "ray" or min(pool.workers or cores(), len(folders)) > 1):
        return run_alone(_made_apart(folders, proving, pool, on_proof))
    proofs: dict[Path, Proof] = {}
    with progress_on(err) as progress:
        for folder in folders:
            task = progress.add_task(folder.name, total=TIMES_MADE * proving.calls)
            proof = prove(
                folder,
                calls=proving.calls,
                seed=proving.seed,
                on_call=lambda made, task=task: progress.advance(task, made),
            )
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                proofs[folder] = runner.run(proof)
            on_proof(folder, proofs[folder])
    return proofs


async def _made_apart(
    folders: list[Path],
    proving: ProofJob,
    pool: PoolSettings,
    on_proof: Callable[[Path, Proof], object],
) -> dict[Path, Proof]:
    """Proofs made in several processes, a bundle each."""
    with progress_on(err) as progress:
        task = progress.add_task("proved", total=len(folders))
        async with process_pool(proving, pool, most=len(folders)) as prove_one:

            async def one(folder: Path) -> tuple[Path, Proof]:
                proof = await prove_one(PinnedBundle.of(folder))
                on_proof(folder, proof)
                progress.advance(task)
                return folder, proof

            return dict(await gather_all(one(folder) for folder in folders))


def _data(folder: Path, proof: Proof | None) -> dict[str, Any]:
    """A proof as JSON. Empty if there is none about the present files."""
    return {"bundle": folder.name, "proof": None if proof is None else proof.model_dump(mode="json")}


def _tell(folder: Path, proof: Proof | None, *, details: bool, written: bool) -> None:
    if proof is None:
        made = f"`farm prove {name_in_commands(folder)} --write` makes one"
        out.print(f"{folder.name}: no {PROOF_FILE} about its files as they are; {made}", soft_wrap=True)
        return
    _show(proof, details=details)
    if proof.sound and RULES_FILE not in proof.files:
        out.print(WITHOUT_RULES, soft_wrap=True)
    if written and not proof.tools:
        out.print(f"not written: none of its tools could be run, so {PROOF_FILE} is left as it is", soft_wrap=True)
    elif written:
        out.print(f"written: {folder / PROOF_FILE}", soft_wrap=True)


def _show(proof: Proof, *, details: bool) -> None:
    ok, refused = (sum(getattr(tool, name) for tool in proof.tools.values()) for name in ("ok", "refused"))
    claimed = [rule for rule in proof.rules.values() if rule.holder != "agent"]
    coverage = proof.coverage
    verdict = "[bold]{}[/] [green]sound[/], {}" if proof.sound else "[bold]{}[/] [red]not sound[/], {}"
    told = (
        f"score {proof.score:g}: {counted(len(proof.tools), 'tool')}; "
        f"{counted(ok, 'call')} succeeded, {refused:,} {noun(refused, 'was', 'were')} refused; "
        f"{coverage.taken} of {counted(coverage.branches, 'branch', 'branches')}; "
        f"{sum(rule.shown for rule in claimed)} of {counted(len(claimed), 'rule')} shown"
    )
    out.print(marked(verdict, proof.environment, told), soft_wrap=True)
    for finding in proof.findings:
        times = f" ({finding.times} times)" if finding.times > 1 else ""
        out.print(f"  {finding.check}: {finding.subject}: {finding.text}{times}", markup=False, soft_wrap=True)
    if details:
        _show_all(proof)
    elif claimed and not all(rule.shown for rule in claimed):
        names = ", ".join(name for name, rule in proof.rules.items() if rule.holder != "agent" and not rule.shown)
        out.print(f"  not shown: {names}", markup=False, soft_wrap=True)


def _show_all(proof: Proof) -> None:
    tools = Table("tool", "succeeded", "refused", "can refuse")
    for name, tool in proof.tools.items():
        tools.add_row(name, str(tool.ok), str(tool.refused), "yes" if tool.can_refuse else "no")
    rules = Table("rule", "held by", "refused", "states without a breach", "shown")
    for name, rule in proof.rules.items():
        shown = "" if rule.holder == "agent" else marked("[green]yes[/]" if rule.shown else "[red]no[/]")
        rules.add_row(name, rule.holder, str(rule.refused), str(rule.states or ""), shown)
    out.print(tools, rules)
    for missed in proof.coverage.missed:
        out.print(f"  never: {missed}", markup=False, soft_wrap=True)
