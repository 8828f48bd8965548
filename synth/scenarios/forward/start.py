"""A run of forward generation from its options to its report."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from agent_client.chat_model import ChatModel
from synth.proving.stage import Stage
from synth.run.folder import RunFolder
from synth.run.plan import Plan
from synth.run.progress import Progress
from synth.run.table import live
from synth.run.writing import writer_for
from synth.scenarios.backward import Shelf
from synth.scenarios.forward.lines import Lines, Outcome
from synth.scenarios.forward.run import Forward
from synth.scenarios.forward.solver import Solver


@dataclass(frozen=True)
class Player:
    """The model that plays, and how often. The key is never written anywhere."""

    model: str
    base_url: str
    api_key: str
    temperature: float
    attempts: int
    at_once: int


async def made_forward(
    folder: Path, path: Path, plan: Plan, player: Player, *, n: int, again: bool, key: str, console: Console
) -> Outcome:
    """Make scenarios of a bundle into a file. Raises FarmError where nothing can go on."""
    model = ChatModel(
        player.base_url, player.model, api_key=player.api_key or "none", temperature=player.temperature, seconds=600
    )
    progress = Progress()
    async with model, writer_for(plan, RunFolder(plan.out), key) as writer, Stage(folder) as bundle:
        solver = Solver(model, player.attempts, at_once=player.at_once)
        lines = Lines(Shelf(path, bundle), writer, again=again, progress=progress)
        run = Forward(plan.out, bundle, lines, solver)
        with live(console, progress):
            return await run.run(n)


def show_outcome(outcome: Outcome, console: Console, what: str) -> None:
    """How the scenarios ended, and what the gates caught."""
    table = Table("scenario", "", "why")
    for name, end in outcome.ends.items():
        table.add_row(name, "certified" if end.state == "accepted" else end.state, end.why[:300])
    console.print(table)
    console.print(f"Answers refused: {_listed(outcome.refused)}. Sent back: {_listed(outcome.backs)}.")
    console.print(f"{outcome.count('accepted')} of {outcome.scenarios} {what} are certified.")


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items()) if number) or "none"
