"""The command `farm evolve`: rounds of evaluating an agent, making scenarios where it is weak, and training it."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from servers.errors import RequestError
from servers.files.file_lock import locked
from servers.text.terminal import Terminal, in_one_line

app = typer.Typer()
out = Terminal()
err = Terminal(stderr=True)
MOST_ROUNDS = 1000


@app.command()
def evolve(
    plan: Annotated[Path, typer.Argument(help="The plan, a TOML file.")],
    run: Annotated[Path, typer.Option("--run", help="The folder of this evolution; given again, it goes on.")],
    rounds: Annotated[
        int | None, typer.Option(min=1, max=MOST_ROUNDS, help="Rounds in all, if not the plan's.")
    ] = None,
) -> None:
    """Evaluate an agent, make certified scenarios where it is weak, train it, repeat. A stopped run goes on."""
    from rl_training.evolve.evolution import PAGE, Evolution
    from rl_training.evolve.plan import load_plan
    from rl_training.evolve.step_process import run_step

    wanted = load_plan(plan)
    if rounds is not None:
        wanted = wanted.model_copy(update={"rounds": rounds})
    folder = run.resolve()
    if run.is_file():
        raise RequestError(f"--run {run}: is a file; an evolution is a folder")

    def step(command: Sequence[str], log: Path, title: str) -> None:
        with _shown(title) as on_line:
            run_step(command, log, on_line)

    with locked(
        folder / "lock",
        unusable=lambda why: RequestError(f"--run {run}: cannot be written: {why}"),
        taken=lambda holder: RequestError(f"--run {run}: another evolution works in it (process {holder})"),
    ):
        Evolution(wanted, folder, step, lambda text: out.print(text, soft_wrap=True)).go()
    out.print(f"Written: {run / PAGE}", soft_wrap=True)


@contextmanager
def _shown(title: str) -> Generator[Callable[[str], None]]:
    """Show what is done: at a terminal with the last line of its log, otherwise as one line."""
    if not err.is_terminal:
        err.print(f"{title} …", soft_wrap=True)
        yield lambda _: None
        return
    with err.status(step_line(title, "")) as status:
        yield lambda line: status.update(step_line(title, line))


def step_line(title: str, line: str) -> Text:
    """What is done, and the last line of its log. That is a stranger's, so no markup is read in it."""
    return in_one_line(f"{title}: {line}" if line else title)
