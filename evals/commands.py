"""The command `farm demo`. Other commands about playing have files of their own."""

import asyncio
import time
from typing import Annotated

import typer
from rich.live import Live
from rich.table import Table
from rich.text import Text

from evals.demo import FIRST_FEW, PlayedScenario, play_demo
from evals.rollout import Rollout
from registry.client import FarmClient
from registry.farm import private
from servers.bundle_library import OWN_LIBRARY
from servers.text.terminal import Terminal, hints, marked
from servers.text.wording import counted

app = typer.Typer()
out = Terminal()


@app.command()
def demo(
    every: Annotated[bool, typer.Option("--all", help="Play all scenarios, not the first few of each.")] = False,
) -> None:
    """Start a farm, play scenarios three ways over real HTTP, and show the rewards. Needs no key."""
    shown, seconds = asyncio.run(_demo(None if every else FIRST_FEW))
    calls = sum(run.trace.calls for one in shown for run in (one.gold, one.idle, one.sabotaged) if run.trace)
    wrong = [one for one in shown if not one.as_it_must_be]
    out.print(f"\n{counted(3 * len(shown), 'rollout')}, {counted(calls, 'tool call')}, {seconds:.1f} s.")
    if wrong:
        for one in wrong:
            out.print(
                marked("[red]{}/{} is not as it must be[/]: {}", one.environment, one.scenario.id, one.gold.error)
            )
        raise typer.Exit(1)
    out.print("The reference solutions earn 1, doing nothing earns 0, and leaving out the last step never succeeds.")
    first = shown[0]
    out.print(
        hints(
            "\nWhere to look next:",
            (f"farm play {first.environment} --scenario {first.scenario.id} --gold", "watch one episode"),
            (f"farm connect claude {first.environment} --write", "let Claude Code act in it"),
            ("farm up", "a farm that stays, with its API at /v1/docs"),
        )
    )


async def _demo(most: int | None) -> tuple[list[PlayedScenario], float]:
    table = Table("environment", "scenario", "calls", "reference", "idle", "sabotaged", "")
    done: list[PlayedScenario] = []
    with Live(table, console=out, refresh_per_second=8):

        def on_shown(one: PlayedScenario) -> None:
            done.append(one)
            table.add_row(*_row(one))

        begin = time.perf_counter()
        async with private((OWN_LIBRARY,)) as address, FarmClient(address.url, address.token) as farm:
            await play_demo(farm, on_shown, most=most)
    return done, time.perf_counter() - begin


def _row(one: PlayedScenario) -> tuple[str | Text, ...]:
    mark = marked("[green]ok[/]" if one.as_it_must_be else "[red]wrong[/]")
    calls = str(len(one.scenario.reference().calls))
    return one.environment, one.scenario.id, calls, *map(_reward, (one.gold, one.idle, one.sabotaged)), mark


def _reward(run: Rollout) -> str:
    return run.outcome if run.reward is None else f"{run.reward:.2f}"
