"""The command `farm play`: plays one episode, shows it live, and judges it."""

import asyncio
import re
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from pydantic import ValidationError
from rich.text import Text

from agent_client.play import Limits
from agent_client.show import show
from evals.effects import made
from evals.report.rollout_view import changed_rows, verdicts_of
from evals.rollout import Rollout, rollout
from evals.runs.command_agent import FOLDERS_OF_TOKENS, Command, CommandReads, CommandWalls, command_agent
from evals.runs.folder import RunFolder
from evals.runs.players import ModelEndpoint, players
from evals.runs.records import Header, RolloutRecord, Subject
from evals.runs.suite import (
    Agent,
    ChatAgent,
    CommandAgent,
    ScenarioChoice,
    ScriptedAgent,
    SimulatedUser,
    SolutionAgent,
    Suite,
    SuitePlan,
)
from evals.runs.suite_run import reference_of
from registry.client import FarmClient
from registry.farm import private
from registry.messages import ScenarioDetail
from servers.bundle_library import Library
from servers.cli.command_options import BaseUrl, bundle_of, well_formed
from servers.cli.secret_options import ApiKey, UserApiKey
from servers.errors import RequestError
from servers.files.trouble import trouble
from servers.records import OPENAI
from servers.scenario.scenario import Solution
from servers.text.terminal import Terminal
from servers.validation import first_problem

app = typer.Typer()
out = Terminal()
LINE = re.compile(r"^tools\.py, line (\d+)")


class PlayEpisode(NamedTuple):
    """What was played, and by which agent."""

    subject: Subject
    run: Rollout


@app.command()
def play(
    environment: Annotated[str, typer.Argument(help="A bundle's folder, or the id of one of the farm's own.")],
    scenario: Annotated[str, typer.Option(help="A scenario's id.")],
    gold: Annotated[bool, typer.Option("--gold", help="Play the reference solution.")] = False,
    solution: Annotated[Path | None, typer.Option(help="Play the calls and the answer of this file (JSON).")] = None,
    model: Annotated[str | None, typer.Option(help="A model of the endpoint.")] = None,
    command: Command = None,
    agent_walls: CommandWalls = False,
    agent_read: CommandReads = None,
    user: Annotated[
        str | None, typer.Option(help="The model that plays the user, where the scenario has a persona.")
    ] = None,
    base_url: BaseUrl = OPENAI,
    user_url: Annotated[
        str, typer.Option(callback=well_formed, help="The user's endpoint; the model's by default.")
    ] = "",
    api_key: ApiKey = "",
    user_api_key: UserApiKey = "",
    temperature: Annotated[float | None, typer.Option(help="Sampling temperature.")] = None,
    turns: Annotated[int, typer.Option(min=1, help="The most turns of the model.")] = 40,
    seconds: Annotated[float, typer.Option(min=1, help="The most seconds in all.")] = 600,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the ids that the instance makes.")] = 0,
    save: Annotated[
        Path | None, typer.Option(help="Write it into this folder as a run, which `show`, `report` and `judge` open.")
    ] = None,
) -> None:
    """Play one scenario and show the episode live. Exit code 0 if every checkpoint holds."""
    program = command_agent(command, agent_walls, agent_read)
    if gold + (model is not None) + (solution is not None) + (program is not None) != 1:
        raise RequestError("choose one: --gold, --solution FILE, --model NAME, or --agent COMMAND")
    if user is not None and model is None:
        raise RequestError("--user NAME plays the user of a conversation with --model NAME")
    agent = CommandAgent.model_validate(program) if program else _agent(solution, model, temperature)
    folder = bundle_of(Path(environment))
    Library([folder.parent]).scenario(folder.name, scenario)
    if model is not None and not api_key and "openai.com" in base_url:
        raise RequestError("the endpoint needs a key: OPENAI_API_KEY (or another --base-url)")
    saved = None if save is None else _new_run(save)
    suite = Suite(
        name=f"{folder.name}/{scenario}",
        agent=agent,
        user=None if user is None else SimulatedUser(model=user, base_url=user_url or None),
        scenarios=ScenarioChoice(environments=(folder.name,), ids=(scenario,)),
        run=SuitePlan(seed=seed),
        limits=Limits(seconds=seconds) if program else Limits(turns=turns, seconds=seconds),
    )
    episode = asyncio.run(
        _played(suite, folder, ModelEndpoint(base_url, api_key, user_api_key), is_kept=saved is not None)
    )
    _show_faults(episode.run, folder)
    _show_end(episode.run)
    if saved is not None:
        with saved.writing():
            saved.begin(Header.of(suite, 1), [episode.subject])
            saved.append(RolloutRecord.of(suite, 0, episode.run))
        out.print(f"Saved: `farm show {save}` lists it, `farm report {save} --html FILE` makes a page.", soft_wrap=True)
    if episode.run.success is not True:
        raise typer.Exit(1)


def _agent(solution: Path | None, model: str | None, temperature: float | None) -> Agent:
    if solution is not None:
        return SolutionAgent(kind="solution", solution=_read_solution(solution))
    if model is not None:
        return ChatAgent(kind="chat", model=model, temperature=temperature)
    return ScriptedAgent(kind="gold")


def _read_solution(path: Path) -> Solution:
    try:
        return Solution.model_validate_json(path.read_bytes())
    except OSError as error:
        raise RequestError(f"--solution {path}: cannot be read: {trouble(error)}") from None
    except ValidationError as error:
        raise RequestError(f"--solution {path}: {first_problem(error)}") from None


def _new_run(path: Path) -> RunFolder:
    """A folder for a new run. Raises RequestError early, before there is a result to lose."""
    folder = RunFolder(path)
    if folder.is_begun:
        raise RequestError(f"--save {path}: holds a run already; choose another folder")
    if path.exists() and not path.is_dir():
        raise RequestError(f"--save {path}: cannot be written: it is a file, and a run is a folder")
    with folder.writing():
        return folder


async def _played(suite: Suite, folder: Path, endpoint: ModelEndpoint, *, is_kept: bool) -> PlayEpisode:
    [scenario_id] = suite.scenarios.ids
    async with AsyncExitStack() as stack:
        address = await stack.enter_async_context(private((folder.parent,)))
        farm = await stack.enter_async_context(FarmClient(address.url, address.token))
        detail = await farm.scenario(folder.name, scenario_id)
        _check_user(suite, detail)
        playing = await stack.enter_async_context(
            players(suite, endpoint, on_retry=_show_retry, hidden=FOLDERS_OF_TOKENS)
        )
        await _make_sure_it_starts(farm, detail, suite.run.seed)
        reference = await reference_of(farm, detail, seed=suite.run.seed) if is_kept else None
        subject = Subject(detail=detail, writers=(), reference=reference)
        run = await rollout(
            farm,
            detail,
            playing.agent_at(subject),
            limits=suite.limits,
            person=playing.person_at(subject),
            seed=suite.run.seed,
            with_effects=True,
            on_event=show(out),
        )
        return PlayEpisode(subject, run)


async def _make_sure_it_starts(farm: FarmClient, detail: ScenarioDetail, seed: int) -> None:
    """Launch an instance and close it. Raises BundleError if a file of the bundle prevents the start."""
    async with farm.leased(detail.environment, detail.scenario.id, seed=seed):
        pass


def _check_user(suite: Suite, detail: ScenarioDetail) -> None:
    has_persona = detail.scenario.persona is not None
    if suite.user is not None and not has_persona:
        raise RequestError(f"--user: scenario {detail.scenario.id!r} has no persona, so nobody plays its user")
    if suite.user is None and has_persona and isinstance(suite.agent, ChatAgent):
        out.print("The model is told the task outright; with --user NAME it is a conversation with a user.")


def _show_retry(trouble: str) -> None:
    out.print(Text(f"the endpoint: {trouble}", "yellow"))


def _show_faults(run: Rollout, folder: Path) -> None:
    """Print faults inside tools for their author: file, line, exception. The agent only learns that a tool failed."""
    faults = {effect.call: effect.fault for effect in run.effects or () if effect.fault}
    if not faults or run.trace is None:
        return
    out.print(Text("faults of tools", "bold dim"))
    for number, (call, _) in enumerate(made(run.trace)):
        if number in faults:
            where = LINE.sub(lambda found: f"{folder / 'tools.py'}:{found[1]}", faults[number])
            out.print(Text(f"  call {number + 1}, {call.tool}: {where}", "red"), soft_wrap=True)


def _show_end(run: Rollout) -> None:
    """Print the changes, the verdicts and the reward. For a broken episode, print the error."""
    shown = run.trace.error if run.trace is not None else ""
    error = f": {run.error}" if run.error and run.error != shown else ""
    if run.outcome == "infra_error":
        out.print(Text.assemble("outcome ", ("infra_error", "bold magenta"), ", no reward", error))
        return
    out.print(Text("rows changed", "bold dim"))
    rows = list(changed_rows(run)) or [Text("  none")]
    for row in rows:
        out.print(row)
    out.print(verdicts_of(run))
    reward = "none" if run.reward is None else f"{run.reward:.2f}"
    out.print(Text.assemble("outcome ", (run.outcome, "bold"), ", reward ", (reward, "bold"), error))
