"""The command `farm synth retell`."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from servers.cli.command_options import BaseUrl, bundle_of
from servers.cli.secret_options import ApiKey
from servers.errors import RequestError
from servers.records import OPENAI
from servers.text.terminal import Terminal
from servers.text.wording import counted
from synth.llm.writer import Waiting
from synth.pipeline.folder import SynthesisFolder
from synth.pipeline.plan import RunPlan
from synth.processes.progress import progress_on
from synth.writer_options import (
    AnswerSeconds,
    RecordingFile,
    Recordings,
    WorkFolder,
    WriterKind,
    WriterModel,
    writer_plan,
)

if TYPE_CHECKING:  # importing it takes a second
    from synth.retelling.retell_run import RetellOutcome

out = Terminal()
err = Terminal(stderr=True)
MOST_REASONS = 3


def retell(
    bundles: Annotated[list[Path], typer.Argument(help="Bundles' folders, or ids of the farm's own.")],
    scenario: Annotated[list[str] | None, typer.Option(help="Only this scenario; may be given several times.")] = None,
    most: Annotated[int | None, typer.Option(min=1, help="Only the first walks of each environment.")] = None,
    batch: Annotated[int, typer.Option(min=1, max=40, help="Tasks in one request.")] = 10,
    work: WorkFolder = None,
    writer: WriterKind = "endpoint",
    base_url: BaseUrl = OPENAI,
    api_key: ApiKey = "",
    model: WriterModel = "",
    recording: Recordings = None,
    record: RecordingFile = None,
    batch_results: Annotated[Path | None, typer.Option(help="The answers to a batch.")] = None,
    at_once: Annotated[int, typer.Option(min=1, help="Requests at once.")] = 4,
    seconds: AnswerSeconds = 600,
    again: Annotated[bool, typer.Option("--again", help="Another chance for what was refused twice.")] = False,
    anew: Annotated[bool, typer.Option("--anew", help="Also what was retold before, from its first wording.")] = False,
) -> None:
    """Have walks told again as a person would write them. A run that was stopped goes on with the same command."""
    if scenario and len(bundles) > 1:
        raise RequestError("--scenario is of one environment: name one bundle")
    waits = False
    outcomes: list[RetellOutcome] = []
    for folder in map(bundle_of, bundles):
        place = (
            (work / folder.name if len(bundles) > 1 else work) if work else Path(".envfarm") / "retell" / folder.name
        )
        plan = writer_plan(
            place,
            writer=writer,
            base_url=base_url,
            model=model,
            record=record,
            recordings=recording,
            batch_results=batch_results,
            at_once=at_once,
            seconds=seconds,
        )
        try:
            outcomes.append(
                asyncio.run(_retold(folder, plan, api_key, batch, scenario or [], most, again=again, anew=anew))
            )
            _show(outcomes[-1])
        except Waiting as error:
            waits = True
            out.print(f"{folder.name}: {error}", soft_wrap=True)
    if outcomes and not waits and not any(one.accepted or one.there for one in outcomes):
        raise typer.Exit(1)


async def _retold(
    folder: Path, plan: RunPlan, key: str, batch: int, only: list[str], most: int | None, *, again: bool, anew: bool
) -> "RetellOutcome":
    from synth.play.playground import Playground
    from synth.retelling.retell_run import Retelling
    from synth.runner.writer_choice import writer_for

    run = SynthesisFolder(plan.out)
    with run.locked("--work"), progress_on(err) as progress:
        task = progress.add_task(f"{folder.name}: retold")

        def on_task(outcome: "RetellOutcome") -> None:
            progress.update(task, completed=outcome.there + len(outcome.accepted), total=outcome.wanted)

        def on_retry(trouble: str) -> None:
            err.print(f"the endpoint: {trouble}")

        async with writer_for(plan, run, key, on_retry=on_retry) as writing, Playground(folder) as stage:
            retelling = Retelling(stage, plan.out, writing, batch=batch, again=again, anew=anew, on_task=on_task)
            return await retelling.run(only, most)


def _show(outcome: "RetellOutcome") -> None:
    first = f"; {outcome.first_refused} first answers refused" if outcome.first_refused else ""
    there = f", {outcome.there} before" if outcome.there else ""
    tokens = sum(one.prompt_tokens + one.completion_tokens for one in outcome.exchanges if not one.cached)
    out.print(
        f"{outcome.environment}: {counted(len(outcome.accepted), 'task')} retold{there}{first}, "
        f"{len(outcome.refused)} refused twice, {len(outcome.left_out)} left out; "
        f"{counted(len(outcome.exchanges), 'request')}, {tokens:,} tokens.",
        soft_wrap=True,
    )
    for name, reasons in outcome.refused.items():
        out.print(f"  {name}: {'; '.join(reasons[:MOST_REASONS])}", markup=False, soft_wrap=True)
    if outcome.left_out:
        out.print(f"  their parts cannot be told apart: {', '.join(outcome.left_out)}", soft_wrap=True)
