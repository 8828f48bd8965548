"""The commands that write environments: `farm synth run`."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from servers.cli.command_options import well_formed
from servers.cli.secret_options import ApiKey
from servers.text.terminal import Terminal
from synth.pipeline.folder import SynthesisFolder
from synth.pipeline.plan import Engine, RunPlan, SeedSize, WriterName

app = typer.Typer()
synth = typer.Typer(no_args_is_help=True, help="Write environments with a language model, and prove them.")
app.add_typer(synth, name="synth")
out = Terminal()


@synth.command("run")
def run(
    config: Annotated[Path | None, typer.Argument(help="A TOML file; options win over it.")] = None,
    topic: Annotated[list[str] | None, typer.Option(help="An environment's title; may be given several times.")] = None,
    from_: Annotated[
        list[Path] | None,
        typer.Option("--from", help="An imported bundle to write anew as tables and SQL; may be given several times."),
    ] = None,
    tasks: Annotated[
        Path | None, typer.Option(help="Task texts to mine topics from: a file, or hf:NAME[:SPLIT].")
    ] = None,
    n: Annotated[int | None, typer.Option(help="How many environments to make of the tasks.")] = None,
    out_: Annotated[Path | None, typer.Option("--out", help="The run's folder; a run that is there goes on.")] = None,
    size: Annotated[SeedSize | None, typer.Option(help="How many first rows.")] = None,
    writer: Annotated[WriterName | None, typer.Option(help="Who writes.")] = None,
    base_url: Annotated[
        str | None, typer.Option(envvar="OPENAI_BASE_URL", callback=well_formed, help="The endpoint.")
    ] = None,
    api_key: ApiKey = "",
    model: Annotated[str | None, typer.Option(help="A model of the endpoint.")] = None,
    serve_vllm: Annotated[str | None, typer.Option(help="Serve this model with vLLM meanwhile.")] = None,
    embeddings: Annotated[
        str | None, typer.Option(help="A model of the endpoint that says which topics are alike.")
    ] = None,
    structured: Annotated[bool | None, typer.Option(help="Ask for structured outputs.")] = None,
    temperature: Annotated[float | None, typer.Option(help="Sampling temperature.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="The most tokens of an answer.")] = None,
    seconds: Annotated[float | None, typer.Option(help="The most seconds that an answer may take.")] = None,
    prompt_price: Annotated[float | None, typer.Option(help="What a million tokens of prompts cost.")] = None,
    completion_price: Annotated[float | None, typer.Option(help="What a million tokens of answers cost.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Where answers are kept, for other runs too.")] = None,
    record: Annotated[Path | None, typer.Option(help="Record the exchanges in this file.")] = None,
    recording: Annotated[list[Path] | None, typer.Option(help="A recording to replay; may be repeated.")] = None,
    batch_results: Annotated[Path | None, typer.Option(help="The answers to a batch.")] = None,
    at_once: Annotated[int | None, typer.Option(help="Environments, and requests, at once.")] = None,
    again: Annotated[bool | None, typer.Option("--again", help="Give rejected environments another chance.")] = None,
    engine: Annotated[Engine | None, typer.Option(help="Where environments advance.")] = None,
) -> None:
    """Write environments until each is accepted or given up. A run that was stopped goes on with the same command."""
    given: dict[str, Any] = {
        "topics": topic or None,
        "imported": from_ or None,
        "tasks": tasks,
        "n": n,
        "out": out_,
        "size": size,
        "writer": writer,
        "base_url": base_url,
        "model": model,
        "serve_vllm": serve_vllm,
        "embeddings": embeddings,
        "structured": structured,
        "temperature": temperature,
        "max_tokens": max_tokens,
        "seconds": seconds,
        "prompt_price": prompt_price,
        "completion_price": completion_price,
        "cache": cache,
        "record": record,
        "recordings": recording or None,
        "batch_results": batch_results,
        "at_once": at_once,
        "again": again,
        "engine": engine,
    }
    options = {name: value for name, value in given.items() if value is not None}
    plan = RunPlan.of(config, options) if config or out_ is None else RunPlan.resumed(SynthesisFolder(out_), options)
    if plan.engine == "ray":
        arguments = [sys.executable, "-m", "synth.runner.ray_process", plan.model_dump_json()]
        os.execve(sys.executable, arguments, {**os.environ, "OPENAI_API_KEY": api_key})  # noqa: S606
    import uvloop

    from synth.environments.stages import MINING, STAGES
    from synth.relational.finish import REWRITE
    from synth.runner.launch import RunSettings

    stages = REWRITE if plan.imported else STAGES
    raise typer.Exit(uvloop.run(RunSettings(stages, MINING, api_key, out).run(plan)))
