"""The command `farm export sft`: runs, or reference solutions, as training data."""

import asyncio
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from evals.export.chat_template import ChatTemplate, lost
from evals.export.formats import FORMS, Format, losses
from evals.export.selection import RolloutSelection, condition
from evals.export.training_example import TrainingExample
from evals.rollout import Rollout
from evals.runs.folder import RunFolder
from servers.cli.command_options import shelves
from servers.errors import FarmError, RequestError
from servers.files.trouble import trouble
from servers.scenario.checkpoints.official import CONTAMINATED, QUESTION
from servers.text.terminal import Terminal, marked
from servers.text.wording import counted

app = typer.Typer()
exports = typer.Typer(no_args_is_help=True, help="Write runs and bundles in the formats of others.")
app.add_typer(exports, name="export")
out = Terminal()
IN_THE_LOSS = "assistant messages of weight 1, with their thinking and calls; never rules, users' words or results"


@exports.callback()
def exported() -> None:
    """Write runs and bundles in the formats of others."""


@exports.command()
def sft(
    folder: Annotated[
        Path, typer.Option("--out", help="The folder for the data and the report of it, such as data/sft.")
    ],
    runs: Annotated[list[Path] | None, typer.Argument(help="Folders of runs.")] = None,
    reference: Annotated[
        list[Path] | None, typer.Option(help="A folder of bundles whose reference solutions are played and taken.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="The form of the data.")] = "chat",
    only: Annotated[
        list[str] | None, typer.Option("--filter", help="Take only rollouts such as reward>=0.5; all must hold.")
    ] = None,
    per_scenario: Annotated[int | None, typer.Option(min=1, help="The most of one scenario.")] = None,
    max_characters: Annotated[int | None, typer.Option(min=1, help="The most of one example, tools included.")] = None,
    duplicates: Annotated[bool, typer.Option("--duplicates", help="Keep those that say and call the same.")] = False,
    thinking: Annotated[bool, typer.Option(help="With what the agent thought.")] = True,
    errors_in_loss: Annotated[
        bool, typer.Option("--errors-in-loss", help="Also train on messages whose calls were all refused.")
    ] = False,
    template: Annotated[
        Path | None, typer.Option(help="A chat template (Jinja); check that it shows all that an example says.")
    ] = None,
) -> None:
    """Write training data for supervised fine-tuning, and say what was left out and why."""
    if not runs and not reference:
        raise RequestError("name a run to export, or --reference LIBRARY")
    selection = RolloutSelection(
        conditions=tuple(map(condition, only or ())),
        most_characters=max_characters,
        per_scenario=per_scenario,
        keep_duplicates=duplicates,
        with_thinking=thinking,
        errors_in_loss=errors_in_loss,
    )
    libraries = shelves(reference, "--reference")
    shown = ChatTemplate(template) if template is not None else None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RequestError(f"--out {folder}: cannot be made: {trouble(error)}") from None
    lacking: Counter[str] = Counter()
    rows = folder / "train.jsonl"
    taken = 0
    with rows.open("w", encoding="utf-8", errors="replace") as file:
        for example in selection.taken(_rollouts(runs or [], libraries)):
            file.write(json.dumps(FORMS[form](example), ensure_ascii=False) + "\n")
            lacking.update(_lacking(form, shown, example))
            taken += 1
    if taken:
        _finish(form, rows)
    told = _report(form, selection, taken, lacking)
    (folder / "report.json").write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    _show(folder, selection, taken, lacking)
    if not taken:
        raise typer.Exit(1)


def _rollouts(runs: Iterable[Path], libraries: Iterable[Path]) -> Iterator[tuple[str, str, Rollout]]:
    """The rollouts of runs with their names and agents. The last line of a name counts."""
    for run in runs:
        folder = RunFolder(run)
        folder.header()
        places = {at.played.key: (at.offset, at.length) for at in folder.rollouts()}
        for name, (offset, length) in sorted(places.items()):
            played = folder.rollout_at(offset, length)
            _refuse_benchmark(f"{run}/{name}", played.rollout)
            yield f"{run}/{name}", played.agent, played.rollout
    for library in libraries:
        from evals.reference_runs import references  # which imports a farm

        for one in asyncio.run(references(library)):
            _refuse_benchmark(f"{library}/{one.environment}", one)
            yield f"{library}/{one.environment}/{one.scenario}", "reference", one


def _refuse_benchmark(name: str, rollout: Rollout) -> None:
    """Refuse to train on a public benchmark. Raises RequestError."""
    begin = QUESTION.partition("{")[0]
    if rollout.score is not None and any(one.question.startswith(begin) for one in rollout.score.verdicts):
        raise RequestError(f"{name} {CONTAMINATED}")


def _lacking(form: Format, template: ChatTemplate | None, example: TrainingExample) -> Counter[str]:
    found = Counter(losses(form, example))
    if template is not None:
        found.update({f"{kind}, in {template.path.name}": count for kind, count in lost(template, example).items()})
    return found


def _finish(form: Format, rows: Path) -> None:
    """Write the files that a format needs beside its lines."""
    if form == "llamafactory":
        told = {
            "envfarm": {
                "file_name": rows.name,
                "formatting": "sharegpt",
                "columns": {"messages": "conversations", "system": "system", "tools": "tools"},
            }
        }
        rows.with_name("dataset_info.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    if form == "verl":
        command = [sys.executable, "-m", "evals.export.parquet", str(rows), str(rows.with_suffix(".parquet"))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if "No module named 'pyarrow'" in done.stderr:
            raise RequestError("--format verl needs pyarrow, which is not installed: pip install 'envfarm[evals]'")
        if done.returncode:
            raise FarmError(f"the Parquet file cannot be written: {done.stderr.strip().splitlines()[-1]}")
        rows.unlink()


def _report(form: Format, selection: RolloutSelection, taken: int, lacking: Counter[str]) -> dict[str, Any]:
    return {
        "format": form,
        "examples": taken,
        "rollouts": selection.seen,
        "filters": [one.text for one in selection.conditions],
        "in_the_loss": IN_THE_LOSS,
        "thinking": selection.with_thinking,
        "errors_in_loss": selection.errors_in_loss,
        "dropped": dict(selection.dropped.most_common()),
        "lost": dict(lacking.most_common()),
    }


def _show(folder: Path, selection: RolloutSelection, taken: int, lacking: Counter[str]) -> None:
    table = Table("of the rollouts", "number", box=SIMPLE_HEAD, padding=(0, 2, 0, 0))
    table.add_row("taken", marked("[green]{}[/]", taken))
    for reason, count in selection.dropped.most_common():
        table.add_row(f"dropped: {reason}", str(count))
    out.print(table)
    for kind, count in lacking.most_common():
        out.print(marked("[yellow]lost in this form[/]: {}: {}", kind, count))
    if not taken:
        seen = f"Nothing taken of {counted(selection.seen, 'rollout')}: there is no example in {folder}."
        out.print(f"{seen} A wider --filter, --max-characters or --duplicates takes more.", soft_wrap=True)
        return
    out.print(f"In the loss: {IN_THE_LOSS}.")
    out.print(f"Written: {folder}", soft_wrap=True)
