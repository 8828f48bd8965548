"""The commands that read runs: `farm report` and `farm show`."""

from pathlib import Path
from typing import Annotated

import typer

from evals.report.comparison import comparisons
from evals.report.page import MOST_OPENABLE, page
from evals.report.report import read_report
from evals.report.report_data import comparison_data, report_data
from evals.report.rollout_view import list_rollouts, listed_data, rollout_named, show_rollout
from evals.report.tables import show_comparison, show_report
from evals.runs.folder import RunFolder
from servers.cli.command_options import AsJson
from servers.files.atomic_write import make_sure_of, write_whole
from servers.text.terminal import Terminal

app = typer.Typer()
out = Terminal()
err = Terminal(stderr=True)


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs; those of the same scenarios are compared.")],
    html: Annotated[Path | None, typer.Option(help="Write the report as one HTML file, too.")] = None,
    details: Annotated[
        int, typer.Option(min=0, help="The most rollouts of a run that can be opened in the file.")
    ] = MOST_OPENABLE,
    as_json: AsJson = False,
) -> None:
    """Report the success of runs with error bars, the causes of failures, and a comparison."""
    if html is not None:
        make_sure_of(html, "--html")
    reports = [read_report(RunFolder(run)) for run in runs]
    beside_each_other = comparisons(reports)
    if as_json:
        out.print_data(
            {"runs": list(map(report_data, reports)), "comparisons": list(map(comparison_data, beside_each_other))}
        )
    else:
        for told in reports:
            show_report(out, told)
        for beside in beside_each_other:
            show_comparison(out, beside)
    if html is not None:
        write_whole(html, page(reports, beside_each_other, most_openable=details))
        (err if as_json else out).print(f"\nWritten: {html} ({html.stat().st_size / 1e6:.1f} MB)", soft_wrap=True)


@app.command()
def show(
    run: Annotated[Path, typer.Argument(help="A run's folder.")],
    rollout: Annotated[
        str | None, typer.Argument(help="A rollout's name, as the list says it: ENVIRONMENT/SCENARIO#ATTEMPT.")
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="List only those that did not succeed.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the rollouts of a run, or read one: calls, results, changed rows, verdicts, and the reference beside it."""
    folder = RunFolder(run)
    if rollout is None:
        told = read_report(folder)
        listed = [one for one in told.rollouts if not failed or one.success is not True]
        if as_json:
            out.print_data([listed_data(one) for one in listed])
        else:
            list_rollouts(out, listed)
        return
    found = rollout_named(folder, rollout)
    if as_json:
        out.print_data(found.model_dump(mode="json"))
    else:
        show_rollout(out, folder, found)
