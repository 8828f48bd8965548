"""Stored rollouts judged again, after checkpoints or tools have changed: repeated on fresh instances, and shown."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from agent_client.wire import shared_http
from evals.rejudging import NamedRollout, RejudgedRollout, rejudged
from evals.rollout import Rollout
from evals.runs.folder import RunFolder
from registry.client import FarmClient
from registry.farm import private
from servers.errors import RequestError
from servers.files.atomic_write import write_whole
from servers.text.terminal import Terminal, marked
from servers.text.wording import counted

AT_ONCE = 8
MOST_ROWS = 40
out = Terminal()


def judge_again(runs: Sequence[Path], folder: Path, save: Path | None) -> None:
    """Repeat the rollouts of a bundle that runs hold, judge them, and show what changed. `save` gets a line for each.

    Raises:
        RequestError: there are none.
    """
    stored = [one for run in runs for one in _stored(run, folder.name, several=len(runs) > 1)]
    if not stored:
        there = ", ".join(sorted({one.environment for run in runs for one in _rollouts(run).values()})) or "none"
        raise RequestError(f"no rollout of {folder.name} in {', '.join(map(str, runs))}; there are some of: {there}")
    found = asyncio.run(_judged(folder, stored))
    if save is not None:
        write_whole(save, "".join(f"{one.model_dump_json()}\n" for one in found))
    _show(found)
    if save is not None:
        out.print(f"Written: {save}", soft_wrap=True)


def _stored(run: Path, environment: str, *, several: bool) -> list[NamedRollout]:
    """The rollouts of an environment in a run."""
    return [
        NamedRollout(f"{run}/{name}" if several else name, one)
        for name, one in sorted(_rollouts(run).items())
        if one.environment == environment
    ]


def _rollouts(run: Path) -> dict[str, Rollout]:
    """The rollouts of a run by their names; the last line of a name counts."""
    folder = RunFolder(run)
    folder.header()
    return {at.played.key: at.played.rollout for at in folder.rollouts()}


async def _judged(folder: Path, stored: Sequence[NamedRollout]) -> list[RejudgedRollout]:
    with Progress(console=out, transient=True) as progress:
        bar = progress.add_task("judging", total=len(stored))
        async with (
            private((folder.parent,)) as address,
            FarmClient(address.url, address.token) as farm,
            shared_http(2 * AT_ONCE) as http,
        ):
            return await rejudged(farm, stored, http, at_once=AT_ONCE, tell=lambda _: progress.advance(bar))


def _show(found: Sequence[RejudgedRollout]) -> None:
    changed = [one for one in found if one.changed]
    judged = [one for one in found if not one.problem]
    again = f"{len(judged)} of {counted(len(found), 'rollout')} judged again"
    out.print(f"{again}; {counted(len(changed), 'reward')} changed.")
    if changed:
        table = Table("rollout", "before", "now", "why", box=SIMPLE_HEAD, padding=(0, 2, 0, 0))
        for one in changed[:MOST_ROWS]:
            why = "; ".join(one.turned) or "the same verdicts weigh otherwise"
            table.add_row(one.name, _reward(one.before), _reward(one.after), Text(why))
        out.print(table)
        if len(changed) > MOST_ROWS:
            out.print(f"… and {len(changed) - MOST_ROWS} more; --out has them all.")
    _show_mismatches(judged)
    for problem, count in Counter(one.problem for one in found if one.problem).most_common():
        out.print(marked("[magenta]not judged[/]: {} × {}", count, problem))


def _show_mismatches(judged: Sequence[RejudgedRollout]) -> None:
    """Print what has changed since the rollouts were stored."""
    scenarios = sum(one.scenario_changed for one in judged)
    environments = sum(one.environment_changed for one in judged)
    if scenarios:
        made_at = "[yellow]{} rollouts were made at another version of their scenario[/], by digest."
        out.print(marked(made_at, scenarios))
    if environments:
        made_in = "[yellow]{} rollouts were made in another version of the environment[/], by digest."
        out.print(marked(made_in, environments))
    differ = [one for one in judged if one.difference is not None]
    if differ:
        out.print(
            marked("[yellow]{} replays were answered otherwise than at the time[/];", len(differ)),
            "who knows how the agent would have gone on:",
        )
    for one in differ[:MOST_ROWS]:
        if one.difference is not None:
            said = f"  {one.name}: call {one.difference.call + 1}, {one.difference.tool}"
            out.print(Text(f"{said}: {one.difference.now[:120]!r} instead of {one.difference.stored[:120]!r}"))


def _reward(reward: float | None) -> str:
    return "–" if reward is None else f"{reward:.2f}"
