"""A run with a writer and a solver, forward or of conversations, from its options to its report."""

from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from agent_client.models.chat_model import ChatModel
from synth.backward.generator import Shelf
from synth.conversation.run import Converse
from synth.forward.run import Forward
from synth.forward.scenario_chains import RunOutcome, ScenarioChains
from synth.forward.solver import Solver
from synth.pipeline.folder import SynthesisFolder
from synth.pipeline.plan import RunPlan
from synth.pipeline.progress import RunProgress
from synth.play.playground import Playground
from synth.runner.table import live
from synth.runner.writer_choice import writer_for


@dataclass(frozen=True)
class SolverModel:
    """The model of a solver, and its endpoint. The key is never written anywhere."""

    model: str
    base_url: str
    api_key: str
    temperature: float
    seconds: float
    """The most seconds for one answer."""

    def opened(self) -> ChatModel:
        """The model, to be entered."""
        return ChatModel(
            self.base_url,
            self.model,
            api_key=self.api_key or "none",
            temperature=self.temperature,
            seconds=self.seconds,
        )


@dataclass(frozen=True)
class Game:
    """The solver, the simulated user of conversations, and the number of attempts."""

    solver: SolverModel
    attempts: int
    at_once: int
    user: SolverModel | None = None
    only: Sequence[str] = ()
    """The scenarios that become conversations."""


async def made_with_models(
    folder: Path, path: Path, plan: RunPlan, game: Game, *, n: int, again: bool, key: str, console: Console
) -> RunOutcome:
    """Make scenarios of a bundle into a file: conversations if there is a simulated user, else forward.

    Raises FarmError if the run cannot start.
    """
    progress = RunProgress()
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(game.solver.opened())
        user = await stack.enter_async_context(game.user.opened()) if game.user else None
        writer = await stack.enter_async_context(writer_for(plan, SynthesisFolder(plan.out), key))
        bundle = await stack.enter_async_context(Playground(folder))
        lines = ScenarioChains(Shelf(path, bundle), writer, again=again, progress=progress)
        solver = Solver(model, game.attempts, at_once=game.at_once, user=user)
        run = Converse(plan.out, bundle, lines, solver, game.only) if user else Forward(plan.out, bundle, lines, solver)
        with live(console, progress):
            return await run.run(n)


def show_outcome(outcome: RunOutcome, console: Console, what: str) -> None:
    """Print how the scenarios ended, and what the gates refused."""
    table = Table("scenario", "", "why")
    for name, end in outcome.ends.items():
        table.add_row(name, "certified" if end.state == "accepted" else end.state, end.why[:300])
    console.print(table)
    console.print(f"Answers refused: {_listed(outcome.refused)}. Sent back: {_listed(outcome.backs)}.")
    console.print(f"{outcome.count('accepted')} of {outcome.scenarios} {what} are certified.")


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items()) if number) or "none"
