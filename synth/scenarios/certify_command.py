"""The commands that examine scenarios: `farm certify` and `farm hack`."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from servers.bundle_library import Library
from servers.cli.command_options import AsJson, bundle_of
from servers.errors import NotFound, RequestError
from servers.files.atomic_write import write_whole
from servers.scenario.scenario_file import is_current, load_scenarios
from servers.text.terminal import Terminal, marked
from servers.text.wording import counted, noun, suggestion
from synth.pipeline.asker import gather_all
from synth.pipeline.plan import Engine
from synth.processes.inline_loop import run_alone
from synth.processes.process_pool import PoolSettings, process_pool
from synth.processes.progress import progress_on

if TYPE_CHECKING:  # importing these takes a second
    from synth.certify.agents.exploit_search import Hole, Searched
    from synth.certify.certifier import Examined
    from synth.processes.kept_results import KeptResults
    from synth.scenarios.certify_job import CertifyOrder, Examining

app = typer.Typer()
out = Terminal()
err = Terminal(stderr=True)


@app.command()
def certify(
    bundles: Annotated[list[Path], typer.Argument(help="Bundles' folders, or ids of the farm's own.")],
    scenario: Annotated[list[str] | None, typer.Option(help="Only this scenario; may be given several times.")] = None,
    write: Annotated[bool, typer.Option("--write", help="Write the certificates into scenarios.jsonl.")] = False,
    stale: Annotated[
        bool, typer.Option("--stale", help="Only those that have none, or one of another version.")
    ] = False,
    told: Annotated[bool, typer.Option("--told", help="List what each task tells, and what holds it.")] = False,
    mend: Annotated[
        bool, typer.Option("--mend", help="Make goals that hold what the task tells, and write them.")
    ] = False,
    against: Annotated[Path | None, typer.Option(help="A Python file of yours with more wrong agents.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, max=64, help="Processes at once; one a core.")] = None,
    engine: Annotated[Engine, typer.Option(help="Where these processes are.")] = "asyncio",
    as_json: AsJson = False,
) -> None:
    """Test the checkpoints of scenarios with wrong runs. Exit code 1 if one gets no certificate."""
    if mend and not write:
        raise RequestError("--mend changes checkpoints: give --write with it")
    folders = [bundle_of(bundle) for bundle in bundles]
    from synth.certify.agents.user_agents import wrong_agents_in
    from synth.scenarios.certify_job import Examining

    if against is not None:
        wrong_agents_in(against)
    cases = [case for folder in folders for case in _cases(folder, scenario or [], stale=stale)]
    if not cases and not as_json:
        out.print("Nothing to examine.")
        return
    examining = Examining(against, mend, is_renewal=stale)
    seen = run_alone(_certified(cases, examining, PoolSettings(jobs, engine), write=write)) if cases else []
    if as_json:
        out.print_data([_examined(case, one) for case, one in zip(cases, seen, strict=True)])
    for folder in dict.fromkeys(case.bundle.folder for case in cases if not as_json):
        own = [one for case, one in zip(cases, seen, strict=True) if case.bundle.folder == folder]
        if len(bundles) > 1:
            out.print(marked("[bold]{}[/]", folder.name))
        _show_examined(own)
        if told:
            _show_told(own)
    if not write and not as_json:
        out.print("Nothing was written: --write keeps the certificates.")
    if any(one.certificate is None for one in seen):
        raise typer.Exit(1)


def _examined(case: "CertifyOrder", one: "Examined") -> dict[str, Any]:
    """The results about a scenario, as JSON."""
    certificate = None if one.certificate is None else one.certificate.model_dump(mode="json")
    passing = [tried.what for tried in one.mutants if not tried.fails]
    return {
        "bundle": case.bundle.folder.name,
        "scenario": one.scenario.id,
        "certificate": certificate,
        "findings": list(one.findings),
        "passing": passing,
    }


def _cases(folder: Path, wanted: list[str], *, stale: bool) -> list["CertifyOrder"]:
    """The scenarios of a bundle to be examined."""
    from synth.play.pinned_bundle import PinnedBundle
    from synth.scenarios.certify_job import CertifyOrder

    bundle = PinnedBundle.of(folder)
    environment = Library([folder.parent]).environment(folder.name)
    there = load_scenarios(environment)
    unknown = [name for name in wanted if name not in there]
    if unknown:
        found = suggestion(unknown[0], list(there), lister=f"farm scenarios {folder.name}")
        raise NotFound(f"{folder.name} has no scenario {unknown[0]!r}; {found}")
    chosen = [there[name] for name in wanted] or there.values()
    due = [one for one in chosen if not (stale and is_current(environment, one))]
    others = {one.second.environment for one in due if one.second is not None}
    there_too = {name for name in others if (folder.parent / name / "environment.json").is_file()}
    beside = {name: PinnedBundle.of(folder.parent / name) for name in sorted(there_too)}
    return [CertifyOrder(bundle, one, beside.get(one.second.environment) if one.second else None) for one in due]


async def _certified(
    cases: Sequence["CertifyOrder"], examining: "Examining", pool: PoolSettings, *, write: bool
) -> list["Examined"]:
    """The examinations of scenarios.

    With `write`, each certificate is written immediately, so that an interrupted run loses none.
    """
    from synth.certify.certificates import write_certificate, write_scenario

    with progress_on(err) as progress:
        task = progress.add_task("examined", total=len(cases))
        async with process_pool(examining, pool, most=len(cases)) as examined:

            async def one(case: "CertifyOrder") -> "Examined":
                seen = await examined(case)
                if write:
                    case.bundle.require_unchanged()
                if examining.mend and seen.certificate is not None:
                    write_scenario(case.bundle.folder, seen.scenario)
                if write:
                    write_certificate(case.bundle.folder, seen.scenario.id, seen.certificate)
                progress.advance(task)
                return seen

            return await gather_all(one(case) for case in cases)


def _show_examined(seen: Sequence["Examined"]) -> None:
    table = Table("scenario", "mutants", "kill score", "leak", "variants", "other words", "seconds", "")
    for one in seen:
        kept = one.certificate
        alive = [tried.what for tried in one.mutants if not tried.fails]
        remarks = one.findings or [f"passes: {what}" for what in alive]
        table.add_row(
            one.scenario.id,
            str(len(one.mutants)),
            f"{kept.kill_score:.2f}" if kept else "-",
            f"{sum(agent.reward for agent in one.company):.2f}" if one.company else "-",
            str(len(one.tried) - len(one.mutants)),
            f"{one.paraphrases.right} + {one.paraphrases.wrong}" if one.paraphrases else "-",
            f"{one.seconds:.2f}",
            "\n".join(remarks[:5]) or "certified",
        )
    out.print(table)
    certified = sum(one.certificate is not None for one in seen)
    out.print(f"{certified} of {counted(len(seen), 'scenario')} {noun(certified, 'is', 'are')} certified.")
    earned: dict[str, float] = {}
    everything = 0
    for agent in (agent for one in seen for agent in one.company if agent.counts):
        earned[agent.agent] = earned.get(agent.agent, 0.0) + agent.reward
        everything += agent.reward >= 1
    if earned:
        each = ", ".join(f"{name} {number:.1f}" for name, number in sorted(earned.items(), key=lambda one: -one[1]))
        out.print(f"Leak {sum(earned.values()):.1f}, of wrong agents in {counted(len(seen), 'scenario')}: {each}.")
        out.print(f"They earned everything {counted(everything, 'time')}.")
    _show_paraphrased(seen)


def _show_paraphrased(seen: Sequence["Examined"]) -> None:
    """List the misjudged answers in other words, and the scenarios with too few."""
    tried = [one.paraphrases for one in seen if one.paraphrases is not None]
    if not tried:
        return
    for one in seen:
        for what in one.misjudged:
            out.print(f"{one.scenario.id}: {what}", markup=False, soft_wrap=True)
    right, wrong = sum(one.right for one in tried), sum(one.wrong for one in tried)
    refused, passed = sum(len(one.refused) for one in tried), sum(len(one.passed) for one in tried)
    out.print(
        f"Answers in other words: {refused} of {right} right ones are refused, {passed} of {wrong} wrong ones pass."
    )


def _show_told(seen: Sequence["Examined"]) -> None:
    from synth.certify.value_guards import BY_THE_TOOLS

    table = Table("scenario", "call", "argument", "value", "held by")
    for one in seen:
        for held in one.told:
            by = marked("[red]nothing[/]") if held.alive else "the tools" if held.by == BY_THE_TOOLS else held.by
            value = str(held.told.value)[:60]
            table.add_row(
                one.scenario.id, f"{held.told.place.call} {held.told.tool}", held.told.place.argument, value, by
            )
    out.print(table)


@app.command()
def hack(
    bundles: Annotated[list[Path], typer.Argument(help="Bundles' folders, or ids of the farm's own.")],
    scenario: Annotated[list[str] | None, typer.Option(help="Only this scenario; may be given several times.")] = None,
    budget: Annotated[int, typer.Option(min=1, max=100_000, help="How many runs of each scenario are tried.")] = 60,
    to: Annotated[
        Path | None,
        typer.Option(
            "--out", help="A folder for the holes, one file each; with it, a search that was stopped goes on."
        ),
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, max=64, help="Processes at once; one a core.")] = None,
    engine: Annotated[Engine, typer.Option(help="Where these processes are.")] = "asyncio",
    as_json: AsJson = False,
) -> None:
    """Search for wrong runs with reward 1, without a model. Exit code 1 if there are any."""
    folders = [bundle_of(bundle) for bundle in bundles]
    from synth.processes.progress import Shown, all_shown
    from synth.scenarios.certify_job import Searching

    cases = [case for folder in folders for case in _cases(folder, scenario or [], stale=False)]
    whole = [case for case in cases if case.scenario.second is None]
    if len(whole) < len(cases):
        left = len(cases) - len(whole)
        told = f"{counted(left, 'scenario')} over two environments {noun(left, 'is', 'are')} left out."
        (err if as_json else out).print(told)
    cases = whole
    played = [case for case in cases if case.scenario.solution is not None]
    if len(played) < len(cases):
        left = len(cases) - len(played)
        told = f"{counted(left, 'scenario')} {noun(left, 'has', 'have')} no reference solution"
        (err if as_json else out).print(f"{told}, and {noun(left, 'is', 'are')} left out.")
    begin = time.perf_counter()
    shown = Shown(err, "scenario", "searched")
    seen = run_alone(all_shown(played, Searching(budget), PoolSettings(jobs, engine), _kept(to, budget), shown))
    holes = [(case.bundle.folder, hole) for case, one in zip(played, seen, strict=True) for hole in one.holes]
    written = _written(holes, to or Path("holes")) if holes else []
    if as_json:
        out.print_data([_searched_data(case, one) for case, one in zip(played, seen, strict=True)])
    else:
        _show_holes(holes, written)
        for one in seen:
            if one.problem:
                out.print(f"{one.scenario}: {one.problem}")
        runs = sum(one.runs for one in seen)
        searched = f"{counted(runs, 'run')} of {counted(len(seen), 'scenario')}"
        where = {(folder, hole.scenario) for folder, hole in holes}
        found = f"{counted(len(holes), 'hole')} in {counted(len(where), 'scenario')}"
        out.print(f"{searched} in {time.perf_counter() - begin:.0f} s: {found}.")
    if holes or any(one.problem for one in seen):
        raise typer.Exit(1)


def _kept(folder: Path | None, budget: int) -> "KeptResults[CertifyOrder, Searched] | None":
    """The stored searches in a folder that the user named."""
    if folder is None:
        return None
    from synth.scenarios.certify_job import kept_searches

    return kept_searches(folder, budget)


def _searched_data(case: "CertifyOrder", one: "Searched") -> dict[str, Any]:
    """The result of a search, as JSON."""
    return {
        "bundle": case.bundle.folder.name,
        "scenario": one.scenario,
        "runs": one.runs,
        "problem": one.problem or None,
        "holes": [{"way": hole.way, "solution": hole.solution.model_dump(mode="json")} for hole in one.holes],
    }


def _written(holes: Sequence[tuple[Path, "Hole"]], folder: Path) -> list[Path]:
    """Write each hole as a solution that `farm play --solution` plays."""
    folder.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    for number, (bundle, hole) in enumerate(holes, start=1):
        paths.append(folder / f"{bundle.name}-{hole.scenario}-{number}.json")
        write_whole(paths[-1], hole.solution.model_dump_json(indent=2) + "\n")
    return paths


def _show_holes(holes: Sequence[tuple[Path, "Hole"]], paths: Sequence[Path]) -> None:
    if not holes:
        return
    table = Table("environment", "scenario", "way", "calls", "of", "says", "played by")
    for (bundle, hole), path in zip(holes, paths, strict=True):
        calls, says = str(len(hole.solution.calls)), hole.solution.answer[:60]
        table.add_row(bundle.name, hole.scenario, hole.way, calls, str(hole.calls), says, f"--solution {path}")
    out.print(table)
