"""The options of commands that ask a writer, and the plan of a run that they make up."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from synth.pipeline.plan import RunPlan

WriterKind = Annotated[Literal["endpoint", "batch", "recording"], typer.Option(help="Who writes.")]
WriterModel = Annotated[str, typer.Option(help="The writer's model.")]
Recordings = Annotated[list[Path] | None, typer.Option(help="The writer's answers, recorded.")]
RecordingFile = Annotated[Path | None, typer.Option(help="Record the writer's exchanges in this file.")]
WorkFolder = Annotated[Path | None, typer.Option(help="The folder of what was asked and answered.")]
AnswerSeconds = Annotated[float, typer.Option(min=1, help="The most that one answer may take.")]
Again = Annotated[bool, typer.Option("--again", help="Give dropped scenarios another chance.")]


def writer_plan(
    out: Path,
    *,
    writer: str,
    base_url: str,
    model: str,
    record: Path | None,
    recordings: list[Path] | None,
    **more: Any,
) -> RunPlan:
    """The plan of a run with a writer. What is None is the plan's own default.

    Raises:
        RequestError: options that contradict each other, or lack one.
    """
    given = {
        "out": out,
        "writer": writer,
        "base_url": base_url,
        "model": model,
        "record": record,
        "recordings": recordings,
        **more,
    }
    return RunPlan.of(None, {name: value for name, value in given.items() if value is not None})
