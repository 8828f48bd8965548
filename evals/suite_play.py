"""A suite played from the terminal: on a farm of its own or a running one, with its progress and its end shown."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from evals.report.report import read_report
from evals.report.report_data import benchmark_data, report_data
from evals.report.tables import show_benchmarks
from evals.runs.command_agent import FOLDERS_OF_TOKENS
from evals.runs.folder import RunFolder
from evals.runs.players import players, program_of
from evals.runs.progress import SuiteProgress, TokenPrices
from evals.runs.scenario_choice import check_names
from evals.runs.suite import CommandAgent, SuiteOrder
from evals.runs.suite_run import Evaluation
from registry.client import Address, FarmClient, WrongToken
from registry.farm import Options, private, running
from servers.bundle_library import Library
from servers.doors.server import run_served
from servers.errors import InfraError, RequestError
from servers.files.scratch_folder import scratch_folder
from servers.text.terminal import Terminal, marked
from servers.text.wording import counted, noun

out = Terminal()
err = Terminal(stderr=True)
NO_TOKEN = "none"  # noqa: S105 - what is sent where none was given, to learn whether a farm is there


def play_suite(wanted: SuiteOrder, *, tell: Callable[[RunFolder], None] | None = None) -> None:
    """Play it, show how it goes and how it ended, and write its run. `tell` shows the result in another way.

    Raises:
        InfraError: nothing could be judged.
    """
    if isinstance(wanted.suite.agent, CommandAgent):
        program_of(wanted.suite.agent, FOLDERS_OF_TOKENS)  # what is wrong with it is told before a farm is started
    if wanted.farm is None:
        check_names(wanted.suite.scenarios, Library(list(wanted.library)))
    folder = RunFolder(wanted.run)
    folder.check_suite(wanted.suite)
    prices = TokenPrices(wanted.prompt_price, wanted.completion_price)
    progress = SuiteProgress(err if wanted.as_json else out, wanted.suite.name, prices)
    with folder.writing():
        run_served(_played(wanted, folder, progress))
    if wanted.as_json and tell is None:
        out.print_data({"runs": [report_data(read_report(folder))], "comparisons": []})
    elif not wanted.as_json:
        _tell_end(progress, folder)
    if tell is not None:
        tell(folder)
    if progress.total.broken and not progress.total.judged:
        raise InfraError(f"nothing was judged: {progress.trouble}")


async def _played(wanted: SuiteOrder, folder: RunFolder, progress: SuiteProgress) -> None:
    suite, farm = wanted.suite, wanted.farm
    async with AsyncExitStack() as stack:
        playing = await stack.enter_async_context(
            players(suite, wanted.endpoint, hidden=FOLDERS_OF_TOKENS, ask_models=True)
        )
        if farm is None:
            progress.say(f"Starting a farm for {suite.name}.")
        address = (
            Address(farm, wanted.token or NO_TOKEN)
            if farm is not None
            else await _own_farm(stack, wanted.library, wanted.workers)
        )
        client = await stack.enter_async_context(FarmClient(address.url, address.token))
        await _make_sure_of(client, has_token=address.token != NO_TOKEN)
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
    state = stack.enter_context(scratch_folder("state"))
    return await stack.enter_async_context(running(Options(library=library, state=state, port=0, workers=workers)))


def _tell_end(progress: SuiteProgress, folder: RunFolder) -> None:
    out.print(f"\nWritten: {folder.path}. Look at it with `farm report {folder.path}` and `farm show {folder.path}`.")
    if progress.total.tokens:
        out.print(f"The agent's models{progress.cost().replace(',', ' took', 1)}.")
    if progress.agent_error:
        failed = counted(progress.total.agent_errors, "rollout")
        out.print(f"In {failed} the agent made an error that ended it. The last one: {progress.agent_error}")
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


class BenchmarkResults:
    """The numbers of the runs of one command. As JSON they are one document, which is printed at the end."""

    def __init__(self, *, as_json: bool, is_one: bool) -> None:
        self._as_json = as_json
        self._is_one = is_one
        self._data: list[dict[str, Any]] = []

    def add(self, folder: RunFolder) -> None:
        """Print the numbers of a run. Raises RequestError if it cannot be read."""
        told = read_report(folder)
        if self._as_json:
            self._data.append(benchmark_data(told))
        else:
            show_benchmarks(out, told)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        if self._data:
            out.print_data(self._data[0] if self._is_one else self._data)
