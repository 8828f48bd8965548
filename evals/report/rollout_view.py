"""A rollout on the terminal: the agent's calls beside the reference solution, and the verdicts."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from evals.effects import made
from evals.report.replay_data import openable
from evals.rollout import Rollout
from evals.runs.folder import RunFolder
from evals.runs.records import RolloutRecord
from evals.runs.summary import RolloutSummary
from servers.errors import NotFound
from servers.text.terminal import marked

LONGEST = 1200
SIGNS = {"insert": ("+", "green"), "update": ("~", "yellow"), "delete": ("−", "red")}


NOT_LISTED = ("offset", "length")
"""Where a rollout stands in its file: nothing for others."""


def listed_data(one: RolloutSummary) -> dict[str, Any]:
    """A line of the list as plain values."""
    return {name: value for name, value in asdict(one).items() if name not in NOT_LISTED}


def list_rollouts(console: Console, listed: Iterable[RolloutSummary]) -> None:
    """Print a line for each rollout."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 2, 0, 0))
    table.add_column("rollout", overflow="fold", min_width=36)
    for column in ("outcome", "reward", "turns", "calls", "why"):
        table.add_column(column)
    for one in listed:
        reward = "–" if one.reward is None else f"{one.reward:.2f}"
        style = "magenta" if one.success is None else "green" if one.success else "red"
        why = one.cause or (one.error if one.success is None else "")
        table.add_row(one.key, Text(one.outcome, style), reward, str(one.turns), str(one.calls), Text(why[:80]))
    console.print(table)


def rollout_named(folder: RunFolder, name: str) -> RolloutRecord:
    """A rollout of a run. Raises NotFound if the run has none of this name."""
    found: RolloutRecord | None = None
    for at in folder.rollouts():
        if at.played.key == name:
            found = at.played  # the last line of a name counts
    if found is None:
        raise NotFound(f"{folder.path} has no rollout {name!r}; `farm show {folder.path}` lists them")
    return found


def show_rollout(console: Console, folder: RunFolder, found: RolloutRecord) -> None:
    """Print one rollout beside the reference solution."""
    name = found.key
    subject = folder.subjects().get(name.rpartition("#")[0])
    run = found.rollout
    reward = "no reward" if run.reward is None else f"reward {run.reward:.2f}"
    title = f"{name}   {run.outcome}   {reward}   seed {run.seed}"
    task = subject.detail.scenario.task if subject else (run.trace.task if run.trace else "")
    console.print(Panel(Text(task), title=Text(title), title_align="left"))
    for trouble in found.broken:
        console.print(Text(f"an earlier try broke: {trouble}", style="magenta"))
    if run.error:
        console.print(Text(f"it did not finish: {run.error}", style="yellow"))
    beside = Table.grid(expand=True, padding=(0, 2, 0, 0))
    beside.add_column(ratio=1, overflow="fold")
    beside.add_column(ratio=1, overflow="fold")
    reference = subject.reference if subject else None
    left, right = Text(f"what {found.agent} did", "bold"), Text("the reference solution", "bold")
    beside.add_row(left, right)
    beside.add_row(_lane(run), _lane(reference) if reference else Text("it is not in this run"))
    console.print(beside)
    console.print(verdicts_of(run))


def _lane(run: Rollout) -> RenderableType:
    told = openable(run)
    parts: list[RenderableType] = []
    if told["user"]:
        parts.append(Text(f"user: {told['task']}", "magenta"))
    for number, turn in enumerate(told["turns"], start=1):
        parts.append(Text(f"turn {number}", "dim"))
        parts += _turn(turn)
    return Group(*parts)


def _turn(turn: dict[str, Any]) -> Iterator[RenderableType]:
    if turn["thinking"]:
        yield Text(_short(turn["thinking"].strip()), "dim italic")
    if turn["text"].strip():
        yield Text(turn["text"].strip())
    for call in turn["calls"]:
        arguments = ", ".join(f"{name}={_json(value)}" for name, value in call["arguments"].items())
        asked = f" could not be read: {call['malformed']}" if call["malformed"] else f"({arguments})"
        yield Text.assemble(("→ ", "cyan"), (call["tool"], "bold cyan"), asked)
        result = "no answer: the episode ended first" if call["result"] is None else " ".join(call["result"].split())
        yield Text(f"  {'✗' if call['error'] else '←'} {_short(result)}", "red" if call["error"] else "dim")
        yield from map(_change, call["changes"])
    if turn["user"]:
        yield Text(f"user: {turn['user']}", "magenta")


def _change(change: dict[str, Any]) -> Text:
    sign, style = SIGNS[change["operation"]]
    key = ", ".join(str(value) for value in change["key"].values())
    columns = {**change["before"], **change["after"]}
    told = ", ".join(_column(name, change) for name in columns)
    return Text.assemble((f"    {sign} {change['table']} {key}: ", f"bold {style}"), (told, style))


def _column(name: str, change: dict[str, Any]) -> str:
    before, after = _json(change["before"].get(name)), _json(change["after"].get(name))
    return (
        f"{name} {before} → {after}"
        if change["operation"] == "update"
        else f"{name} {before if name in change['before'] else after}"
    )


def verdicts_of(run: Rollout) -> Table:
    """A line for each checkpoint. One that does not hold shows what it found."""
    table = Table("checkpoint", "role", "holds", "question", "seen", box=SIMPLE_HEAD, padding=(0, 2, 0, 0))
    for verdict in (*run.score.verdicts, *run.score.probes) if run.score else ():
        holds = marked("[green]yes[/]" if verdict.holds else "[red]no[/]")
        seen = verdict.error or ("" if verdict.holds else verdict.seen)
        table.add_row(verdict.checkpoint, verdict.role, holds, Text(verdict.question), Text(_short(seen)))
    return table


def changed_rows(run: Rollout) -> Iterator[Text]:
    """The calls that changed rows, each followed by these rows."""
    trace, effects = run.trace, {effect.call: effect for effect in run.effects or () if effect.changes}
    for number, (call, _) in enumerate(made(trace) if trace is not None else ()):
        if number in effects:
            yield Text(f"  {call.tool}", "bold cyan")
            yield from (_change(change.model_dump(mode="json")) for change in effects[number].changes)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
