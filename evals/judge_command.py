"""The command `farm judge`: judge the rollouts of runs again, after checkpoints or tools have changed."""

from pathlib import Path
from typing import Annotated

import typer

from servers.cli.command_options import bundle_of
from servers.files.atomic_write import make_sure_of

app = typer.Typer()


@app.command()
def judge(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs.")],
    bundle: Annotated[
        Path, typer.Option("--with", help="A bundle's folder, or the id of one of the farm's own: judge by it.")
    ],
    save: Annotated[Path | None, typer.Option("--out", help="Write a line (JSON) for each rollout here.")] = None,
) -> None:
    """Repeat stored rollouts on fresh instances, judge them by today's checkpoints, and show what changed."""
    folder = bundle_of(bundle)
    if save is not None:
        make_sure_of(save, "--out")
    from evals.judging_again import judge_again

    judge_again(runs, folder, save)
