"""The commands about scenarios: `farm synth scenarios` makes them, `farm certify` examines existing ones."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from servers.bundle.files import text_if_there
from servers.bundle.paraphrases import PARAPHRASES_FILE
from servers.bundle_library import Library
from servers.cli.command_options import AsJson, BaseUrl, Bundle, bundle_of, well_formed
from servers.cli.secret_options import ApiKey
from servers.errors import NotFound, RequestError
from servers.files.atomic_write import make_sure_of, write_whole
from servers.files.trouble import trouble
from servers.records import OPENAI
from servers.scenario.scenario_file import is_current, load_scenarios
from servers.text.terminal import Terminal, marked
from servers.text.wording import counted, noun, suggestion
from synth.backward.generator import Shelf, Yield, make_backward
from synth.backward.profile import profile_of
from synth.certify.agents.exploit_search import Hole, Searched
from synth.certify.agents.user_agents import wrong_agents_in
from synth.certify.certificates import write_certificate, write_scenario
from synth.certify.certifier import Examined
from synth.certify.value_guards import BY_THE_TOOLS
from synth.pipeline.asker import gather_all
from synth.pipeline.folder import SynthesisFolder
from synth.pipeline.plan import RunPlan
from synth.play.pinned_bundle import PinnedBundle
from synth.play.playground import Playground
from synth.processes.inline_loop import run_alone
from synth.processes.process_pool import Engine, PoolSettings, process_pool
from synth.recipes.recipe_generator import make_from_recipes, wanted_of
from synth.runner.writer_choice import writer_for
from synth.scenarios.certify_job import CertifyOrder, Examining, Searching
from synth.scenarios.kept_searches import KeptSearches
from synth.scenarios.launch import (
    Game,
    SolverModel,
    made_with_models,
    show_outcome,
)
from synth.scenarios.phrase_stage import WrittenPhrases, written

app = typer.Typer()
synth = typer.Typer()
app.add_typer(synth, name="synth")
synth.callback()(lambda: None)  # one command alone is still called by its name
out = Terminal()
TASK = TextColumn("{task.description}", markup=False)
err = Terminal(stderr=True)
Kind = Literal["endpoint", "batch", "recording"]


class BackwardOptions(NamedTuple):
    """The options of a backward run, as the command line gives them."""

    seed: int
    commands: str | None
    tools: list[str] | None
    refusals: bool
    tells: bool
    level: str | None = None
    demands: str | None = None

    @property
    def is_hard(self) -> bool:
        """True if scenarios of chosen levels or demands are wanted, which recipes give."""
        return self.level is not None or self.demands is not None


@synth.command("scenarios")
def scenarios(
    bundle: Bundle,
    backward: Annotated[
        bool, typer.Option("--backward", help="Make them of what the tools do; needs no model.")
    ] = False,
    forward: Annotated[
        bool, typer.Option("--forward", help="Have them proposed by a writer and played by a solver.")
    ] = False,
    converse: Annotated[
        bool, typer.Option("--converse", help="Have those that there are turned into conversations.")
    ] = False,
    scenario: Annotated[list[str] | None, typer.Option(help="Conversations: made of this one; several times.")] = None,
    n: Annotated[int | None, typer.Option(min=1, help="How many there shall be; 60 backward, otherwise 4.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Backward: the same seed gives the same scenarios.")] = 1,
    commands: Annotated[
        str | None, typer.Option(help="Backward: how many commands, one scenario after another, as 1,2,2.")
    ] = None,
    tool: Annotated[list[str] | None, typer.Option(help="Backward: only about this command; several times.")] = None,
    refusals: Annotated[bool, typer.Option(help="Backward: in every fifth, something is refused.")] = True,
    tells: Annotated[bool, typer.Option(help="Backward: most ask to be told something at the end.")] = True,
    level: Annotated[
        str | None, typer.Option(help="Backward: from recipes, only of this level, 1 to 5, or of these, as 3..5.")
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(help="Backward: from recipes, only what fails these weak agents."),
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, max=64, help="Backward: processes at once; one a core.")] = None,
    engine: Annotated[Engine, typer.Option(help="Backward: where these processes are.")] = "asyncio",
    to: Annotated[
        Path | None, typer.Option("--out", help="The file to add them to; the bundle's own by default.")
    ] = None,
    work: Annotated[
        Path | None, typer.Option(help="With models: the folder of what the writer and the solver made.")
    ] = None,
    writer: Annotated[Kind, typer.Option(help="With models: who writes.")] = "endpoint",
    base_url: BaseUrl = OPENAI,
    api_key: ApiKey = "",
    model: Annotated[str, typer.Option(help="With models: the writer's model.")] = "",
    recording: Annotated[list[Path] | None, typer.Option(help="With models: the writer's answers, recorded.")] = None,
    record: Annotated[Path | None, typer.Option(help="With models: record the writer's exchanges here.")] = None,
    solver: Annotated[str, typer.Option(help="With models: the one that plays; the writer's by default.")] = "",
    solver_url: Annotated[
        str, typer.Option(callback=well_formed, help="With models: the solver's endpoint; the writer's by default.")
    ] = "",
    user: Annotated[str, typer.Option(help="Conversations: the model that plays the user; the writer's.")] = "",
    user_url: Annotated[
        str, typer.Option(callback=well_formed, help="Conversations: its endpoint; the writer's by default.")
    ] = "",
    attempts: Annotated[
        int | None, typer.Option(min=1, max=64, help="How often the solver may try; 4 forward, 2 in conversations.")
    ] = None,
    temperature: Annotated[float, typer.Option(min=0, help="With models: of the solver and the user.")] = 1.0,
    at_once: Annotated[int, typer.Option(min=1, help="With models: attempts at one scenario at once.")] = 4,
    seconds: Annotated[float, typer.Option(min=1, help="With models: the most that one answer may take.")] = 600,
    again: Annotated[bool, typer.Option("--again", help="With models: another chance for what was dropped.")] = False,
) -> None:
    """Make certified scenarios for an environment. A run that was stopped goes on with the same command."""
    if backward + forward + converse != 1:
        raise RequestError(
            "say how, in one way: --backward makes scenarios of what the tools do, without a model; --forward has them "
            "proposed by a writer and played by a solver; --converse has those that there are turned into conversations"
        )
    if (commands is not None or tool or not (refusals and tells)) and not backward:
        raise RequestError("--commands, --tool, --no-refusals and --no-tells say what --backward is to make")
    if (level is not None or profile is not None) and (not backward or commands is not None or tool):
        raise RequestError("--level and --profile say what --backward is to make, without --commands and --tool")
    if engine == "ray" and not backward:
        raise RequestError("--engine ray spreads what --backward does; with models, --at-once says how much goes on")
    folder = bundle_of(bundle)
    path = to or folder / "scenarios.jsonl"
    if backward:
        wanted = BackwardOptions(seed, commands, tool, refusals, tells, level, profile)
        _show_yield(run_alone(_make(folder, path, n or 60, wanted, PoolSettings(jobs, engine))), n or 60)
        return
    way = "converse" if converse else "forward"
    if not (solver or model):
        raise RequestError(f"--{way} wants --solver NAME, the model that plays, or --model NAME for both")
    given: dict[str, Any] = {
        "out": work or Path(".envfarm") / way / folder.name,
        "writer": writer,
        "base_url": base_url,
        "model": model,
        "record": record,
        "recordings": recording,
        "seconds": seconds,
    }
    game = Game(
        SolverModel(solver or model, solver_url or base_url, api_key, temperature, seconds),
        attempts or (2 if converse else 4),
        at_once,
        SolverModel(user or model or solver, user_url or base_url, api_key, temperature, seconds) if converse else None,
        scenario or (),
    )
    plan = RunPlan.of(None, {name: value for name, value in given.items() if value is not None})
    _make_sure_of(path, to)
    outcome = asyncio.run(made_with_models(folder, path, plan, game, n=n or 4, again=again, key=api_key, console=out))
    show_outcome(outcome, out, "conversations" if converse else "proposed scenarios")
    if outcome.count("stopped") + outcome.count("failed"):
        raise typer.Exit(1)


@synth.command("phrases")
def phrases(
    bundle: Bundle,
    to: Annotated[Path | None, typer.Option("--out", help="The file to write; the bundle's own by default.")] = None,
    work: Annotated[Path | None, typer.Option(help="The folder of what was asked and answered.")] = None,
    writer: Annotated[Kind, typer.Option(help="Who writes.")] = "endpoint",
    base_url: BaseUrl = OPENAI,
    api_key: ApiKey = "",
    model: Annotated[str, typer.Option(help="The writer's model.")] = "",
    recording: Annotated[list[Path] | None, typer.Option(help="The writer's answers, recorded.")] = None,
    record: Annotated[Path | None, typer.Option(help="Record the writer's exchanges in this file.")] = None,
) -> None:
    """Have words for an environment's tasks written, and answers in other words: two requests, four attempts each."""
    folder = bundle_of(bundle)
    path = to or folder / "phrases.json"
    work = work or Path(".envfarm") / "phrases" / folder.name
    given: dict[str, Any] = {"writer": writer, "base_url": base_url, "model": model, "record": record}
    given |= {"out": work, "recordings": recording}
    plan = RunPlan.of(None, {name: value for name, value in given.items() if value is not None})
    _make_sure_of(path, to)
    made = asyncio.run(_phrased(folder, work, path, plan, api_key))
    commands, tables = counted(len(made.phrases.asks), "command"), counted(len(made.phrases.rows), "table")
    out.print(f"Words for {commands} and {tables}: {path}", soft_wrap=True)
    values = sum(map(len, made.paraphrases.tells.values()))
    if values:
        other = path.with_name(PARAPHRASES_FILE)
        out.print(f"Answers in other words for {counted(values, 'value')}: {other}", soft_wrap=True)


def _make_sure_of(path: Path, to: Path | None) -> None:
    """Check that the result can be written, before a model is paid. By default that is a file of the bundle."""
    if to is None:
        text_if_there(path)
    make_sure_of(path, "--out")


async def _phrased(folder: Path, work: Path, path: Path, plan: RunPlan, api_key: str) -> WrittenPhrases:
    run = SynthesisFolder(work)
    with run.locked("--work"):
        async with writer_for(plan, run, api_key, on_retry=_show_retry) as writing:
            return await written(folder, work, path, writing)


def _show_retry(trouble: str) -> None:
    err.print(f"the endpoint: {trouble}")


async def _make(folder: Path, path: Path, n: int, wanted: BackwardOptions, pool: PoolSettings) -> Yield:
    begin = time.perf_counter()
    async with Playground(folder) as stage:
        profile = profile_of(
            stage.environment, wanted.commands, wanted.tools, refusals=wanted.refusals, tells=wanted.tells
        )
        make_sure_of(path, "--out")
        wishes = wanted_of(wanted.level, wanted.demands)
        shelf = Shelf(path, stage)
        columns = (TASK, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
            task = progress.add_task("certified", total=n)

            def on_walk(made: Yield) -> None:
                progress.update(task, completed=made.certified, description=f"{counted(made.walks, 'walk')}, certified")

            if wanted.is_hard:
                make = partial(make_from_recipes, wanted=wishes)
            else:
                make = partial(make_backward, profile=profile)
            made = await make(
                stage, n=n, seed=wanted.seed, there=shelf.there, on_certified=shelf.add, on_walk=on_walk, pool=pool
            )
    made.seconds = time.perf_counter() - begin
    return made


def _show_yield(made: Yield, wanted: int) -> None:
    if not made.walks:
        there = f"There {noun(wanted, 'is', 'are')} {wanted} of this seed already"
        out.print(f"{there}; --n says how many there shall be.")
        return
    table = Table("stage", "scenarios", "lost here because")
    table.add_row("walked", str(made.walks), "")
    table.add_row("told", str(made.told), _told(made.dropped))
    table.add_row("new", str(made.told - made.twice), "")
    table.add_row("certified", str(made.certified), _told(made.rejected))
    out.print(table)
    if made.tally.calls:
        used = ", ".join(f"{name} {number}" for name, number in made.tally.tools.most_common())
        out.print(f"Commands used: {used}.")
        for reason in dict.fromkeys(made.unused.values()):
            names = ", ".join(name for name, why in made.unused.items() if why == reason)
            out.print(f"Never used: {names} ({reason}).", soft_wrap=True)
        long = sum(number >= 3 for number in made.tally.calls)
        out.print(
            f"Of {counted(len(made.tally.calls), 'scenario')} {long} {noun(long, 'takes', 'take')} 3 calls or more, in "
            f"{made.tally.refusals} something is refused; rows change in {counted(len(made.tally.tables), 'table')}."
        )
    a_minute = 60 * made.certified / made.seconds if made.seconds else 0
    out.print(f"{counted(made.certified, 'certified scenario')} in {made.seconds:.1f} s, {a_minute:.0f} a minute.")


def _told(reasons: Counter[str]) -> str:
    return "\n".join(f"{number} × {reason}" for reason, number in reasons.most_common(5))


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
    if against is not None:
        wrong_agents_in(against)
    cases = [case for bundle in bundles for case in _cases(bundle_of(bundle), scenario or [], stale=stale)]
    if not cases and not as_json:
        out.print("Nothing to examine.")
        return
    examining = Examining(against, mend)
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


def _examined(case: CertifyOrder, one: Examined) -> dict[str, Any]:
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


def _cases(folder: Path, wanted: list[str], *, stale: bool) -> list[CertifyOrder]:
    """The scenarios of a bundle to be examined."""
    bundle = PinnedBundle.of(folder)
    environment = Library([folder.parent]).environment(folder.name)
    there = load_scenarios(environment)
    unknown = [name for name in wanted if name not in there]
    if unknown:
        found = suggestion(unknown[0], list(there), lister=f"farm scenarios {folder.name}")
        raise NotFound(f"{folder.name} has no scenario {unknown[0]!r}; {found}")
    chosen = [there[name] for name in wanted] or there.values()
    return [CertifyOrder(bundle, one) for one in chosen if not (stale and is_current(environment, one))]


async def _certified(
    cases: Sequence[CertifyOrder], examining: Examining, pool: PoolSettings, *, write: bool
) -> list[Examined]:
    """The examinations of scenarios.

    With `write`, each certificate is written immediately, so that an interrupted run loses none.
    """
    columns = (TASK, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        task = progress.add_task("examined", total=len(cases))
        async with process_pool(examining, pool, most=len(cases)) as examined:

            async def one(case: CertifyOrder) -> Examined:
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


def _show_examined(seen: Sequence[Examined]) -> None:
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


def _show_paraphrased(seen: Sequence[Examined]) -> None:
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


def _show_told(seen: Sequence[Examined]) -> None:
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
    cases = [case for bundle in bundles for case in _cases(bundle_of(bundle), scenario or [], stale=False)]
    played = [case for case in cases if case.scenario.solution is not None]
    if len(played) < len(cases):
        left = len(cases) - len(played)
        told = f"{counted(left, 'scenario')} {noun(left, 'has', 'have')} no reference solution"
        (err if as_json else out).print(f"{told}, and {noun(left, 'is', 'are')} left out.")
    begin = time.perf_counter()
    seen = run_alone(_searched(played, Searching(budget), PoolSettings(jobs, engine), _kept(to, budget)))
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


def _kept(folder: Path | None, budget: int) -> KeptSearches | None:
    """The stored searches in a folder that the user named."""
    if folder is None:
        return None
    try:
        return KeptSearches(folder, budget)
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{folder}: cannot keep what is found: {trouble(error)}") from None


async def _searched(
    cases: Sequence[CertifyOrder], searching: Searching, pool: PoolSettings, kept: KeptSearches | None
) -> list[Searched]:
    seen = [kept.find(case) if kept is not None else None for case in cases]
    left = [place for place, one in enumerate(seen) if one is None]
    made = len(cases) - len(left)
    if made:
        err.print(f"{counted(made, 'scenario')} of {len(cases)} {noun(made, 'was', 'were')} searched before.")
    columns = (TASK, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        task = progress.add_task("searched", total=len(cases), completed=made)
        async with process_pool(searching, pool, most=max(1, len(left))) as searched:

            async def one(place: int) -> None:
                seen[place] = found = await searched(cases[place])
                if kept is not None:
                    kept.keep(cases[place], found)
                progress.advance(task)

            await gather_all(one(place) for place in left)
    return [one for one in seen if one is not None]


def _searched_data(case: CertifyOrder, one: Searched) -> dict[str, Any]:
    """The result of a search, as JSON."""
    return {
        "bundle": case.bundle.folder.name,
        "scenario": one.scenario,
        "runs": one.runs,
        "problem": one.problem or None,
        "holes": [{"way": hole.way, "solution": hole.solution.model_dump(mode="json")} for hole in one.holes],
    }


def _written(holes: Sequence[tuple[Path, Hole]], folder: Path) -> list[Path]:
    """Write each hole as a solution that `farm play --solution` plays."""
    folder.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    for number, (bundle, hole) in enumerate(holes, start=1):
        paths.append(folder / f"{bundle.name}-{hole.scenario}-{number}.json")
        write_whole(paths[-1], hole.solution.model_dump_json(indent=2) + "\n")
    return paths


def _show_holes(holes: Sequence[tuple[Path, Hole]], paths: Sequence[Path]) -> None:
    if not holes:
        return
    table = Table("environment", "scenario", "way", "calls", "of", "says", "played by")
    for (bundle, hole), path in zip(holes, paths, strict=True):
        calls, says = str(len(hole.solution.calls)), hole.solution.answer[:60]
        table.add_row(bundle.name, hole.scenario, hole.way, calls, str(hole.calls), says, f"--solution {path}")
    out.print(table)
