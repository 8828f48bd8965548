"""The commands that play, `farm demo` and `farm play`; those about runs of suites stand in files of their own."""

import asyncio
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.live import Live
from rich.table import Table

from agent_client.chat_model import ChatModel
from agent_client.model import Model
from agent_client.play import Limits
from agent_client.show import show
from evals.demo import FIRST_FEW, Shown, gold_model
from evals.demo import demo as play_demo
from evals.eval_command import app as eval_app
from evals.export_command import app as export_app
from evals.judge_command import app as judge_app
from evals.report_commands import app as report_app
from evals.rollout import Rollout, rollout
from registry.client import FarmClient
from registry.up import private
from servers.command_options import bundle_of
from servers.errors import RequestError
from servers.library import OWN_LIBRARY
from servers.scenario import Solution
from servers.secret_options import ApiKey
from servers.terminal import Terminal
from servers.whole import make_sure_of, write_whole

app = typer.Typer()
for part in (eval_app, report_app, judge_app, export_app):
    app.registered_commands += part.registered_commands
app.registered_groups += export_app.registered_groups
out = Terminal()


@app.command()
def demo(
    every: Annotated[bool, typer.Option("--all", help="Play all scenarios, not the first few of each.")] = False,
) -> None:
    """Start a farm, play scenarios three ways over real HTTP, and show the rewards. Needs no key."""
    shown, seconds = asyncio.run(_demo(None if every else FIRST_FEW))
    calls = sum(run.trace.calls for one in shown for run in (one.gold, one.idle, one.sabotaged) if run.trace)
    wrong = [one for one in shown if not one.as_it_must_be]
    out.print(f"\n{3 * len(shown)} rollouts, {calls} tool calls, {seconds:.1f} s.")
    if wrong:
        for one in wrong:
            out.print(f"[red]{one.environment}/{one.scenario.id} is not as it must be[/]: {one.gold.error}")
        raise typer.Exit(1)
    out.print("The reference solutions earn 1, doing nothing earns 0, and leaving out the last step never succeeds.")
    first = shown[0]
    out.print(
        "\nWhere to look next:\n"
        f"  farm play {first.environment} --scenario {first.scenario.id} --gold   watch one episode\n"
        f"  farm connect claude {first.environment} --write          let Claude Code act in it\n"
        "  farm up                                            a farm that stays, with its API at /v1/docs"
    )


async def _demo(most: int | None) -> tuple[list[Shown], float]:
    table = Table("environment", "scenario", "calls", "reference", "idle", "sabotaged", "")
    done: list[Shown] = []
    with Live(table, console=out, refresh_per_second=8):

        def on_shown(one: Shown) -> None:
            done.append(one)
            table.add_row(*_row(one))

        begin = time.perf_counter()
        async with private((OWN_LIBRARY,)) as address, FarmClient(address.url, address.token) as farm:
            await play_demo(farm, on_shown, most=most)
    return done, time.perf_counter() - begin


def _row(one: Shown) -> tuple[str, ...]:
    mark = "[green]ok[/]" if one.as_it_must_be else "[red]wrong[/]"
    calls = str(len(one.scenario.reference().calls))
    return one.environment, one.scenario.id, calls, *map(_reward, (one.gold, one.idle, one.sabotaged)), mark


def _reward(run: Rollout) -> str:
    return run.outcome if run.reward is None else f"{run.reward:.2f}"


@app.command()
def play(
    environment: Annotated[str, typer.Argument(help="A bundle's folder, or the id of one of the farm's own.")],
    scenario: Annotated[str, typer.Option(help="A scenario's id.")],
    gold: Annotated[bool, typer.Option("--gold", help="Play the reference solution.")] = False,
    solution: Annotated[Path | None, typer.Option(help="Play the calls and the answer of this file (JSON).")] = None,
    model: Annotated[str | None, typer.Option(help="A model of the endpoint.")] = None,
    base_url: Annotated[str, typer.Option(envvar="OPENAI_BASE_URL", help="An OpenAI-compatible endpoint.")] = (
        "https://api.openai.com/v1"
    ),
    api_key: ApiKey = "",
    temperature: Annotated[float | None, typer.Option(help="Sampling temperature.")] = None,
    turns: Annotated[int, typer.Option(min=1, help="The most turns of the model.")] = 40,
    seconds: Annotated[float, typer.Option(min=1, help="The most seconds in all.")] = 600,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the ids that the instance makes.")] = 0,
    save: Annotated[Path | None, typer.Option(help="Write the rollout's record (JSON) to this file.")] = None,
) -> None:
    """Play one scenario and show the episode as it happens. Exit code 0 when every checkpoint holds."""
    if gold + (model is not None) + (solution is not None) != 1:
        raise RequestError("choose one: --gold, --solution FILE, or --model NAME")
    played = None if solution is None else _read_solution(solution)
    if save is not None:
        make_sure_of(save, "--save")
    folder = bundle_of(Path(environment))
    if model is not None and not api_key and "openai.com" in base_url:
        raise RequestError("the endpoint needs a key: OPENAI_API_KEY (or another --base-url)")
    limits = Limits(turns=turns, seconds=seconds)
    chat = None if model is None else ChatModel(base_url, model, api_key=api_key or "none", temperature=temperature)
    run = asyncio.run(_play(folder, scenario, chat, played, limits, seed))
    if save is not None:
        write_whole(save, run.model_dump_json(indent=2) + "\n")
    _show_verdicts(run)
    if run.success is not True:
        raise typer.Exit(1)


def _read_solution(path: Path) -> Solution:
    try:
        return Solution.model_validate_json(path.read_bytes())
    except OSError as error:
        raise RequestError(f"--solution {path}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the whole"
        raise RequestError(f"--solution {path}: {place}: {first['msg']}") from None


async def _play(
    folder: Path, scenario_id: str, chat: ChatModel | None, played: Solution | None, limits: Limits, seed: int
) -> Rollout:
    async with AsyncExitStack() as stack:
        address = await stack.enter_async_context(private((folder.parent,)))
        farm = await stack.enter_async_context(FarmClient(address.url, address.token))
        scenario = await farm.scenario(folder.name, scenario_id)
        model: Model = (
            await stack.enter_async_context(chat) if chat else gold_model(played or scenario.scenario.reference())
        )
        return await rollout(farm, scenario, model, limits=limits, seed=seed, on_event=show(out))


def _show_verdicts(run: Rollout) -> None:
    table = Table("checkpoint", "role", "holds", "question")
    for verdict in run.score.verdicts if run.score else ():
        holds = "[green]yes[/]" if verdict.holds else "[red]no[/]"
        table.add_row(verdict.checkpoint, verdict.role, holds, verdict.error or verdict.question)
    out.print(table)
    reward = "none" if run.reward is None else f"{run.reward:.2f}"
    out.print(f"outcome [bold]{run.outcome}[/], reward [bold]{reward}[/]{f': {run.error}' if run.error else ''}")
