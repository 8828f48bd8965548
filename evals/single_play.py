"""One scenario played for its author: the episode live, the rows that it changed, its verdicts and its reward."""

import asyncio
import re
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

import typer
from rich.text import Text

from agent_client.errors import EndpointRefused
from agent_client.models.endpoint import Retries
from agent_client.models.human_model import HumanModel, InputLines
from agent_client.show import show
from evals.benchmarks.harness import limits_of, rules_of
from evals.effects import made
from evals.report.rollout_view import changed_rows, verdicts_of
from evals.rollout import Rollout, rollout
from evals.runs.command_agent import FOLDERS_OF_TOKENS
from evals.runs.folder import RunFolder
from evals.runs.perturbed import seen_subject, view_at
from evals.runs.players import players
from evals.runs.records import Header, RolloutRecord, Subject
from evals.runs.suite import ChatAgent, HumanAgent, ModelEndpoint, Suite
from evals.runs.suite_run import reference_of
from registry.client import FarmClient
from registry.farm import private
from registry.messages import ScenarioDetail
from servers.errors import RequestError
from servers.text.terminal import Terminal

out = Terminal()
FAILED, MISUSED = 1, 2
"""Exit codes."""
LINE = re.compile(r"^tools\.py, line (\d+)")


class PlayEpisode(NamedTuple):
    """What was played, and by which agent."""

    subject: Subject
    run: Rollout
    is_refused: bool
    """Whether the episode broke because a model's endpoint refused the request, as it does for a wrong key."""


def play_once(suite: Suite, folder: Path, endpoint: ModelEndpoint, save: Path | None, *, is_full: bool = False) -> None:
    """Play a suite of one scenario, show it, and keep it if a folder is given. Exit code 1 if a checkpoint fails."""
    saved = None if save is None else _new_run(save)
    episode = asyncio.run(_played(suite, folder, endpoint, is_kept=saved is not None, is_full=is_full))
    _show_faults(episode.run, folder)
    _show_end(episode.run)
    if saved is not None:
        with saved.writing():
            saved.begin(Header.of(suite, 1), [episode.subject])
            saved.append(RolloutRecord.of(suite, 0, episode.run))
        out.print(f"Saved: `farm show {save}` lists it, `farm report {save} --html FILE` makes a page.", soft_wrap=True)
    if episode.run.success is not True:
        raise typer.Exit(MISUSED if episode.is_refused else FAILED)


def _new_run(path: Path) -> RunFolder:
    """A folder for a new run. Raises RequestError early, before there is a result to lose."""
    folder = RunFolder(path)
    if folder.is_begun:
        raise RequestError(f"--save {path}: holds a run already; choose another folder")
    if path.exists() and not path.is_dir():
        raise RequestError(f"--save {path}: cannot be written: it is a file, and a run is a folder")
    with folder.writing():
        return folder


async def _played(suite: Suite, folder: Path, endpoint: ModelEndpoint, *, is_kept: bool, is_full: bool) -> PlayEpisode:
    [scenario_id] = suite.scenarios.ids
    async with AsyncExitStack() as stack:
        address = await stack.enter_async_context(private((folder.parent,)))
        farm = await stack.enter_async_context(FarmClient(address.url, address.token))
        detail = await farm.scenario(folder.name, scenario_id)
        _check_user(suite, detail)
        refusals: list[EndpointRefused] = []
        retries = Retries(on_retry=_show_retry, on_refusal=refusals.append)
        human = _human() if isinstance(suite.agent, HumanAgent) else None
        playing = await stack.enter_async_context(
            players(suite, endpoint, retries=retries, hidden=FOLDERS_OF_TOKENS, human=human)
        )
        await _make_sure_it_starts(farm, detail, suite)
        seed, perturb = suite.run.seed, suite.perturb
        reference = await reference_of(farm, detail, seed=seed, perturb=perturb) if is_kept else None
        subject = Subject(detail=detail, writers=(), reference=reference)
        run = await rollout(
            farm,
            detail,
            playing.agent_at(seen_subject(subject, await view_at(farm, detail.environment, perturb))),
            limits=limits_of(detail.scenario, suite.limits_of, suite.limits),
            person=playing.person_at(subject),
            rules=rules_of(detail.scenario, suite.limits_of),
            seed=seed,
            perturb=perturb,
            with_effects=True,
            on_event=show(out, is_full=is_full),
            answers=suite.answers,
        )
        return PlayEpisode(subject, run, run.outcome == "infra_error" and bool(refusals))


async def _make_sure_it_starts(farm: FarmClient, detail: ScenarioDetail, suite: Suite) -> None:
    """Launch an instance and close it. Raises BundleError if a file of the bundle prevents the start."""
    name = detail.scenario.id
    async with farm.leased(detail.environment, name, seed=suite.run.seed, perturb=suite.perturb):
        pass


def _check_user(suite: Suite, detail: ScenarioDetail) -> None:
    has_persona = detail.scenario.persona is not None
    if suite.user is not None and not has_persona:
        raise RequestError(f"--user: scenario {detail.scenario.id!r} has no persona, so nobody plays its user")
    if suite.user is None and has_persona and isinstance(suite.agent, ChatAgent | HumanAgent):
        out.print("The task is told outright; with --user NAME it is a conversation with a user.")


def _human() -> HumanModel:
    """The person at the terminal, whose lines are read from now on."""
    lines = InputLines(sys.stdin.fileno())
    lines.start()

    async def next_line() -> str | None:
        out.print("> ", end="")
        return await lines.next_line()

    return HumanModel(next_line, lambda text: out.print(Text(text)))


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
