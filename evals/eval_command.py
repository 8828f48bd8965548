"""The command `farm eval`: play a suite."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from evals.runs.command_agent import AgentCommand, Answers, CommandReads, CommandWalls, command_agent
from evals.runs.suite import ChatAgent, CommandAgent, ModelEndpoint, ScenarioChoice, Suite, SuiteOrder, read_suite
from servers.bundle_library import OWN_LIBRARY
from servers.cli.command_options import AsJson, BaseUrl, PerturbOption, shelves
from servers.cli.secret_options import ApiKey, Token, TokenFile, UserApiKey, token_from
from servers.errors import RequestError
from servers.records import OPENAI, AnswerFormat

app = typer.Typer()


@app.command("eval")
def evaluate(
    suite: Annotated[Path | None, typer.Argument(help="A suite (TOML). With --agent it may be left out.")] = None,
    *,
    run: Annotated[
        Path, typer.Option("--out", help="The run's folder, such as runs/first; one that was begun is gone on with.")
    ],
    agent: AgentCommand = None,
    agent_walls: CommandWalls = False,
    agent_read: CommandReads = None,
    environment: Annotated[
        list[str] | None, typer.Option(help="Without a suite: an environment whose scenarios are played.")
    ] = None,
    scenario: Annotated[list[str] | None, typer.Option(help="Without a suite: a scenario that is played.")] = None,
    farm: Annotated[str | None, typer.Option(help="A running farm's URL, instead of a farm of its own.")] = None,
    token: Token = None,
    token_file: TokenFile = None,
    library: Annotated[list[Path] | None, typer.Option(help="A folder of bundles, beside the farm's own.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Worker processes of the farm of its own.")] = 1,
    base_url: BaseUrl = OPENAI,
    api_key: ApiKey = "",
    user_api_key: UserApiKey = "",
    answers: Answers = None,
    perturb: PerturbOption = None,
    prompt_price: Annotated[float, typer.Option(min=0, help="What a million tokens of prompts cost.")] = 0.0,
    completion_price: Annotated[float, typer.Option(min=0, help="What a million tokens of answers cost.")] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Play a suite and write its run. After an interruption the same command continues."""
    told = _suite(
        suite, command_agent(agent, agent_walls, agent_read), environment or [], scenario or [], answers, perturb
    )
    if farm is not None and (library or workers > 1):
        raise RequestError("--farm is a farm that runs already: --library and --workers are for a farm of its own")
    given = token_from(token, token_file) or ""
    if isinstance(told.agent, ChatAgent) and not api_key and told.agent.base_url is None and "openai.com" in base_url:
        raise RequestError("the agent's endpoint needs a key: OPENAI_API_KEY (or another --base-url)")
    wanted = SuiteOrder(
        suite=told,
        run=run,
        endpoint=ModelEndpoint(base_url, api_key, user_api_key),
        farm=farm,
        token=given,
        library=(*shelves(library), OWN_LIBRARY),
        workers=workers,
        prompt_price=prompt_price,
        completion_price=completion_price,
        as_json=as_json,
    )
    from evals.suite_play import play_suite

    play_suite(wanted)


def _suite(
    path: Path | None,
    agent: dict[str, Any] | None,
    environments: Sequence[str],
    scenarios: Sequence[str],
    answers: AnswerFormat | None,
    perturb: str | None,
) -> Suite:
    """The suite of a file, with the agent of the command line if there is one. Or one of that agent alone."""
    if path is not None:
        if environments or scenarios:
            raise RequestError("--environment and --scenario go without a suite, whose [scenarios] says which")
        return read_suite(path, agent=agent, answers=answers, perturb=perturb)
    if agent is None:
        raise RequestError("give a suite, or an agent with --agent COMMAND")
    choice = ScenarioChoice(environments=tuple(environments), ids=tuple(scenarios))
    told = CommandAgent.model_validate(agent)
    return Suite(name=told.called, agent=told, scenarios=choice, answers=answers or "text", perturb=perturb or "")
