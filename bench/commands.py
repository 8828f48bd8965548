"""The command `farm bench`: how fast the farm is on this machine, beside its peers in the same run."""

import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from bench import budget, engine, scale
from bench.measuring import FULL, QUICK, measured
from bench.official import compared
from bench.table import as_json, page
from servers.errors import RequestError
from servers.text.terminal import Terminal, marked

app = typer.Typer()
out = Terminal()
err = Terminal(stderr=True)


@app.command()
def bench(
    quick: Annotated[bool, typer.Option("--quick", help="1 and 64 instances, in under a minute.")] = False,
    scaled: Annotated[
        bool, typer.Option("--scale", help="Check what many instances cost, instead; exit code 1 when one misses.")
    ] = False,
    official: Annotated[
        bool, typer.Option("--official", help="Play the truths of BFCL v4 beside the official code, instead.")
    ] = False,
    clone: Annotated[Path | None, typer.Option("--tau-bench", help="With --official: your clone, also played.")] = None,
    parts: Annotated[
        bool, typer.Option("--budget", help="Show where the processor time of a call goes, instead.")
    ] = False,
    numbers: Annotated[
        bool,
        typer.Option(
            "--numbers", help="Check what the engine has to reach, instead; exit code 1 when a number misses."
        ),
    ] = False,
    folder: Annotated[Path, typer.Option("--out", help="Where the table and the plot go.")] = Path("bench-results"),
) -> None:
    """Measure the farm on this machine beside its peers, and write a table (Markdown, JSON) and a plot (SVG)."""
    if clone is not None and not official:
        raise RequestError("--tau-bench needs --official")
    if not (scaled or official or parts or numbers) and find_spec("matplotlib") is None:
        raise RequestError("the plot needs matplotlib, which is not installed: pip install 'envfarm[bench]'")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        if official:
            text = compared(Path(scratch), clone, _tell)
            (folder / "official.md").write_text(text + "\n", encoding="utf-8")
            out.print(text, markup=False, soft_wrap=True)
            return
        if parts:
            seconds, rounds = (3.0, 3) if quick else (15.0, 9)
            trust = budget.costs(Path(scratch), 1.0, rounds, _tell)
            text = budget.page(budget.budgets(Path(scratch), seconds, _tell), trust)
            (folder / "budget.md").write_text(text + "\n", encoding="utf-8")
            out.print(text, markup=False, soft_wrap=True)
            return
        if scaled or numbers:
            if scaled:
                checks = scale.checked(Path(scratch), scale.SMALL if quick else scale.FULL, _tell)
            else:
                checks = engine.checked(Path(scratch), engine.QUICK if quick else engine.FULL, _tell)
            text = scale.page(checks)
            (folder / ("scale.md" if scaled else "numbers.md")).write_text(text + "\n", encoding="utf-8")
            out.print(text, markup=False, soft_wrap=True)
            raise typer.Exit(0 if all(check.met for check in checks) else 1)
        rows = measured(Path(scratch), QUICK if quick else FULL, _tell)
    text = page(rows)
    (folder / "table.md").write_text(text + "\n", encoding="utf-8")
    (folder / "table.json").write_text(as_json(rows), encoding="utf-8")
    drawing = folder / "plot.svg"
    subprocess.run([sys.executable, "-m", "bench.plot", str(folder / "table.json"), str(drawing)], check=True)
    out.print(text, markup=False, soft_wrap=True)
    out.print(f"\nWritten: {folder / 'table.md'}, {folder / 'table.json'}, {drawing}", soft_wrap=True)


def _tell(what: str) -> None:
    err.print(marked("[dim]measuring: {}[/]", what))
