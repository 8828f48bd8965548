"""The command `farm play`: plays one episode, shows it live, and judges it."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from agent_client.trace import Limits
from evals.runs.command_agent import AgentCommand, Answers, CommandReads, CommandWalls, command_agent
from evals.runs.suite import (
    Agent,
    ChatAgent,
    CommandAgent,
    HumanAgent,
    ModelEndpoint,
    ScenarioChoice,
    ScriptedAgent,
    SimulatedUser,
    SolutionAgent,
    Suite,
    SuitePlan,
)
from servers.bundle_library import Library
from servers.cli.command_options import BaseUrl, PerturbOption, bundle_of, well_formed
from servers.cli.secret_options import ApiKey, UserApiKey
from servers.errors import RequestError
from servers.files.named_file import bytes_named
from servers.files.trouble import trouble
from servers.records import OPENAI
from servers.scenario.scenario import Solution
from servers.validation import first_problem

app = typer.Typer()

PLAY_TURNS, PLAY_SECONDS = 40, 600.0
PERSONS_TURNS, PERSONS_SECONDS = 10_000, 86_400.0


@app.command()
def play(
    environment: Annotated[str, typer.Argument(help="A bundle's folder, or the id of one of the farm's own.")],
    scenario: Annotated[str, typer.Option(help="A scenario's id; `farm scenarios ENVIRONMENT` lists them.")],
    gold: Annotated[bool, typer.Option("--gold", help="Play the reference solution.")] = False,
    solution: Annotated[Path | None, typer.Option(help="Play the calls and the answer of this file (JSON).")] = None,
    model: Annotated[str | None, typer.Option(help="A model of the endpoint.")] = None,
    me: Annotated[bool, typer.Option("--me", help="Play it yourself, at this terminal.")] = False,
    command: AgentCommand = None,
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
    turns: Annotated[
        int | None, typer.Option(min=1, help="The most turns of the model: 40, or as many as you like with --me.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(min=1, help="The most seconds in all: 600, or a day with --me.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the ids that the instance makes.")] = 0,
    answers: Answers = None,
    perturb: PerturbOption = None,
    full: Annotated[bool, typer.Option("--full", help="Show long results and arguments whole. --me does so.")] = False,
    save: Annotated[
        Path | None, typer.Option(help="Write it into this folder as a run, which `show`, `report` and `judge` open.")
    ] = None,
) -> None:
    """Play one scenario and show the episode live. Exit code 0 if every checkpoint holds."""
    program = command_agent(command, agent_walls, agent_read)
    if gold + me + (model is not None) + (solution is not None) + (program is not None) != 1:
        raise RequestError("choose one: --gold, --me, --solution FILE, --model NAME, or --agent COMMAND")
    if user is not None and model is None and not me:
        raise RequestError("--user NAME plays the user of a conversation with --model NAME or --me")
    agent = CommandAgent.model_validate(program) if program else _agent(solution, model, temperature, me=me)
    folder = bundle_of(Path(environment))
    Library([folder.parent]).scenario(folder.name, scenario)
    if (model is not None or user is not None) and not api_key and "openai.com" in base_url:
        raise RequestError("the endpoint needs a key: OPENAI_API_KEY (or another --base-url)")
    suite = Suite(
        name=f"{folder.name}/{scenario}",
        agent=agent,
        user=None if user is None else SimulatedUser(model=user, base_url=user_url or None),
        scenarios=ScenarioChoice(environments=(folder.name,), ids=(scenario,)),
        run=SuitePlan(seed=seed),
        limits=_limits(turns, seconds, me=me) if program is None else Limits(seconds=seconds or PLAY_SECONDS),
        answers=answers or "text",
        perturb=perturb or "",
    )
    from evals.single_play import play_once

    play_once(suite, folder, ModelEndpoint(base_url, api_key, user_api_key), save, is_full=full or me)


def _limits(turns: int | None, seconds: float | None, *, me: bool) -> Limits:
    most_turns, most_seconds = (PERSONS_TURNS, PERSONS_SECONDS) if me else (PLAY_TURNS, PLAY_SECONDS)
    return Limits(turns=turns or most_turns, seconds=seconds or most_seconds)


def _agent(solution: Path | None, model: str | None, temperature: float | None, *, me: bool) -> Agent:
    if me:
        return HumanAgent(kind="human")
    if solution is not None:
        return SolutionAgent(kind="solution", solution=_read_solution(solution))
    if model is not None:
        return ChatAgent(kind="chat", model=model, temperature=temperature)
    return ScriptedAgent(kind="gold")


def _read_solution(path: Path) -> Solution:
    try:
        return Solution.model_validate_json(bytes_named(path))
    except OSError as error:
        raise RequestError(f"--solution {path}: cannot be read: {trouble(error)}") from None
    except ValidationError as error:
        raise RequestError(f"--solution {path}: {first_problem(error)}") from None
