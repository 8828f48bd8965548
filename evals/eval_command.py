"""The command `farm eval`: play a suite."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from evals.report.report import read_report
from evals.report.report_data import report_data
from evals.runs.command_agent import FOLDERS_OF_TOKENS, Command, CommandReads, CommandWalls, command_agent
from evals.runs.folder import RunFolder
from evals.runs.players import ModelEndpoint, players, program_of
from evals.runs.progress import SuiteProgress, TokenPrices
from evals.runs.suite import ChatAgent, CommandAgent, ScenarioChoice, Suite, read_suite
from evals.runs.suite_run import Evaluation
from registry.client import FarmClient, WrongToken
from registry.farm import Address, Options, private, running
from servers.bundle_library import OWN_LIBRARY
from servers.cli.command_options import AsJson, BaseUrl, shelves
from servers.cli.secret_options import ApiKey, Token, TokenFile, UserApiKey, token_from
from servers.doors.server import run_served
from servers.errors import InfraError, RequestError
from servers.records import OPENAI
from servers.text.terminal import Terminal, marked
from servers.text.wording import counted, noun

app = typer.Typer()
out = Terminal()
err = Terminal(stderr=True)
NO_TOKEN = "none"  # noqa: S105 - what is sent where none was given, to learn whether a farm is there


@app.command("eval")
def evaluate(
    suite: Annotated[Path | None, typer.Argument(help="A suite (TOML). With --agent it may be left out.")] = None,
    *,
    run: Annotated[Path, typer.Option("--out", help="The run's folder; one that was begun is gone on with.")],
    agent: Command = None,
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
    prompt_price: Annotated[float, typer.Option(min=0, help="What a million tokens of prompts cost.")] = 0.0,
    completion_price: Annotated[float, typer.Option(min=0, help="What a million tokens of answers cost.")] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Play a suite and write its run. After an interruption the same command continues."""
    told = _suite(suite, command_agent(agent, agent_walls, agent_read), environment or [], scenario or [])
    if farm is not None and (library or workers > 1):
        raise RequestError("--farm is a farm that runs already: --library and --workers are for a farm of its own")
    given = token_from(token, token_file) or ""
    if isinstance(told.agent, ChatAgent) and not api_key and told.agent.base_url is None and "openai.com" in base_url:
        raise RequestError("the agent's endpoint needs a key: OPENAI_API_KEY (or another --base-url)")
    if isinstance(told.agent, CommandAgent):
        program_of(told.agent, FOLDERS_OF_TOKENS)  # what is wrong with it is told before a farm is started
    shelf = (*shelves(library), OWN_LIBRARY)
    folder = RunFolder(run)
    endpoint = ModelEndpoint(base_url, api_key, user_api_key)
    progress = SuiteProgress(err if as_json else out, told.name, TokenPrices(prompt_price, completion_price))
    with folder.writing():
        run_served(_evaluate(told, folder, endpoint, progress, farm, given, shelf, workers))
    if as_json:
        out.print_data({"runs": [report_data(read_report(folder))], "comparisons": []})
    else:
        _tell_end(progress, folder)
    if progress.total.broken and not progress.total.judged:
        raise InfraError(f"nothing was judged: {progress.trouble}")


def _suite(
    path: Path | None, agent: dict[str, Any] | None, environments: Sequence[str], scenarios: Sequence[str]
) -> Suite:
    """The suite of a file, with the agent of the command line if there is one. Or one of that agent alone."""
    if path is not None:
        if environments or scenarios:
            raise RequestError("--environment and --scenario go without a suite, whose [scenarios] says which")
        return read_suite(path, agent=agent)
    if agent is None:
        raise RequestError("give a suite, or an agent with --agent COMMAND")
    choice = ScenarioChoice(environments=tuple(environments), ids=tuple(scenarios))
    told = CommandAgent.model_validate(agent)
    return Suite(name=told.called, agent=told, scenarios=choice)


async def _evaluate(
    suite: Suite,
    folder: RunFolder,
    endpoint: ModelEndpoint,
    progress: SuiteProgress,
    farm: str | None,
    token: str,
    library: tuple[Path, ...],
    workers: int,
) -> None:
    async with AsyncExitStack() as stack:
        if farm is None:
            progress.say(f"Starting a farm for {suite.name}.")
        address = Address(farm, token or NO_TOKEN) if farm is not None else await _own_farm(stack, library, workers)
        client = await stack.enter_async_context(FarmClient(address.url, address.token))
        await _make_sure_of(client, has_token=address.token != NO_TOKEN)
        playing = await stack.enter_async_context(players(suite, endpoint, hidden=FOLDERS_OF_TOKENS, ask_models=True))
        stack.enter_context(progress.live())
        await Evaluation(client, suite, playing, folder, progress).run()
        progress.state = "done"


async def _make_sure_of(farm: FarmClient, *, has_token: bool) -> None:
    """Check that a farm answers and accepts the token, before anything is played."""
    try:
        await farm.environments(limit=1)
    except WrongToken as error:
        wants = f"the farm at {farm.url} wants its control token"
        raise RequestError(f"{error if has_token else wants}: FARM_TOKEN or --token-file") from None


async def _own_farm(stack: AsyncExitStack, library: tuple[Path, ...], workers: int) -> Address:
    if workers == 1:
        return await stack.enter_async_context(private(library))
    state = Path(stack.enter_context(TemporaryDirectory(prefix="farm-")))
    return await stack.enter_async_context(running(Options(library=library, state=state, port=0, workers=workers)))


def _tell_end(progress: SuiteProgress, folder: RunFolder) -> None:
    out.print(f"\nWritten: {folder.path}. Look at it with `farm report {folder.path}` and `farm show {folder.path}`.")
    if progress.total.tokens:
        out.print(f"The agent's models{progress.cost().replace(',', ' took', 1)}.")
    if progress.total.broken:
        broken = progress.total.broken
        out.print(
            marked(
                "[magenta]{} broke on our side[/] and {} no reward;",
                counted(broken, "rollout"),
                noun(broken, "has", "have"),
            ),
            f"the same command plays {noun(broken, 'it', 'them')} again.",
        )
        out.print(f"The last one broke by: {progress.trouble}")
