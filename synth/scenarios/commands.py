"""The commands that make scenarios: `farm synth backward`, `forward`, `converse` and `phrases`."""

import asyncio
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from servers.bundle.files import text_if_there
from servers.bundle.paraphrases import PARAPHRASES_FILE
from servers.cli.command_options import BaseUrl, Bundle, bundle_of, well_formed
from servers.cli.secret_options import ApiKey
from servers.errors import RequestError
from servers.files.atomic_write import make_sure_of
from servers.records import OPENAI
from servers.text.terminal import Terminal
from servers.text.wording import counted, noun
from synth.backward.generator import Shelf, Yield, make_backward
from synth.backward.profile import profile_of
from synth.pipeline.folder import SynthesisFolder
from synth.pipeline.plan import RunPlan
from synth.play.playground import Playground
from synth.processes.inline_loop import run_alone
from synth.processes.process_pool import Engine, PoolSettings
from synth.recipes.recipe_generator import make_from_recipes, wanted_of
from synth.retelling.commands import retell
from synth.runner.writer_choice import writer_for
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
out = Terminal()
TASK = TextColumn("{task.description}", markup=False)
err = Terminal(stderr=True)
Kind = Literal["endpoint", "batch", "recording"]


class BackwardOptions(NamedTuple):
    """The wishes for a backward run, as the command line gives them."""

    seed: int
    commands: str | None
    tools: list[str] | None
    refusals: bool
    tells: bool
    level: str | None
    profile: str | None

    @property
    def from_recipes(self) -> bool:
        """True if scenarios of chosen levels or weak agents are wanted, which recipes give."""
        return self.level is not None or self.profile is not None


Number = Annotated[
    int, typer.Option("--n", min=1, help="How many there shall be, with those that there are of the kind.")
]
Target = Annotated[Path | None, typer.Option("--out", help="The file to add them to; the bundle's own by default.")]
Work = Annotated[Path | None, typer.Option(help="The folder of what was asked and answered.")]
WriterKind = Annotated[Kind, typer.Option(help="Who writes.")]
WriterModel = Annotated[str, typer.Option(help="The writer's model.")]
Recordings = Annotated[list[Path] | None, typer.Option(help="The writer's answers, recorded.")]
Record = Annotated[Path | None, typer.Option(help="Record the writer's exchanges in this file.")]
SolverName = Annotated[str, typer.Option("--solver", help="The model that plays; the writer's by default.")]
SolverUrl = Annotated[str, typer.Option(callback=well_formed, help="The solver's endpoint; the writer's by default.")]
Attempts = Annotated[int, typer.Option(min=1, max=64, help="How often the solver may try.")]
Temperature = Annotated[float, typer.Option(min=0, help="Of the models that play.")]
AtOnce = Annotated[int, typer.Option(min=1, help="Concurrent attempts at one scenario.")]
Seconds = Annotated[float, typer.Option(min=1, help="The most that one answer may take.")]
Again = Annotated[bool, typer.Option("--again", help="Give dropped scenarios another chance.")]


@synth.command("backward")
def backward(
    bundle: Bundle,
    n: Annotated[
        int, typer.Option(min=1, help="How many there shall be, with those that there are of this seed.")
    ] = 60,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same scenarios.")] = 1,
    commands: Annotated[str | None, typer.Option(help="How many commands, one scenario after another: 1,2,2.")] = None,
    tool: Annotated[list[str] | None, typer.Option(help="Only about this command; several times.")] = None,
    refusals: Annotated[bool, typer.Option(help="In every fifth, something is refused.")] = True,
    tells: Annotated[bool, typer.Option(help="Most ask to be told something at the end.")] = True,
    level: Annotated[
        str | None, typer.Option(help="From recipes, only of this level, 1 to 5, or of these: 3..5.")
    ] = None,
    profile: Annotated[str | None, typer.Option(help="From recipes, only what fails these weak agents.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, max=64, help="Concurrent processes; one a core.")] = None,
    engine: Annotated[Engine, typer.Option(help="Where these processes are.")] = "asyncio",
    to: Target = None,
) -> None:
    """Make certified scenarios of what the tools do, without a model. A stopped run goes on with the same command."""
    wanted = BackwardOptions(seed, commands, tool, refusals, tells, level, profile)
    if wanted.from_recipes and (commands is not None or tool):
        raise RequestError("--level and --profile choose among recipes: give them without --commands and --tool")
    folder = bundle_of(bundle)
    path = to or folder / "scenarios.jsonl"
    _show_yield(run_alone(_make(folder, path, n, wanted, PoolSettings(jobs, engine))), n, path)


@synth.command("forward")
def forward(
    bundle: Bundle,
    n: Number = 4,
    to: Target = None,
    work: Work = None,
    writer: WriterKind = "endpoint",
    base_url: BaseUrl = OPENAI,
    api_key: ApiKey = "",
    model: WriterModel = "",
    recording: Recordings = None,
    record: Record = None,
    solver: SolverName = "",
    solver_url: SolverUrl = "",
    attempts: Attempts = 4,
    temperature: Temperature = 1.0,
    at_once: AtOnce = 4,
    seconds: Seconds = 600,
    again: Again = False,
) -> None:
    """Have scenarios proposed by a writer and played by a solver. A stopped run goes on with the same command."""
    folder = bundle_of(bundle)
    if not (solver or model):
        raise RequestError("say --solver NAME, the model that plays, or --model NAME for both")
    plan = _plan(
        out=work or Path(".envfarm") / "forward" / folder.name,
        writer=writer,
        base_url=base_url,
        model=model,
        record=record,
        recordings=recording,
        seconds=seconds,
    )
    plays = SolverModel(solver or model, solver_url or base_url, api_key, temperature, seconds)
    _make_with_models(folder, to, plan, Game(plays, attempts, at_once), n, again=again, key=api_key)


@synth.command("converse")
def converse(
    bundle: Bundle,
    scenario: Annotated[list[str] | None, typer.Option(help="Made of this scenario; several times.")] = None,
    n: Number = 4,
    to: Target = None,
    work: Work = None,
    writer: WriterKind = "endpoint",
    base_url: BaseUrl = OPENAI,
    api_key: ApiKey = "",
    model: WriterModel = "",
    recording: Recordings = None,
    record: Record = None,
    solver: SolverName = "",
    solver_url: SolverUrl = "",
    user: Annotated[str, typer.Option(help="The model that plays the user; the writer's by default.")] = "",
    user_url: Annotated[
        str, typer.Option(callback=well_formed, help="The user's endpoint; the writer's by default.")
    ] = "",
    attempts: Attempts = 2,
    temperature: Temperature = 1.0,
    at_once: AtOnce = 4,
    seconds: Seconds = 600,
    again: Again = False,
) -> None:
    """Have certified scenarios turned into conversations. A stopped run goes on with the same command."""
    folder = bundle_of(bundle)
    if not (solver or model):
        raise RequestError("say --solver NAME, the model that plays, or --model NAME for both")
    plan = _plan(
        out=work or Path(".envfarm") / "converse" / folder.name,
        writer=writer,
        base_url=base_url,
        model=model,
        record=record,
        recordings=recording,
        seconds=seconds,
    )
    plays = SolverModel(solver or model, solver_url or base_url, api_key, temperature, seconds)
    speaks = SolverModel(user or model or solver, user_url or base_url, api_key, temperature, seconds)
    game = Game(plays, attempts, at_once, speaks, scenario or ())
    _make_with_models(folder, to, plan, game, n, again=again, key=api_key)


def _plan(**given: Any) -> RunPlan:
    """The plan of a run. What was not given is the plan's own default."""
    return RunPlan.of(None, {name: value for name, value in given.items() if value is not None})


def _make_with_models(
    folder: Path, to: Path | None, plan: RunPlan, game: Game, n: int, *, again: bool, key: str
) -> None:
    path = to or folder / "scenarios.jsonl"
    _make_sure_of(path, to)
    outcome = asyncio.run(made_with_models(folder, path, plan, game, n=n, again=again, key=key, console=out))
    show_outcome(outcome, out, "conversations" if game.user else "proposed scenarios")
    if outcome.count("stopped") + outcome.count("failed"):
        raise typer.Exit(1)


@synth.command("scenarios", hidden=True, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def scenarios(
    called: typer.Context,
    backward: Annotated[bool, typer.Option("--backward", help="farm synth backward.")] = False,
    forward: Annotated[bool, typer.Option("--forward", help="farm synth forward.")] = False,
    converse: Annotated[bool, typer.Option("--converse", help="farm synth converse.")] = False,
) -> None:
    """The earlier name of three commands: backward, forward and converse."""
    given = {"backward": backward, "forward": forward, "converse": converse}
    wanted = [name for name, is_given in given.items() if is_given]
    if len(wanted) != 1:
        raise RequestError(
            "say how: `farm synth backward BUNDLE` makes scenarios of what the tools do, without a model; `farm synth "
            "forward BUNDLE` has them proposed by a writer and played by a solver; `farm synth converse BUNDLE` has "
            "those that there are turned into conversations"
        )
    err.print(f"`farm synth scenarios --{wanted[0]}` is called `farm synth {wanted[0]}` now.", markup=False)
    command = typer.main.get_group(synth).commands[wanted[0]]
    with command.make_context(wanted[0], list(called.args), parent=called.parent) as now:
        command.invoke(now)


synth.command("retell")(retell)


@synth.command("phrases")
def phrases(
    bundle: Bundle,
    to: Annotated[Path | None, typer.Option("--out", help="The file to write; the bundle's own by default.")] = None,
    work: Work = None,
    writer: WriterKind = "endpoint",
    base_url: BaseUrl = OPENAI,
    api_key: ApiKey = "",
    model: WriterModel = "",
    recording: Recordings = None,
    record: Record = None,
) -> None:
    """Have words for an environment's tasks written, and answers in other words: two requests, four attempts each."""
    folder = bundle_of(bundle)
    path = to or folder / "phrases.json"
    work = work or Path(".envfarm") / "phrases" / folder.name
    plan = _plan(out=work, writer=writer, base_url=base_url, model=model, record=record, recordings=recording)
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
        wishes = wanted_of(wanted.level, wanted.profile)
        shelf = Shelf(path, stage)
        columns = (TASK, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
            task = progress.add_task("certified", total=n)

            def on_walk(made: Yield) -> None:
                progress.update(task, completed=made.certified, description=f"{counted(made.walks, 'walk')}, certified")

            if wanted.from_recipes:
                make = partial(make_from_recipes, wanted=wishes)
            else:
                make = partial(make_backward, profile=profile)
            made = await make(
                stage, n=n, seed=wanted.seed, there=shelf.there, on_certified=shelf.add, on_walk=on_walk, pool=pool
            )
    made.seconds = time.perf_counter() - begin
    return made


def _show_yield(made: Yield, wanted: int, path: Path) -> None:
    if not made.walks:
        there = f"There {noun(wanted, 'is', 'are')} {wanted} of this seed already in {path}"
        out.print(f"{there}; --n says how many there shall be.", soft_wrap=True)
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
