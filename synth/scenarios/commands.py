"""The commands that make scenarios: `farm synth backward`, `forward`, `converse` and `phrases`."""

from pathlib import Path
from typing import Annotated

import typer

from servers.cli.command_options import BaseUrl, Bundle, bundle_of, well_formed
from servers.cli.secret_options import ApiKey
from servers.errors import RequestError
from servers.records import OPENAI
from servers.text.terminal import Terminal
from synth.pipeline.plan import Engine
from synth.processes.process_pool import PoolSettings
from synth.retelling.commands import retell
from synth.scenarios.pairs_command import pairs
from synth.writer_options import (
    Again,
    AnswerSeconds,
    RecordingFile,
    Recordings,
    WorkFolder,
    WriterKind,
    WriterModel,
    writer_plan,
)

app = typer.Typer()
synth = typer.Typer()
app.add_typer(synth, name="synth")
err = Terminal(stderr=True)

ScenarioCount = Annotated[
    int, typer.Option("--n", min=1, help="The number of scenarios of this kind in the end, existing ones included.")
]
Target = Annotated[Path | None, typer.Option("--out", help="The file to add them to; the bundle's own by default.")]
SolverName = Annotated[str, typer.Option("--solver", help="The model that plays; the writer's by default.")]
SolverUrl = Annotated[str, typer.Option(callback=well_formed, help="The solver's endpoint; the writer's by default.")]
Attempts = Annotated[int, typer.Option(min=1, max=64, help="How often the solver may try.")]
Temperature = Annotated[float, typer.Option(min=0, help="Of the models that play.")]
AttemptsAtOnce = Annotated[int, typer.Option(min=1, help="Concurrent attempts at one scenario.")]


@synth.command("backward")
def backward(
    bundle: Bundle,
    n: Annotated[
        int, typer.Option(min=1, help="The number of scenarios of this seed in the end, existing ones included.")
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
    if (level is not None or profile is not None) and (commands is not None or tool):
        raise RequestError("--level and --profile choose among recipes: give them without --commands and --tool")
    folder = bundle_of(bundle)
    from synth.scenarios.scenario_run import BackwardOptions, make_by_walks

    wanted = BackwardOptions(seed, commands, tool, refusals, tells, level, profile)
    make_by_walks(folder, to or folder / "scenarios.jsonl", n, wanted, PoolSettings(jobs, engine))


@synth.command("forward")
def forward(
    bundle: Bundle,
    n: ScenarioCount = 4,
    to: Target = None,
    work: WorkFolder = None,
    writer: WriterKind = "endpoint",
    base_url: BaseUrl = OPENAI,
    api_key: ApiKey = "",
    model: WriterModel = "",
    recording: Recordings = None,
    record: RecordingFile = None,
    solver: SolverName = "",
    solver_url: SolverUrl = "",
    attempts: Attempts = 4,
    temperature: Temperature = 1.0,
    at_once: AttemptsAtOnce = 4,
    seconds: AnswerSeconds = 600,
    again: Again = False,
) -> None:
    """Have scenarios proposed by a writer and played by a solver. A stopped run goes on with the same command."""
    folder = bundle_of(bundle)
    if not (solver or model):
        raise RequestError("say --solver NAME, the model that plays, or --model NAME for both")
    plan = writer_plan(
        work or Path(".envfarm") / "forward" / folder.name,
        writer=writer,
        base_url=base_url,
        model=model,
        record=record,
        recordings=recording,
        seconds=seconds,
    )
    from synth.scenarios.scenario_run import SolverModel, SolverOptions, make_with_models

    plays = SolverModel(solver or model, solver_url or base_url, api_key, temperature, seconds)
    make_with_models(folder, to, plan, SolverOptions(plays, attempts, at_once), n, again=again, key=api_key)


@synth.command("converse")
def converse(
    bundle: Bundle,
    scenario: Annotated[list[str] | None, typer.Option(help="Made of this scenario; several times.")] = None,
    n: ScenarioCount = 4,
    to: Target = None,
    work: WorkFolder = None,
    writer: WriterKind = "endpoint",
    base_url: BaseUrl = OPENAI,
    api_key: ApiKey = "",
    model: WriterModel = "",
    recording: Recordings = None,
    record: RecordingFile = None,
    solver: SolverName = "",
    solver_url: SolverUrl = "",
    user: Annotated[str, typer.Option(help="The model that plays the user; the writer's by default.")] = "",
    user_url: Annotated[
        str, typer.Option(callback=well_formed, help="The user's endpoint; the writer's by default.")
    ] = "",
    attempts: Attempts = 2,
    temperature: Temperature = 1.0,
    at_once: AttemptsAtOnce = 4,
    seconds: AnswerSeconds = 600,
    again: Again = False,
) -> None:
    """Have certified scenarios turned into conversations. A stopped run goes on with the same command."""
    folder = bundle_of(bundle)
    if not (solver or model):
        raise RequestError("say --solver NAME, the model that plays, or --model NAME for both")
    plan = writer_plan(
        work or Path(".envfarm") / "converse" / folder.name,
        writer=writer,
        base_url=base_url,
        model=model,
        record=record,
        recordings=recording,
        seconds=seconds,
    )
    from synth.scenarios.scenario_run import SolverModel, SolverOptions, make_with_models

    plays = SolverModel(solver or model, solver_url or base_url, api_key, temperature, seconds)
    speaks = SolverModel(user or model or solver, user_url or base_url, api_key, temperature, seconds)
    options = SolverOptions(plays, attempts, at_once, speaks, scenario or ())
    make_with_models(folder, to, plan, options, n, again=again, key=api_key)


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


synth.command("pairs")(pairs)
synth.command("retell")(retell)


@synth.command("phrases")
def phrases(
    bundle: Bundle,
    to: Annotated[Path | None, typer.Option("--out", help="The file to write; the bundle's own by default.")] = None,
    work: WorkFolder = None,
    writer: WriterKind = "endpoint",
    base_url: BaseUrl = OPENAI,
    api_key: ApiKey = "",
    model: WriterModel = "",
    recording: Recordings = None,
    record: RecordingFile = None,
) -> None:
    """Have words for an environment's tasks written, and answers in other words: two requests, four attempts each."""
    folder = bundle_of(bundle)
    work = work or Path(".envfarm") / "phrases" / folder.name
    plan = writer_plan(work, writer=writer, base_url=base_url, model=model, record=record, recordings=recording)
    from synth.scenarios.scenario_run import make_phrases

    make_phrases(folder, to, work, plan, api_key)
