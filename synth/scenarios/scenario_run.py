"""Runs that make scenarios of a bundle, once their options are checked: making, progress, and what is printed."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import typer
from rich.table import Table

from agent_client.errors import EndpointRefused
from agent_client.models.chat_model import ChatModel
from agent_client.models.endpoint import NamedKey, Retries
from servers.bundle.files import name_in_commands, text_if_there
from servers.bundle.paraphrases import PARAPHRASES_FILE
from servers.files.atomic_write import make_sure_of
from servers.records import KEY
from servers.text.terminal import Terminal
from servers.text.wording import counted, noun
from synth.backward.generator import Shelf, Yield, make_backward
from synth.backward.profile import profile_of
from synth.conversation.run import Converse
from synth.forward.run import Forward
from synth.forward.scenario_chains import RunOutcome, ScenarioChains
from synth.forward.solver import Solver
from synth.pipeline.folder import SynthesisFolder
from synth.pipeline.plan import RunPlan
from synth.pipeline.progress import RunProgress
from synth.play.playground import Playground
from synth.processes.inline_loop import run_alone
from synth.processes.process_pool import PoolSettings
from synth.processes.progress import progress_on
from synth.recipes.recipe_generator import make_from_recipes, wanted_of
from synth.runner.table import live
from synth.runner.writer_choice import writer_for
from synth.scenarios.phrase_stage import WrittenPhrases, written

out = Terminal()
err = Terminal(stderr=True)


class BackwardOptions(NamedTuple):
    """The wishes for a backward run, as the command line gives them. A level or a profile asks for recipes."""

    seed: int
    commands: str | None
    tools: list[str] | None
    refusals: bool
    tells: bool
    level: str | None
    profile: str | None


@dataclass(frozen=True)
class SolverModel:
    """The model of a solver, and its endpoint. The key is never written anywhere."""

    model: str
    base_url: str
    api_key: str
    temperature: float
    seconds: float
    """The most seconds for one answer."""

    def opened(self, refusals: list[EndpointRefused]) -> ChatModel:
        """The model, to be entered. It notes what its endpoint refuses."""
        return ChatModel(
            self.base_url,
            self.model,
            api_key=NamedKey(self.api_key, KEY),
            temperature=self.temperature,
            seconds=self.seconds,
            retries=Retries(on_refusal=refusals.append),
        )


@dataclass(frozen=True)
class SolverOptions:
    """Who plays new scenarios, and how often. With a `user`, scenarios become conversations."""

    solver: SolverModel
    attempts: int
    at_once: int
    user: SolverModel | None = None
    only: Sequence[str] = ()
    """The scenarios that become conversations."""


def make_by_walks(folder: Path, path: Path, n: int, wanted: BackwardOptions, pool: PoolSettings) -> None:
    """Make scenarios of what the tools do, and print the yield."""
    _show_yield(run_alone(_make(folder, path, n, wanted, pool)), n, path, name_in_commands(folder), wanted.seed)


def make_with_models(
    folder: Path, to: Path | None, plan: RunPlan, options: SolverOptions, n: int, *, again: bool, key: str
) -> None:
    """Make scenarios with a writer and a solver, and print how they ended. Exit code 1 if some stopped."""
    path = to or folder / "scenarios.jsonl"
    _require_writable(path, to)
    outcome = asyncio.run(_with_models(folder, path, plan, options, n=n, again=again, key=key))
    if not outcome.ends:
        left = ", or no scenario is left that could become a conversation" if options.user else ""
        there = f"Nothing was tried: of this kind {path} has the {n} that --n asks for{left}"
        out.print(f"{there}; --n is the number in the end, those that are there included.", soft_wrap=True)
        return
    _show_outcome(outcome, "conversations" if options.user else "proposed scenarios")
    if outcome.count("stopped") + outcome.count("failed"):
        raise typer.Exit(1)


def make_phrases(folder: Path, to: Path | None, work: Path, plan: RunPlan, api_key: str) -> None:
    """Have the words for an environment's tasks written, and print where they are."""
    path = to or folder / "phrases.json"
    _require_writable(path, to)
    made = asyncio.run(_phrased(folder, work, path, plan, api_key))
    commands, tables = counted(len(made.phrases.asks), "command"), counted(len(made.phrases.rows), "table")
    out.print(f"Words for {commands} and {tables}: {path}", soft_wrap=True)
    values = sum(map(len, made.paraphrases.tells.values()))
    if values:
        other = path.with_name(PARAPHRASES_FILE)
        out.print(f"Answers in other words for {counted(values, 'value')}: {other}", soft_wrap=True)


def _require_writable(path: Path, to: Path | None) -> None:
    """Check that the result can be written, before a model is paid. By default that is a file of the bundle."""
    if to is None:
        text_if_there(path)
    make_sure_of(path, "--out")


async def _with_models(
    folder: Path, path: Path, plan: RunPlan, options: SolverOptions, *, n: int, again: bool, key: str
) -> RunOutcome:
    progress = RunProgress()
    async with AsyncExitStack() as stack:
        refusals: list[EndpointRefused] = []
        model = await stack.enter_async_context(options.solver.opened(refusals))
        user = await stack.enter_async_context(options.user.opened(refusals)) if options.user else None
        writer = await stack.enter_async_context(writer_for(plan, SynthesisFolder(plan.out), key))
        playground = await stack.enter_async_context(Playground(folder))
        chains = ScenarioChains(Shelf(path, playground), writer, again=again, progress=progress)
        solver = Solver(model, options.attempts, at_once=options.at_once, user=user, refusals=refusals)
        run = (
            Converse(plan.out, playground, chains, solver, options.only)
            if user
            else Forward(plan.out, playground, chains, solver)
        )
        with live(out, progress):
            return await run.run(n)


async def _phrased(folder: Path, work: Path, path: Path, plan: RunPlan, api_key: str) -> WrittenPhrases:
    run = SynthesisFolder(work)
    with run.locked("--work"):
        async with writer_for(plan, run, api_key, on_retry=_show_retry) as writing:
            return await written(folder, work, path, writing)


def _show_retry(trouble: str) -> None:
    err.print(f"the endpoint: {trouble}")


async def _make(folder: Path, path: Path, n: int, wanted: BackwardOptions, pool: PoolSettings) -> Yield:
    begin = time.perf_counter()
    async with Playground(folder) as playground:
        profile = profile_of(
            playground.environment, wanted.commands, wanted.tools, refusals=wanted.refusals, tells=wanted.tells
        )
        make_sure_of(path, "--out")
        wishes = wanted_of(wanted.level, wanted.profile)
        shelf = Shelf(path, playground)
        with progress_on(err) as progress:
            task = progress.add_task("certified", total=n)

            def on_walk(made: Yield) -> None:
                progress.update(task, completed=made.certified, description=f"{counted(made.walks, 'walk')}, certified")

            if wanted.level is not None or wanted.profile is not None:
                make = partial(make_from_recipes, wanted=wishes)
            else:
                make = partial(make_backward, profile=profile)
            made = await make(
                playground, n=n, seed=wanted.seed, there=shelf.there, on_certified=shelf.add, on_walk=on_walk, pool=pool
            )
    made.seconds = time.perf_counter() - begin
    return made


def _show_yield(made: Yield, wanted: int, path: Path, bundle: str, seed: int) -> None:
    if not made.walks:
        there = f"There {noun(wanted, 'is', 'are')} {wanted} of this seed already in {path}"
        out.print(f"{there}; --n is the number in the end, these included.", soft_wrap=True)
        return
    table = Table("stage", "scenarios", "lost here because")
    table.add_row("walked", str(made.walks), "")
    table.add_row("told", str(made.told), _told(made.dropped))
    table.add_row("new", str(made.told - made.twice), "")
    table.add_row("certified", str(made.certified), _told(made.rejected))
    out.print(table)
    if made.tally.calls:
        used = ", ".join(f"{name} {number}" for name, number in made.tally.tools.most_common())
        out.print(f"Commands used: {used}.")
        for reason in dict.fromkeys(made.unused.values()):
            names = ", ".join(name for name, why in made.unused.items() if why == reason)
            out.print(f"Never used: {names} ({reason}).", soft_wrap=True)
        if made.unused:
            tools = " ".join(f"--tool {name}" for name in made.unused)
            out.print(
                "Mend what fails in tools.py, or put rows into seed.sql on which it succeeds; `farm synth phrases "
                f"{bundle}` writes words. `farm synth backward {bundle} {tools} --seed {seed + 1}` tries these alone.",
                soft_wrap=True,
            )
        long = sum(number >= 3 for number in made.tally.calls)
        out.print(
            f"Of {counted(len(made.tally.calls), 'scenario')} {long} {noun(long, 'takes', 'take')} 3 calls or more, in "
            f"{made.tally.refusals} something is refused; rows change in {counted(len(made.tally.tables), 'table')}."
        )
    a_minute = 60 * made.certified / made.seconds if made.seconds else 0
    out.print(f"{counted(made.certified, 'certified scenario')} in {made.seconds:.1f} s, {a_minute:.0f} a minute.")


def _told(reasons: Counter[str]) -> str:
    return "\n".join(f"{number} × {reason}" for reason, number in reasons.most_common(5))


def _show_outcome(outcome: RunOutcome, what: str) -> None:
    """Print how the scenarios ended, and what the gates refused."""
    table = Table("scenario", "", "why")
    for name, end in outcome.ends.items():
        table.add_row(name, "certified" if end.state == "accepted" else end.state, end.why[:300])
    out.print(table)
    out.print(f"Answers refused: {_listed(outcome.refused)}. Sent back: {_listed(outcome.backs)}.")
    out.print(f"{outcome.count('accepted')} of {outcome.scenarios} {what} are certified.")


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items()) if number) or "none"
